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
from heredity.analysis.student import student_p, student_quantile
from heredity.errors import ConfigError
from heredity.ids import generator
from heredity.results.run import Verdict
from heredity.results.suite import Unit

CONFIDENCE = 0.95
RESAMPLES = 4000
FEW_RUNS = 4
"""Below so many runs, the spread between runs cannot be estimated: intervals are about the runs at hand."""

LEAST_RUNS = 6
"""Below so many paired runs no exact test reaches 5%: of evolvers, nobody can tell yet."""

LEAST_EACH = 3
"""Below so many paired runs on each environment their spread there is not known, and with fewer than `LEAST_RUNS` environments
nobody can tell either: two seeds on each of three call one evolver of four better falsely in up to one suite in nine."""

_NORMAL = NormalDist()
_FEW = 8
_LARGEST = np.finfo(np.float64).max.item()
_EXACT_UNITS = 16


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
    (sample,), scale = _scaled([_known(values)])
    tail = _tail(confidence)
    if sample.size < 2:
        return None
    interval = bounded(_unbounded(sample, tail, resamples), [sample], _over(bounds, scale), tail)
    return _times(interval, scale)


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
    tables, scale = _scaled([t for t in map(_without_empty, strata) if t.size])
    return _unscaled(_crossed(tables, confidence, _over(bounds, scale)), scale) if tables else None


def _crossed(tables: Sequence[Floats], confidence: float, bounds: Interval | None) -> Estimate:
    means = np.array([_row_means(t).mean() for t in tables])
    mean = float(means.mean())
    if len(tables) == 1 and len(tables[0]) == 1:
        return _one_run(tables[0], mean, confidence, bounds)
    if min(len(t) for t in tables) == 1:
        parts, units = [(float(means.var(ddof=1)) / means.size, means.size - 1)], [means]
    else:
        parts = [(v / len(tables) ** 2, f) for t in tables for v, f in _components(t)]
        units = [_row_means(t) for t in tables]
    estimate = _combined(mean, parts, confidence)
    return replace(estimate, interval=bounded(estimate.interval, units, bounds, _tail(confidence)))


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
    tables, scale = _scaled([t for t in map(_without_empty, strata) if t.size])
    return _unscaled(_over_cases(tables, confidence, _over(bounds, scale)), scale) if tables else None


def _over_cases(tables: Sequence[Floats], confidence: float, bounds: Interval | None) -> Estimate:
    if len(tables) == 1:
        averaged = _row_means(tables[0].T)
        return _one_run(averaged[None, :], float(_row_means(tables[0]).mean()), confidence, bounds)
    mean = float(np.mean([_row_means(t).mean() for t in tables]))
    columns = [_row_means(t.T) for t in tables]
    parts = [(float(c.var(ddof=1)) / c.size / len(tables) ** 2, c.size - 1) for c in columns if c.size > 1]
    if not parts:
        return Estimate(mean)
    estimate = _combined(mean, parts, confidence)
    return replace(estimate, interval=bounded(estimate.interval, columns, bounds, _tail(confidence)))


def _combined(mean: float, parts: Sequence[tuple[float, int]], confidence: float) -> Estimate:
    """Return the estimate whose variance is the sum of parts (variance, degrees of freedom), after Satterthwaite."""
    variance = sum(v for v, _ in parts)
    spread = sum(v**2 / f for v, f in parts)
    freedom = variance**2 / spread if spread > 0.0 else math.inf
    error = math.sqrt(variance)
    half = student_quantile(1.0 - _tail(confidence), freedom) * error
    return Estimate(mean, error, freedom, (mean - half, mean + half))


def _one_run(table: Floats, mean: float, confidence: float, bounds: Interval | None) -> Estimate:
    sample = _known(table)
    if sample.size < 2:
        return Estimate(mean)
    error = float(sample.std(ddof=1)) / math.sqrt(sample.size)
    return Estimate(mean, error, sample.size - 1.0, mean_interval(sample, confidence, bounds=bounds))


def _components(table: Floats) -> list[tuple[float, int]]:
    sides = (_row_means(table), _row_means(table.T))
    return [(float(s.var(ddof=1)) / s.size, s.size - 1) for s in sides if s.size > 1]


def interquartile_mean(values: ArrayLike) -> float | None:
    """Return the mean of the middle half: the lowest and the highest quarter (rounded down) are left out.

    Agarwal et al. 2021, "Deep RL at the edge of the statistical precipice", section 4.3. NaN is left out; None if
    nothing remains.
    """
    ordered = np.sort(_known(values))
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
    samples = [k for k in map(_known, strata) if k.size]
    if not any(k.size > 1 for k in samples):
        return None
    draws = generator(0, "analysis", "iqm")
    pooled = np.concatenate([k[draws.integers(0, k.size, (resamples, k.size))] for k in samples], axis=1)
    pooled.sort(axis=1)
    cut = pooled.shape[1] // 4
    means = pooled[:, cut : pooled.shape[1] - cut].mean(axis=1)
    low, high = np.quantile(means, (_tail(confidence), 1.0 - _tail(confidence)))
    return float(low), float(high)


def probability_of_improvement(a: Sequence[ArrayLike], b: Sequence[ArrayLike]) -> float | None:
    """Return how probable it is that a run of `a` beats a run of `b`, averaged over environments; ties count half.

    Agarwal et al. 2021, section 4.3. Environments in which either has no score are left out; None if none remain.
    """
    chances: list[float] = []
    for left, right in zip(map(_known, a), map(_known, b), strict=True):
        if left.size and right.size:
            gaps = left[:, None] - right[None, :]
            chances.append(float((gaps > 0).mean() + 0.5 * (gaps == 0).mean()))
    return float(np.mean(chances)) if chances else None


def sign_flip_p(values: ArrayLike, weights: ArrayLike | None = None, draws: int = 10_000) -> float:
    """Return the two-sided p-value of a paired randomisation test: each difference might have had the other sign.

    Exact up to 16 differences. Beyond, signs are drawn with probabilities that make sums as large as the one observed common, and
    each draw counts by how much likelier it was made (exponential tilting): so that a p-value of 1e-12 is known as well as one of
    0.1, and a correction for thousands of tests finds what is there. The signs that were observed count as one draw, which makes
    the test valid and p never 0 (Harrison 2012, "Conservative hypothesis tests and confidence intervals using importance
    sampling").

    Args:
        values: paired differences, shape (units,).
        weights: of each difference in the statistic; equal by default.
        draws: how many sign vectors are drawn when there are too many to go through.
    """
    (differences,), _ = _scaled([np.asarray(values, dtype=np.float64)])
    weighted = np.abs(differences * (1.0 if weights is None else np.asarray(weights, dtype=np.float64)))
    observed = abs(float((np.sign(differences) * weighted).sum()))
    weighted = weighted[weighted > 0.0]
    if not weighted.size:
        return 1.0
    weighted, observed = weighted / weighted.sum(), observed / float(weighted.sum())
    least = observed - 1e-12
    if weighted.size <= _EXACT_UNITS:
        return float((np.abs(_all_signs(weighted.size) @ weighted) >= least).mean())
    return min(1.0, 2.0 * _upper_tail(weighted, observed, least, draws))


def _all_signs(units: int) -> Floats:
    patterns = np.arange(2**units)[:, None] >> np.arange(units)[None, :]
    return (1 - 2 * (patterns & 1)).astype(np.float64)


def _upper_tail(weighted: Floats, observed: float, least: float, draws: int) -> float:
    """Return how probable it is that weights with random signs add up to at least `least`."""
    low, high = 0.0, 40.0 / float(weighted.min())
    for _ in range(80):
        tilt = (low + high) / 2
        low, high = (tilt, high) if float((weighted * np.tanh(tilt * weighted)).sum()) < observed else (low, tilt)
    plus = 1.0 / (1.0 + np.exp(-2.0 * low * weighted))
    signs = np.where(generator(0, "analysis", "signs").random((draws, weighted.size)) < plus, 1.0, -1.0)
    sums = signs @ weighted
    norm = float(np.logaddexp(low * weighted, -low * weighted).sum()) - weighted.size * math.log(2.0)
    likelihood = np.exp(norm - low * np.append(sums[sums >= least], observed))
    return float(likelihood.sum()) / (draws + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for the size of their family (Holm 1979); None stays None and is not counted."""
    ranked = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for position, (p, index) in enumerate(ranked):
        floor = max(floor, min(1.0, p * (len(ranked) - position)))
        corrected[index] = floor
    return corrected


def minimum_detectable_effect(error: float, freedom: float = math.inf, power: float = 0.8, tests: int = 1) -> float:
    """Return the smallest true difference that a two-sided test at 5% finds with the given power.

    Args:
        error: standard error of the difference.
        freedom: degrees of freedom of that error.
        power: probability of finding it, in (0.5, 1).
        tests: how many tests the 5% are shared out among.
    """
    alpha = (1.0 - CONFIDENCE) / tests
    return error * (student_quantile(1.0 - alpha / 2, freedom) + student_quantile(power, freedom))


def verdict(difference: float, p: float | None, level: float = 1.0 - CONFIDENCE) -> Verdict:
    """Say in two words what a difference means: `"better"`, `"worse"` or `"within noise"`.

    Args:
        difference: first minus second; positive favours the first.
        p: p-value, corrected where there are several; None, or above the level, is within noise.
        level: of the test.
    """
    if p is None or p > level:
        return Verdict.WITHIN_NOISE
    return Verdict.BETTER if difference > 0.0 else Verdict.WORSE


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired comparison of one sample; positive differences favour the first entry.

    Attributes:
        difference: mean over environments, then runs, then cases.
        interval: its confidence interval; None if it cannot be estimated.
        p: two-sided p-value of the same model, not corrected; None if there is only one unit.
        mde: minimum detectable effect at 80% power, at the level that the first of `tests` corrected tests has; None if the
            interval is, or if all units agree.
        unit: whether runs or cases are the sample.
        runs: paired runs.
        cases: paired cases over all runs.
        enough: whether there are runs enough to tell evolvers apart (`LEAST_RUNS`, `LEAST_EACH`).
    """

    difference: float
    interval: Interval | None
    p: float | None
    mde: float | None
    unit: Unit
    runs: int
    cases: int
    enough: bool


def compare_runs(strata: Sequence[ArrayLike], tests: int = 1, bounds: Interval | None = None) -> Comparison | None:
    """Compare two entries for new runs on new cases: runs and cases are both sources of chance (see `crossed_mean`).

    Args:
        strata: first minus second, shape (runs, cases) for each environment, on one scale; NaN where either
            side is missing.
        tests: how many tests the family has that this one is corrected in.
        bounds: what differences can only lie between; None if that is not known.

    Returns:
        The comparison, or None if nothing is paired.
    """
    return _compared(strata, Unit.RUN, tests, bounds)


def compare_cases(strata: Sequence[ArrayLike], tests: int = 1, bounds: Interval | None = None) -> Comparison | None:
    """Compare the candidates that these runs ended with on new cases: runs are given, cases are the sample. See `compare_runs`."""
    return _compared(strata, Unit.CASE, tests, bounds)


def compare_paired(strata: Sequence[ArrayLike], tests: int = 1, bounds: Interval | None = None) -> Comparison | None:
    """Compare runs where there are enough of them to tell evolvers apart, else cases. See `compare_runs`."""
    compared = compare_runs(strata, tests, bounds)
    return compare_cases(strata, tests, bounds) if compared is not None and not compared.enough else compared


def _compared(strata: Sequence[ArrayLike], unit: Unit, tests: int, bounds: Interval | None) -> Comparison | None:
    tables, scale = _scaled([t for t in map(_without_empty, strata) if t.size])
    if not tables:
        return None
    mean = float(np.mean([_row_means(t).mean() for t in tables]))
    interval, p, mde = _inference(mean, *_sample(tables, unit), tests, _over(bounds, scale))
    return Comparison(
        difference=mean * scale,
        interval=_times(interval, scale),
        p=p,
        mde=None if mde is None else min(mde * scale, _LARGEST),
        unit=unit,
        runs=sum(len(t) for t in tables),
        cases=sum(int((~np.isnan(t)).sum()) for t in tables),
        enough=sum(map(len, tables)) >= LEAST_RUNS
        and (min(map(len, tables)) >= LEAST_EACH or len(tables) >= LEAST_RUNS),
    )


def _sample(tables: Sequence[Floats], unit: Unit) -> tuple[list[Floats], list[tuple[float, int]]]:
    """Return the units of each stratum, and the parts (variance, degrees of freedom) of the error of the mean over strata."""
    least = 1 if len(tables) < LEAST_RUNS else LEAST_EACH - 1
    if unit is Unit.RUN and len(tables) > 1 and min(map(len, tables)) <= least:
        # The environments are the sample: what their runs differ by is in how their means differ.
        means = np.array([_row_means(t).mean() for t in tables])
        return [means], [(float(means.var(ddof=1)) / means.size, means.size - 1)]
    by_run = unit is Unit.RUN
    units = [_row_means(t if by_run else t.T) for t in tables]
    if by_run and min(map(len, tables)) == 1:
        return units, []
    sides = [side for t in tables for side in ((_row_means(t), _row_means(t.T)) if by_run else (_row_means(t.T),))]
    parts = [(float(side.var(ddof=1)) / side.size / len(tables) ** 2, side.size - 1) for side in sides if side.size > 1]
    return units, parts


def _inference(
    mean: float, units: Sequence[Floats], parts: Sequence[tuple[float, int]], tests: int, bounds: Interval | None
) -> tuple[Interval | None, float | None, float | None]:
    """Return interval, p-value and minimum detectable effect of a mean, all from one model."""
    if not parts:
        return None, None, None
    tail = _tail(CONFIDENCE)
    if all(map(alike, units)) and all(v <= 1e-24 * mean**2 for v, _ in parts):
        # No spread to make an error of: what remains is how often so many would agree by chance.
        weights = np.concatenate([np.full(u.size, 1.0 / (u.size * len(units))) for u in units])
        interval = None if bounds is None else bounded((mean, mean), units, bounds, tail)
        return interval, sign_flip_p(np.concatenate(units), weights), None
    estimate = _combined(mean, parts, CONFIDENCE)
    assert estimate.error is not None
    mde = minimum_detectable_effect(estimate.error, estimate.freedom, tests=tests)
    return bounded(estimate.interval, units, bounds, tail), student_p(mean / estimate.error, estimate.freedom), mde


def _tail(confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise ConfigError(f"confidence {confidence} is not between 0 and 1; give a fraction such as 0.95")
    return (1.0 - confidence) / 2


def _known(values: ArrayLike) -> Floats:
    flat = np.asarray(values, dtype=np.float64).ravel()
    return flat[np.isfinite(flat)]


def _scaled(tables: Sequence[Floats]) -> tuple[list[Floats], float]:
    """Return tables over a power of two, and that power: 1 but for scores whose squares overflow or vanish."""
    largest = max((float(np.nanmax(np.abs(t))) for t in tables if t.size), default=0.0)
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return list(tables), 1.0
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    return [t / scale for t in tables], scale


def _over(bounds: Interval | None, scale: float) -> Interval | None:
    return None if bounds is None else (bounds[0] / scale, bounds[1] / scale)


def _times(interval: Interval | None, scale: float) -> Interval | None:
    if interval is None:
        return None
    low, high = (min(max(end * scale, -_LARGEST), _LARGEST) for end in interval)
    return low, high


def _unscaled(estimate: Estimate, scale: float) -> Estimate:
    if scale == 1.0:
        return estimate
    error = None if estimate.error is None else min(estimate.error * scale, _LARGEST)
    interval = _times(estimate.interval, scale)
    return replace(estimate, mean=estimate.mean * scale, error=error, interval=interval)


def _without_empty(values: ArrayLike) -> Floats:
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    present = np.isfinite(table)
    table = np.where(present, table, np.nan)
    return table[present.any(axis=1)][:, present.any(axis=0)]


def _row_means(table: Floats) -> Floats:
    return np.nanmean(table, axis=1)
