"""Levels of `parcel_rounds`: towns with parcels, and quickest rounds by search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity._core.ids import canonical_json
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS
from heredity.kinds.world.mechanics.search import cheapest_plan
from heredity.library.worlds.parcel_rounds.dynamics import Now, Town, driven, loaded, read_level, unloaded

_CROSSINGS = {1: (3, 3), 2: (3, 4), 3: (4, 4)}
_PARCELS = {1: 3, 2: 4, 3: 4}
_HOURS = {1: (14, 28), 2: (20, 34), 3: (26, 38)}
"""Least and most hours of the quickest round."""
_ROOM = 4
Move = tuple[str, str]


class Towns(Levels):
    """Makes towns whose parcels exceed the capacity of the van."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a town whose fastest round is neither short nor too long for a day."""
        low, high = _HOURS[difficulty]
        while True:
            level = _draft(rng, difficulty)
            tour = _round({**level, "steps": 0})
            if tour is not None and low <= tour[0] <= high:
                return {**level, "steps": tour[0] + tour[0] // 3 + 8}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: the last delivery pays 1 once, and the search finds a round shorter than the day."""
        return UpperBound(1.0, "exact", "the last delivery pays 1 once, and the quickest round fits into the day")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a fastest round."""
        tour = _round({**level, "steps": 0})
        moves = tour[1] if tour else []
        return [Action.of(verb, **{"direction": word} if word else {}) for verb, word in moves]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    rows, columns = (2 * n - 1 for n in _CROSSINGS[difficulty])
    grid = [["#"] * columns for _ in range(rows)]
    for row in range(rows):
        for column in range(columns):
            if row % 2 == column % 2 == 0:
                grid[row][column] = "o"
            elif row % 2 == 0 or column % 2 == 0:
                grid[row][column] = "=-#"[int(rng.choice(3, p=[0.4, 0.42, 0.18]))]
    crossings = [(row, column) for row in range(0, rows, 2) for column in range(0, columns, 2)]
    edges = {
        "N": [cell for cell in crossings if cell[0] == 0],
        "S": [cell for cell in crossings if cell[0] == rows - 1],
        "W": [cell for cell in crossings if cell[1] == 0],
        "E": [cell for cell in crossings if cell[1] == columns - 1],
    }
    taken: list[tuple[int, int]] = []
    for letter, cells in edges.items():
        free = [cell for cell in cells if cell not in taken]
        row, column = free[int(rng.integers(len(free)))]
        grid[row][column] = letter
        taken.append((row, column))
    free = [cell for cell in crossings if cell not in taken]
    count = _PARCELS[difficulty]
    at, *places = (free[int(i)] for i in rng.permutation(len(free))[: count + 1])
    parcels: list[list[Any]] = []
    for row, column in places:
        label, stamp = "NSWE"[int(rng.integers(4))], ("heavy", "light")[int(rng.integers(2))]
        parcels.append([row, column, label, stamp])
    return {"plan": ["".join(row) for row in grid], "parcels": parcels, "at": list(at), "room": _ROOM}


def _round(level: LevelData) -> tuple[int, Sequence[Move]] | None:
    labels, stamps = ({parcel[k] for parcel in level["parcels"]} for k in (2, 3))
    return _quickest(canonical_json(dict(level))) if len(labels) > 1 and len(stamps) > 1 else None


@lru_cache(maxsize=4)
def _quickest(text: bytes) -> tuple[int, Sequence[Move]] | None:
    state = read_level(json.loads(text))
    town = state.town
    return cheapest_plan(state.now, lambda now: _moves(town, now), lambda now: not now.waiting and not now.load)


def _moves(town: Town, now: Now) -> Iterator[tuple[Move, Now, int]]:
    for direction in DIRECTIONS:
        try:
            after, hours = driven(town, now, direction)
        except RefusedError:
            continue
        yield ("drive", direction), after, hours
    for verb, result in (("load", loaded), ("unload", unloaded)):
        try:
            yield (verb, ""), result(town, now), 1
        except RefusedError:
            continue


LEVELS = Towns()
