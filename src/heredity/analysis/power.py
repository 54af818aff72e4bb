"""The power of the test that comparisons of evolvers use, for so many seeds and cases.

The difference of two evolvers is normal about its true value, with variance seed/n + case/m + residual/(nm). The test divides it by
the error that `compare_runs` makes of the spread of seed means and of case means, with Satterthwaite's degrees of freedom; both
spreads are chi-squared and independent of the mean and of each other. Power is the mean over draws of the two spreads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from heredity.analysis.bounds import Floats
from heredity.analysis.components import Components
from heredity.analysis.samples import LEAST_EACH, LEAST_RUNS
from heredity.analysis.statistics import CONFIDENCE
from heredity.analysis.student import student_quantile
from heredity.ids import generator

MOST_SEEDS = 1000
"""More seeds than this nobody buys; a design that needs more is out of reach."""

_DRAWS = 1500
_FREEDOMS = np.geomspace(1.0, 300.0, 120)

Variances = tuple[float, float, float]
"""Components of paired differences on one taskset: seed, case, residual."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a test is to find.

    Attributes:
        tasksets: components of the paired differences on each taskset, on one scale.
        effect: the true mean difference, in units of that scale.
        tests: how many tests its p-value is corrected for.
    """

    tasksets: Sequence[Variances]
    effect: float
    tests: int = 1


def variances(parts: Components) -> Variances:
    """Return the estimated components, without what else is known of them."""
    return parts.seed, parts.case, parts.residual


def power(question: Question, seeds: int, cases: int) -> float:
    """Return how often the test finds the effect with so many seeds and cases on each taskset.

    Args:
        question: components, effect and number of tests.
        seeds: 2 or more.
        cases: 2 or more.
    """
    count = len(question.tasksets)
    of_seeds, of_cases = _spreads(seeds - 1, count, "seeds"), _spreads(cases - 1, count, "cases")
    parts = np.array(question.tasksets, dtype=np.float64)
    seed, case, residual = parts[:, 0], parts[:, 1], parts[:, 2]
    true = float((seed / seeds + case / cases + residual / (seeds * cases)).sum()) / count**2
    if true == 0.0:
        return 1.0 if question.effect else (1.0 - CONFIDENCE) / question.tests
    rows = (seed + residual / cases) / seeds / count**2 * of_seeds
    columns = (case + residual / seeds) / cases / count**2 * of_cases
    variance = rows.sum(axis=1) + columns.sum(axis=1)
    freedom = variance**2 / ((rows**2).sum(axis=1) / (seeds - 1) + (columns**2).sum(axis=1) / (cases - 1))
    reach = _critical(freedom, question.tests) * np.sqrt(variance / true)
    shift = abs(question.effect) / math.sqrt(true)
    return float((_upper(reach - shift) + _upper(reach + shift)).mean())


def seeds_needed(question: Question, cases: int, wanted: float) -> int | None:
    """Return the fewest seeds with which the test has the power that is wanted; None if `MOST_SEEDS` are too few."""
    least = least_seeds(len(question.tasksets))
    if power(question, MOST_SEEDS, cases) < wanted:
        return None
    low, high = least - 1, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(question, middle, cases) >= wanted else (middle, high)
    return high


def detectable(question: Question, seeds: int, cases: int, wanted: float) -> float:
    """Return the smallest effect that the test finds with the power that is wanted; the question's own effect is not looked at."""
    parts = np.array(question.tasksets, dtype=np.float64)
    low, high = 0.0, math.sqrt(float(parts.sum())) * 50.0
    for _ in range(50):
        middle = (low + high) / 2
        enough = power(Question(question.tasksets, middle, question.tests), seeds, cases) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return high


def least_seeds(tasksets: int) -> int:
    """Return the fewest seeds with which a suite tells evolvers apart at all (see `heredity.analysis.paired`)."""
    return max(LEAST_EACH, math.ceil(LEAST_RUNS / tasksets))


@lru_cache(maxsize=64)
def _uniform(count: int, side: str) -> Floats:
    return generator(0, "analysis", "power", side).random((_DRAWS, count, 2))


def _spreads(freedom: int, count: int, side: str) -> Floats:
    """Return draws of chi-squared over its degrees of freedom, which grow smoothly with these (Wilson and Hilferty 1931)."""
    drawn = _uniform(count, side)
    normal = np.sqrt(-2.0 * np.log1p(-drawn[..., 0])) * np.cos(2.0 * np.pi * drawn[..., 1])
    if freedom < 5:
        squares = generator(0, "analysis", "power", side, freedom).chisquare(freedom, (_DRAWS, count))
        return squares / freedom
    return np.maximum(1.0 - 2.0 / (9.0 * freedom) + normal * math.sqrt(2.0 / (9.0 * freedom)), 0.0) ** 3


def _critical(freedom: Floats, tests: int) -> Floats:
    """Return what the statistic must exceed at 5% shared out among so many tests."""
    return np.interp(np.log(freedom), np.log(_FREEDOMS), _quantiles(tests))


@lru_cache(maxsize=64)
def _quantiles(tests: int) -> Floats:
    tail = (1.0 - CONFIDENCE) / tests / 2
    return np.array([student_quantile(1.0 - tail, float(f)) for f in _FREEDOMS])


def _upper(values: Floats) -> Floats:
    return np.array([0.5 * math.erfc(v / math.sqrt(2.0)) for v in values])
