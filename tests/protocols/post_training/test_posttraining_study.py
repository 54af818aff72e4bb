from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocols.post_training.posttraining_journals import Act, Told, results

from heredity.analysis.suite_results import suite_results
from heredity.protocols.post_training.analysis.study import pass_at_k
from heredity.protocols.post_training.protocol import METRICS
from heredity.protocols.post_training.suite_results import TrainingSuiteResults
from heredity.results.base import Unknown, read
from heredity.results.suite import SuiteResults


def study(scenarios: Sequence[Told]) -> TrainingSuiteResults:
    suite = suite_results([results(scenario) for scenario in scenarios], lambda _: METRICS)
    assert read(suite.model_dump(mode="json"), SuiteResults, TrainingSuiteResults).part == suite.part
    return suite.part


GOOD, BAD = (Act(0.8, "torch_sft"),), (Act(0.3, "torch_grpo"),)


def test_a_suite_without_post_training_has_none() -> None:
    assert suite_results([], lambda _: METRICS).part is None


def test_entries_are_agents_on_tasks_over_seeds() -> None:
    suite = study([Told(GOOD, seed=s, tasks=100) for s in range(3)] + [Told(BAD, "other", tasks=100)])
    first, second = suite.entries
    assert (first.evolver, first.runs, first.success.beyond_noise) == ("reference", 3, 3)
    assert first.graded.cases == 300
    assert first.graded.difference == pytest.approx(first.improvement)
    assert (first.heldout.evolvers.verdict, first.heldout.candidates.verdict) == ("cannot tell yet", "better")
    assert (second.routes, second.success.improved) == ({"GRPO": 1}, 0)
    assert second.failures == {"reward/data design failure": 1}


def test_of_six_runs_an_agent_can_be_told_apart() -> None:
    (entry,) = study([Told(GOOD, seed=s, tasks=60) for s in range(6)]).entries
    assert (entry.heldout.evolvers.verdict, entry.heldout.evolvers.unit) == ("better", "run")


def test_of_a_run_that_submits_nothing_nothing_is_known() -> None:
    (entry,) = study([Told((), tasks=50)]).entries
    assert (entry.improvement, entry.pass_at_k, entry.graded, entry.heldout) == (None, [], None, None)
    assert (entry.runs, entry.ungraded, entry.success.runs) == (1, 1, 0)
    assert results(Told((), tasks=50)).heldout is None


def test_a_run_that_submits_the_base_model_gains_nothing() -> None:
    (entry,) = study([Told((Act("base"),), tasks=50)]).entries
    assert (entry.improvement, entry.ungraded) == (0.0, 0)
    assert (entry.graded.difference, entry.heldout.difference) == (0.0, 0.0)


def test_runs_that_grade_nothing_are_counted_and_left_out_of_the_mean() -> None:
    both = study([Told(GOOD, seed=0, tasks=100), Told((), seed=1, tasks=100)]).entries[0]
    alone = study([Told(GOOD, seed=0, tasks=100)]).entries[0]
    for more, fewer in ((both.graded, alone.graded), (both.heldout, alone.heldout)):
        assert (more.difference, more.runs, more.candidates.ci) == (fewer.difference, fewer.runs, fewer.candidates.ci)
        assert (fewer.candidates.because, more.candidates.because) == (None, Unknown.MISSING), "half of it is not known"
    assert (both.runs, both.ungraded, alone.ungraded) == (2, 1, 0)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=7))
def test_pass_at_k_is_the_mean_of_the_best_over_all_choices(gains: list[float]) -> None:
    for row in pass_at_k(gains):
        chosen = list(combinations(gains, row.k))
        assert row.improvement == pytest.approx(sum(map(max, chosen)) / len(chosen), abs=1e-9)
        assert row.success == pytest.approx(sum(max(c) > 0 for c in chosen) / len(chosen), abs=1e-9)


def test_modes_of_an_agent_are_entries_of_their_own_and_a_heatmap() -> None:
    suite = study(
        [
            Told(GOOD, mode="sft-only", tasks=100),
            Told(BAD, mode="rl-only", tasks=100),
            Told(GOOD, mode="sft-only", task="game", level="L3", tasks=100),
        ]
    )
    assert [e.evolver for e in suite.entries] == [
        "reference (mode=sft-only)",
        "reference (mode=rl-only)",
        "reference (mode=sft-only)",
    ]
    cells = {(c.mode, c.task): c for c in suite.heatmap}
    assert cells["sft-only", "posttraining/arithmetic"].best
    assert cells["rl-only", "posttraining/arithmetic"].worst
    assert not cells["sft-only", "posttraining/game"].best, "there is no other mode to be better than"


def test_a_run_of_several_tasks_counts_for_each() -> None:
    tasks = [{"name": "a", "task_indices": list(range(50))}, {"name": "b", "task_indices": list(range(50, 100))}]
    suite = study([Told(GOOD), Told(GOOD, mode="multi-task", tasks=100, more={"tasks": tasks})])
    assert {e.evolver for e in suite.entries} == {"reference"}, "several tasks are no other agent"
    assert [(c.mode, c.task) for c in suite.heatmap] == [
        ("free", "posttraining/arithmetic"),
        ("multi-task", "a"),
        ("multi-task", "b"),
    ]


def test_scaling_over_seeds_has_a_band_and_leaves_out_runs_without_a_score() -> None:
    scaling = study([Told(GOOD, seed=0), Told(BAD, seed=1), Told((), seed=2)]).scaling
    assert scaling.tokens == []
    (row,) = scaling.time
    at, average, low, high = row.points[-1]
    assert (at, low) == (63.0, 0.0)
    assert average == pytest.approx(high / 2)


def test_competence_that_does_not_carry_over_is_a_shortcut() -> None:
    static = Told(GOOD, tasks=100)
    stuck = Told((Act(0.35, "several_files"),), task="game", level="L3", tasks=100)
    (shortcut,) = study([static, stuck]).shortcuts
    assert (shortcut.improved, shortcut.failed) == (["posttraining/arithmetic"], ["posttraining/game"])
    carried = Told((Act(0.9, "several_files"),), task="game", level="L3", tasks=100)
    assert study([static, stuck, carried]).shortcuts == []
    assert study([static]).shortcuts == []


def test_a_run_has_its_part_and_its_gain_beside_it() -> None:
    run = results(Told(GOOD))
    assert run.part.mode == "free"
    assert run.reference.name == "base"
    assert run.gain.difference == run.part.heldout.gain.difference
