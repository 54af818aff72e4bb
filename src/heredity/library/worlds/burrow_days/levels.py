"""Levels of `burrow_days`: small lands, and the best life in them, by dynamic programming."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, cells_of, moved, shortest_path
from heredity.library.worlds.burrow_days.dynamics import (
    DAY,
    DYNAMICS,
    FOOD,
    MOST_ENERGY,
    MOST_WATER,
    SLEEP,
    State,
    costs,
)

ROCKS = 0.28
"""Share of the cells that are rock."""
ACTIONS = (
    *(Action.of("walk", direction=direction) for direction in DIRECTIONS),
    *map(Action.of, ("eat", "drink", "rest")),
)
Values = NDArray[np.int16]
"""What can still be had: by cell, eaten bushes, energy and water; 0 where either is 0, which is death."""


class Lands(Levels):
    """Makes lands in which food, water and shelter lie apart."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a land with at least half of all berries and dawns attainable."""
        size, bushes, days = (6, 7, 7)[difficulty - 1], (4, 5, 5)[difficulty - 1], (3, 3, 4)[difficulty - 1]
        while True:
            rows = self._ground(rng, size)
            free = cells_of(rows, ".")
            start, burrow, water, *rest = (free[int(index)] for index in rng.permutation(len(free)))
            if min(_far(start, burrow), _far(start, water), _far(burrow, water)) < 3 or not _connected(rows, free):
                continue
            symbols = {burrow: "b", water: "w"} | {rest.pop(): "w" for _ in range(min(difficulty, 2))}
            drawn = ["".join(symbols.get((r, c), symbol) for c, symbol in enumerate(row)) for r, row in enumerate(rows)]
            planted = [
                [*cell, int(rng.integers(2, 7)), int(rng.integers(days)) if number >= 5 - difficulty else 0]
                for number, cell in enumerate(rest[:bushes])
            ]
            level = {"rows": drawn, "at": list(start), "energy": 10, "bushes": planted, "steps": days * DAY}
            if 2 * self.upper_bound(level).value >= sum(berries for _, _, berries, _ in planted) + SLEEP * days:
                return level

    @staticmethod
    def _ground(rng: np.random.Generator, size: int) -> list[str]:
        return ["".join("#" if rock else "." for rock in row) for row in rng.random((size, size)) < ROCKS]

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the maximum attainable reward in this land."""
        value = int(_values(level)[0][_place(level, DYNAMICS.start(level))])
        return UpperBound(
            float(value), "exact", "dynamic programming over every step, cell, eaten bush, energy and water"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a life that attains it: at each step the action with the highest value."""
        state, plan = DYNAMICS.start(level), list[Action]()
        for after in _values(level)[1:]:
            lives = [(*tried, action) for action in ACTIONS if (tried := _tried(level, state, action, after))]
            _, state, action = max(lives, key=lambda life: life[0])
            plan.append(action)
        return plan


def _tried(level: LevelData, state: State, action: Action, after: Values) -> tuple[float, State] | None:
    """Return an action's reward plus the value after it, and the next state; None if it is refused."""
    twin = copy.deepcopy(state)
    try:
        outcome = DYNAMICS.act(twin, action)
    except RefusedError:
        return None
    return outcome.reward + int(after[_place(level, twin)]), twin


def _place(level: LevelData, state: State) -> tuple[int, int, int, int]:
    return _cells(level).index(state.at), state.eaten, state.energy, state.water


def _cells(level: LevelData) -> list[Cell]:
    return [(r, c) for r, row in enumerate(level["rows"]) for c, symbol in enumerate(row) if symbol != "#"]


def _values(level: LevelData) -> list[Values]:
    """Return the value from each step on, by backward induction.

    Sniffing and refused actions are worth no more than resting, so they need no entries.
    """
    cells = _cells(level)
    index = {cell: position for position, cell in enumerate(cells)}
    ground = [level["rows"][row][column] for row, column in cells]
    sheltered, pools = np.array([g == "b" for g in ground]), [position for position, g in enumerate(ground) if g == "w"]
    ways = [np.array([index.get(moved(cell, d), position) for cell, position in index.items()]) for d in DIRECTIONS]
    values = [np.zeros((len(cells), 1 << len(level["bushes"]), MOST_ENERGY + 1, MOST_WATER + 1), np.int16)]
    for clock in reversed(range(level["steps"])):
        acted = _before_toll(values[-1], clock, sheltered)
        best = acted.copy()
        for way in ways:
            np.maximum(best, acted[way], out=best)
        for position in pools:
            np.maximum(best[position], acted[position][:, :, -1:], out=best[position])
        for number, (row, column, berries, ripe) in enumerate(level["bushes"]):
            if clock // DAY >= ripe:
                _eat(best[index[row, column]], acted[index[row, column]], number, berries)
        best[:, :, 0], best[:, :, :, 0] = 0, 0
        values.append(best)
    return values[::-1]


def _before_toll(value: Values, clock: int, sheltered: NDArray[np.bool_]) -> Values:
    """Return the value after the action of a step, before its toll."""
    acted = np.zeros_like(value)
    for where in (True, False):
        energy, water = costs(clock, where)
        left = value[sheltered == where, :, 1 : MOST_ENERGY + 1 - energy, 1 : MOST_WATER + 1 - water]
        acted[sheltered == where, :, energy + 1 :, water + 1 :] = left
    if (clock + 1) % DAY == 0:
        acted[sheltered, :, 1:, 1:] += SLEEP
    return acted


def _eat(best: Values, acted: Values, number: int, berries: int) -> None:
    """Raise the value on a bush's cell, by eaten bushes, energy and water, to that of eating."""
    there = np.array([eaten for eaten in range(len(best)) if not eaten >> number & 1])
    fed = np.minimum(np.arange(MOST_ENERGY + 1) + FOOD * berries, MOST_ENERGY)
    best[there] = np.maximum(best[there], berries + acted[there | 1 << number][:, fed])


def _far(one: Cell, other: Cell) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _free(rows: Sequence[str], cell: Cell) -> bool:
    return 0 <= cell[0] < len(rows) and 0 <= cell[1] < len(rows) and rows[cell[0]][cell[1]] != "#"


def _connected(rows: Sequence[str], free: Sequence[Cell]) -> bool:
    return all(shortest_path(free[0], cell, lambda c: _free(rows, c)) is not None for cell in free)


LEVELS = Lands()
