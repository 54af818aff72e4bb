"""Means of scores that can only lie between two bounds, such as shares: what an interval of one may say."""

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
"""Of values of size 1: differences that adding up floating-point numbers in another order makes."""


def share(*columns: ArrayLike) -> bool:
    """Say whether all known scores lie between 0 and 1: then no mean of them lies elsewhere, whatever its interval says."""
    arrays = (np.asarray(column, dtype=np.float64) for column in columns)
    return all(bool(((c >= 0.0) & (c <= 1.0) | np.isnan(c)).all()) for c in arrays)


def alike(values: Floats) -> bool:
    """Say whether values are all the same, but for what is lost in adding up floating-point numbers."""
    return float(np.ptp(values)) <= _NOISE * float(np.abs(values).max())


def hull(*intervals: Interval) -> Interval:
    """Return the least interval that holds all of these."""
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def within(interval: Interval, bounds: Interval | None) -> Interval:
    """Return what of an interval lies between bounds: with few values, Student's t and the bootstrap reach beyond."""
    return interval if bounds is None else (max(bounds[0], interval[0]), min(bounds[1], interval[1]))


def unseen(strata: Sequence[Floats], bounds: Interval, tail: float) -> Interval:
    """Return what the mean over strata may be for all that was not seen of values between bounds.

    At least `(tail / strata) ** (1 / n)` of all values are as the n that were seen, or one of the others would have been seen, and
    the others may be anything between the bounds. For a share of 0 or 1 that is the exact interval of Clopper and Pearson
    (1934); over strata it holds by Bonferroni's inequality.

    Args:
        strata: the values that were drawn independently, of each stratum; none is missing.
        bounds: what they can lie between.
        tail: probability of an error to either side, such as 0.025.
    """
    seen = [((tail / len(strata)) ** (1.0 / s.size), float(s.mean())) for s in strata]
    low, high = (float(np.mean([a * value + (1.0 - a) * end for a, value in seen])) for end in bounds)
    return low, high


def missing_bounds(scores: ArrayLike, bounds: Interval | None = None) -> MissingBounds | None:
    """Return what the mean over runs of the mean over cases would be, had all that is missing been worst, and best.

    Scores that are missing need not be missing at random: what broke them may be what scores badly (Manski 1990).

    Args:
        scores: shape (runs, cases) or (cases,), NaN where missing.
        bounds: what scores can lie between; None for the least and the greatest that were seen.

    Returns:
        The bounds; None where nothing is missing, or nothing is known.
    """
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    gone = np.isnan(table)
    if not gone.any() or gone.all():
        return None
    ends = bounds or (float(np.nanmin(table)), float(np.nanmax(table)))
    low, high = (float((np.where(gone, end, table) / table.size).sum()) for end in ends)
    return MissingBounds(low=low, high=high, declared=bounds is not None)


def missing_gap(after: ArrayLike, before: ArrayLike, bounds: Interval = SHARE) -> MissingBounds | None:
    """Return what the mean difference would be, had all that is missing of either side been worst for `after`, and best.

    Args:
        after: scores of any shape, NaN where missing.
        before: those they are compared with, of the same shape.
        bounds: what scores can lie between.

    Returns:
        The bounds; None where nothing is missing, or nothing is paired.
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
    """Return the bounds of a mean of means, each with its own where it has any; None where none has."""
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
