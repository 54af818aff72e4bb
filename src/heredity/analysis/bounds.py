"""Means of bounded scores such as shares, and the intervals they allow."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heredity.results.base import MissingBounds

Floats = NDArray[np.float64]
Interval = tuple[float, float]

SHARE: Interval = (0.0, 1.0)
GAP: Interval = (-1.0, 1.0)
"""Bounds of a difference between two shares."""

_NOISE = 1e-9
"""Tolerance for values of size 1: rounding differences from summing in another order."""


def share(*columns: ArrayLike) -> bool:
    """Return True if all known scores lie between 0 and 1, which then also bound any mean of them."""
    arrays = (np.asarray(column, dtype=np.float64) for column in columns)
    return all(bool(((c >= 0.0) & (c <= 1.0) | np.isnan(c)).all()) for c in arrays)


def alike(values: Floats) -> bool:
    """Return True if values are all equal up to floating-point error."""
    return float(np.ptp(values)) <= _NOISE * float(np.abs(values).max())


def hull(*intervals: Interval) -> Interval:
    """Return the smallest interval that contains all of these."""
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def within(interval: Interval, bounds: Interval | None) -> Interval:
    """Clip an interval to bounds; with few values, Student's t and the bootstrap extend beyond them."""
    return interval if bounds is None else (max(bounds[0], interval[0]), min(bounds[1], interval[1]))


def unseen(strata: Sequence[Floats], bounds: Interval, tail: float) -> Interval:
    """Return the interval of the mean over strata that allows for unseen values between the bounds.

    At least `(tail / strata) ** (1 / n)` of all values resemble the n seen ones, or another kind would have been seen.
    The others may lie anywhere between the bounds. For a share of 0 or 1 this is the exact interval of Clopper and
    Pearson (1934); over strata it holds by Bonferroni's inequality.

    Args:
        strata: the independently drawn values of each stratum, without missing ones.
        bounds: bounds of the values.
        tail: probability of an error to either side, such as 0.025.
    """
    seen = [((tail / len(strata)) ** (1.0 / s.size), float(s.mean())) for s in strata]
    low, high = (float(np.mean([a * value + (1.0 - a) * end for a, value in seen])) for end in bounds)
    return low, high


def missing_bounds(scores: ArrayLike, bounds: Interval | None = None) -> MissingBounds | None:
    """Return the mean over runs of the mean over cases if all missing scores were worst, and if they were best.

    Scores may not be missing at random: rollouts that break may be those that score badly (Manski 1990).

    Args:
        scores: shape (runs, cases) or (cases,), NaN where missing.
        bounds: bounds of scores; None for the smallest and the largest observed.

    Returns:
        The bounds; None if nothing is missing, or nothing is known.
    """
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    gone = np.isnan(table)
    if not gone.any() or gone.all():
        return None
    ends = bounds or (float(np.nanmin(table)), float(np.nanmax(table)))
    low, high = (float((np.where(gone, end, table) / table.size).sum()) for end in ends)
    return MissingBounds(low=low, high=high, declared=bounds is not None)


def missing_gap(after: ArrayLike, before: ArrayLike, bounds: Interval = SHARE) -> MissingBounds | None:
    """Return the mean difference if all missing scores of either side were worst for `after`, and if they were best.

    Args:
        after: scores of any shape, NaN where missing.
        before: scores to compare with, of the same shape.
        bounds: bounds of scores.

    Returns:
        The bounds; None if nothing is missing, or nothing is paired.
    """
    later, earlier = np.asarray(after, dtype=np.float64), np.asarray(before, dtype=np.float64)
    gone = np.isnan(later - earlier)
    if not gone.any() or gone.all():
        return None
    low, high = (
        float((np.where(np.isnan(later), mine, later) - np.where(np.isnan(earlier), theirs, earlier)).mean())
        for mine, theirs in (bounds, bounds[::-1])
    )
    return MissingBounds(low=low, high=high, declared=True)


def mean_bounds(means: Sequence[float], parts: Sequence[MissingBounds | None]) -> MissingBounds | None:
    """Return the bounds of a mean of means; means without bounds count as exact. None if none has bounds."""
    if not any(parts):
        return None
    low, high = (
        sum(mean if part is None else getattr(part, end) for mean, part in zip(means, parts, strict=True)) / len(means)
        for end in ("low", "high")
    )
    return MissingBounds(low=low, high=high, declared=all(part is None or part.declared for part in parts))


def wilson(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson 1927), which stays inside [0, 1] for few trials."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, scale = hits / n, 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z / scale * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)
