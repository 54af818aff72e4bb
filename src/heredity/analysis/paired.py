"""Paired comparisons of two entries: tests, detectable effects, verdicts, and claims about evolvers and candidates.

Scores are arrays of shape (runs, cases) for each environment. For the given candidates, cases are the sample; for
evolvers, runs and cases are, with two variance components (see `docs/analysis.md`). Interval, p-value and detectable
effect of a claim come from one model, `Model`. All draws come from `heredity._core.ids.generator`, so the same scores
give the same numbers.

Student's t promises 5% for scores of one shape. Scores of evolvers have any: one never varies, another fails now and
then. So the wider spread of two evolvers counts for both, p is multiplied by a factor for few seeds (`shape_factor`),
and an evolver whose seeds all agree gets no verdict: its spread is not known. `benchmarks/coverage.py` shows that this
keeps the promise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heredity.analysis.samples import (
    LARGEST,
    LEAST_EACH,
    LEAST_RUNS,
    Clusters,
    Floats,
    Interval,
    Sample,
    alike,
    over,
    row_means,
    sample_of,
    scaled,
    tables_of,
    times,
    within,
)
from heredity.analysis.statistics import CONFIDENCE, combined, student_p, student_quantile
from heredity.results.base import COVERAGE, Unknown, covered
from heredity.results.run import Verdict
from heredity.results.suite import Unit

LEAST_PAIRED = 4
"""Minimum seeds of two evolvers on a single taskset: with three of each, an exact permutation test cannot reach 5%."""

LEAST_MARKED = 5
"""Minimum seeds of an evolver that is compared with a mark on a single taskset: four of a score with two modes are all in the
same one in one case of eight."""

UNLIKE = 2.7
"""Ratio of the spreads of two evolvers beyond which four seeds of each cannot tell which one is better."""

LEVEL = 1.0 - CONFIDENCE


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for the size of their family (Holm 1979); None stays None and is not counted."""
    ranked = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for position, (p, index) in enumerate(ranked):
        floor = max(floor, min(1.0, p * (len(ranked) - position)))
        corrected[index] = floor
    return corrected


def verdict(
    difference: float, p: float | None, level: float = 1.0 - CONFIDENCE, *, untold: Unknown | None = None
) -> Verdict:
    """Return the verdict on a difference: `"better"`, `"worse"`, `"within noise"`, or the reason for none.

    Args:
        difference: first minus second; positive favours the first.
        p: p-value, corrected if there are several; None, or above the level, is within noise.
        level: level of the test.
        untold: reason why there is no verdict, such as too few known scores or seeds; None if there is one.
    """
    if untold is not None:
        return Verdict.CANNOT_TELL
    if p is None or p > level:
        return Verdict.WITHIN_NOISE
    return Verdict.BETTER if difference > 0.0 else Verdict.WORSE


@dataclass(frozen=True, slots=True)
class Model:
    """The distribution that a difference is judged by; `interval`, `p` and `mde` all come from it.

    Attributes:
        mean: the difference.
        error: its standard error, in which the wider spread of two evolvers counts for both.
        plain: its standard error with the spread of each. The power lies between those of the two (measured in
            `benchmarks/coverage.py`).
        freedom: degrees of freedom.
        factor: number by which p-values are multiplied, for scores of unlike shapes (`shape_factor`).
        bounds: bounds of the difference; None if unknown.
        constant: units of each stratum if those of one side all agree, so that others may exist unseen; else empty.
        untold: reason why there is no model to judge by; None if there is.
    """

    mean: float
    error: float
    plain: float
    freedom: float
    factor: float = 1.0
    bounds: Interval | None = None
    constant: tuple[int, ...] = ()
    untold: Unknown | None = None

    def interval(self, level: float = LEVEL) -> Interval | None:
        """Return the interval that leaves out 0 if and only if p is at most the level; None if the spread is unknown.

        Args:
            level: probability of an error, such as 0.05; smaller for one of several tests.
        """
        if self.untold is not None or (self.constant and self.bounds is None):
            return None
        tail = level / self.factor / 2
        share = 1.0
        if self.constant:
            # Half of the errors may come from unseen values, unless nothing else varies.
            parts = 2 if self.error == 0.0 else 4
            tail = level / self.factor / parts
            share = float(np.mean([(level / parts / len(self.constant)) ** (1.0 / n) for n in self.constant]))
        half = student_quantile(1.0 - tail, self.freedom) * self.error if self.error > 0.0 else 0.0
        least, most = self.bounds or (0.0, 0.0)
        low, high = (
            share * (self.mean - half) + (1.0 - share) * least,
            share * (self.mean + half) + (1.0 - share) * most,
        )
        return within((low, high), self.bounds)

    @property
    def p(self) -> float | None:
        """Two-sided p-value; None if the spread is unknown."""
        if self.untold is not None:
            return None
        if self.constant and self.bounds is None:
            return 1.0
        if not self.constant:
            return min(1.0, self.factor * student_p(self.mean / self.error, self.freedom))
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            ends = self.interval(middle)
            low, high = (low, middle) if ends is not None and (ends[0] > 0.0 or ends[1] < 0.0) else (middle, high)
        return high

    def mde(self, tests: int = 1, power: float = 0.8) -> float | None:
        """Return the smallest true difference that the first of so many tests finds with this power; None if unknown."""
        if self.untold is not None or self.constant:
            return None
        tail = LEVEL / tests / self.factor / 2
        found = (2.0 * self.error + self.plain) / 3.0 * student_quantile(power, self.freedom)
        return self.error * student_quantile(1.0 - tail, self.freedom) + found


def shape_factor(seeds: int, *, marked: bool) -> float:
    """Return the number by which p-values are multiplied, since scores have any shape.

    With it, an evolver is falsely called better in at most 6% of simulated suites, whatever the shapes of both
    (`benchmarks/coverage.py`). Skew fades with the number of seeds, and the factor with it.

    Args:
        seeds: number of seeds over all tasksets.
        marked: whether the second side is the same for all seeds: nothing then cancels the skew of the first.
    """
    most = 25.0 if marked else 1.0 if seeds <= LEAST_PAIRED else 2.5
    return max(1.0, most * 16.0 / max(16.0, seeds))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A paired comparison of one sample; positive differences favour the first entry.

    Attributes:
        difference: mean over environments, then runs, then cases.
        interval: its confidence interval; None if it cannot be estimated.
        p: two-sided p-value of the same model, uncorrected; None with a single unit, or if the spread is unknown.
        mde: minimum detectable effect at 80% power, at the level of the first of `tests` corrected tests; None if the
            interval is None, or if all units agree.
        unit: the sample, runs or cases.
        runs: number of paired runs.
        cases: number of paired cases over all runs.
        enough: whether the runs suffice to compare evolvers (`enough_seeds`).
        covered: whether enough of the cases have scores of both (`results.coverage`).
        clusters: number of clusters that replace cases in the sample; None if cases are not clustered.
        few_clusters: whether the clusters are too few for an interval or a p-value.
        model: the model of the difference, in units of `scale`; None if there is none.
        scale: unit of the model.
        parts: variance between seeds of the first and of the second side, and between cases, of the mean difference.
        tasksets: number of environments.
        columns: number of cases or clusters over all environments.
        marked: whether the second entry is a mark, the same for all runs.
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
    model: Model | None = None
    scale: float = 1.0
    parts: tuple[float, float, float] | None = None
    tasksets: int = 1
    columns: int = 0
    marked: bool = False

    @property
    def untold(self) -> Unknown | None:
        """Reason why there is no verdict, whatever the number of runs; None if there may be one.

        Too few cases have scores of both, they form too few clusters, or the seeds of one side all agree.
        """
        if not self.covered:
            return Unknown.MISSING
        if self.few_clusters:
            return Unknown.FEW_CLUSTERS
        return None if self.model is None or self.p is not None else self.model.untold

    @property
    def freedom(self) -> float | None:
        """Degrees of freedom of the interval; None without a t interval."""
        return None if self.model is None or self.interval is None or self.model.error == 0.0 else self.model.freedom

    def interval_at(self, level: float) -> Interval | None:
        """Return the interval at another level than 5%."""
        return None if self.model is None or self.few_clusters else times(self.model.interval(level), self.scale)


Sides = Sequence[tuple[ArrayLike, ArrayLike]]
"""Scores of both sides on each environment, each of the shape of the differences."""


def enough_seeds(runs: Sequence[int], *, marked: bool = False) -> bool:
    """Return True if these numbers of paired runs on each environment suffice for a verdict on evolvers.

    On one environment four suffice for two evolvers (`LEAST_PAIRED`), and five against a mark (`LEAST_MARKED`); on
    several, six in all, with at least three on each if there are fewer than six environments.
    """
    if len(runs) == 1:
        return runs[0] >= (LEAST_MARKED if marked else LEAST_PAIRED)
    return sum(runs) >= LEAST_RUNS and (min(runs) >= LEAST_EACH or len(runs) >= LEAST_RUNS)


def compare_runs(
    strata: Sequence[ArrayLike],
    tests: int = 1,
    bounds: Interval | None = None,
    *,
    sides: Sides | None = None,
    clusters: Sequence[Clusters | None] | None = None,
    least: float = COVERAGE,
) -> Comparison | None:
    """Compare two entries for new runs on new cases: runs and cases are both sources of chance (see `crossed_mean`).

    Args:
        strata: first minus second, shape (runs, cases) for each environment, on one scale; NaN where either
            side is missing.
        tests: number of tests in the family that this one is corrected in.
        bounds: bounds of the differences; None if unknown.
        sides: scores of both entries, on the scale of `strata`; None if the second is a mark, the same for all runs.
        clusters: cluster of each case of each environment (`samples.clustered`).
        least: share of `strata` that must be known for a verdict.

    Returns:
        The comparison, or None if nothing is paired.
    """
    return _compared(strata, Unit.RUN, tests, bounds, clusters, least, sides)


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
    sides: Sides | None = None,
    clusters: Sequence[Clusters | None] | None = None,
    least: float = COVERAGE,
) -> Comparison | None:
    """Compare runs if there are enough to compare evolvers, else cases. See `compare_runs`."""
    compared = compare_runs(strata, tests, bounds, sides=sides, clusters=clusters, least=least)
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
    sides: Sides | None = None,
) -> Comparison | None:
    given = tables_of(strata, clusters)
    tables, scale = scaled(given.tables)
    if not tables:
        return None
    mean = float(np.mean([row_means(t).mean() for t in tables]))
    sample, limits = sample_of(tables, unit), over(bounds, scale)
    parts = None
    if unit is Unit.CASE:
        model = _of_cases(mean, sample, limits)
    else:
        rows = None if sides is None else _rows_of(strata, sides, scale)
        model, parts = _of_runs(mean, tables, sample, limits, rows)
    if given.few:
        model = None
    interval, p, mde = (None, None, None) if model is None else (model.interval(), model.p, model.mde(tests))
    cases = sum(int(np.isfinite(np.asarray(stratum, dtype=np.float64)).sum()) for stratum in strata)
    return Comparison(
        difference=mean * scale,
        interval=times(interval, scale),
        p=p,
        mde=None if mde is None else min(mde * scale, LARGEST),
        unit=unit,
        runs=sum(len(t) for t in tables),
        cases=cases,
        enough=enough_seeds([len(t) for t in tables], marked=sides is None),
        covered=covered(cases, sum(np.size(stratum) for stratum in strata), least),
        clusters=given.clusters,
        few_clusters=given.few,
        model=model,
        scale=scale,
        parts=parts,
        tasksets=len(tables),
        columns=sum(t.shape[1] for t in tables),
        marked=unit is Unit.RUN and sides is None,
    )


def _of_cases(mean: float, sample: Sample, bounds: Interval | None) -> Model | None:
    """Return the model of a mean over cases: Student's t."""
    if not sample.sides:
        return None
    estimate = combined(mean, sample.parts, CONFIDENCE)
    assert estimate.error is not None
    if not estimate.error or all(map(alike, (*sample.units, *sample.sides))):
        return _of_equal(mean, sample, bounds)
    return Model(mean, estimate.error, estimate.error, estimate.freedom, bounds=bounds)


def _of_equal(mean: float, sample: Sample, bounds: Interval | None) -> Model:
    """Return the model of equal values: only the chance of unseen ones between the bounds remains."""
    sizes = tuple(u.size for u in sample.units)
    return Model(mean, 0.0, 0.0, math.inf, 1.0, bounds, sizes, Unknown.ALIKE if bounds is None and mean else None)


Rows = Sequence[tuple[Floats, Floats, int]]
"""Mean of each run of both sides on each environment, without what cases have in common, and the number of different means on
the side with fewer."""


def _different(values: Floats) -> int:
    """Return the number of values that differ by more than floating-point error."""
    return 1 + int((np.diff(np.sort(values)) > 1e-9 * float(np.abs(values).max())).sum())


def _rows_of(strata: Sequence[ArrayLike], sides: Sides, scale: float) -> Rows:
    rows: list[tuple[Floats, Floats, int]] = []
    for gaps, (first, second) in zip(strata, sides, strict=True):
        known = np.isfinite(np.atleast_2d(np.asarray(gaps, dtype=np.float64)))
        kept = known.any(axis=1)
        if not kept.any():
            continue
        both = [np.where(known, np.atleast_2d(np.asarray(t, dtype=np.float64)), np.nan)[kept] for t in (first, second)]
        both, unit = scaled(both)
        both = [t[:, known.any(axis=0)] for t in both]
        means = [row_means(t) for t in both]
        # Runs may lack different cases, whose difficulty is no difference between runs.
        centre = np.nanmean(np.vstack(both), axis=0)
        left, right = (row_means(t - centre) * (unit / scale) for t in both)
        rows.append((left, right, min(map(_different, means))))
    return rows


def _of_runs(
    mean: float, tables: Sequence[Floats], sample: Sample, bounds: Interval | None, rows: Rows | None
) -> tuple[Model | None, tuple[float, float, float] | None]:
    """Return the model of a mean over runs and cases, and its parts of variance (`Comparison.parts`)."""
    if not sample.sides:
        return None, None
    of_tasksets = len(tables) > 1 and len(sample.units) == 1
    if rows is None or of_tasksets:
        return _marked(mean, sample, bounds), None if of_tasksets else _marked_parts(tables)
    count = len(tables)
    first = [float(one.var(ddof=1)) / one.size / count**2 for one, _, _ in rows]
    second = [float(other.var(ddof=1)) / other.size / count**2 for _, other, _ in rows]
    seeds = [(a + b, len(t) - 1) for a, b, t in zip(first, second, tables, strict=True)]
    columns = [row_means(t.T) for t in tables]
    cases = [(float(c.var(ddof=1)) / c.size / count**2, c.size - 1) for c in columns if c.size > 1]
    parts = sum(first), sum(second), sum(v for v, _ in cases)
    if all(different == 1 for *_, different in rows):
        return _constant(mean, sample, bounds, seeds, cases), parts
    # The wider spread counts for both sides: twice its share of the variance, and so 1 where they are equal.
    wider = (2.0 * max(parts[:2]) / (parts[0] + parts[1])) ** 2
    estimate = combined(mean, [*((v * wider, f) for v, f in seeds), *cases], CONFIDENCE)
    assert estimate.error is not None
    runs = sum(map(len, tables))
    tied = any(different < len(left) for left, _, different in rows)
    unlike = runs <= LEAST_PAIRED and (tied or max(parts[:2]) > UNLIKE**2 * min(parts[:2]))
    factor, untold = shape_factor(runs, marked=False), Unknown.UNLIKE if unlike else None
    return Model(mean, estimate.error, math.sqrt(sum(parts)), estimate.freedom, factor, bounds, (), untold), parts


def _marked_parts(tables: Sequence[Floats]) -> tuple[float, float, float]:
    """Return the parts of variance of a comparison with a mark, which has none of its own."""
    rows, columns = [row_means(t) for t in tables], [row_means(t.T) for t in tables]
    seeds, cases = (
        sum(float(v.var(ddof=1)) / v.size for v in values if v.size > 1) / len(tables) ** 2
        for values in (rows, columns)
    )
    return seeds, 0.0, cases


def _marked(mean: float, sample: Sample, bounds: Interval | None) -> Model:
    """Return the model of a comparison with a mark, or over tasksets with too few runs to show their spread."""
    estimate = combined(mean, sample.parts, CONFIDENCE)
    assert estimate.error is not None
    if not estimate.error or all(map(alike, (*sample.units, *sample.sides))):
        return _of_equal(mean, sample, bounds)
    factor = shape_factor(sample.size, marked=True)
    return Model(mean, estimate.error, estimate.error, estimate.freedom, factor, bounds)


def _constant(
    mean: float,
    sample: Sample,
    bounds: Interval | None,
    seeds: Sequence[tuple[float, int]],
    cases: Sequence[tuple[float, int]],
) -> Model:
    """Return the model where the seeds of one side all agree on every taskset, so that others may exist unseen."""
    estimate = combined(mean, [*seeds, *cases], CONFIDENCE)
    assert estimate.error is not None
    if not estimate.error or all(map(alike, (*sample.units, *sample.sides))):
        return _of_equal(mean, sample, bounds)
    factor = shape_factor(sample.size, marked=True)
    sizes, unknown = tuple(u.size for u in sample.units), Unknown.CONSTANT if bounds is None else None
    return Model(mean, estimate.error, estimate.error, estimate.freedom, factor, bounds, sizes, unknown)
