"""Levels of `icy_grip`: frozen lakes, and shortest paths across them by search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS
from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.library.worlds.icy_grip.dynamics import Lake, Now, read_level, slid

_SIZE = {1: 8, 2: 10, 3: 12}
_SHORTEST = {1: 7, 2: 9, 3: 12}
_CHANGES = {1: 1, 2: 1, 3: 2}
_ICE = (":", "#", "~", "!", "+")
_SHARES = (0.53, 0.15, 0.12, 0.04, 0.16)
Move = tuple[str, str]


class Lakes(Levels):
    """Makes lakes whose shelter is many slides away, some with spikes and some without."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a lake whose shortest path needs spikes on, and on harder lakes off again."""
        while True:
            level = _draft(rng, _SIZE[difficulty])
            plan = _way(level)
            changes = sum(verb == "spikes" for verb, _ in plan)
            if len(plan) >= _SHORTEST[difficulty] and changes >= _CHANGES[difficulty]:
                return {**level, "steps": 2 * len(plan) + 12}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: the shelter pays 1 once, and the search finds a way that is shorter than the horizon."""
        return UpperBound(1.0, "exact", "the shelter pays 1 once, and the shortest way fits into the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest path."""
        keys = {"push": "direction", "spikes": "wear"}
        return [Action.of(verb, **{keys[verb]: word}) for verb, word in _way(level)]


def _draft(rng: np.random.Generator, size: int) -> dict[str, Any]:
    ice = rng.choice(len(_ICE), (size, size), p=_SHARES)
    rows = [[_ICE[int(k)] for k in row] for row in ice]
    at, shelter = (divmod(int(index), size) for index in rng.permutation(size * size)[:2])
    rows[at[0]][at[1]], rows[shelter[0]][shelter[1]] = ":", "E"
    bank = "#" * (size + 2)
    return {"plan": [bank, *("#" + "".join(row) + "#" for row in rows), bank], "at": [at[0] + 1, at[1] + 1]}


def _way(level: LevelData) -> list[Move]:
    state = read_level(level)
    lake = state.lake
    return shortest_plan(state.now, lambda now: _moves(lake, now), lambda now: now.at == lake.shelter) or []


def _moves(lake: Lake, now: Now) -> Iterator[tuple[Move, Now]]:
    for direction in DIRECTIONS:
        yield ("push", direction), slid(lake, now, direction)[0]
    yield ("spikes", "off" if now.spikes else "on"), now._replace(spikes=not now.spikes)


LEVELS = Lakes()
