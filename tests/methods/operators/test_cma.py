from __future__ import annotations

import numpy as np
import pytest

from heredity._core.ids import generator
from heredity.methods.operators.cma import CmaEs


def search(n: int, score, evaluations: int, count: int = 8) -> tuple[CmaEs, float]:
    cma = CmaEs(np.full(n, 2.0), 0.5, generator(0, "test", "cma"))
    best = -np.inf
    for _ in range(evaluations // count):
        points = cma.ask(count)
        scores = np.array([score(p) for p in points])
        cma.tell(points, scores)
        best = max(best, float(scores.max()))
    return cma, best


def ellipsoid(p: np.ndarray) -> float:
    return -float(np.sum(100 ** (np.arange(p.size) / (p.size - 1)) * p**2))


def test_it_finds_the_top_of_an_ill_conditioned_hill():
    cma, best = search(6, ellipsoid, 2000)
    assert best > -1e-6
    assert np.abs(cma.mean).max() < 1e-2


def test_it_gains_within_forty_evaluations():
    start = ellipsoid(np.full(4, 2.0))
    assert search(4, ellipsoid, 40, count=5)[1] > start / 4


def test_only_the_order_of_scores_counts():
    one, other = search(4, ellipsoid, 200)[0], search(4, lambda p: np.arctan(ellipsoid(p) / 50), 200)[0]
    np.testing.assert_array_equal(one.mean, other.mean)


def test_many_dimensions_are_searched_along_the_diagonal():
    _, best = search(60, ellipsoid, 4000, count=16)
    assert best > ellipsoid(np.full(60, 2.0)) / 100


def test_an_injected_point_pulls_the_mean_but_not_out_of_reach():
    cma = CmaEs(np.zeros(3), 1.0, generator(0, "test", "inject"))
    points = np.vstack([cma.ask(4), [[1000.0, 0.0, 0.0]]])
    cma.tell(points, [0, 0, 0, 0, 1])
    assert 0.5 < cma.mean[0] < 10
    assert cma.sigma < 10


@pytest.mark.parametrize("scores", [[1.0, 1.0, 1.0], [0.0, -np.inf, -np.inf]])
def test_ties_and_worst_scores_leave_it_finite(scores: list[float]):
    cma = CmaEs(np.zeros(2), 1.0, generator(0, "test", "ties"))
    cma.tell(cma.ask(3), scores)
    assert np.isfinite(cma.mean).all()
    assert np.isfinite(cma.ask(4)).all()
