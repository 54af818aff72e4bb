"""The tables of how agents worked: every figure is computed again here, by hand, from the runs' own results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
from tests.page_reader import Page
from tests.protocols.post_training.posttraining_journals import Act, PostTrainingJournal, results
from tests.protocols.post_training.posttraining_journals import Told as Scenario

from heredity.analysis.contract import RunEvidence
from heredity.analysis.run_results import run_results
from heredity.analysis.suite_results import suite_results
from heredity.pages.report import html, markdown, write_reports
from heredity.pages.report.run_page import run_page
from heredity.pages.report.suite_page import suite_page
from heredity.protocols.post_training.protocol import METRICS, REPORT
from heredity.protocols.post_training.suite_results import Stability, TrainingTables
from heredity.results.base import Unknown
from heredity.results.run import RunResults

SFT, BOTH = Act(0.5, "torch_sft"), Act(0.8, "torch_grpo")
CRASH = Act(0.5, crash="out of memory")
STRUCTURE = {"capability": 2, "interaction": 1, "reward": 4, "horizon": 1}


def Told(acts: Sequence[Act] = (), seed: int = 0, **more: Any) -> Scenario:  # noqa: N802
    return Scenario(acts, "trainer", seed, **more)


def tables(runs: Sequence[RunResults]) -> TrainingTables:
    return suite_results(list(runs), lambda _: METRICS).part.tables


def graded(run: RunResults) -> list[float]:
    """Return the improvements of a run's graded submissions, in order, from its scores."""
    base = run.part.baseline.graded.mean
    return [row.score - base for row in run.part.iterations if row.submit_id is not None and row.score is not None]


def test_outcomes_are_those_of_the_runs_and_what_graded_nothing_helps_nobody() -> None:
    runs = [results(Told((SFT, BOTH), seed=seed)) for seed in range(3)] + [results(Told((), seed=3))]
    (row,) = tables(runs).outcomes
    gains = [max(graded(run)) for run in runs[:3]]
    assert (row.base_model, row.runs, row.improvement.runs, row.executed) == ("characters/arithmetic", 4, 3, 3)
    assert row.improvement.mean == pytest.approx(mean(gains))
    assert (row.improvement.low, row.improvement.high) == pytest.approx((min(gains), max(gains)))
    assert row.sd == pytest.approx(stdev(gains))
    assert (row.improvement.ci, row.improvement.ci_unknown) == (None, Unknown.FEW_RUNS)
    assert row.if_missing.low == pytest.approx((sum(gains) - 1) / 4)
    assert row.if_missing.high == pytest.approx((sum(gains) + 1) / 4)


def test_a_copy_of_the_base_model_neither_improves_nor_executes() -> None:
    (row,) = tables([results(Told((Act("base"),), seed=seed)) for seed in range(2)]).outcomes
    assert (row.improvement.mean, row.sd, row.improved, row.executed, row.runs) == (0.0, 0.0, 0, 0, 2)


def test_six_runs_have_an_interval_unless_nothing_is_ranked() -> None:
    runs = [results(Told((SFT,), seed=seed)) for seed in range(6)]
    low, high = tables(runs).outcomes[0].improvement.ci
    assert low < mean(max(graded(run)) for run in runs) < high
    scripted = [run.model_copy(update={"stand_ins": ["offline/x"]}) for run in runs]
    shown = tables(scripted).outcomes[0].improvement
    assert (shown.ci, shown.ci_unknown) == (None, None)


def test_improvements_at_fixed_budgets_are_the_best_by_then() -> None:
    early, late = Told((Act(0.9, "torch_sft", took=100.0),)), Told((Act(0.9, "torch_sft", took=400.0),), seed=1)
    runs = [results(early), results(late)]
    (row,) = tables(runs).budgets
    first, second = (graded(run)[0] for run in runs)
    assert [mark.seconds for mark in row.marks] == [150.0, 300.0, 600.0]
    assert [mark.improvement.mean for mark in row.marks] == pytest.approx([first / 2, first / 2, (first + second) / 2])


def test_a_worse_checkpoint_leaves_an_agent_with_the_base_model_and_a_shorter_budget_is_no_evidence() -> None:
    worse, short = Told((Act(0.1, "torch_sft"),)), Told((SFT,), seed=1, budget=300.0)
    runs = [results(worse), results(short)]
    assert graded(runs[0])[0] < 0
    (row,) = tables(runs).budgets
    assert [mark.improvement.runs for mark in row.marks] == [2, 2, 1]
    assert row.marks[-1].improvement.mean == 0.0


def test_the_best_workspace_is_described_as_it_was() -> None:
    runs = [results(Told((SFT, CRASH, BOTH), seed=seed)) for seed in range(2)]
    best = max(runs, key=lambda run: max(graded(run)))
    (row,) = tables(runs).workspaces
    assert (row.run_id, row.of_runs, row.improvement) == (best.run_id, 2, pytest.approx(max(graded(best))))
    assert (row.graded, row.checkpoints, row.code_files, row.best_at) == (2, 2, 2, 2)
    assert row.zero_rate == pytest.approx(1 / 3), "a grading that fails counts as a score of 0"
    assert row.routes == ["SFT-only", "SFT+RL"]
    assert tables([results(Told(()))]).workspaces == []


def test_items_without_a_score_bound_the_gains_on_pages() -> None:
    journal = PostTrainingJournal(Told((SFT,)))
    lines = journal.lines
    for line in lines:
        if line["kind"] == "judging.scored":
            line["data"]["scores"][:6] = [None] * 6
            line["data"]["statuses"][:6] = ["missing"] * 6
    short = run_results(RunEvidence(lines, journal.load, journal.blob), METRICS)
    runs = [short, results(Told((SFT,), seed=1))]
    suite = suite_results(runs, lambda _: METRICS)
    gain = suite.part.entries[0].heldout
    gaps = [
        [a - b if a is not None else None for a, b in zip(r.heldout.scores, r.reference.heldout_scores, strict=True)]
        for r in runs
    ]
    before = short.reference.heldout_scores[:6]
    known = sum(gap for gap in gaps[0] if gap is not None)
    least, most = ((known + sum(end - b for b in before)) / 60 for end in (0.0, 1.0))
    whole = mean(gaps[1])
    assert (gain.if_missing.low, gain.if_missing.high) == pytest.approx(((least + whole) / 2, (most + whole) / 2))
    assert suite.part.entries[0].graded.if_missing is None
    assert "including missing scores" in markdown.render(suite_page(suite, runs, REPORT))
    assert "including missing scores" in markdown.render(run_page(short, REPORT))


class Set(PostTrainingJournal):
    """Writes down a learning rate before each submission."""

    def _do(self, act: Act) -> None:
        self.code["settings.json"] = json.dumps({"lr": float(act.note), "seed": len(self.events)}).encode()
        super()._do(act)


def with_settings(*acts: tuple[str, float]) -> RunResults:
    told = Told([Act(skill, "torch_sft", note=rate, crash="oom" if skill == 0.01 else "") for rate, skill in acts])
    journal = Set(told)
    return run_results(RunEvidence(journal.lines, journal.load, journal.blob), METRICS)


def test_scores_by_the_value_of_a_setting() -> None:
    run = with_settings(("0.1", 0.5), ("0.1", 0.6), ("0.2", 0.9), ("0.3", 0.01))
    (row,) = tables([run]).settings
    scores = [part.score for part in run.part.iterations]
    assert row.setting == "lr"
    assert [(group.least, group.greatest) for group in row.groups] == [(0.1, 0.1), (0.2, 0.2), (0.3, 0.3)]
    assert [group.mean for group in row.groups] == [pytest.approx(mean(scores[:2])), pytest.approx(scores[2]), None]
    assert [(group.graded, group.failed, group.best) for group in row.groups] == [
        (2, 0, False),
        (1, 0, True),
        (0, 1, False),
    ]


def test_many_values_of_a_setting_are_put_together_with_their_neighbours() -> None:
    run = with_settings(*((f"0.{digit}", 0.5) for digit in range(1, 9)))
    (row,) = tables([run]).settings
    assert len(row.groups) == 6
    assert sum(group.graded for group in row.groups) == 8
    assert all(a.greatest < b.least for a, b in pairwise(row.groups))


def test_methods_count_where_the_code_in_force_has_them() -> None:
    (row,) = tables([results(Told((SFT, BOTH, CRASH)))]).methods
    (tried,) = row.methods
    assert (tried.method, tried.submissions, tried.sound, tried.stable) == ("GRPO", 2, 1, Stability.PARTLY)
    assert row.best_route == "SFT+RL"
    assert tables([results(Told((SFT,)))]).methods == []
    (sound,) = tables([results(Told((BOTH,)))]).methods[0].methods
    (broken,) = tables([results(Told((Act(0.5, "torch_grpo", crash="oom"),)))]).methods[0].methods
    assert (sound.stable, broken.stable) == (Stability.YES, Stability.NO)


def test_behaviour_adds_up_over_runs_and_what_is_unknown_stays_so() -> None:
    told = Told((SFT, BOTH), tokens=True)
    (row,) = tables([results(told), results(Told((SFT, BOTH), seed=1, tokens=True))]).behaviour
    assert (row.runs, row.submissions, row.rollbacks, row.calls) == (2, 4, 0, None)
    assert (row.input_tokens, row.cache_tokens, row.output_tokens) == (80_000, 20_000, 8_000)
    assert (row.cached, row.cost_usd) == (pytest.approx(0.2), pytest.approx(0.08))
    (mixed,) = tables([results(told), results(Told((SFT,), seed=1))]).behaviour
    assert (mixed.input_tokens, mixed.cost_usd) == (None, None)


def test_calls_are_counted_where_a_broker_did() -> None:
    journal = PostTrainingJournal(Told((SFT, BOTH), tokens=True))
    lines = journal.lines
    for line in lines:
        if line["kind"] == "agent.usage":
            line["data"]["source"] = "broker"
    run = run_results(RunEvidence(lines, journal.load, journal.blob), METRICS)
    assert tables([run]).behaviour[0].calls == run.part.process.calls == 2


def test_code_that_becomes_again_what_it_was_is_a_rollback() -> None:
    # The sample's file is the same text, so that the third revision is the first one again.
    class Back(PostTrainingJournal):
        def _do(self, act: Act) -> None:
            self.code = {}
            super()._do(act)

    journal = Back(Told((SFT, BOTH, SFT)))
    run = run_results(RunEvidence(journal.lines, journal.load, journal.blob), METRICS)
    assert tables([run]).behaviour[0].rollbacks == 1


def test_tables_are_on_every_page_and_in_files(tmp_path: Path) -> None:
    runs = [results(Told((SFT, CRASH, BOTH), seed=s, tokens=True, more={"structure": STRUCTURE})) for s in range(2)]
    runs.append(with_settings(("0.1", 0.5), ("0.2", 0.9)))
    suite = suite_results(runs, lambda _: METRICS)
    page = suite_page(suite, runs, REPORT)
    document, plain = Page(html.render(page)), markdown.render(page)
    for title in ("Outcomes and fixed budgets", "How agents worked", "Settings and methods", "What the tasks ask for"):
        assert title in document.text
        assert f"## {title}" in plain
    assert "A mean has an interval from six runs on" in document.text
    assert ["arithmetic", "L1", "2", "1", "4", "1"] in [[cell.strip() for cell in row] for row in document.rows]
    assert ["lr", "0.1"] in [[cell.strip() for cell in row[2:4]] for row in document.rows]
    write_reports(tmp_path, suite, runs, REPORT)
    for name in ("outcomes.csv", "budgets.csv", "behaviour.csv", "settings.csv", "methods.csv"):
        assert (tmp_path / "tables" / name).exists(), name
