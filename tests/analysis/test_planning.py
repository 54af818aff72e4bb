from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.analysis.analysis_journals import JournalBuilder, controller
from tests.analysis.test_suite_results import one_run, policies

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.analysis.anytime import components
from heredity.analysis.paired import compare_runs
from heredity.analysis.planning import Pilot, RunCost, Wanted, plan, run_cost
from heredity.analysis.power import Question, detectable, least_seeds, power, seeds_needed
from heredity.analysis.run_record import read_run
from heredity.analysis.suite_table import taskset_scores
from heredity.pages.report.plan_page import sentences
from heredity.results.suite import Amount, Scale

TRUE = (2.0, 1.0, 0.5)
"""Standard deviations: seed, case, residual."""


def crossed(rng: np.random.Generator, seeds: int, cases: int, deviations: tuple[float, ...] = TRUE) -> np.ndarray:
    seed, case, residual = deviations
    return (
        rng.normal(0.0, seed, (seeds, 1))
        + rng.normal(0.0, case, (1, cases))
        + rng.normal(0.0, residual, (seeds, cases))
    )


def test_components_of_crossed_scores_are_recovered_and_their_intervals_hold_them() -> None:
    rng = generator(0, "components")
    found = [c for _ in range(200) if (c := components(crossed(rng, 8, 20)))]
    for name, deviation in zip(("seed", "case", "residual"), TRUE, strict=True):
        values = [getattr(c, name) for c in found]
        error = np.std(values) / np.sqrt(len(values))
        assert np.mean(values) == pytest.approx(deviation**2, abs=4 * error)
        held = np.mean([c.interval(name)[0] <= deviation**2 <= c.interval(name)[1] for c in found])
        assert held >= 0.90


def test_components_scale_with_the_square_of_the_scores_and_ignore_what_is_missing() -> None:
    scores = crossed(generator(1, "components"), 6, 12)
    one, large = components(scores), components(scores * 1e120)
    assert one is not None
    assert large is not None
    assert large.seed == pytest.approx(one.seed * 1e240)
    holed = np.vstack([scores, np.full((1, 12), np.nan)])
    assert (components(holed) or one).seed == one.seed
    with pytest.raises(ConfigError, match="a variance that overflows"):
        components(scores * 1e200)
    assert components(scores[:1]) is None
    assert components(scores[:, :1]) is None


@pytest.mark.parametrize(
    ("deviations", "seeds", "cases", "effect", "tests"),
    [((1.0, 0.5, 0.5), 8, 16, 1.2, 1), ((0.5, 2.0, 1.0), 8, 10, 2.0, 3), ((0.1, 0.1, 1.0), 6, 10, 0.5, 1)],
)
def test_power_is_that_of_the_test_that_comparisons_run(
    deviations: tuple[float, float, float], seeds: int, cases: int, effect: float, tests: int
) -> None:
    rng, suites = generator(2, "power", seeds, cases), 600
    own = [d / 2**0.5 for d in deviations]
    sides = [(effect + crossed(rng, seeds, cases, own), crossed(rng, seeds, cases, own)) for _ in range(suites)]
    compared = [compare_runs([a - b], sides=[(a, b)]) for a, b in sides]
    found = np.mean([c is not None and c.p is not None and c.p <= 0.05 / tests for c in compared])
    stated = power(Question([tuple(d**2 for d in deviations)], effect, tests), seeds, cases)
    assert stated == pytest.approx(found, abs=0.06)


def test_seeds_that_are_needed_are_the_fewest_with_the_power_and_the_detectable_effect_is_its_inverse() -> None:
    question = Question([(1.0, 0.2, 0.3)], 0.9, 3)
    seeds = seeds_needed(question, 32, 0.8)
    assert seeds is not None
    assert power(question, seeds, 32) >= 0.8 > power(question, seeds - 1, 32)
    smallest = detectable(question, seeds, 32, 0.8)
    assert smallest <= 0.9
    assert power(Question(question.tasksets, smallest, 3), seeds, 32) == pytest.approx(0.8, abs=0.001)
    assert seeds_needed(Question([(1.0, 4.0, 0.3)], 0.3, 1), 8, 0.8) is None, (
        "no number of seeds makes up for few cases"
    )
    assert [least_seeds(n) for n in (1, 2, 3, 9)] == [4, 3, 3, 3]


def pilot(seeds: int = 4, tasksets: tuple[str, ...] = ("gymnasium/CartPole-v1",)) -> Pilot:
    evolvers = {"strong": 0.6, "weak": 0.5}
    runs = [
        one_run(e, t, s, level, spread=0.2) for e, level in evolvers.items() for t in tasksets for s in range(seeds)
    ]
    scores = taskset_scores(runs, [str(run.evolver.name) for run in runs], policies)
    seed = Amount(rollouts=100.0, seconds=60.0, tokens=1000.0, cost_usd=0.5)
    case = Amount(rollouts=1.0, seconds=2.0, tokens=None, cost_usd=0.01)
    return Pilot(scores, {(t, e): [RunCost(seed, case)] * seeds for t in tasksets for e in evolvers})


def test_a_plan_names_the_cheapest_of_the_designs_that_reach_the_power_and_what_it_costs() -> None:
    made = plan(pilot(), Wanted(("strong", "weak"), effect=150.0))
    aim = made.aims[0]
    able = [d for d in aim.designs if d.seeds is not None]
    best = next(d for d in able if d.cheapest)
    assert best.cost is not None
    assert best.power is not None
    assert best.power_ci is not None
    assert all(d.power is not None and d.power >= 0.8 for d in able)
    assert best.cost.cost_usd == min(d.cost.cost_usd for d in able if d.cost)
    assert best.cost.cost_usd == pytest.approx(best.seeds * 2 * (0.5 + 0.01 * best.cases))
    assert best.cost.tokens is None, "unknown stays unknown"
    assert best.power_ci[0] <= best.power <= best.power_ci[1]
    assert (made.scale, made.tests, made.pilot_seeds, made.pilot_cases) == (Scale.RETURN, 1, 4, 32)
    assert {(r.entry, r.against) for r in made.components} == {("strong", None), ("weak", None), ("strong", "weak")}


def test_without_an_effect_a_plan_is_for_the_smallest_that_the_pilot_s_size_finds() -> None:
    made = plan(pilot(), Wanted(("strong", "weak")))
    assert made.detectable <= made.aims[0].effect <= made.detectable * 1.1
    design = next(d for d in made.aims[0].designs if d.cases == made.pilot_cases)
    assert design.seeds == least_seeds(1)


def test_over_several_tasksets_a_plan_is_in_normalised_scores_and_on_one_in_its_own() -> None:
    both = pilot(tasksets=("gymnasium/CartPole-v1", "gymnasium/Acrobot-v1"))
    whole, single = (
        plan(both, Wanted(("strong", "weak"))),
        plan(both, Wanted(("strong", "weak"), "gymnasium/Acrobot-v1")),
    )
    assert (whole.scale, whole.tests, len(whole.tasksets)) == (Scale.NORMALISED, 1, 2)
    assert (single.scale, single.tests, single.tasksets) == (Scale.RETURN, 2, ["gymnasium/Acrobot-v1"])
    assert any(row.taskset is None and row.scale is Scale.NORMALISED for row in whole.components)
    assert whole.cost_per_seed.cost_usd == pytest.approx(2 * (single.cost_per_seed.cost_usd or 0.0))


def test_a_pilot_of_one_seed_cannot_be_planned_by() -> None:
    with pytest.raises(ConfigError, match=r"1 paired seeds.*run\.seeds=4"):
        plan(pilot(seeds=1), Wanted(("strong", "weak")))


def test_the_cost_of_a_run_is_told_apart_into_seed_and_case() -> None:
    builder = JournalBuilder(evolver="strong", taskset="gymnasium/CartPole-v1", seed=0, group="synthesis")
    builder.submit(controller(1.0, 1.0))
    builder.judge({1: 0.1}, [1.0, 2.0], [0.0, 0.0])
    record = read_run(builder.events)
    cost = run_cost(record)
    views = {(d["view"], d["candidate"]): d for d in record.scored.values()}
    judged = {view: data for (view, _), data in views.items()}
    charged = sum(s.charge for s in record.submissions.values())
    assert cost.case.rollouts == 1.0
    assert cost.case.seconds == pytest.approx(judged["heldout"]["seconds"] / 2)
    assert cost.seed.rollouts == charged + len(judged["validation"]["scores"])
    assert (cost.seed.tokens, cost.seed.cost_usd) == (0.0, 0.0), "no model was called"
    outside = JournalBuilder(evolver="codex")
    outside.events[0]["data"]["evolver"]["kind"] = "agent"
    assert run_cost(read_run(outside.events)).seed.tokens is None, "an agent whose account is unknown"


def test_where_cases_are_drawn_together_a_plan_counts_and_pays_for_clusters() -> None:
    runs = [one_run(e, "gymnasium/Acrobot-v1", s, v) for e, v in (("a", 0.6), ("b", 0.5)) for s in range(4)]
    (apart,) = taskset_scores(runs, [run.evolver.name for run in runs], policies)
    together = replace(apart, clusters=np.repeat(np.arange(8), 4).tolist())
    nothing = Amount(rollouts=0.0, seconds=None, tokens=None, cost_usd=None)
    cost = RunCost(nothing, nothing.model_copy(update={"rollouts": 1.0}))
    costs = {(apart.name, e): [cost] for e in ("a", "b")}
    one, other = (plan(Pilot([t], costs), Wanted(("a", "b"), tests=1)) for t in (apart, together))
    assert (one.pilot_cases, one.clustered, one.cost_per_case.rollouts) == (32, False, 2.0)
    assert (other.pilot_cases, other.clustered, other.cost_per_case.rollouts) == (8, True, 8.0)
    assert min(d.cases for d in other.aims[0].designs) == 6
    assert "8 clusters of cases" in " ".join(sentences(other, "Acrobot"))
