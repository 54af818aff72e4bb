"""Power of the comparison of two entries (`paired.compare_runs`): how likely a difference is found, and with how many seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from heredity._core.ids import generator
from heredity.analysis.paired import (
    LEAST_MARKED,
    LEAST_PAIRED,
    UNLIKE,
    Comparison,
    shape_factor,
)
from heredity.analysis.samples import LEAST_EACH, LEAST_RUNS, Floats
from heredity.analysis.statistics import CONFIDENCE, student_quantile
from heredity.results.suite import Unit

MOST_SEEDS = 1000
"""Maximum seeds of a design; one that needs more is out of reach."""

_DRAWS = 1500
_FREEDOMS = np.geomspace(1.0, 300.0, 120)
_DEVIATES = np.linspace(-9.0, 9.0, 3601)
_TAILS = np.array([0.5 * math.erfc(v / math.sqrt(2.0)) for v in _DEVIATES])

Variances = tuple[float, float, float]
"""Components of paired differences on one taskset: seed, case, residual."""


@dataclass(frozen=True, slots=True)
class Question:
    """The effect that a test should find.

    Attributes:
        tasksets: components of the paired differences on each taskset, on one scale.
        effect: the true mean difference, in units of that scale.
        tests: number of tests its p-value is corrected for.
        share: share of the variance between seeds that one entry has, in [0, 1]; 1 against a mark.
        marked: whether the second entry is a mark, the same for all seeds.
    """

    tasksets: Sequence[Variances]
    effect: float
    tests: int = 1
    share: float = 0.5
    marked: bool = False


def power(question: Question, seeds: int, cases: int) -> float:
    """Return the power of the test with this many seeds and cases on each taskset.

    Args:
        question: components, effect and number of tests.
        seeds: number of seeds, at least 2.
        cases: number of cases, at least 2.
    """
    count = len(question.tasksets)
    parts = np.array(question.tasksets, dtype=np.float64)
    seed, case, residual = parts[:, 0], parts[:, 1], parts[:, 2]
    true = float((seed / seeds + case / cases + residual / (seeds * cases)).sum()) / count**2
    if true == 0.0:
        return 1.0 if question.effect else (1.0 - CONFIDENCE) / question.tests
    rows = (seed + residual / cases) / seeds / count**2
    first = rows * question.share * _spreads(seeds - 1, count, "seeds")
    second = rows * (1.0 - question.share) * _spreads(seeds - 1, count, "other seeds")
    columns = (case + residual / seeds) / cases / count**2 * _spreads(cases - 1, count, "cases")
    one, two, across = first.sum(axis=1), second.sum(axis=1), columns.sum(axis=1)
    between = first + second
    wider = np.ones(_DRAWS) if question.marked else (2.0 * np.maximum(one, two) / (one + two)) ** 2
    variance = wider * between.sum(axis=1) + across
    spread = wider**2 * (between**2).sum(axis=1) / (seeds - 1) + (columns**2).sum(axis=1) / (cases - 1)
    factor = shape_factor(seeds * count, marked=question.marked)
    reach = _critical(variance**2 / spread, question.tests * factor) * np.sqrt(variance / true)
    if not question.marked and seeds * count <= LEAST_PAIRED:
        reach = np.where(np.maximum(one, two) > UNLIKE**2 * np.minimum(one, two), np.inf, reach)
    shift = abs(question.effect) / math.sqrt(true)
    return float((_upper(reach - shift) + _upper(reach + shift)).mean())


def seeds_needed(question: Question, cases: int, wanted: float) -> int | None:
    """Return the fewest seeds that give the test the wanted power; None if `MOST_SEEDS` are too few."""
    least = least_seeds(len(question.tasksets), marked=question.marked)
    if power(question, MOST_SEEDS, cases) < wanted:
        return None
    low, high = least - 1, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(question, middle, cases) >= wanted else (middle, high)
    return high


def detectable(question: Question, seeds: int, cases: int, wanted: float) -> float:
    """Return the smallest effect that the test finds with the wanted power; ignores the question's effect."""
    parts = np.array(question.tasksets, dtype=np.float64)
    low, high = 0.0, math.sqrt(float(parts.sum())) * 50.0
    for _ in range(50):
        middle = (low + high) / 2
        enough = power(Question(question.tasksets, middle, question.tests), seeds, cases) >= wanted
        low, high = (low, middle) if enough else (middle, high)
    return high


def least_seeds(tasksets: int, *, marked: bool = False) -> int:
    """Return the fewest seeds with which a suite compares evolvers at all (see `paired.enough_seeds`)."""
    if tasksets == 1:
        return LEAST_MARKED if marked else LEAST_PAIRED
    return max(LEAST_EACH, math.ceil(LEAST_RUNS / tasksets))


def seeds_to_decide(compared: Comparison, tests: int = 1, wanted: float = 0.8) -> int | None:
    """Return about how many seeds on each taskset would find a difference of the size seen.

    Args:
        compared: the comparison with runs as the sample.
        tests: number of tests in the family that it is corrected in.
        wanted: probability of finding it, in (0.5, 1).

    Returns:
        The number in all, with those at hand; None if no number up to `MOST_SEEDS` does, or the spread is unknown.
    """
    count, size = compared.tasksets, compared.scale
    if compared.parts is None or compared.unit is not Unit.RUN or compared.few_clusters or not compared.difference:
        return None
    first, second, across = compared.parts
    between, seeds, cases = first + second, compared.runs / count, max(2, round(compared.columns / count))
    if not between:
        return None
    each = between * seeds * count, across * cases * count, 0.0
    share = max(first, second) / between
    question = Question([each] * count, compared.difference / size, tests, share, marked=compared.marked)
    return seeds_needed(question, cases, wanted)


@lru_cache(maxsize=64)
def _uniform(count: int, side: str) -> Floats:
    return generator(0, "analysis", "power", side).random((_DRAWS, count, 2))


def _spreads(freedom: int, count: int, side: str) -> Floats:
    """Return draws of chi-squared over its degrees of freedom, smooth in the latter (Wilson and Hilferty 1931)."""
    drawn = _uniform(count, side)
    normal = np.sqrt(-2.0 * np.log1p(-drawn[..., 0])) * np.cos(2.0 * np.pi * drawn[..., 1])
    if freedom < 5:
        squares = generator(0, "analysis", "power", side, freedom).chisquare(freedom, (_DRAWS, count))
        return squares / freedom
    return np.maximum(1.0 - 2.0 / (9.0 * freedom) + normal * math.sqrt(2.0 / (9.0 * freedom)), 0.0) ** 3


def _critical(freedom: Floats, tests: float) -> Floats:
    """Return the critical value of the statistic at 5% split among a number of tests."""
    return np.interp(np.log(freedom), np.log(_FREEDOMS), _quantiles(tests))


@lru_cache(maxsize=256)
def _quantiles(tests: float) -> Floats:
    tail = (1.0 - CONFIDENCE) / tests / 2
    return np.array([student_quantile(1.0 - tail, float(f)) for f in _FREEDOMS])


def _upper(values: Floats) -> Floats:
    return np.interp(values, _DEVIATES, _TAILS)
