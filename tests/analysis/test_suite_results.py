from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.analysis.analysis_journals import JournalBuilder, controller

from heredity._core.ids import generator
from heredity.analysis.contract import Metrics, RunEvidence
from heredity.analysis.paired import compare_cases, compare_runs
from heredity.analysis.run_results import run_results
from heredity.analysis.suite_comparisons import sequential_look
from heredity.analysis.suite_results import suite_results
from heredity.analysis.suite_table import taskset_scores
from heredity.pages.report.sentences import suite_caution
from heredity.protocols.policy_evolution.protocol import METRICS
from heredity.results.base import COVERAGE, Unknown
from heredity.results.report import Words
from heredity.results.run import RunResults, RunStatus
from heredity.results.suite import AbsentRun, SuiteResults

REFERENCE = "random policy"
RANDOM = {"gymnasium/Acrobot-v1": -499.0, "gymnasium/CartPole-v1": 22.0}
LEVELS = {"strong": 0.9, "middling": 0.5, "weak": 0.1}
SPANS = {"gymnasium/Acrobot-v1": 400.0, "gymnasium/CartPole-v1": 450.0}
GROUPS = {"gymnasium/Acrobot-v1": "tuning", "gymnasium/CartPole-v1": "synthesis"}


def policies(protocol: str | None) -> Metrics:
    return METRICS


def results_of(builder: JournalBuilder) -> RunResults:
    return run_results(RunEvidence(builder.events, builder.store.__getitem__), METRICS)


def suite_of(runs: list[RunResults]) -> SuiteResults:
    return suite_results(runs, policies)


def one_run(evolver: str, taskset: str, seed: int, level: float, *, spread: float = 0.02, **fields: Any) -> RunResults:
    rng = generator(seed, "suite", evolver, taskset)
    cases = generator(0, "cases", taskset).normal(0.0, 0.05, 32)
    unit, floor = SPANS[taskset], RANDOM[taskset]
    builder = JournalBuilder(evolver=evolver, taskset=taskset, seed=seed, group=GROUPS[taskset], **fields)
    for step in range(3):
        builder.submit(controller(float(step), 1.0))
    heldout = floor + unit * (level + rng.normal(0.0, spread) + cases + rng.normal(0.0, 0.01, 32))
    random = floor + unit * cases
    builder.judge({1: 0.1, 2: 0.3, 3: 0.2}, heldout.tolist(), random.tolist())
    return results_of(builder)


@pytest.fixture(scope="module")
def runs() -> list[RunResults]:
    return [
        one_run(evolver, taskset, seed, level)
        for evolver, level in LEVELS.items()
        for taskset in RANDOM
        for seed in range(3)
    ]


@pytest.fixture(scope="module")
def suite(runs) -> SuiteResults:
    return suite_of(runs)


def row(rows: list[Any], **wanted: Any) -> Any:
    matching = [r for r in rows if all(getattr(r, k) == v for k, v in wanted.items())]
    assert len(matching) == 1, f"{wanted}: {len(matching)} rows"
    return matching[0]


def test_the_leaderboard_orders_evolvers_and_ends_with_the_random_policy(suite):
    assert [r.evolver for r in suite.leaderboard] == ["strong", "middling", "weak", REFERENCE]
    assert [r.rank_score for r in suite.leaderboard] == pytest.approx([1.0, 2 / 3, 1 / 3, 0.0])
    assert row(suite.leaderboard, reference=True).kind == "reference"
    assert (suite.runs, suite.finished, suite.suite_id) == (18, 18, "suite")


def test_normalised_scores_and_their_interquartile_mean_lie_where_they_were_put(suite):
    middling = row(suite.leaderboard, evolver="middling")
    assert middling.iqm == pytest.approx(0.5 / 0.9, abs=0.05)
    assert middling.iqm_ci[0] <= middling.iqm <= middling.iqm_ci[1]
    assert middling.group_scores == pytest.approx({"synthesis": 0.55, "tuning": 0.55}, abs=0.06)
    assert row(suite.leaderboard, evolver="strong").group_scores == {"synthesis": 1.0, "tuning": 1.0}


def test_cells_carry_means_intervals_ranks_and_seeds(suite):
    cell = row(row(suite.tasksets, taskset="gymnasium/Acrobot-v1").cells, evolver="strong")
    assert (cell.rank, cell.rank_score, cell.normalised) == (1, 1.0, 1.0)
    assert cell.mean == pytest.approx(-499 + 400 * 0.9, abs=15)
    assert cell.ci[0] < cell.mean < cell.ci[1]
    assert [s.seed for s in cell.seeds] == [0, 1, 2]
    assert cell.mean == pytest.approx(np.mean([s.mean for s in cell.seeds]))
    assert (cell.cases, cell.missing) == (96, 0)


def test_clear_differences_are_called_better_and_pairs_are_counted(suite):
    comparison = row(suite.comparisons.suite, a="strong", b="weak")
    assert (comparison.evolvers.verdict, comparison.candidates.verdict) == ("better", "better")
    assert (comparison.evolvers.unit, comparison.candidates.unit) == ("run", "case")
    assert (comparison.pairs, comparison.cases, comparison.unpaired) == (6, 192, 0)
    assert comparison.difference == pytest.approx(0.8 / 0.9, abs=0.05)
    assert comparison.probability_of_improvement == 1.0
    assert comparison.evolvers.p <= comparison.evolvers.p_holm
    single = row(suite.comparisons.tasksets, taskset="gymnasium/CartPole-v1", a="strong", b="weak")
    assert (single.scale, single.pairs) == ("return", 3)
    assert (single.evolvers.verdict, single.evolvers.p, single.candidates.verdict) == (
        "cannot tell yet",
        None,
        "better",
    )
    assert (single.evolvers.ci, single.evolvers.because, single.evolvers.more_seeds) == (None, Unknown.FEW_SEEDS, 1)
    assert single.more_cost.rollouts == 12.0
    assert single.difference == pytest.approx(450 * 0.8, abs=30)


def test_every_evolver_is_compared_with_the_random_policy(suite):
    assert row(suite.comparisons.suite, a="strong", b=REFERENCE).candidates.verdict == "better"
    assert len(suite.comparisons.suite) == 6
    assert len(suite.comparisons.tasksets) == 12


def test_the_detectable_effect_against_the_random_policy_is_that_of_its_stricter_test():
    runs = [one_run(e, t, s, level) for e, level in LEVELS.items() for t in RANDOM for s in range(6)]
    suite = suite_of(runs)
    tables = [t for t in taskset_scores(runs, [r.evolver.name for r in runs], policies) if t.span("strong")]
    gaps = [(t.cells["strong"].scores - t.references["reference"]) / t.span("strong") for t in tables]
    against = row(suite.comparisons.suite, a="strong", b=REFERENCE)
    assert against.evolvers.mde == pytest.approx(compare_runs(gaps, 3).mde)
    assert against.candidates.mde == pytest.approx(compare_cases(gaps, 3).mde)


def test_two_evolvers_that_differ_by_luck_are_within_noise():
    runs = [
        one_run(evolver, taskset, seed, 0.5, spread=0.1)
        for evolver in ("a", "b")
        for taskset in RANDOM
        for seed in range(4)
    ]
    suite = suite_of(runs)
    (comparison,) = [c for c in suite.comparisons.suite if REFERENCE not in (c.a, c.b)]
    assert comparison.evolvers.verdict == "within noise"
    assert comparison.evolvers.mde > abs(comparison.difference)


def test_the_same_runs_give_the_same_bytes_and_no_value_that_json_lacks(runs, suite):
    assert suite_of(runs).model_dump_json() == suite.model_dump_json()


def test_an_absent_cell_is_listed_and_counts_as_the_last(runs):
    kept = [r for r in runs if (r.evolver.name, r.taskset) != ("middling", "gymnasium/CartPole-v1")]
    suite = suite_of(kept)
    taskset = row(suite.tasksets, taskset="gymnasium/CartPole-v1")
    assert taskset.absent == ["middling"]
    assert taskset.entries == 3
    middling = row(suite.leaderboard, evolver="middling")
    assert (middling.tasksets, middling.absent) == (1, 1)
    assert middling.rank_score == pytest.approx(1 / 3)
    assert middling.rank_score_at_best == pytest.approx(5 / 6)
    (scored,) = (row(t.cells, evolver="middling") for t in suite.tasksets if not t.absent)
    assert middling.group_scores == {"synthesis": 0.0, "tuning": pytest.approx(scored.normalised)}
    assert middling.iqm < scored.normalised
    absent = row(suite.problems, evolver="middling").absent
    assert [one.model_dump() for one in absent] == [
        {"taskset": "gymnasium/CartPole-v1", "seed": seed} for seed in range(3)
    ]


def test_a_missing_seed_pairs_only_what_both_sides_have(runs):
    kept = [r for r in runs if (r.evolver.name, r.seed) != ("weak", 2)]
    comparison = row(suite_of(kept).comparisons.suite, a="strong", b="weak")
    assert (comparison.pairs, comparison.cases, comparison.unpaired) == (4, 128, 64)


def test_an_unfinished_run_counts_as_a_problem_and_not_as_a_score(runs):
    builder = JournalBuilder(evolver="strong", seed=9)
    builder.submit(controller(1.0))
    suite = suite_of([*runs, results_of(builder)])
    problems = row(suite.problems, evolver="strong")
    assert [p.seed for p in problems.unfinished] == [9]
    assert row(suite.leaderboard, evolver="strong").rank_score == 1.0
    assert AbsentRun(taskset="gymnasium/Acrobot-v1", seed=9) not in problems.absent, "it would be listed twice"
    assert AbsentRun(taskset="gymnasium/CartPole-v1", seed=9) in problems.absent


def test_edits_features_and_budgets_are_summed_by_evolver_and_group(suite):
    edits = row(suite.edits, group="tuning", evolver="strong")
    assert edits.parametric.model_dump() == {"n": 6, "hits": 3, "rate": 0.5}
    assert edits.synthesis.model_dump() == {"n": 0, "hits": 0, "rate": None}
    features = row(suite.features, group="synthesis", evolver="weak")
    assert (features.runs, features.functions, features.loops) == (3, 3.0, 1.0)
    budget = row(suite.budget, evolver="middling")
    assert (budget.runs, budget.episodes, budget.used, budget.submissions) == (6, 768, 36, 18)
    assert budget.episodes_per_submission == 2.0
    assert budget.cost_usd is None


def test_evolvers_of_one_name_are_told_apart_by_the_options_that_differ():
    runs = [
        one_run("p", "gymnasium/Acrobot-v1", 0, level, options=options)
        for level, options in [(0.9, {"sigma": 0.5, "size": 8}), (0.2, {"sigma": 0.1, "size": 8})]
    ]
    assert suite_of(runs).evolvers == ["p (sigma=0.5)", "p (sigma=0.1)"]


def test_one_run_without_a_reference_has_a_mean_and_no_rank():
    builder = JournalBuilder()
    builder.submit(controller(1.0))
    builder.score("validation", 1, [1.0] * 16)
    builder.select(1)
    builder.score("heldout", 1, [1.0, 2.0, None, 3.0])
    suite = suite_of([results_of(builder)])
    (cell,) = suite.tasksets[0].cells
    assert (cell.mean, cell.rank, cell.rank_score, cell.normalised, cell.missing) == (
        2.0,
        1,
        None,
        None,
        1,
    )
    assert suite.leaderboard[0].rank_score is None
    assert suite.leaderboard[0].iqm is None
    assert suite.comparisons.model_dump() == {"suite": [], "tasksets": []}


def test_a_suite_of_no_runs_is_empty():
    suite = suite_of([])
    assert (suite.runs, suite.leaderboard, suite.tasksets) == (0, [], [])


def test_nobody_beating_random_leaves_the_suite_scale_undefined():
    suite = suite_of([one_run("a", "gymnasium/Acrobot-v1", s, -0.3) for s in range(2)])
    assert row(suite.leaderboard, evolver="a").group_scores == {"tuning": 0.0}
    assert suite.comparisons.suite == []
    assert row(suite.comparisons.tasksets, b="a").candidates.verdict == "better"


@pytest.mark.parametrize(("failed", "coverage", "told"), [(0, 0.9, True), (1, 0.9, False), (1, 0.8, True)])
def test_runs_without_a_score_are_missing_from_what_verdicts_ask_for(failed: int, coverage: float, told: bool) -> None:
    taskset = "gymnasium/CartPole-v1"
    asked = {} if coverage == COVERAGE else {"coverage": coverage}
    runs = [
        one_run(evolver, taskset, seed, level, **asked)
        for evolver, level in (("strong", 0.9), ("weak", 0.1))
        for seed in range(8)
    ]
    runs[:failed] = [run.model_copy(update={"heldout": None, "status": RunStatus.FAILED}) for run in runs[:failed]]
    results = suite_of(runs)
    compared = row(results.comparisons.tasksets, a="strong", b="weak")
    assert (results.coverage, compared.pairs) == (coverage, 8 - failed)
    for claim in (compared.evolvers, compared.candidates):
        assert (claim.verdict, claim.because) == (("better", None) if told else ("cannot tell yet", Unknown.MISSING))
    caution = suite_caution(results, Words())
    assert ("views.coverage" in caution) is not told


def test_a_sequence_is_not_decided_by_the_seeds_that_happened_to_be_scored() -> None:
    taskset = "gymnasium/CartPole-v1"
    runs = [
        one_run(evolver, taskset, s, level) for evolver, level in (("strong", 0.9), ("weak", 0.1)) for s in range(16)
    ]
    labels = [str(run.evolver.name) for run in runs]
    look, _ = sequential_look(taskset_scores(runs, labels, policies), ("strong", "weak"))
    assert look.decided
    short = [run.model_copy(update={"heldout": None}) if run.seed in (3, 9) else run for run in runs[:16]]
    look, _ = sequential_look(taskset_scores([*short, *runs[16:]], labels, policies), ("strong", "weak"))
    assert (look.seeds, look.p <= 0.05, look.decided) == (14, True, False)
