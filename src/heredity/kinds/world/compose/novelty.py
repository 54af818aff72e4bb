"""Distances of composed worlds, from each other and from the installed ones, as in the novelty gate."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heredity.kinds.world.compose.admission import Composed
from heredity.kinds.world.gates.novelty import NEAR, Fingerprint, of_library
from heredity.kinds.world.world import sound_worlds


def novelty(admitted: Sequence[Composed]) -> dict[str, dict[str, float]]:
    """Return the distribution of distances to the nearest other world: least, quartiles and greatest.

    Returns:
        `nearest_composed`: from each composed world to the nearest other one; `nearest_installed`: to the nearest installed
        one; `installed`: from each installed one to the nearest other installed one, to compare with.
    """
    installed = np.array(_vectors([of_library(name) for name in sound_worlds()[0]]))
    return {
        "nearest_composed": _spread(_nearest(_scaled(admitted))),
        "nearest_installed": _spread([one.distance for one in admitted]),
        "installed": _spread(_nearest(installed / _spreads())),
    }


def copies(admitted: Sequence[Composed]) -> dict[str, str]:
    """Return the worlds that behave like an earlier one, closer than the novelty gate allows, each with that one.

    Args:
        admitted: in order; the first of several similar worlds is kept.
    """
    points = _scaled(admitted)
    kept, alike = list[int](), dict[str, str]()
    for index, one in enumerate(admitted):
        gaps = np.sqrt(((points[kept] - points[index]) ** 2).mean(axis=1))
        if kept and gaps.min() < NEAR:
            alike[one.world] = admitted[kept[int(gaps.argmin())]].world
        else:
            kept.append(index)
    return alike


def _scaled(admitted: Sequence[Composed]) -> np.ndarray:
    return np.array(_vectors([one.fingerprint for one in admitted])).reshape(len(admitted), -1) / _spreads()


def _spreads() -> np.ndarray:
    """Return the standard deviation of each figure among the installed worlds, 1 if they do not differ."""
    deviations = np.array(_vectors([of_library(name) for name in sound_worlds()[0]])).std(axis=0)
    return np.where(deviations > 0, deviations, 1.0)


def _vectors(prints: Sequence[Fingerprint]) -> list[list[float]]:
    return [[one[figure] for figure in sorted(one)] for one in prints]


def _nearest(points: np.ndarray) -> list[float]:
    if len(points) < 2:
        return []
    gaps = np.array([np.sqrt(((points - point) ** 2).mean(axis=1)) for point in points])
    np.fill_diagonal(gaps, np.inf)
    return [float(gap) for gap in gaps.min(axis=1)]


def _spread(values: Sequence[float]) -> dict[str, float]:
    if not values:
        return {}
    names = ("min", "q25", "median", "q75", "max")
    return {
        name: round(float(v), 4) for name, v in zip(names, np.quantile(values, (0, 0.25, 0.5, 0.75, 1)), strict=True)
    }
