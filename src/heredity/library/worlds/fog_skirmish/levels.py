"""Levels of `fog_skirmish`: fields on which a search finds a campaign that wins everything."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, shortest_path
from heredity.kinds.world.mechanics.search import guided_plan
from heredity.library.worlds.fog_skirmish.dynamics import (
    DYNAMICS,
    ORDERS,
    STRENGTH,
    UNITS,
    Now,
    answered,
    left_to_win,
    ordered,
)

Order = tuple[str, int, str]
_INNER = {1: 6, 2: 7, 3: 8}
_ENEMIES = {1: ("raider", "keeper"), 2: ("raider", "raider", "keeper"), 3: ("raider", "raider", "keeper", "keeper")}
_DEPOTS = {1: 1, 2: 2, 3: 2}
_MOST_LOOKED_AT = 1500
_MOST_STEPS = 60


class Fields(Levels):
    """Makes fields with rocks and woods, enemies away from the units, and a keeper next to the first depot."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a field on which everything can be won."""
        while True:
            level = _draft(rng, difficulty)
            if level is None:
                continue
            plan = _campaign(level)
            if plan and 6 + 4 * difficulty <= len(plan) <= _MOST_STEPS - 20:
                return {**level, "steps": min(_MOST_STEPS, len(plan) * 3 // 2 + 8)}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the value of all enemies and depots: each pays once, and the reference solution wins them all."""
        total = left_to_win(DYNAMICS.start(level).now)
        return UpperBound(
            float(total), "exact", "every enemy and depot pays once and nothing else pays; a campaign wins all"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the campaign that the search found."""
        return [
            Action.of(verb, unit=UNITS[unit], direction=direction) if direction else Action.of(verb)
            for verb, unit, direction in _campaign(level) or []
        ]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any] | None:
    """Return a field, or None if its parts are not connected or lack room for the pieces."""
    inner = _INNER[difficulty]
    grid = [["#"] * (inner + 2) for _ in range(inner + 2)]
    for r in range(1, inner + 1):
        for c in range(1, inner + 1):
            chance = rng.random()
            grid[r][c] = "#" if chance < 0.12 else "T" if chance < 0.24 else "."
    units = [(inner, 1), (inner, 2)]
    for r, c in units:
        grid[r][c] = "."
    free = [(r, c) for r, row in enumerate(grid) for c, s in enumerate(row) if s != "#" and (r, c) not in units]
    far = [cell for cell in free if inner - cell[0] + cell[1] - 2 >= 4]
    kinds = _ENEMIES[difficulty]
    wanted = len(kinds) + _DEPOTS[difficulty] - 1
    if len(far) < wanted or any(
        shortest_path(units[0], cell, lambda at: grid[at[0]][at[1]] != "#") is None for cell in free
    ):
        return None
    chosen = [far[int(i)] for i in rng.permutation(len(far))[:wanted]]
    headings = [tuple(DIRECTIONS)[int(rng.integers(4))] for _ in kinds]
    keeper = chosen[kinds.index("keeper")]
    beside = [cell for cell in free if _apart(cell, keeper) == 1 and cell not in chosen]
    if not beside:
        return None
    depots = [beside[int(rng.integers(len(beside)))], *chosen[len(kinds) :]]
    return {
        "ground": ["".join(row) for row in grid],
        "units": [list(cell) for cell in units],
        "enemies": [[kind, *cell, way] for kind, cell, way in zip(kinds, chosen, headings, strict=False)],
        "depots": [list(cell) for cell in depots],
        "arrows": sum(STRENGTH[kind] for kind in kinds) - difficulty + 1,
        "flares": 1 + difficulty // 2,
    }


def _campaign(level: LevelData) -> list[Order] | None:
    state = DYNAMICS.start(level)
    return guided_plan(state.now, lambda now: _next(state.ground, now), _guess, _MOST_LOOKED_AT)


def _next(ground: tuple[str, ...], now: Now) -> Iterator[tuple[Order, Now]]:
    for order in ORDERS:
        try:
            after = answered(ground, ordered(ground, now, *order))
        except RefusedError:
            continue
        if any(after.health) or not left_to_win(after):
            yield order, after


def _guess(now: Now) -> int:
    """Return an inadmissible heuristic: remaining blows, distance from each unit to the nearest prize, and wounds."""
    if not left_to_win(now):
        return 0
    cells = [cell for cell, health in zip(now.cells, now.health, strict=True) if health]
    goals = [e.at for e in now.enemies if e.health] + list(now.depots)
    ways = sum(min(_apart(cell, goal) for cell in cells) for goal in goals)
    blows = sum(e.health for e in now.enemies)
    return 1 + 2 * ways + 6 * blows + 4 * len(now.depots) - 2 * sum(now.health) + 12


def _apart(a: Cell, b: Cell) -> int:
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


LEVELS = Fields()
