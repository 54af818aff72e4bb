"""What picking the best of several candidates by their validation scores makes of these scores, and what remains without it.

The greatest of k means is greater than what its candidate is worth, because chance helped to pick it. Cross-validation takes that
out: a candidate is picked on four fifths of the cases and scored on the last fifth, which had no say; every case is scored once in
each of `REPEATS` draws of the fifths. See `docs/analysis.md` for what is left of the bias in simulation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from heredity.analysis.bounds import Floats
from heredity.analysis.samples import LARGEST, finite_values, scaled, times
from heredity.analysis.statistics import CONFIDENCE, combined
from heredity.ids import generator
from heredity.results.base import Interval

FOLDS = 5
REPEATS = 20


def best_corrected(scores: ArrayLike, folds: int = FOLDS, repeats: int = REPEATS) -> list[float] | None:
    """Return the best mean among the first 1, 2, … candidates, without what picking it by the same cases adds.

    Args:
        scores: shape (candidates, cases), in the order in which they were found, higher is better; NaN is missing.
        folds: into how many parts cases are dealt, at least 2.
        repeats: how often they are dealt.

    Returns:
        One value for each candidate, not monotonic as the naive curve is; None with fewer than two cases or a candidate that has no
        score on four fifths of them.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        return None
    (table,), scale = scaled([table])
    draws = generator(0, "analysis", "folds")
    folds = min(folds, table.shape[1])
    curves = [_curve(table, draws.permutation(table.shape[1]) % folds, folds) for _ in range(repeats)]
    mean = np.mean(curves, axis=0)
    return None if np.isnan(mean).any() else [_sized(value, scale) for value in mean.tolist()]


def _sized(value: float, scale: float) -> float:
    return min(max(value * scale, -LARGEST), LARGEST)


def _curve(table: Floats, fold: np.ndarray, folds: int) -> Floats:
    present = ~np.isnan(table)
    values = np.where(present, table, 0.0)
    member = (np.arange(folds)[None, :] == fold[:, None]).astype(np.float64)
    sums, counts = values @ member, present @ member
    with np.errstate(invalid="ignore"):
        chosen_by = (sums.sum(axis=1, keepdims=True) - sums) / (counts.sum(axis=1, keepdims=True) - counts)
    # Of each candidate the best before it or itself, picked in each fold without that fold; the earliest of equals.
    picked = np.zeros(folds, dtype=np.intp)
    curve = np.empty(len(table))
    for i in range(len(table)):
        better = chosen_by[i] > chosen_by[picked, np.arange(folds)]
        picked = np.where(better, i, picked)
        own = np.arange(folds)
        curve[i] = sums[picked, own].sum() / counts[picked, own].sum()
    return curve


def gap(validation: Sequence[float], heldout: Sequence[float]) -> tuple[float, Interval | None]:
    """Return the validation mean less the held-out mean, with its interval: their cases are different ones (Welch)."""
    sides, scale = scaled([finite_values(values) for values in (validation, heldout)])
    difference = float(sides[0].mean() - sides[1].mean())
    if min(side.size for side in sides) < 2:
        return _sized(difference, scale), None
    parts = [(float(side.var(ddof=1)) / side.size, side.size - 1) for side in sides]
    return _sized(difference, scale), times(combined(difference, parts, CONFIDENCE).interval, scale)
