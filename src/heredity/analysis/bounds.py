"""Means of scores that can only lie between two bounds, such as shares: what an interval of one may say."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Interval = tuple[float, float]

SHARE: Interval = (0.0, 1.0)
GAP: Interval = (-1.0, 1.0)
"""Bounds of a difference between two shares."""


def share(*columns: ArrayLike) -> bool:
    """Say whether all known scores lie between 0 and 1: then no mean of them lies elsewhere, whatever its interval says."""
    arrays = (np.asarray(column, dtype=np.float64) for column in columns)
    return all(bool(((c >= 0.0) & (c <= 1.0) | np.isnan(c)).all()) for c in arrays)


def alike(values: Floats) -> bool:
    """Say whether values are all the same, but for what is lost in adding up floating-point numbers."""
    return float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


def bounded(
    interval: Interval | None, strata: Sequence[Floats], bounds: Interval | None, tail: float
) -> Interval | None:
    """Return the interval of a mean over strata of bounded values.

    What lies beyond the bounds is cut off: with few values, Student's t and the bootstrap reach there. Where the values of each
    stratum are all alike, their spread says nothing of those that were not seen, and an interval that is made of it has no width.
    Then at least `(tail / strata) ** (1 / n)` of all values are as the n that were seen, or these would not have been alike, and
    the others may be anything between the bounds. For a share of 0 or 1 that is the exact interval of Clopper and Pearson (1934);
    over strata it holds by Bonferroni's inequality.

    Args:
        interval: as it comes of the spread; None, which stays, where there is none.
        strata: the values that were drawn independently, of each stratum; none is missing.
        bounds: what they can lie between; None, where that is not known, leaves the interval as it is.
        tail: probability of an error to either side, such as 0.025.
    """
    if interval is None or bounds is None:
        return interval
    least, most = bounds
    if not all(map(alike, strata)):
        return max(least, interval[0]), min(most, interval[1])
    unanimous = [((tail / len(strata)) ** (1.0 / s.size), float(s[0])) for s in strata]
    low, high = (float(np.mean([a * value + (1.0 - a) * end for a, value in unanimous])) for end in bounds)
    return low, high


def wilson(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson 1927), which stays inside [0, 1] for few trials."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, scale = hits / n, 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z / scale * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)
