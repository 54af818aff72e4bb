from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity.methods.operators.measure import Measured, Rollout
from heredity.methods.operators.pool import SELECTIONS, Member, pareto_front
from heredity.resources import Candidate, SourceTree


def member(scores: dict[int, float], tokens: float | None = None, children: int = 0) -> Member:
    cost = {} if tokens is None else {"input_tokens": tokens, "output_tokens": 0.0}
    rollouts = {t: (Rollout(s, "ok", cost, {}),) for t, s in scores.items()}
    made = Measured(Candidate({"prompt/system": SourceTree({"prompt.md": str(scores)})}), rollouts)
    return Member(made, made.mean, children=children)


def drawn(name: str, pool: list[Member]) -> Counter[int]:
    rng = np.random.default_rng(3)
    return Counter(SELECTIONS[name](pool, rng) for _ in range(400))


def test_best_takes_the_greatest_value_and_the_latest_among_equals() -> None:
    assert drawn("best", [member({0: 0.1}), member({0: 0.9}), member({0: 0.9})]) == {2: 400}


def test_pareto_keeps_what_is_cheaper_or_better_and_nothing_that_is_neither() -> None:
    pool = [member({0: 0.5}, 10), member({0: 0.9}, 50), member({0: 0.4}, 60), member({0: 0.2}, 1)]
    assert set(drawn("pareto", pool)) == {0, 1, 3}


def test_pareto_over_tasks_favours_those_that_are_best_on_more_of_them() -> None:
    pool = [member({0: 1.0, 1: 0.0, 2: 0.0}), member({0: 0.0, 1: 1.0, 2: 1.0}), member({0: 0.5, 1: 0.5, 2: 0.5})]
    counts = drawn("pareto-tasks", pool)
    assert set(counts) == {0, 1}
    assert counts[1] > counts[0]


def test_random_takes_any_and_mixed_mostly_the_good_ones() -> None:
    pool = [member({0: 0.0}), member({0: 1.0})]
    assert min(drawn("random", pool).values()) > 150
    assert 10 < drawn("mixed", pool)[0] < 100


def test_lineage_prefers_good_ones_with_few_children() -> None:
    assert drawn("lineage", [member({0: 0.5}, children=9), member({0: 0.5})])[1] > 300
    assert drawn("lineage", [member({0: 0.0}), member({0: 1.0})])[1] > 300


@pytest.mark.parametrize("name", list(SELECTIONS))
def test_every_selection_copes_with_one_member_and_with_missing_values(name: str) -> None:
    lost = member({})
    assert lost.value == -math.inf
    assert set(drawn(name, [lost])) == {0}
    assert set(drawn(name, [lost, member({0: 0.5})])) <= {0, 1}


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_the_front_has_all_that_nothing_beats_and_nothing_else(points: list[tuple[int, int]]) -> None:
    front = pareto_front(points)
    assert front
    for position, (a, b) in enumerate(points):
        beaten = any((c >= a and d >= b) and (c, d) != (a, b) for c, d in points)
        assert (position in front) != beaten
