"""Scores as arrays: what is known of them, tables without gaps, and a scale on which their squares neither overflow nor vanish."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from heredity.analysis.bounds import Floats, Interval
from heredity.errors import ConfigError

LARGEST = np.finfo(np.float64).max.item()


def error_tail(confidence: float) -> float:
    """Return the probability of an error to either side; raises ConfigError for what is no confidence."""
    if not 0.0 < confidence < 1.0:
        raise ConfigError(f"confidence {confidence} is not between 0 and 1; give a fraction such as 0.95")
    return (1.0 - confidence) / 2


def known(values: ArrayLike) -> Floats:
    """Return the values that are known, flat."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return flat[np.isfinite(flat)]


def scaled(tables: Sequence[Floats]) -> tuple[list[Floats], float]:
    """Return tables over a power of two, and that power: 1 but for scores whose squares overflow or vanish."""
    largest = max((float(np.nanmax(np.abs(t))) for t in tables if t.size), default=0.0)
    if largest == 0.0 or 1e-100 < largest < 1e100:
        return list(tables), 1.0
    scale = math.ldexp(1.0, math.frexp(largest)[1] - 1)
    return [t / scale for t in tables], scale


def over(bounds: Interval | None, scale: float) -> Interval | None:
    """Return bounds over a scale; None if they are not known."""
    return None if bounds is None else (bounds[0] / scale, bounds[1] / scale)


def times(interval: Interval | None, scale: float) -> Interval | None:
    """Return an interval times a scale, within what floating-point numbers can hold."""
    if interval is None:
        return None
    low, high = (min(max(end * scale, -LARGEST), LARGEST) for end in interval)
    return low, high


def without_empty(values: ArrayLike) -> Floats:
    """Return a table without the rows and columns of which nothing is known; what is not finite is NaN."""
    table = np.atleast_2d(np.asarray(values, dtype=np.float64))
    present = np.isfinite(table)
    table = np.where(present, table, np.nan)
    return table[present.any(axis=1)][:, present.any(axis=0)]


def row_means(table: Floats) -> Floats:
    """Return the mean of each row over what is known of it."""
    return np.nanmean(table, axis=1)
