"""Means of scores with calibrated intervals.

Scores are arrays of shape (runs, cases): the held-out cases are the same for every run of a suite, so runs and
cases are crossed, and both are sources of chance. NaN is a missing rollout. Higher is better everywhere. All draws come
from `heredity._core.ids.generator`, so the same scores give the same numbers.

The choice of interval rests on simulated coverage (`benchmarks/coverage.py`, see `docs/analysis.md`). If no interval
covers, there is none, and `Estimate.unknown` gives the reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from heredity._core.ids import generator
from heredity.analysis.samples import (
    LARGEST,
    LEAST_RUNS,
    SHARE,
    Clusters,
    Floats,
    Interval,
    Sample,
    alike,
    enough_runs,
    error_tail,
    finite_values,
    hull,
    over,
    row_means,
    sample_of,
    scaled,
    tables_of,
    times,
    unseen,
    within,
    without_empty,
)
from heredity.results.base import Unknown
from heredity.results.suite import Unit

_NORMAL = NormalDist()
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def student_quantile(p: float, freedom: float) -> float:
    """Return the quantile of Student's t distribution.

    Args:
        p: probability in [0.5, 1).
        freedom: degrees of freedom, at least 1; from 300 on, the normal quantile is returned.
    """
    if freedom >= 300.0:
        return _NORMAL.inv_cdf(p)
    return _student_quantile(p, round(max(freedom, 1.0), 3))


@lru_cache(maxsize=4096)
def _student_quantile(p: float, freedom: float) -> float:
    # With t = sqrt(freedom) tan(angle), the density becomes a power of the cosine: smooth and falling, so Newton's steps
    # from the angle of the normal quantile, which is too small, never overshoot.
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    angle = math.atan2(_NORMAL.inv_cdf(p), math.sqrt(freedom))
    for _ in range(60):
        area = float((_WEIGHTS * np.cos((_NODES + 1) / 2 * angle) ** (freedom - 1)).sum()) * angle / 2
        step = (p - 0.5 - scale * area) / (scale * math.cos(angle) ** (freedom - 1))
        angle += step
        if step <= 1e-14:
            break
    return math.sqrt(freedom) * math.tan(angle)


def student_p(statistic: float, freedom: float) -> float:
    """Return the probability of a value at least as far from 0 under Student's t distribution.

    Args:
        statistic: an estimate over its standard error.
        freedom: degrees of freedom, at least 1; from 300 on, the normal distribution is used.
    """
    if freedom >= 300.0:
        return math.erfc(abs(statistic) / math.sqrt(2.0))
    freedom = max(freedom, 1.0)
    # Integrate the tail directly, since 1 - area would lose its digits.
    start = math.atan2(abs(statistic), math.sqrt(freedom))
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    width = math.pi / 2 - start
    angles = start + (_NODES + 1) / 2 * width
    return min(1.0, 2.0 * scale * float((_WEIGHTS * np.cos(angles) ** (freedom - 1)).sum()) * width / 2)


CONFIDENCE = 0.95
RESAMPLES = 2000
_MANY = 256
"""Number of values beyond which resampling equals the normal approximation."""
_WIDEST = 3.0
"""Limit as a multiple of Student's t: a resample of few values may have no spread."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and its error.

    Attributes:
        mean: the mean, in the unit of the scores.
        error: its standard error; None if it cannot be estimated (a single observation).
        freedom: degrees of freedom of that error.
        interval: its confidence interval; None if unknown.
        unknown: reason why the interval is unknown.
        clusters: number of clusters of cases in its sample; None if cases are not clustered.
    """

    mean: float
    error: float | None = None
    freedom: float = 0.0
    interval: Interval | None = None
    unknown: Unknown | None = None
    clusters: int | None = None


def mean_interval(values: ArrayLike, confidence: float = CONFIDENCE, bounds: Interval | None = None) -> Interval | None:
    """Return a confidence interval of a mean of independent values; None if `case_mean` gives none.

    Args:
        values: any shape; NaN is ignored.
        confidence: nominal coverage in (0, 1).
        bounds: bounds of the values; None if unknown.

    Raises:
        ConfigError: if `confidence` is not in (0, 1).
    """
    error_tail(confidence)
    estimate = case_mean([finite_values(values)], confidence, bounds)
    return None if estimate is None else estimate.interval


def case_mean(
    strata: Sequence[ArrayLike],
    confidence: float = CONFIDENCE,
    bounds: Interval | None = None,
    clusters: Sequence[Clusters | None] | None = None,
) -> Estimate | None:
    """Estimate the mean over strata for these runs: only the cases are a sample.

    The result holds for the policies that these runs selected, on new cases; it does not generalize to other runs. The
    interval is the hull of Student's t and the bootstrap-t (Efron 1979; Hall 1988). The bootstrap-t extends further on
    the side of a long tail, in proportion to the skew of the mean. For fewer than six values, and for equal values, the
    interval is known only if the bounds are.

    Args:
        strata: one array of shape (runs, cases) for each environment; NaN is missing.
        confidence: nominal coverage in (0, 1).
        bounds: bounds of scores; None if unknown.
        clusters: cluster of each case of each environment (`samples.clustered`); clusters are then the sample.

    Returns:
        The estimate, or None if every score is missing.
    """
    return _estimated(strata, Unit.CASE, confidence, bounds, clusters)


def crossed_mean(
    strata: Sequence[ArrayLike],
    confidence: float = CONFIDENCE,
    bounds: Interval | None = None,
    clusters: Sequence[Clusters | None] | None = None,
) -> Estimate | None:
    """Estimate the mean over strata of the mean over runs of the mean over cases, for new runs on new cases.

    The error has a component between runs and one between cases, both estimated from the marginal means
    (`samples.sample_of`), with Satterthwaite's degrees of freedom. Otherwise as `case_mean`.
    """
    return _estimated(strata, Unit.RUN, confidence, bounds, clusters)


def evolver_mean(
    strata: Sequence[ArrayLike], bounds: Interval | None = None, clusters: Sequence[Clusters | None] | None = None
) -> tuple[Estimate, Unit] | None:
    """Estimate the mean over strata for new runs if there are enough runs and they differ, else for these runs.

    Args:
        strata: one array of shape (runs, cases) for each environment; NaN is missing.
        bounds: bounds of scores; None if unknown.
        clusters: as for `case_mean`.

    Returns:
        The estimate and its kind of sample, or None if every score is missing.
    """
    runs = [len(t) for t in map(without_empty, strata) if t.size]
    crossed = crossed_mean(strata, bounds=bounds, clusters=clusters) if runs and enough_runs(runs) else None
    if crossed is not None and crossed.interval is not None:
        return crossed, Unit.RUN
    cases = case_mean(strata, bounds=bounds, clusters=clusters)
    return None if cases is None else (cases, Unit.CASE)


def _estimated(
    strata: Sequence[ArrayLike],
    unit: Unit,
    confidence: float,
    bounds: Interval | None,
    clusters: Sequence[Clusters | None] | None,
) -> Estimate | None:
    given = tables_of(strata, clusters)
    tables, scale = scaled(given.tables)
    if not tables:
        return None
    mean = float(np.mean([row_means(t).mean() for t in tables]))
    estimate = estimated_of(mean, sample_of(tables, unit), confidence, over(bounds, scale))
    estimate = replace(estimate, clusters=given.clusters)
    if given.few and (bounds is None or unit is Unit.RUN):
        return Estimate(mean * scale, unknown=Unknown.FEW_CLUSTERS, clusters=given.clusters)
    if scale == 1.0:
        return estimate
    error = None if estimate.error is None else min(estimate.error * scale, LARGEST)
    return replace(estimate, mean=mean * scale, error=error, interval=times(estimate.interval, scale))


def estimated_of(mean: float, sample: Sample, confidence: float, bounds: Interval | None) -> Estimate:
    """Estimate the mean of a sample, on a scale on which squares neither overflow nor vanish. See `case_mean`."""
    parts, tail = sample.parts, error_tail(confidence)
    agree, few = all(map(alike, sample.units)), sample.size < LEAST_RUNS
    if not parts and (bounds is None or sample.size < 2):
        return Estimate(mean, unknown=Unknown.FEW)
    estimate = combined(mean, parts, confidence)
    assert estimate.interval is not None
    if bounds is None and (agree or few):
        return replace(estimate, interval=None, unknown=Unknown.ALIKE if agree else Unknown.FEW)
    wide = [unseen(sample.units, bounds, tail)] if bounds is not None and (agree or few) else []
    interval = hull(estimate.interval, *wide, *([_studentized(estimate, sample, tail)] if estimate.error else []))
    return replace(estimate, interval=within(interval, bounds))


def combined(mean: float, parts: Sequence[tuple[float, int]], confidence: float) -> Estimate:
    """Return the estimate whose variance is the sum of parts (variance, degrees of freedom), after Satterthwaite."""
    variance = sum(v for v, _ in parts)
    spread = sum(v**2 / f for v, f in parts)
    freedom = variance**2 / spread if spread > 0.0 else math.inf
    error = math.sqrt(variance)
    half = student_quantile(1.0 - error_tail(confidence), freedom) * error
    return Estimate(mean, error, freedom, (mean - half, mean + half))


def _studentized(estimate: Estimate, sample: Sample, tail: float) -> Interval:
    """Return the bootstrap-t interval, from quantiles of studentized deviations of resampled means."""
    assert estimate.error is not None
    shift, variance = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for i, side in enumerate(sample.sides):
        moved, spread = _resampled(side, i)
        shift += sample.weight * moved
        variance += sample.weight**2 * spread
    errors = np.sqrt(np.maximum(variance, 1e-18 * estimate.error**2))
    most = _WIDEST * student_quantile(1.0 - tail, estimate.freedom)
    low, high = np.clip(np.quantile(shift / errors, (tail, 1.0 - tail)), -most, most)
    # A few values underrepresent a long tail: extend its side in proportion to the skew of the mean.
    skew = sample.skewness(estimate.error)
    down, up = 1.0 + max(0.0, -skew), 1.0 + max(0.0, skew)
    return estimate.mean - float(high) * down * estimate.error, estimate.mean - float(low) * up * estimate.error


def _resampled(side: Floats, index: int) -> tuple[Floats, Floats]:
    """Return the deviations of resampled means of one side from its mean, and their squared standard errors."""
    n = side.size
    apart = side - side.mean()
    if n > _MANY:
        variance = float(apart.var(ddof=1)) / n
        draws = generator(0, "analysis", "many", str(index)).normal(0.0, math.sqrt(variance), RESAMPLES)
        return draws, np.full(RESAMPLES, variance)
    shares = _shares(n, index)
    moved = shares @ apart
    return moved, np.maximum(shares @ apart**2 - moved**2, 0.0) / (n - 1)


@lru_cache(maxsize=16)
def _shares(n: int, index: int) -> Floats:
    """Return the share of each of n values in each resample, shape (resamples, n)."""
    return generator(0, "analysis", "mean", n, str(index)).multinomial(n, np.full(n, 1.0 / n), RESAMPLES) / n


def interquartile_means(values: Floats) -> Floats:
    """Return the mean of the middle half along the last axis, without the lowest and highest quarters (rounded down).

    Agarwal et al. 2021, "Deep RL at the edge of the statistical precipice", section 4.3. NaN is ignored; NaN if nothing
    remains.
    """
    ordered = np.sort(values, axis=-1)
    present = np.sum(~np.isnan(ordered), axis=-1, keepdims=True)
    rank = np.arange(ordered.shape[-1])
    middle = (rank >= present // 4) & (rank < present - present // 4)
    count = middle.sum(axis=-1)
    sums = np.where(middle, ordered, 0.0).sum(axis=-1)
    return np.divide(sums, count, out=np.full(count.shape, np.nan), where=count > 0)


def interquartile_mean(values: ArrayLike) -> float | None:
    """Return the interquartile mean of all known values; None without any. See `interquartile_means`."""
    flat = finite_values(values)
    return float(interquartile_means(flat)) if flat.size else None


def probability_of_improvement(a: Sequence[ArrayLike], b: Sequence[ArrayLike]) -> Estimate | None:
    """Estimate the probability that a run of `a` beats a run of `b`, averaged over environments; ties count half.

    Agarwal et al. 2021, section 4.3. Wins form a table of runs of `a` by runs of `b`, both random; its error has the
    two components of DeLong et al. 1988. Environments in which either has no score are ignored.

    Args:
        a: scores of its runs on each environment.
        b: likewise.

    Returns:
        The estimate; without an interval below six runs of either. None if no environment remains.
    """
    pairs = [(x, y) for x, y in zip(map(finite_values, a), map(finite_values, b), strict=True) if x.size and y.size]
    wins = [0.5 * (1.0 + np.sign(x[:, None] - y[None, :])) for x, y in pairs]
    estimate = crossed_mean(wins, bounds=SHARE)
    if estimate is None or all(enough_runs([len(pair[i]) for pair in pairs]) for i in (0, 1)):
        return estimate
    return Estimate(estimate.mean, unknown=Unknown.FEW_RUNS)
