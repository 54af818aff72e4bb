"""Levels of `terrain_trek`: patches of ground, and fastest treks by search."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity._core.ids import canonical_json
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell
from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.library.worlds.terrain_trek.dynamics import GEAR, Country, Now, read_level, rested, walked

_SIZE = {1: 8, 2: 10, 3: 12}
_SHORTEST = {1: 12, 2: 17, 3: 22}
_DETOUR = {1: 2, 2: 3, 3: 4}
_MOST_STEPS = 60
_EFFORT = {
    "boots": {".": (1, 1), "f": (1, 3), "m": (4, 6), "^": (3, 6), "H": (1, 1)},
    "waders": {".": (2, 3), "f": (2, 4), "m": (1, 2), "^": (5, 7), "H": (1, 1)},
    "rope": {".": (2, 3), "f": (1, 4), "m": (5, 7), "^": (1, 2), "H": (1, 1)},
}
"""Least and most strength that a ground takes with a gear, on any day."""
Move = tuple[str, str]


class Countries(Levels):
    """Makes countries in which the gear matters and the straight path is not the fastest."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a country with a distant hut, whose fastest trek needs a change of gear and takes longer in boots alone."""
        while True:
            level = _draft(rng, difficulty)
            plan = _trek(level)
            if not plan or len(plan) < _SHORTEST[difficulty]:
                continue
            apart = abs(level["at"][0] - level["hut"][0]) + abs(level["at"][1] - level["hut"][1])
            if len(plan) >= apart + _DETOUR[difficulty] and any(verb == "wear" for verb, _ in plan):
                return {**level, "steps": min(_MOST_STEPS, len(plan) + len(plan) // 2 + 4)}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: the hut pays 1 once, and the search finds a trek that is shorter than the day."""
        return UpperBound(1.0, "exact", "the hut pays 1 once, and the quickest trek fits into the day")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a fastest trek, including rests and changes of gear."""
        keys = {"walk": "direction", "wear": "gear"}
        return [Action.of(verb, **{keys[verb]: word} if word else {}) for verb, word in _trek(level)]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    size = _SIZE[difficulty]
    centres = [(int(r), int(c)) for r, c in rng.integers(0, size, (2 * size, 2))]
    kinds = [".fm^w"[int(k)] for k in rng.choice(5, 2 * size, p=[0.25, 0.2, 0.25, 0.2, 0.1])]

    def nearest(cell: Cell) -> str:
        return kinds[min((abs(cell[0] - r) + abs(cell[1] - c), i) for i, (r, c) in enumerate(centres))[1]]

    grid = [[nearest((r, c)) for c in range(size)] for r in range(size)]
    at, hut = sorted((int(r), int(c)) for r, c in rng.integers(0, size, (2, 2)))
    grid[at[0]][at[1]] = "."
    grid[hut[0]][hut[1]] = "H"
    effort = {
        gear: {kind: int(rng.integers(low, high + 1)) for kind, (low, high) in _EFFORT[gear].items()} for gear in GEAR
    }
    plan = ["".join(row) for row in grid]
    return {"plan": plan, "effort": effort, "at": list(at), "hut": list(hut), "full": 9 + difficulty}


def _trek(level: LevelData) -> Sequence[Move]:
    data = {key: value for key, value in level.items() if key != "steps"}
    return () if data["at"] == data["hut"] else _quickest(canonical_json(data))


@lru_cache(maxsize=4)
def _quickest(text: bytes) -> Sequence[Move]:
    state = read_level(json.loads(text))
    country = state.country
    plan = shortest_plan(state.now, lambda now: _moves(country, now), lambda now: now.at == country.hut)
    return tuple(plan or ())


def _moves(country: Country, now: Now) -> Iterator[tuple[Move, Now]]:
    for direction in DIRECTIONS:
        try:
            yield ("walk", direction), walked(country, now, direction)
        except RefusedError:
            continue
    for index, gear in enumerate(GEAR):
        if index != now.gear:
            yield ("wear", gear), now._replace(gear=index)
    try:
        yield ("rest", ""), rested(country, now)
    except RefusedError:
        return


LEVELS = Countries()
