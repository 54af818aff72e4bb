from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.sums import agent

from heredity._core.ids import generator
from heredity.methods.operators.commit import GateRules, decision, paired_interval, weigh
from heredity.methods.operators.measure import Measured, Rollout
from heredity.resources import Candidate

OLD, NEW = agent("a long prompt"), agent("a prompt")


def measured(
    candidate: Candidate, *scores: float | tuple[float, ...], cost: float | None = None, failure: str = ""
) -> Measured:
    used = {} if cost is None else {"cost_usd": cost}
    rollouts = {
        task: tuple(Rollout(s, "ok", used, {}) for s in (given if isinstance(given, tuple) else (given,)))
        for task, given in enumerate(scores)
    }
    return Measured(candidate, rollouts, (1,), failure)


def passes(before: Measured, after: Measured, **rules: float) -> bool:
    return weigh(GateRules(**rules), before, after, generator(0, "test")).accepted  # type: ignore[arg-type]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9), st.floats(0, 0.5), st.floats(0, 0.5)
)
def test_nothing_that_falls_by_more_than_the_tolerance_ever_passes(
    pairs: list[tuple[float, float]], tolerance: float, gain: float
) -> None:
    before, after = measured(OLD, *(p[0] for p in pairs)), measured(NEW, *(p[1] for p in pairs))
    difference = float(np.mean([b - a for a, b in pairs]))
    accepted = passes(before, after, tolerance=tolerance, min_gain=gain)
    if difference < -tolerance - 1e-9:
        assert not accepted
    if difference > gain + 1e-9:
        assert accepted


def test_repeats_of_a_task_count_as_one_task() -> None:
    before, after = measured(OLD, (0.0, 0.0, 0.0, 0.0), 1.0), measured(NEW, (1.0, 0.0, 0.0, 0.0), 0.0)
    finding = weigh(GateRules(), before, after, generator(0, "test"))
    assert (finding.difference, finding.pairs) == (-0.375, 2)


def test_a_shorter_candidate_that_costs_more_does_not_take_the_place() -> None:
    assert passes(measured(OLD, 1.0, cost=0.1), measured(NEW, 1.0, cost=0.1))
    assert not passes(measured(OLD, 1.0, cost=0.1), measured(NEW, 1.0, cost=0.2))
    assert not passes(measured(NEW, 1.0, cost=0.2), measured(OLD, 1.0, cost=0.1))
    assert passes(measured(OLD, 1.0, cost=0.1), measured(NEW, 1.0))


def test_a_submission_that_fails_as_a_whole_is_no_gain() -> None:
    assert not passes(measured(OLD, 0.0), measured(NEW, 1.0, failure="import_error: no"))


def test_protection_counts_tasks_that_were_solved_every_time() -> None:
    before = measured(OLD, (1.0, 1.0), (1.0, 0.0), 0.0, 0.0, 0.0)
    after = measured(NEW, (1.0, 0.0), (0.0, 0.0), 1.0, 1.0, 1.0)
    assert passes(before, after)
    assert not passes(before, after, protect=0.01)


def test_the_interval_is_near_students_for_few_pairs() -> None:
    differences = generator(5, "differences").normal(0.2, 1.0, 12)
    interval = paired_interval(differences, generator(0, "interval"))
    assert interval is not None
    half = 2.201 * differences.std(ddof=1) / math.sqrt(12)
    assert interval[1] - interval[0] == pytest.approx(2 * half, rel=0.2)
    assert interval[0] < differences.mean() < interval[1]


@pytest.mark.parametrize("differences", [[0.5], [1.0, 1.0, 1.0], []])
def test_no_interval_is_given_where_no_spread_can_be_told(differences: list[float]) -> None:
    assert paired_interval(np.array(differences), generator(0, "interval")) is None


def test_a_decision_names_the_evidence() -> None:
    before, after = measured(OLD, 0.0, 1.0), Measured(NEW, measured(NEW, 1.0, 1.0).rollouts, (3, 4))
    rules = GateRules(tolerance=0.1)
    made = decision(rules, before, after, weigh(rules, before, after, generator(0, "test")))
    assert (made.candidate, made.baseline, made.submissions) == (NEW.digest, OLD.digest, (1, 3, 4))
    assert (made.accepted, made.difference, made.pairs, made.tolerance) == (True, 0.5, 2, 0.1)
