"""Intervals, paired comparisons and what they can detect.

Scores come as arrays of shape (runs, cases): the held-out cases are the same for every run of a suite, so runs and
cases are crossed, and both are sources of chance. NaN is a missing rollout. Higher is better everywhere. All draws come
from `heredity.ids.generator`, so the same scores give the same numbers.

Which interval is used where was decided by coverage in simulation (see `docs/analysis.md`): bootstrap intervals are too
narrow with few runs, so few observations get Student's t, and runs x cases get the two variance components with
Satterthwaite's degrees of freedom. What scores can only lie between (`bounds`) bounds their intervals, and gives one where
all are alike (see `heredity.analysis.bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from heredity.analysis.bounds import Floats, Interval, alike, bounded
from heredity.analysis.samples import LARGEST, error_tail, known, over, row_means, scaled, times, without_empty
from heredity.analysis.student import student_quantile
from heredity.ids import generator

CONFIDENCE = 0.95
RESAMPLES = 4000
FEW_RUNS = 4
"""Below so many runs, the spread between runs cannot be estimated: intervals are about the runs at hand."""

_NORMAL = NormalDist()
_FEW = 8


def mean_interval(
    values: ArrayLike, confidence: float = CONFIDENCE, resamples: int = RESAMPLES, bounds: Interval | None = None
) -> Interval | None:
    """Return a confidence interval of a mean of independent values.

    Fewer than eight values: Student's t. Otherwise the bootstrap, bias-corrected and accelerated (Efron 1987), with its
    percentiles widened from normal to t quantiles (Hesterberg 2015), because a bootstrap sample varies too little.

    Args:
        values: any shape; NaN is left out.
        confidence: nominal coverage in (0, 1).
        resamples: number of bootstrap samples.
        bounds: what values can only lie between; None if that is not known.

    Returns:
        (low, high), or None for fewer than two values; without a width if all are alike and without bounds.

    Raises:
        ConfigError: if `confidence` is not in (0, 1).
    """
    (sample,), scale = scaled([known(values)])
    tail = error_tail(confidence)
    if sample.size < 2:
        return None
    interval = bounded(_unbounded(sample, tail, resamples), [sample], over(bounds, scale), tail)
    return times(interval, scale)


def _unbounded(sample: Floats, tail: float, resamples: int) -> Interval:
    mean = float(sample.mean())
    if alike(sample):
        return mean, mean
    t = student_quantile(1.0 - tail, sample.size - 1)
    if sample.size < _FEW:
        half = t * float(sample.std(ddof=1)) / math.sqrt(sample.size)
        return mean - half, mean + half
    draws = generator(0, "analysis", "mean").integers(0, sample.size, (resamples, sample.size))
    means = sample[draws].mean(axis=1)
    low, high = np.quantile(means, _bca_levels(sample, means, t * math.sqrt(sample.size / (sample.size - 1))))
    return float(low), float(high)


def _bca_levels(values: Floats, means: Floats, z: float) -> list[float]:
    below = ((means < values.mean()).sum() + 0.5 * (means == values.mean()).sum()) / means.size
    bias = _NORMAL.inv_cdf(min(max(float(below), 0.5 / means.size), 1.0 - 0.5 / means.size))
    pull = values - values.mean()
    pull /= np.abs(pull).max()  # its powers neither overflow nor vanish
    acceleration = float((pull**3).sum() / (6.0 * (pull**2).sum() ** 1.5))
    shifted = [bias + (bias + s) / max(1.0 - acceleration * (bias + s), 1e-6) for s in (-z, z)]
    return [_NORMAL.cdf(s) for s in shifted]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean and what is known of its error.

    Attributes:
        mean: the mean, in the unit of the scores.
        error: its standard error; None when it cannot be estimated (a single observation).
        freedom: degrees of freedom of that error.
        interval: its confidence interval; None when the error is.
    """

    mean: float
    error: float | None = None
    freedom: float = 0.0
    interval: Interval | None = None


def crossed_mean(
    strata: Sequence[ArrayLike], confidence: float = CONFIDENCE, bounds: Interval | None = None
) -> Estimate | None:
    """Estimate the mean over strata of the mean over runs of the mean over cases.

    With several runs in each stratum, the error has a component between runs and one between cases, both estimated from
    the marginal means, and Satterthwaite's degrees of freedom. Where a stratum has one run, several strata are taken as
    a sample of runs (which is wider); one stratum with one run gives the interval over its cases, which is about that
    run alone.

    Args:
        strata: one array of shape (runs, cases) for each environment; NaN is missing.
        confidence: nominal coverage in (0, 1).
        bounds: what scores can only lie between; None if that is not known.

    Returns:
        The estimate, or None if every score is missing.
    """
    tables, scale = scaled([t for t in map(without_empty, strata) if t.size])
    return _unscaled(_crossed(tables, confidence, over(bounds, scale)), scale) if tables else None


def _crossed(tables: Sequence[Floats], confidence: float, bounds: Interval | None) -> Estimate:
    means = np.array([row_means(t).mean() for t in tables])
    mean = float(means.mean())
    if len(tables) == 1 and len(tables[0]) == 1:
        return _one_run(tables[0], mean, confidence, bounds)
    if min(len(t) for t in tables) == 1:
        parts, units = [(float(means.var(ddof=1)) / means.size, means.size - 1)], [means]
    else:
        parts = [(v / len(tables) ** 2, f) for t in tables for v, f in _components(t)]
        units = [row_means(t) for t in tables]
    estimate = combined(mean, parts, confidence)
    return replace(estimate, interval=bounded(estimate.interval, units, bounds, error_tail(confidence)))


def case_mean(
    strata: Sequence[ArrayLike], confidence: float = CONFIDENCE, bounds: Interval | None = None
) -> Estimate | None:
    """Estimate the mean over strata for the runs at hand: only the cases are taken as a sample.

    The result holds for the policies that these runs selected, on new cases; it says nothing of other runs.

    Args:
        strata: one array of shape (runs, cases) for each environment; NaN is missing.
        confidence: nominal coverage in (0, 1).
        bounds: what scores can only lie between; None if that is not known.

    Returns:
        The estimate, or None if every score is missing.
    """
    tables, scale = scaled([t for t in map(without_empty, strata) if t.size])
    return _unscaled(_over_cases(tables, confidence, over(bounds, scale)), scale) if tables else None


def _over_cases(tables: Sequence[Floats], confidence: float, bounds: Interval | None) -> Estimate:
    if len(tables) == 1:
        averaged = row_means(tables[0].T)
        return _one_run(averaged[None, :], float(row_means(tables[0]).mean()), confidence, bounds)
    mean = float(np.mean([row_means(t).mean() for t in tables]))
    columns = [row_means(t.T) for t in tables]
    parts = [(float(c.var(ddof=1)) / c.size / len(tables) ** 2, c.size - 1) for c in columns if c.size > 1]
    if not parts:
        return Estimate(mean)
    estimate = combined(mean, parts, confidence)
    return replace(estimate, interval=bounded(estimate.interval, columns, bounds, error_tail(confidence)))


def combined(mean: float, parts: Sequence[tuple[float, int]], confidence: float) -> Estimate:
    """Return the estimate whose variance is the sum of parts (variance, degrees of freedom), after Satterthwaite."""
    variance = sum(v for v, _ in parts)
    spread = sum(v**2 / f for v, f in parts)
    freedom = variance**2 / spread if spread > 0.0 else math.inf
    error = math.sqrt(variance)
    half = student_quantile(1.0 - error_tail(confidence), freedom) * error
    return Estimate(mean, error, freedom, (mean - half, mean + half))


def _one_run(table: Floats, mean: float, confidence: float, bounds: Interval | None) -> Estimate:
    sample = known(table)
    if sample.size < 2:
        return Estimate(mean)
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return Estimate(mean, error, sample.size - 1.0, mean_interval(sample, confidence, bounds=bounds))


def _components(table: Floats) -> list[tuple[float, int]]:
    sides = (row_means(table), row_means(table.T))
    return [(float(s.var(ddof=1)) / s.size, s.size - 1) for s in sides if s.size > 1]


def interquartile_mean(values: ArrayLike) -> float | None:
    """Return the mean of the middle half: the lowest and the highest quarter (rounded down) are left out.

    Agarwal et al. 2021, "Deep RL at the edge of the statistical precipice", section 4.3. NaN is left out; None if
    nothing remains.
    """
    ordered = np.sort(known(values))
    cut = ordered.size // 4
    return float(ordered[cut : ordered.size - cut].mean()) if ordered.size else None


def iqm_interval(
    strata: Sequence[ArrayLike], confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> Interval | None:
    """Return the percentile interval of the interquartile mean under the stratified bootstrap of Agarwal et al. 2021.

    Args:
        strata: the runs' scores of each environment; runs are drawn anew inside each environment.
        confidence: nominal coverage in (0, 1).
        resamples: number of bootstrap samples.

    Returns:
        (low, high), or None if no stratum has two runs, since then nothing varies.
    """
    samples = [k for k in map(known, strata) if k.size]
    if not any(k.size > 1 for k in samples):
        return None
    draws = generator(0, "analysis", "iqm")
    pooled = np.concatenate([k[draws.integers(0, k.size, (resamples, k.size))] for k in samples], axis=1)
    pooled.sort(axis=1)
    cut = pooled.shape[1] // 4
    means = pooled[:, cut : pooled.shape[1] - cut].mean(axis=1)
    low, high = np.quantile(means, (error_tail(confidence), 1.0 - error_tail(confidence)))
    return float(low), float(high)


def probability_of_improvement(a: Sequence[ArrayLike], b: Sequence[ArrayLike]) -> float | None:
    """Return how probable it is that a run of `a` beats a run of `b`, averaged over environments; ties count half.

    Agarwal et al. 2021, section 4.3. Environments in which either has no score are left out; None if none remain.
    """
    chances: list[float] = []
    for left, right in zip(map(known, a), map(known, b), strict=True):
        if left.size and right.size:
            gaps = left[:, None] - right[None, :]
            chances.append(float((gaps > 0).mean() + 0.5 * (gaps == 0).mean()))
    return float(np.mean(chances)) if chances else None


def _unscaled(estimate: Estimate, scale: float) -> Estimate:
    if scale == 1.0:
        return estimate
    error = None if estimate.error is None else min(estimate.error * scale, LARGEST)
    interval = times(estimate.interval, scale)
    return replace(estimate, mean=estimate.mean * scale, error=error, interval=interval)
