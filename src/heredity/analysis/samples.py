"""Scores as arrays: known values, samples, and a scale on which squares neither overflow nor vanish."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heredity._core.errors import ConfigError
from heredity.results.base import MissingBounds
from heredity.results.suite import Unit

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


LARGEST = np.finfo(np.float64).max.item()

LEAST_RUNS = 6
"""Minimum runs for claims about evolvers: with fewer, no exact paired test reaches 5% and the spread is unknown."""

LEAST_EACH = 3
"""Minimum runs on each environment: with fewer, their spread is unknown, and so it is with fewer than `LEAST_RUNS`
environments. Two seeds on each of three call one evolver of four falsely better in up to one suite in nine."""


def error_tail(confidence: float) -> float:
    """Return the probability of an error to either side; raises ConfigError for an invalid confidence."""
    if not 0.0 < confidence < 1.0:
        raise ConfigError(f"confidence {confidence} is not between 0 and 1; give a fraction such as 0.95")
    return (1.0 - confidence) / 2


def finite_values(values: ArrayLike) -> Floats:
    """Return the known values, flat."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return flat[np.isfinite(flat)]


def differences(left: ArrayLike, right: ArrayLike) -> Floats:
    """Return left minus right, 0 if they differ only by floating-point error."""
    a, b = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    with np.errstate(over="ignore"):
        gaps = np.clip(a - b, -LARGEST, LARGEST)
    return np.where(np.abs(gaps) <= 1e-12 * np.maximum(np.abs(a), np.abs(b)), 0.0, gaps)


def scaled(tables: Sequence[Floats]) -> tuple[list[Floats], float]:
    """Return tables divided by a power of two, and that power: 1 except for scores whose squares overflow or vanish."""
    largest = max((float(np.nanmax(np.abs(t))) for t in tables if t.size), default=0.0)
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return list(tables), 1.0
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    return [t / scale for t in tables], scale


def over(bounds: Interval | None, scale: float) -> Interval | None:
    """Return bounds divided by a scale; None if unknown."""
    return None if bounds is None else (bounds[0] / scale, bounds[1] / scale)


def times(interval: Interval | None, scale: float) -> Interval | None:
    """Return an interval times a scale, clipped to the floating-point range."""
    if interval is None:
        return None
    low, high = (min(max(end * scale, -LARGEST), LARGEST) for end in interval)
    return low, high


def without_empty(values: ArrayLike) -> Floats:
    """Return a table without empty rows and columns; values that are not finite become NaN."""
    table = without_empty_rows(values)
    return table[:, np.isfinite(table).any(axis=0)]


def without_empty_rows(values: ArrayLike) -> Floats:
    """Return a table without empty rows; values that are not finite become NaN."""
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    table = np.where(np.isfinite(table), table, np.nan)
    return table[np.isfinite(table).any(axis=1)]


Clusters = Sequence[int | str | None]
"""Cluster of each case, such as the document of a question, as a number or name; None for an unclustered case."""


def clustered(values: ArrayLike, clusters: Clusters | None) -> Floats:
    """Convert a table of shape (runs, cases) to one of shape (runs, clusters) with the same mean for each run.

    Cases that were drawn together are correlated and count as one draw. The value of a cluster is the run's mean plus
    the summed deviations of its cases from it, times clusters over cases. The spread of these values gives the
    cluster-robust standard error (Liang and Zeger 1986), with C/(C−1) for C clusters, also for unequal sizes.

    Args:
        values: scores, NaN where missing.
        clusters: cluster of each case, in order; further cases are clusters of one. None if all are.
    """
    table = without_empty_rows(values)
    codes = cluster_codes(clusters, table.shape[1])
    count = int(codes.max(initial=-1)) + 1
    if count == table.shape[1] or not len(table):
        return table
    (table,), scale = scaled([table])
    member = (codes[:, None] == np.arange(count)).astype(np.float64)
    present = np.isfinite(table)
    sizes = present @ member
    means = row_means(table)[:, None]
    weights = (sizes > 0.0).sum(axis=1, keepdims=True) / present.sum(axis=1, keepdims=True)
    values = means + weights * (np.where(present, table - means, 0.0) @ member)
    return np.where(sizes > 0.0, np.clip(values, -LARGEST / scale, LARGEST / scale) * scale, np.nan)


def cluster_codes(clusters: Clusters | None, cases: int) -> NDArray[np.int64]:
    """Return the cluster of each case, numbered from 0 in order of occurrence."""
    names = [("", i) if name is None else ("of", name) for i, name in enumerate((clusters or ())[:cases])]
    names += [("", i) for i in range(len(names), cases)]
    order = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([order[name] for name in names], dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Tables:
    """Scores without empty rows and columns, with clusters for cases.

    Attributes:
        tables: shape (runs, cases or clusters) for each environment that has any.
        clusters: number of columns if some cases were drawn together; None if cases are not clustered.
        few: whether the clusters are too few to show their spread.
    """

    tables: list[Floats]
    clusters: int | None = None
    few: bool = False


def tables_of(strata: Sequence[ArrayLike], clusters: Sequence[Clusters | None] | None = None) -> Tables:
    """Return the known scores of strata, with one column per cluster.

    Args:
        strata: scores of shape (runs, cases) for each environment; NaN is missing.
        clusters: clusters of the cases of each environment; None if cases are not clustered.
    """
    raw = [without_empty_rows(values) for values in strata]
    grouped = [clustered(t, own) for t, own in zip(raw, clusters or [None] * len(raw), strict=True)]
    tables = [t for t in map(without_empty, grouped) if t.size]
    together = [without_empty(b).shape[1] for a, b in zip(raw, grouped, strict=True) if a.shape[1] != b.shape[1]]
    if not any(together):
        return Tables(tables)
    counts = [n for n in together if n]
    return Tables(tables, sum(t.shape[1] for t in tables), min(counts) == 1 or not enough_runs(counts))


def mean_of(values: ArrayLike) -> float:
    """Return the mean of the known values (at least one), even if their sum overflows."""
    (numbers,), scale = scaled([finite_values(values)])
    return float(numbers.mean()) * scale


def row_means(table: Floats) -> Floats:
    """Return the mean of the known values of each row."""
    return np.nanmean(table, axis=1)


def enough_runs(runs: Sequence[int]) -> bool:
    """Return True if these numbers of runs on each environment suffice for claims about evolvers (`LEAST_RUNS`, `LEAST_EACH`)."""
    return sum(runs) >= LEAST_RUNS and (min(runs) >= LEAST_EACH or len(runs) >= LEAST_RUNS)


@dataclass(frozen=True, slots=True)
class Sample:
    """The sample in some tables, and its contribution to the error of their mean.

    Attributes:
        units: independently drawn values of each stratum.
        sides: values of each source of chance, two or more each; the errors of their means add up.
        weight: weight of each side's mean in the whole.
    """

    units: Sequence[Floats]
    sides: Sequence[Floats]
    weight: float

    @property
    def size(self) -> int:
        """Number of units."""
        return sum(u.size for u in self.units)

    @property
    def parts(self) -> list[tuple[float, int]]:
        """Variance and degrees of freedom that each side adds to the error of the mean."""
        return [(float(s.var(ddof=1)) / s.size * self.weight**2, s.size - 1) for s in self.sides]

    def skewness(self, error: float) -> float:
        """Return the skewness of the mean, given its standard error."""
        return sum(float((((s - s.mean()) * (self.weight / error)) ** 3).mean()) / s.size**2 for s in self.sides)


def sample_of(tables: Sequence[Floats], unit: Unit) -> Sample:
    """Return the sample in tables of shape (runs, cases), one per environment, without empty rows and columns.

    For candidates, cases are the sample. For evolvers, runs and cases are, estimated from the marginal means. If
    environments have too few runs to show their spread, the environments are the sample: the spread of their means
    includes that of the runs. A single run is not a sample, so it has no sides.
    """
    least = 1 if len(tables) < LEAST_RUNS else LEAST_EACH - 1
    if unit is Unit.RUN and len(tables) > 1 and min(map(len, tables)) <= least:
        means = np.array([row_means(t).mean() for t in tables])
        return Sample([means], [means], 1.0)
    rows, columns = [row_means(t) for t in tables], [row_means(t.T) for t in tables]
    if unit is Unit.CASE:
        return Sample(columns, [c for c in columns if c.size > 1], 1.0 / len(tables))
    if min(map(len, tables)) == 1:
        return Sample(rows, [], 1.0)
    sides = [side for pair in zip(rows, columns, strict=True) for side in pair if side.size > 1]
    return Sample(rows, sides, 1.0 / len(tables))
