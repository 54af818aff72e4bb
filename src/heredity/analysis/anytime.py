"""Anytime-valid paired comparison: its error rates hold at every stopping time, so it can be checked after every seed.

`compare_runs` needs a number of seeds fixed in advance; checking after each seed and stopping at the first finding
yields too many false positives. This module corrects for that:

- **Seeds.** If two entries are equal, a paired difference is as likely as its opposite, under any distribution. Wealth
  bet on the signs is then a martingale, and reaches 1/level with probability at most `level`, ever (Ville 1939; Ramdas
  et al. 2023, "Game-theoretic statistics and safe anytime-valid inference"). Bets are scaled by the sizes of the
  differences, which are independent of the signs, and mixed over several strengths.
- **Cases.** All seeds share one draw of cases, so repeated looks are free: their error is Student's t on their variance
  component.

The level is split between the two, so the sum of both errors holds by Bonferroni's inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.analysis.samples import (
    LARGEST,
    Clusters,
    Floats,
    Interval,
    clustered,
    over,
    row_means,
    scaled,
    tables_of,
    times,
    within,
    without_empty,
)
from heredity.analysis.statistics import CONFIDENCE, combined, student_quantile

_DRAWS = 4000
_LARGEST = 1e150


@dataclass(frozen=True, slots=True)
class Components:
    """Variances, in squared units of the scores.

    Attributes:
        seed: between seeds.
        case: between cases.
        residual: seed x case, including the noise of one rollout.
        seeds: number of seeds used.
        cases: number of cases used.
        draws: plausible components given the scores, shape (draws, 3): seed, case, residual.
    """

    seed: float
    case: float
    residual: float
    seeds: int
    cases: int
    draws: Floats

    def interval(self, name: str) -> Interval:
        """Return the 95% interval of the component `seed`, `case` or `residual`."""
        column = self.draws[:, ("seed", "case", "residual").index(name)]
        low, high = np.quantile(column, ((1.0 - CONFIDENCE) / 2, (1.0 + CONFIDENCE) / 2))
        return float(low), float(high)


def residual_variance(table: Floats) -> float:
    """Return the residual mean square of a table after row and column means, ignoring NaN; 0 without degrees of freedom."""
    rows, columns = row_means(table), row_means(table.T)
    rest = table - rows[:, None] - columns[None, :] + float(np.nanmean(table))
    freedom = int(np.isfinite(table).sum()) - sum(table.shape) + 1
    return float(np.nansum(rest**2)) / freedom if freedom > 0 else 0.0


def components(scores: ArrayLike) -> Components | None:
    """Estimate the components of a table of shape (seeds, cases), NaN where a score is missing.

    Negative estimates become 0. Intervals are generalized ones (Weerahandi 1993): mean squares divided by chi-squared
    draws are draws of the expected mean squares.

    Returns:
        The components; None with fewer than two seeds or two cases, which do not identify them.

    Raises:
        ConfigError: if the squares of scores overflow.
    """
    (table,), scale = scaled([without_empty(scores)])
    if scale > _LARGEST:
        raise ConfigError(f"scores of {scale:.0e} and more have a variance that overflows; rescale the scores")
    seeds, cases = table.shape
    if seeds < 2 or cases < 2:
        return None
    freedoms = np.array([seeds - 1, cases - 1, (seeds - 1) * (cases - 1)])
    squares = np.array(
        [
            cases * float(row_means(table).var(ddof=1)),
            seeds * float(row_means(table.T).var(ddof=1)),
            residual_variance(table),
        ]
    )
    rng = generator(0, "analysis", "components", seeds, cases)
    drawn = squares * freedoms / rng.chisquare(freedoms, (_DRAWS, 3))
    (seed, case, residual), draws = _solved(squares, seeds, cases), _solved(drawn, seeds, cases)
    unit = scale**2
    return Components(float(seed) * unit, float(case) * unit, float(residual) * unit, seeds, cases, draws * unit)


def _solved(squares: Floats, seeds: int, cases: int) -> Floats:
    """Return the components that give these expected mean squares, shape (..., 3)."""
    of_seeds, of_cases, residual = squares[..., 0], squares[..., 1], squares[..., 2]
    return np.stack(
        [np.maximum(of_seeds - residual, 0.0) / cases, np.maximum(of_cases - residual, 0.0) / seeds, residual], axis=-1
    )


def pooled(several: Sequence[Components]) -> Components:
    """Return the mean of components over tasksets, on one scale; raises ValueError if there are none."""
    if not several:
        raise ValueError("no components to pool")
    return Components(
        *(float(np.mean([getattr(c, name) for c in several])) for name in ("seed", "case", "residual")),
        seeds=min(c.seeds for c in several),
        cases=min(c.cases for c in several),
        draws=np.mean([np.roll(c.draws, 7 * i, axis=0) for i, c in enumerate(several)], axis=0),
    )


LEVEL = 1.0 - CONFIDENCE

LEAST_SEEDS = 8
"""Minimum paired seeds; fewer decide nothing at 5%, however similar they are."""

_OF_SEEDS = 0.6
_STRENGTHS = (0.2, 0.5, 1.0, 2.5)
_STEP = math.log(1.0 / LEVEL) / 256
"""Log step size, about 1%, of the search for p, which is rounded up; the level itself is on the grid."""
_STEPS_DOWN = 1536


@dataclass(frozen=True, slots=True)
class Look:
    """Result of the paired seeds so far; positive differences favour the first entry.

    Attributes:
        seeds: number of seeds paired on every taskset.
        difference: mean over tasksets, then seeds, then cases.
        interval: interval of the confidence sequence; None while it is unbounded.
        p: two-sided p-value, valid at every stopping time; None with a single case, whose variance cannot be estimated.
        covered: whether enough scores of both are known (`results.coverage`), if the number requested is known.
    """

    seeds: int
    difference: float
    interval: Interval | None
    p: float | None
    covered: bool = True

    @property
    def decided(self) -> bool:
        """True if the entries differ at the 5% level."""
        return self.covered and self.p is not None and self.p <= LEVEL


def log_wealth(gaps: Floats) -> Floats:
    """Return the log wealth, starting from wealth 1, of bets on the signs of differences.

    Args:
        gaps: differences of paired seeds in run order, minus their hypothesised centre of symmetry; shape (..., seeds).

    Returns:
        The log wealth after each seed, in the same shape.
    """
    counts = np.arange(1, gaps.shape[-1] + 1)
    size = np.sqrt((gaps**2).cumsum(axis=-1) / counts)
    standard = np.divide(gaps, size, out=np.zeros_like(gaps), where=size > 0.0)
    bets = np.tanh(np.multiply.outer(np.array([*_STRENGTHS, *(-s for s in _STRENGTHS)]), standard))
    paths = np.log1p(np.maximum(bets, -1.0 + 1e-15)).cumsum(axis=-1)
    return np.logaddexp.reduce(paths, axis=0) - math.log(len(paths))


def look(
    strata: Sequence[ArrayLike], bounds: Interval | None = None, clusters: Sequence[Clusters | None] | None = None
) -> Look | None:
    """Compare two entries by the seeds so far; valid however often it is called.

    Args:
        strata: first minus second, shape (seeds, cases) for each taskset, on one scale, with the same seeds in the same
            rows and in the order in which they were run; NaN where either side is missing.
        bounds: bounds of the differences; None if unknown.
        clusters: cluster of each case on each taskset (`samples.clustered`).

    Returns:
        The result; None if no seed is paired on every taskset.
    """
    tables, scale = scaled(_complete(strata, clusters or [None] * len(strata)))
    if not tables or not len(tables[0]):
        return None
    gaps = np.mean([row_means(t) for t in tables], axis=0)
    error = None if tables_of(strata, clusters).few else _error_of_cases(tables)
    if error is None:
        return Look(len(gaps), float(gaps.mean()) * scale, None, None)
    interval_found, limits = _interval(gaps, error), over(bounds, scale)
    interval = None if interval_found is None else within(interval_found, limits)
    mean = min(max(float(gaps.mean()) * scale, -LARGEST), LARGEST)
    return Look(len(gaps), mean, times(interval, scale), _p(gaps, error))


def _complete(strata: Sequence[ArrayLike], clusters: Sequence[Clusters | None]) -> list[Floats]:
    """Return the tables with the seeds common to all tasksets, without cases that have no score.

    Clusters replace cases that were drawn together.
    """
    tables = [np.atleast_2d(np.asarray(t, dtype=np.float64)) for t in strata]
    if not tables:
        return []
    has_score = np.all([np.isfinite(t).any(axis=1) for t in tables], axis=0)
    kept = [clustered(t[has_score], own) for t, own in zip(tables, clusters, strict=True)]
    return [t[:, np.isfinite(t).any(axis=0)] for t in kept]


@dataclass(frozen=True, slots=True)
class _Error:
    """Standard error from cases, with its degrees of freedom."""

    size: float
    freedom: float

    def half(self, level: float) -> float:
        share = level * (1.0 - _OF_SEEDS)
        return self.size * student_quantile(1.0 - share / 2, self.freedom) if self.size > 0.0 else 0.0


def _error_of_cases(tables: Sequence[Floats]) -> _Error | None:
    if min(t.shape[1] for t in tables) < 2:
        return None
    parts: list[tuple[float, int]] = []
    for table in tables:
        seeds, cases = table.shape
        noise = residual_variance(table) / seeds if seeds > 1 else 0.0
        between = max(0.0, float(row_means(table.T).var(ddof=1)) - noise)
        parts.append((between / cases / len(tables) ** 2, cases - 1))
    estimate = combined(0.0, parts, CONFIDENCE)
    assert estimate.error is not None
    return _Error(estimate.error, estimate.freedom)


def _least_wealth(gaps: Floats, half: float) -> float:
    """Return the smallest log wealth against any centre within `half` of 0."""
    centres = np.linspace(-half, half, 11 if half > 0.0 else 1)
    return float(log_wealth(gaps - centres[:, None])[:, -1].min())


def _p(gaps: Floats, error: _Error) -> float:
    """Return the smallest level at which a difference of 0 is rejected, at least 5e-10."""

    def refuted(level: float) -> bool:
        half = error.half(level)
        return abs(float(gaps.mean())) > half and _least_wealth(gaps, half) >= -math.log(_OF_SEEDS * level)

    if not refuted(1.0):
        return 1.0
    low, high = -_STEPS_DOWN, round(math.log(1.0 / LEVEL) / _STEP)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if refuted(LEVEL * math.exp(_STEP * middle)) else (middle, high)
    return min(1.0, LEVEL * math.exp(_STEP * high))


def _interval(gaps: Floats, error: _Error) -> Interval | None:
    """Return the interval of centres not rejected at 5%, widened by the error of cases; None if it is unbounded."""
    limit, half = -math.log(_OF_SEEDS * LEVEL), error.half(LEVEL)
    least, most = float(gaps.min()), float(gaps.max())
    reach = 4.0 * (most - least) + max(abs(least), abs(most))
    centres = np.linspace(least, most, 201)
    inside = float(centres[log_wealth(gaps - centres[:, None])[:, -1].argmin()])
    ends: list[float] = []
    for sign in (-1.0, 1.0):
        near, far = inside, inside + sign * reach
        if float(log_wealth(gaps - far)[-1]) < limit:
            return None
        for _ in range(40):
            middle = (near + far) / 2
            near, far = (near, middle) if float(log_wealth(gaps - middle)[-1]) >= limit else (middle, far)
        ends.append(far + sign * half)
    return ends[0], ends[1]
