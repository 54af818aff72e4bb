"""Paired comparisons of two entries: tests, detectable effects, verdicts, and claims about evolvers and candidates.

Scores are arrays of shape (runs, cases) for each environment. For the given candidates, cases are the sample; for
evolvers, runs and cases are, with two variance components (see `docs/analysis.md`). Interval, p-value and detectable
effect of a claim come from one model. All draws come from `heredity._core.ids.generator`, so the same scores give the
same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heredity._core.ids import generator
from heredity.analysis.samples import (
    LARGEST,
    Clusters,
    Floats,
    Interval,
    Sample,
    alike,
    enough_runs,
    error_tail,
    over,
    row_means,
    sample_of,
    scaled,
    tables_of,
    times,
    unseen,
    within,
)
from heredity.analysis.statistics import CONFIDENCE, combined, estimated_of, student_p, student_quantile
from heredity.results.base import COVERAGE, Unknown, covered
from heredity.results.run import Verdict
from heredity.results.suite import Unit

_EXACT_UNITS = 16


def sign_flip_p(values: ArrayLike, weights: ArrayLike | None = None, draws: int = 10_000) -> float:
    """Return the two-sided p-value of a paired randomisation test by sign flips.

    Exact up to 16 differences. Beyond, signs are drawn with probabilities that make sums as large as the observed one
    common, and draws are reweighted accordingly (exponential tilting). A p-value of 1e-12 is then as precise as one of
    0.1, so corrections for thousands of tests keep their power. The observed signs count as one draw, which makes the
    test valid and p never 0 (Harrison 2012, "Conservative hypothesis tests and confidence intervals using importance
    sampling").

    Args:
        values: paired differences, shape (units,).
        weights: weight of each difference in the statistic (default equal).
        draws: number of sign vectors to draw when there are too many to enumerate.
    """
    (differences,), _ = scaled([np.asarray(values, dtype=np.float64)])
    weighted = np.abs(differences * (1.0 if weights is None else np.asarray(weights, dtype=np.float64)))
    observed = abs(float((np.sign(differences) * weighted).sum()))
    weighted = weighted[weighted > 0.0]
    if not weighted.size:
        return 1.0
    weighted, observed = weighted / weighted.sum(), observed / float(weighted.sum())
    least = observed - 1e-12
    if weighted.size <= _EXACT_UNITS:
        sums = weighted[:1]  # signs and sums come in pairs: add the negative of each
        for weight in weighted[1:]:
            sums = np.concatenate([sums + weight, sums - weight])
        return float((np.abs(sums) >= least).mean())
    return min(1.0, 2.0 * _upper_tail(weighted, observed, least, draws))


def _upper_tail(weighted: Floats, observed: float, least: float, draws: int) -> float:
    """Return the probability that weights with random signs add up to at least `least`."""
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
        tests: number of tests that share the 5%.
    """
    alpha = (1.0 - CONFIDENCE) / tests
    return error * (student_quantile(1.0 - alpha / 2, freedom) + student_quantile(power, freedom))


def verdict(
    difference: float, p: float | None, level: float = 1.0 - CONFIDENCE, *, untold: Unknown | None = None
) -> Verdict:
    """Return the verdict on a difference: `"better"`, `"worse"`, `"within noise"`, or the reason for none.

    Args:
        difference: first minus second; positive favours the first.
        p: p-value, corrected if there are several; None, or above the level, is within noise.
        level: level of the test.
        untold: reason why there is no verdict, such as too few known scores; None if there is one.
    """
    if untold is not None:
        return Verdict.CANNOT_TELL
    if p is None or p > level:
        return Verdict.WITHIN_NOISE
    return Verdict.BETTER if difference > 0.0 else Verdict.WORSE


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired comparison of one sample; positive differences favour the first entry.

    Attributes:
        difference: mean over environments, then runs, then cases.
        interval: its confidence interval; None if it cannot be estimated.
        p: two-sided p-value of the same model, uncorrected; None with a single unit.
        mde: minimum detectable effect at 80% power, at the level of the first of `tests` corrected tests; None if the
            interval is None, or if all units agree.
        unit: the sample, runs or cases.
        runs: number of paired runs.
        cases: number of paired cases over all runs.
        enough: whether the runs suffice to compare evolvers (`samples.enough_runs`).
        covered: whether enough of the cases have scores of both (`results.coverage`).
        clusters: number of clusters that replace cases in the sample; None if cases are not clustered.
        few_clusters: whether the clusters are too few for an interval or a p-value.
    """

    difference: float
    interval: Interval | None
    p: float | None
    mde: float | None
    unit: Unit
    runs: int
    cases: int
    enough: bool
    covered: bool
    clusters: int | None = None
    few_clusters: bool = False

    @property
    def untold(self) -> Unknown | None:
        """Reason why the cases allow no verdict: too few have scores of both, or they form too few clusters; None if they do."""
        if not self.covered:
            return Unknown.MISSING
        return Unknown.FEW_CLUSTERS if self.few_clusters else None


def compare_runs(
    strata: Sequence[ArrayLike],
    tests: int = 1,
    bounds: Interval | None = None,
    *,
    mark: bool = False,
    clusters: Sequence[Clusters | None] | None = None,
    least: float = COVERAGE,
) -> Comparison | None:
    """Compare two entries for new runs on new cases: runs and cases are both sources of chance (see `crossed_mean`).

    Args:
        strata: first minus second, shape (runs, cases) for each environment, on one scale; NaN where either
            side is missing.
        tests: number of tests in the family that this one is corrected in.
        bounds: bounds of the differences; None if unknown.
        mark: whether the second is the same for all runs. Nothing then cancels the skew of scores, so the interval is
            that of `statistics.crossed_mean`.
        clusters: cluster of each case of each environment (`samples.clustered`).
        least: share of `strata` that must be known for a verdict.

    Returns:
        The comparison, or None if nothing is paired.
    """
    return _compared(strata, Unit.RUN, tests, bounds, clusters, least, mark)


def compare_cases(
    strata: Sequence[ArrayLike],
    tests: int = 1,
    bounds: Interval | None = None,
    *,
    clusters: Sequence[Clusters | None] | None = None,
    least: float = COVERAGE,
) -> Comparison | None:
    """Compare the final candidates of these runs on new cases: runs are fixed, cases are the sample. See `compare_runs`."""
    return _compared(strata, Unit.CASE, tests, bounds, clusters, least)


def compare_paired(
    strata: Sequence[ArrayLike],
    tests: int = 1,
    bounds: Interval | None = None,
    *,
    clusters: Sequence[Clusters | None] | None = None,
    least: float = COVERAGE,
) -> Comparison | None:
    """Compare runs if there are enough to compare evolvers, else cases. See `compare_runs`."""
    compared = compare_runs(strata, tests, bounds, clusters=clusters, least=least)
    if compared is None or compared.enough:
        return compared
    return compare_cases(strata, tests, bounds, clusters=clusters, least=least)


def _compared(
    strata: Sequence[ArrayLike],
    unit: Unit,
    tests: int,
    bounds: Interval | None,
    clusters: Sequence[Clusters | None] | None,
    least: float,
    mark: bool = False,
) -> Comparison | None:
    given = tables_of(strata, clusters)
    tables, scale = scaled(given.tables)
    if not tables:
        return None
    mean = float(np.mean([row_means(t).mean() for t in tables]))
    sample, limits = sample_of(tables, unit), over(bounds, scale)
    interval, p, mde = _inference(mean, sample, tests, limits)
    if mark:
        interval = estimated_of(mean, sample, CONFIDENCE, limits).interval
    if given.few:
        interval, p, mde = None, None, None
    cases = sum(int(np.isfinite(np.asarray(stratum, dtype=np.float64)).sum()) for stratum in strata)
    return Comparison(
        difference=mean * scale,
        interval=times(interval, scale),
        p=p,
        mde=None if mde is None else min(mde * scale, LARGEST),
        unit=unit,
        runs=sum(len(t) for t in tables),
        cases=cases,
        enough=enough_runs([len(t) for t in tables]),
        covered=covered(cases, sum(np.size(stratum) for stratum in strata), least),
        clusters=given.clusters,
        few_clusters=given.few,
    )


def _inference(
    mean: float, sample: Sample, tests: int, bounds: Interval | None
) -> tuple[Interval | None, float | None, float | None]:
    """Return interval, p-value and minimum detectable effect of a mean, all from one model."""
    if not sample.sides:
        return None, None, None
    units = sample.units
    estimate = combined(mean, sample.parts, CONFIDENCE)
    assert estimate.interval is not None
    if not estimate.error or all(map(alike, (*units, *sample.sides))):
        # Without spread there is no standard error; only the chance that all units agree remains.
        if bounds is not None:
            return unseen(units, bounds, error_tail(CONFIDENCE)), _unseen_p(units, bounds), None
        weights = np.concatenate([np.full(u.size, 1.0 / (u.size * len(units))) for u in units])
        return None, sign_flip_p(np.concatenate(units), weights), None
    mde = minimum_detectable_effect(estimate.error, estimate.freedom, tests=tests)
    return within(estimate.interval, bounds), student_p(mean / estimate.error, estimate.freedom), mde


def _unseen_p(units: Sequence[Floats], bounds: Interval) -> float:
    """Return the p-value that matches the interval of equal values, which excludes 0 at any level from it upwards."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        ends = unseen(units, bounds, middle / 2)
        low, high = (low, middle) if ends[0] > 0.0 or ends[1] < 0.0 else (middle, high)
    return high
