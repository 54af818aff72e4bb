from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from tests.protocols.harness_evolution.analysis.journals import HarnessJournal, Told

from heredity.analysis.suite_results import suite_results
from heredity.pages.report import markdown
from heredity.pages.report.suite_page import suite_page
from heredity.protocols.harness_evolution.protocol import METRICS, REPORT, harness_study
from heredity.protocols.harness_evolution.results import Collapsed, GateCounts, HarnessSuiteResults, SpentPart
from heredity.results.base import MissingBounds, Unknown
from heredity.results.run import RunResults

REASON = "middleware/guard.py: after_model gave None, and a Reply was expected"


def run(design: Told) -> RunResults:
    return HarnessJournal(design).results()


@cache
def runs(seeds: int = 2) -> tuple[RunResults, ...]:
    designs: list[Told] = []
    for seed in range(seeds):
        designs += [
            Told("ace", seed),
            Told("static", seed, (0.3, None, None, None, None)),
            Told("ahe", seed, (0.6, 0.7, 0.7, 0.7, 0.8), broken=(3,)),
            Told("ahe", seed, (0.6, 0.7, 0.7, None, 0.8), gate=True, refusals={3: REASON}, models=("other/model",)),
        ]
    return tuple(map(run, designs))


def study(results: tuple[RunResults, ...]) -> HarnessSuiteResults:
    part = suite_results(results, lambda protocol: METRICS).part
    assert isinstance(part, HarnessSuiteResults)
    return part


def test_suites_of_other_protocols_have_no_study() -> None:
    plain = run(Told()).model_copy(update={"part": None})
    assert harness_study([plain], ["x"]) is None


def test_runs_that_differ_in_their_schedule_are_told_apart() -> None:
    assert [m.evolver for m in study(runs()).methods] == ["ace", "static", "ahe (gate=off)", "ahe (gate=on)"]


def test_a_methods_gain_is_the_mean_over_its_runs_of_its_tasks() -> None:
    method = study(runs()).methods[0]
    row = next(m for m in method.measures if (m.measure, m.of) == ("IDG", "final"))
    gains = [r.gain.difference for r in runs() if r.evolver.name == "ace"]
    assert [run_row.gain for run_row in row.runs] == pytest.approx(gains)
    assert row.mean == pytest.approx(np.mean(gains))
    assert (row.evolvers.verdict, row.candidates.verdict, row.tasks) == ("cannot tell yet", "better", 16)
    assert row.candidates.ci[0] < row.mean < row.candidates.ci[1]


def test_what_is_missing_of_one_run_bounds_the_gain_of_the_method() -> None:
    first, second = (r for r in runs() if r.evolver.name == "ace")
    lacking = MissingBounds(low=-0.5, high=0.5, declared=True)
    rows = [
        row.model_copy(update={"if_missing": lacking}) if (row.metric, row.of) == ("IDG", "final") else row
        for row in first.part.transfer
    ]
    short = first.model_copy(update={"part": first.part.model_copy(update={"transfer": tuple(rows)})})
    measures = study((short, second)).methods[0].measures
    row = next(m for m in measures if (m.measure, m.of) == ("IDG", "final"))
    whole = row.runs[1].gain
    assert (row.if_missing.low, row.if_missing.high) == pytest.approx(((whole - 0.5) / 2, (whole + 0.5) / 2))
    assert all(m.if_missing is None for m in measures if m is not row)
    suite = suite_results((short, second), lambda protocol: METRICS)
    page = markdown.render(suite_page(suite, [short, second], REPORT))
    assert page.count("including missing scores") >= 1


@pytest.mark.parametrize(("seeds", "told"), [(4, False), (5, True)])
def test_what_a_method_gains_takes_five_runs(seeds: int, told: bool) -> None:
    row = study(tuple(run(Told("ace", seed)) for seed in range(seeds))).methods[0].measures[0]
    assert (row.measure, row.view, len(row.runs)) == ("UVG", "update_validation", seeds)
    assert (row.evolvers.unit, row.candidates.unit) == ("run", "case")
    assert (row.evolvers.verdict != "cannot tell yet", row.evolvers.p is not None) == (told, told)
    assert row.candidates.verdict == "better"


@cache
def pairs(seeds: int) -> tuple[tuple[RunResults, RunResults], ...]:
    still = 0.3, None, None, None, None
    return tuple((run(Told("ace", seed)), run(Told("static", seed, still))) for seed in range(seeds))


def lacking(result: RunResults, places: range) -> RunResults:
    """Return a run of whose last harness some held-out scores in distribution are missing."""
    table = result.part.paired["id"]
    final = tuple(None if i in places else score for i, score in enumerate(table.scores["final"]))
    short = table.model_copy(update={"scores": {**table.scores, "final": final}})
    return result.model_copy(
        update={"part": result.part.model_copy(update={"paired": {**result.part.paired, "id": short}})}
    )


@pytest.mark.parametrize(("missing", "coverage", "told"), [(4, 0.9, False), (4, 0.75, True), (1, 0.9, True)])
def test_a_method_of_which_too_little_is_known_is_not_judged(missing: int, coverage: float, told: bool) -> None:
    # Other tasks in each run, so that every task has a score in some.
    first = [lacking(ace, range(i * missing % 12, i * missing % 12 + missing)) for i, (ace, _) in enumerate(pairs(6))]
    results = [r.model_copy(update={"coverage": coverage}) for r in (*first, *(static for _, static in pairs(6)))]
    part = study(tuple(results))
    row = next(m for m in part.methods[0].measures if (m.measure, m.of) == ("IDG", "final"))
    compared = next(c for c in part.comparisons if (c.measure, c.of) == ("IDG", "final"))
    for claim in (row.evolvers, row.candidates, compared.evolvers, compared.candidates):
        assert (claim.verdict != "cannot tell yet", claim.because) == (told, None if told else Unknown.MISSING)
    whole = next(m for m in part.methods[0].measures if m.measure == "OODG")
    assert whole.evolvers.because is None, "another view, of which all is known"


def test_a_run_that_came_to_nothing_counts_as_missing() -> None:
    first, *others = (ace for ace, _ in pairs(6))
    nothing = first.model_copy(update={"part": first.part.model_copy(update={"paired": {}})})
    row = study((nothing, *others)).methods[0].measures[0]
    assert (row.candidates.because, len(row.runs)) == (Unknown.MISSING, 5)


def test_gains_with_programs_in_a_models_place_are_shown_and_not_tested() -> None:
    designs = [Told(name, s, execution="offline/shell-worker") for s in range(2) for name in ("ace", "ahe")]
    results = suite_results(tuple(map(run, designs)), lambda protocol: METRICS)
    assert (results.ranked, results.comparisons.suite) == (False, [])
    assert "offline/shell-worker is a program" in results.unranked_because
    part = results.part
    assert {(m.evolvers, m.candidates) for method in part.methods for m in method.measures} == {(None, None)}
    assert all(m.mean for method in part.methods for m in method.measures if m.measure == "IDG")
    assert (part.comparisons, [effect.gains for effect in part.gate]) == ((), [])


def test_where_runs_replay_different_tasks_each_task_counts_alike() -> None:
    methods = study(runs(3)).methods
    for method in methods:
        for row in method.measures:
            low, high = row.candidates.ci
            assert low - 1e-9 <= row.mean <= high + 1e-9, row


def test_a_method_that_changes_nothing_gains_and_forgets_nothing() -> None:
    method = next(m for m in study(runs()).methods if m.evolver == "static")
    assert {row.mean for row in method.measures} == {0.0}
    assert {row.forgetting for row in method.measures if row.measure == "FR"} == {0.0}


def test_methods_are_compared_under_the_same_batches_only() -> None:
    comparisons = study(runs()).comparisons
    pairs = {(row.a, row.b) for row in comparisons}
    assert pairs == {("ace", "static"), ("ace", "ahe (gate=off)"), ("static", "ahe (gate=off)")}
    row = next(r for r in comparisons if (r.a, r.b, r.measure, r.of) == ("ace", "static", "IDG", "final"))
    ace = [r.gain.difference for r in runs() if r.evolver.name == "ace"]
    assert row.difference == pytest.approx(np.mean(ace)), "static gains nothing"
    assert (row.pairs, row.tasks, row.unpaired) == (2, 16, 0)
    assert (row.evolvers.verdict, row.candidates.unit) == ("cannot tell yet", "case")


def test_runs_without_a_partner_are_counted_and_left_out() -> None:
    comparisons = study((*runs(), run(Told("ace", 7)))).comparisons
    row = next(r for r in comparisons if (r.a, r.b) == ("ace", "static"))
    assert (row.pairs, row.unpaired) == (2, 1)


def test_the_gate_is_compared_with_its_absence() -> None:
    suite = study(runs())
    (gate,) = suite.gate
    assert (gate.on, gate.off) == ("ahe (gate=on)", "ahe (gate=off)")
    assert {(row.a, row.b) for row in gate.gains} == {("ahe (gate=on)", "ahe (gate=off)")}
    methods = {m.evolver: m for m in suite.methods}
    assert methods["ahe (gate=off)"].collapsed == Collapsed(runs=2, snapshots=2, whole=2, unrecovered=0)
    assert methods["ahe (gate=on)"].collapsed.snapshots == 0
    assert methods["ahe (gate=on)"].gate == GateCounts(proposed=8, refused=2)


def test_settings_that_are_varied_make_a_sweep_in_their_order() -> None:
    designs = [
        Told("ace", s, skill, batch_size=b) for s in range(2) for b, skill in ((10, (0.3, 0.5)), (5, (0.3, 0.4, 0.5)))
    ]
    designs += [Told("ace", 0, (0.3, 0.4, 0.5), sources=("quiz",), taskset="tasks/quiz")]
    whole = study(tuple(map(run, designs)))
    assert [(s.key, [(e.value, e.runs) for e in s.entries]) for s in whole.sweeps] == [
        ("batch_size", [(5, 2), (10, 2)]),
        ("sources", [("quiz", 1), ("quiz+shell-tasks", 2)]),
    ]
    assert [m.evolver for m in whole.methods] == ["ace (batch_size=10)", "ace (batch_size=5)"]
    swept, method = whole.sweeps[0].entries[1], whole.methods[0]
    assert [(m.view, m.mean, m.runs) for m in swept.measures] == [(m.view, m.mean, m.runs) for m in method.measures]


def test_evolvers_that_are_named_by_a_setting_are_of_one_family() -> None:
    designs = [Told("ahe-gate=true", gate=True), Told("ahe-gate=false"), Told("ahe-gate=false-0.5")]
    designs += [Told("ace-batch_size=5"), Told("ace-batch_size=10", batch_size=10)]
    suite = study(tuple(map(run, designs)))
    assert [(gate.on, gate.off) for gate in suite.gate] == [("ahe-gate=true", "ahe-gate=false")]
    assert [(s.evolver, [e.value for e in s.entries]) for s in suite.sweeps] == [("ace", [5, 10])]


def test_harnesses_are_shown_by_the_model_they_evolved_under_and_those_that_drive_them() -> None:
    rows = study(runs()).cross_model
    assert [(row.view, row.evolved, [c.model for c in row.cells]) for row in rows] == [
        ("id", "own/worker", ["own/worker", "other/model"]),
        ("ood", "own/worker", ["own/worker", "other/model"]),
    ]
    gated = [r for r in runs() if r.part.plan.gate]
    home, other = rows[0].cells
    assert home.difference == pytest.approx(np.mean([r.gain.difference for r in gated]))
    assert pytest.approx(np.mean([r.part.cross_model["other/model"]["id"].A_T for r in gated])) == other.A_T


def test_what_a_run_does_not_know_of_its_cost_is_missing() -> None:
    priced, unknown = (study((run(Told(costs=costs)),)).methods[0].spent for costs in (True, False))
    assert priced.train.tokens == 20 * 1050 + 5 * 100 * (0 + 1 + 2 + 3)
    assert priced.update == SpentPart(tokens=4 * 980.0, wall_time=None, cost_usd=None)
    assert unknown.train == SpentPart(tokens=None, wall_time=None, cost_usd=None)


def test_unfinished_runs_may_be_among_them() -> None:
    suite = study((*runs(), run(Told("ace", 1, finished=False))))
    assert next(m for m in suite.methods if m.evolver == "ace").runs == 3
