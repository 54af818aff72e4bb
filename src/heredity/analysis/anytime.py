"""A paired comparison that may be looked at after every seed: its errors hold at every stopping time.

`compare_runs` is for a number of seeds that was fixed before anything was seen; who looks after each seed and stops at the first
that finds something finds too much. What is here pays for looking:

- **Seeds.** If two entries are alike, a paired difference is as likely as its opposite, whatever law it follows. Wealth that is bet
  on the signs is then a martingale, and comes to 1/level with a probability of at most `level`, ever (Ville 1939; Ramdas et al.
  2023, "Game-theoretic statistics and safe anytime-valid inference"). Bets are scaled by the sizes of the differences, which say
  nothing of the signs, and are mixed over several strengths.
- **Cases.** All seeds share them and they are drawn once, so looking costs nothing: their error is that of Student's t on their
  variance component.

The level is shared out between the two, so that the sum of both errors holds by Bonferroni's inequality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heredity.analysis.bounds import Floats, Interval, within
from heredity.analysis.components import residual_variance
from heredity.analysis.samples import LARGEST, Clusters, clustered, over, row_means, scaled, tables_of, times
from heredity.analysis.statistics import CONFIDENCE, combined
from heredity.analysis.student import student_quantile

LEVEL = 1.0 - CONFIDENCE

LEAST_SEEDS = 8
"""Fewer paired seeds decide nothing at 5%, however alike they are."""

_OF_SEEDS = 0.6
_STRENGTHS = (0.2, 0.5, 1.0, 2.5)
_STEP = math.log(1.0 / LEVEL) / 256
"""Logarithm of the steps, of about 1%, in which p is found and rounded up; the level itself is one of them."""
_STEPS_DOWN = 1536


@dataclass(frozen=True, slots=True)
class Look:
    """What paired seeds say so far; positive differences favour the first entry.

    Attributes:
        seeds: that are paired on every taskset.
        difference: mean over tasksets, then seeds, then cases.
        interval: of the confidence sequence; None while it has no end.
        p: two-sided, valid at every stopping time; None where cases cannot be told apart from their luck (there is one only).
        covered: whether enough of the scores of both are known (`results.coverage`), for who knows how many were asked.
    """

    seeds: int
    difference: float
    interval: Interval | None
    p: float | None
    covered: bool = True

    @property
    def decided(self) -> bool:
        """Whether the entries are told apart at 5%."""
        return self.covered and self.p is not None and self.p <= LEVEL


def log_wealth(gaps: Floats) -> Floats:
    """Return the logarithm of the wealth, from 1, that bets on the signs of differences have come to.

    Args:
        gaps: differences of paired seeds in the order in which they were run, less what they are thought to lie evenly about;
            shape (..., seeds).

    Returns:
        Of the same shape: after each seed.
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
    """Compare two entries by the seeds that there are, as often as one likes.

    Args:
        strata: first minus second, shape (seeds, cases) for each taskset, on one scale, with the same seeds in the same rows and in
            the order in which they were run; NaN where either side is missing.
        bounds: what differences can only lie between; None if that is not known.
        clusters: what cases of each taskset were drawn together (`samples.clustered`).

    Returns:
        What they say; None if no seed is paired on every taskset.
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
    """Return the tables with the seeds that every taskset has; cases of which nothing is known are left out.

    Where cases were drawn together, clusters stand for them.
    """
    tables = [np.atleast_2d(np.asarray(t, dtype=np.float64)) for t in strata]
    if not tables:
        return []
    has_score = np.all([np.isfinite(t).any(axis=1) for t in tables], axis=0)
    kept = [clustered(t[has_score], own) for t, own in zip(tables, clusters, strict=True)]
    return [t[:, np.isfinite(t).any(axis=0)] for t in kept]


@dataclass(frozen=True, slots=True)
class _Error:
    """Standard error through cases, with its degrees of freedom."""

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
    """Return the least logarithm of the wealth against any centre within `half` of 0."""
    centres = np.linspace(-half, half, 11 if half > 0.0 else 1)
    return float(log_wealth(gaps - centres[:, None])[:, -1].min())


def _p(gaps: Floats, error: _Error) -> float:
    """Return the smallest level at which a difference of 0 is refuted, from 5e-10 on."""

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
    """Return the centres that are not refuted at 5%, widened by the error of cases; None if they have no end."""
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
