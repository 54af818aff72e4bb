"""Variance components of scores crossed by runs and cases: between seeds, between cases, and residual.

The model is `score = mean + seed + case + residual`, with one score per seed and case (two-way random-effects analysis
of variance with one observation per cell: Searle, Casella and McCulloch 1992, chapter 4). Each candidate attempts a
case once, with a policy seed fixed by the case, so the noise of a rollout is part of the residual and confounded with
seed x case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.analysis.bounds import Floats, Interval
from heredity.analysis.samples import row_means, scaled, without_empty
from heredity.analysis.statistics import CONFIDENCE

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
