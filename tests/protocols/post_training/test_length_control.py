"""The win rate at equal length: what it takes out, what it is read from, and a whole run that was graded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.engine.trajectory import Trajectory, encode_many
from heredity.protocols.post_training.analysis import length_controlled, posttraining_metrics
from heredity.protocols.post_training.analysis.metrics import win_rate
from heredity.session.rollouts import comparison_of


def test_the_win_rate_at_equal_length_takes_out_what_length_bought() -> None:
    draws = generator(0, "tests", "length")
    references = np.full(4000, 500)
    lengths = draws.integers(500, 1500, 4000)
    slope = np.tanh((lengths - references) / (lengths - references).std())
    bought = (draws.random(4000) < 1 / (1 + np.exp(-2.0 * slope))).astype(float)
    assert bought.mean() > 0.75
    assert length_controlled(list(bought), list(lengths), list(references)) == pytest.approx(0.5, abs=0.06)
    fair = (draws.random(4000) < 0.7).astype(float)
    assert length_controlled(list(fair), list(lengths), list(references)) == pytest.approx(0.7, abs=0.08)


def test_the_win_rate_is_finite_where_everything_was_won_and_all_is_as_long() -> None:
    assert 0.9 < length_controlled([1.0] * 20, [50] * 20, [50] * 20) < 1.0
    assert length_controlled([0.5] * 4, [50] * 4, [50] * 4) == pytest.approx(0.5)
    with pytest.raises(ConfigError, match="expected equal numbers"):
        length_controlled([], [], [])
    with pytest.raises(ConfigError, match="expected equal numbers"):
        length_controlled([1.0, 0.0], [1], [1])


def test_the_interval_covers_what_would_be_won_at_equal_length() -> None:
    covered = 0
    for seed in range(60):
        draws = generator(seed, "tests", "length", "coverage")
        references = draws.integers(100, 300, 70)
        lengths = (references * draws.uniform(0.7, 2.2, 70)).astype(int)
        slope = np.tanh((lengths - references) / (lengths - references).std())
        won = (draws.random(70) < 1 / (1 + np.exp(-(0.4 + slope)))).astype(float)
        rate = win_rate(list(zip(won, lengths, references, strict=True)))
        covered += rate.ci[0] <= 1 / (1 + np.exp(-0.4)) <= rate.ci[1]
    assert covered >= 52


def test_instructions_of_one_document_are_one_draw_in_the_interval() -> None:
    held = {True: 0, False: 0}
    for seed in range(30):
        draws = generator(seed, "tests", "length", "documents")
        documents = [i // 8 for i in range(80)]
        # Who wins hangs on the document alone: ten draws, however many answers.
        won = (draws.random(10) < 0.5).astype(float)[documents]
        lengths = draws.integers(100, 300, 80)
        listed = list(zip(won, lengths, draws.integers(100, 300, 80), strict=True))
        for together in held:
            rate = win_rate(listed, documents if together else None)
            assert rate.clusters == (10 if together else None)
            held[together] += rate.ci is not None and rate.ci[0] <= 0.5 <= rate.ci[1]
    assert held[True] >= 27, "of 30, at 95%"
    assert held[False] <= 20, "as if answers were drawn one by one"


def test_too_few_documents_have_no_interval_and_documents_of_one_instruction_are_none() -> None:
    listed = [(float(i % 3 > 0), 100 + i, 120) for i in range(40)]
    assert win_rate(listed, [i // 8 for i in range(40)]).ci is None, "five documents"
    assert win_rate(listed, list(range(40))) == win_rate(listed)
    assert win_rate([None, *listed], [0, *range(40)]) == win_rate(listed), "what is missing leaves its cluster"


def test_no_interval_is_made_up_where_all_answers_ended_alike() -> None:
    assert win_rate([(1.0, 50, 40)] * 9).ci is None
    assert win_rate([]) is None


def attempt(
    winner: str | None, length: int, score: float, *, status: str = "ok", failure_source: str = "none"
) -> Trajectory:
    columns = {"obs": ["", ""], "action": [""], "reward": [score], "terminated": [True], "truncated": [False]}
    info = {"winner": winner, "length": length if winner else None, "reference_length": 100 if winner else None}
    columns |= {f"info/{name}": [value] for name, value in info.items()}
    return Trajectory("train/0", "d", status, failure_source, score, 1, True, columns)


def test_missing_comparisons_are_left_out_and_failed_ones_are_lost() -> None:
    assert comparison_of(attempt("tie", 120, 0.5)) == (0.5, 120, 100)
    assert comparison_of(attempt("a", 400, 0.375)) == (1.0, 400, 100), "the win, and not what it paid"
    assert comparison_of(attempt(None, 0, 0.0, status="provider_error", failure_source="provider")) is None
    assert comparison_of(attempt(None, 0, 0.0, status="model_error", failure_source="candidate")) == (0.0, 0, 0)


def journal(blob: str) -> list[dict[str, Any]]:
    def event(kind: str, **data: Any) -> dict[str, Any]:
        return {"kind": kind, "at": 1.0, "data": data}

    outcomes = [{"task": i, "score": score, "status": "ok"} for i, score in enumerate((1.0, 0.25, 0.5, 0.0))]
    return [
        event("run.started", protocol="post-training", family="L2", evolver={}, budget={"seconds": 9}),
        event("submission.admitted", submit_id=1, candidate="c", tasks=[0, 1, 2, 3], at_s=1.0, charge=4),
        event("submission.completed", submit_id=1, candidate="c", status="ok", outcomes=outcomes, blob=blob),
        event("judging.scored", view="heldout", candidate="c", scores=[1.0, 0.0, None],
              comparisons=[[1.0, 90, 80], [0.0, 70, 80], None]),
        event("baseline.scored", view="graded", candidate="b", scores=[0.0, 0.0, 0.5, 0.0],
              comparisons=[[0.0, 60, 100], [0.0, 70, 100], [0.5, 80, 100], [0.0, 90, 100]]),
        event("reference.scored", name="base", view="heldout", scores=[0.0, 0.0, 1.0],
              comparisons=[[0.0, 90, 80], [0.0, 90, 80], [1.0, 90, 80]]),
    ]  # fmt: skip


TRIED = (attempt("a", 90, 1.0), attempt("a", 600, 0.25), attempt("tie", 100, 0.5), attempt("b", 110, 0.0))


def test_graded_answers_are_read_from_trajectories_and_all_others_from_the_journal() -> None:
    controlled = posttraining_metrics(journal("blob"), {"blob": encode_many(list(TRIED))}.__getitem__).length_controlled
    best, baseline = controlled.graded.best, controlled.graded.baseline
    assert (best.won, best.n, best.length, best.reference_length) == (0.625, 4, 225.0, 100.0)
    assert best.rate == length_controlled([1, 1, 0.5, 0], [90, 600, 100, 110], [100] * 4)
    assert baseline.rate == length_controlled([0, 0, 0.5, 0], [60, 70, 80, 90], [100] * 4)
    assert controlled.graded.gain.difference == pytest.approx(best.rate - baseline.rate)
    low, high = controlled.graded.gain.ci
    assert low < controlled.graded.gain.difference < high
    heldout = controlled.heldout
    assert (heldout.best.won, heldout.best.n, heldout.baseline.n) == (0.5, 2, 3)
    assert heldout.gain.pairs == 2, "what is missing on either side is left out"


def test_without_the_trajectories_the_rest_is_known() -> None:
    controlled = posttraining_metrics(journal("blob"), {}.__getitem__).length_controlled
    assert controlled.graded.best is None
    assert controlled.graded.gain is None
    assert controlled.graded.baseline.n == 4
    assert controlled.heldout.best.n == 2


def test_handles_pair_answers_where_a_submission_was_graded_on_some_items_only() -> None:
    lines = journal("blob")
    lines[1]["data"]["tasks"] = [2, 3]
    lines[2]["data"]["outcomes"] = lines[2]["data"]["outcomes"][2:]
    graded = posttraining_metrics(lines, {"blob": encode_many(list(TRIED[2:]))}.__getitem__).length_controlled.graded
    assert (graded.best.won, graded.baseline.won, graded.gain.pairs) == (0.25, 0.25, 2)


def test_a_run_whose_answers_are_not_compared_has_none() -> None:
    plain = attempt("a", 90, 1.0)
    columns = {name: value for name, value in plain.columns.items() if not name.startswith("info/")}
    blob = encode_many([Trajectory("train/0", "d", "ok", "none", 1.0, 1, True, columns)])
    assert posttraining_metrics(journal("blob")[:3], {"blob": blob}.__getitem__).length_controlled is None
