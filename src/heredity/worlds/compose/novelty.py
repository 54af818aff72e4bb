"""How different composed worlds are, from each other and from the installed ones."""

from __future__ import annotations

from collections.abc import Mapping

from heredity.worlds.compose.fingerprint import Fingerprint, fingerprint, nearest, spread
from heredity.worlds.world import sound_worlds


def novelty(composed: Mapping[str, Fingerprint]) -> dict[str, dict[str, float]]:
    """Return how distances are distributed, as least, quartiles and greatest.

    Returns:
        `nearest_composed`: from each composed world to the nearest other one; `nearest_installed`: to the nearest installed
        one; `installed`: from each installed one to the nearest other installed one, to compare with.
    """
    installed = {name: fingerprint(made) for name, made in sound_worlds()[0].items()}

    def to_others(worlds: Mapping[str, Fingerprint]) -> list[float]:
        if len(worlds) < 2:
            return []
        return [nearest(one, {n: o for n, o in worlds.items() if n != name})[1] for name, one in worlds.items()]

    to_installed = [nearest(one, installed)[1] for one in composed.values()] if installed else []
    return {
        "nearest_composed": spread(to_others(composed)),
        "nearest_installed": spread(to_installed),
        "installed": spread(to_others(installed)),
    }
