"""The rules of `burrow_days`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, inside, moved

DAY, LIGHT = 10, 7
"""Steps from dawn to dawn, and how many of them are light."""
MOST_ENERGY, MOST_WATER = 14, 10
FOOD = 2
"""Energy in a berry."""
SLEEP = 3
"""What waking in a burrow at dawn pays."""


@dataclass(frozen=True, slots=True)
class Bush:
    """A bush: its number, its berries, and the first day (from 0) on which they are ripe."""

    number: int
    berries: int
    ripe: int


@dataclass(frozen=True, slots=True)
class Land:
    """Constants of an episode: rows of `#` rock, `.` grass, `w` water, `b` burrow, and the bushes."""

    rows: tuple[str, ...]
    bushes: Mapping[Cell, Bush]

    def __deepcopy__(self, memo: object) -> Land:
        return self


@dataclass(slots=True)
class State:
    """Position and condition of the animal, the eaten bushes (as bits), and the steps since the first dawn."""

    at: Cell
    energy: int
    water: int
    eaten: int
    clock: int
    land: Land


def costs(clock: int, sheltered: bool) -> tuple[int, int]:
    """Return the energy and water cost of a step that begins at this clock."""
    if clock % DAY < LIGHT:
        return 1, 1
    return (0, 0) if sheltered else (2, 1)


class BurrowDays(Dynamics[State]):
    """A land with bushes, water and burrows, and the hours of the day."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        bushes = {
            (row, column): Bush(number, berries, ripe)
            for number, (row, column, berries, ripe) in enumerate(level["bushes"])
        }
        at = (level["at"][0], level["at"][1])
        return State(at, level["energy"], MOST_WATER, 0, 0, Land(tuple(level["rows"]), bushes))

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, eat, drink, sniff or rest; then apply the step's toll."""
        paid, message = 0, "You rest."
        if action.name == "walk":
            target, size = moved(state.at, action.params["direction"]), len(state.land.rows)
            if not inside(target, size, size) or state.land.rows[target[0]][target[1]] == "#":
                raise RefusedError("Rock is in the way.")
            state.at, message = target, ""
        elif action.name == "eat":
            bush = self._ripe(state)
            paid, message = bush.berries, f"You eat {bush.berries} berries."
            state.eaten |= 1 << bush.number
            state.energy = min(MOST_ENERGY, state.energy + FOOD * bush.berries)
        elif action.name == "drink":
            if _ground(state, state.at) != "w":
                raise RefusedError("There is no water here.")
            state.water, message = MOST_WATER, "You drink your fill."
        elif action.name == "sniff":
            message = self._scent(state, action.params["scent"])
        passed = self._pass(state)
        return Outcome(paid + passed.reward, passed.done, f"{message} {passed.message}".strip())

    def refuse(self, state: State) -> Outcome:
        """Apply the step's toll."""
        return self._pass(state)

    @staticmethod
    def _ripe(state: State) -> Bush:
        bush = state.land.bushes.get(state.at)
        if bush is None or state.eaten >> bush.number & 1:
            raise RefusedError("There is nothing to eat here.")
        if state.clock // DAY < bush.ripe:
            raise RefusedError("These berries are still green.")
        return bush

    @staticmethod
    def _scent(state: State, scent: str) -> str:
        row, column = state.at
        if scent == "berries":
            cells = [cell for cell, bush in state.land.bushes.items() if not state.eaten >> bush.number & 1]
        else:
            wanted = scent[0]
            cells = [(r, c) for r, line in enumerate(state.land.rows) for c, s in enumerate(line) if s == wanted]
        if not cells:
            return f"You smell no {scent}."
        near = min(cells, key=lambda cell: abs(cell[0] - row) + abs(cell[1] - column))
        down = "north" if near[0] < row else "south" if near[0] > row else ""
        right = "west" if near[1] < column else "east" if near[1] > column else ""
        where = f"comes from the {down}{right}" if down or right else "is right here"
        return f"The nearest smell of {scent} {where}."

    @staticmethod
    def _pass(state: State) -> Outcome:
        sheltered = _ground(state, state.at) == "b"
        energy, water = costs(state.clock, sheltered)
        state.energy, state.water = max(0, state.energy - energy), max(0, state.water - water)
        state.clock += 1
        if not state.energy or not state.water:
            return Outcome(done=True, message=f"You die of {'thirst' if state.energy else 'hunger and cold'}.")
        if state.clock % DAY == LIGHT:
            return Outcome(message="Night falls.")
        if state.clock % DAY:
            return Outcome()
        if sheltered:
            return Outcome(float(SLEEP), message=f"Dawn: you wake in the burrow, safe and rested (+{SLEEP}).")
        return Outcome(message="Dawn finds you in the open, tired.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the cells around by day, only the current cell by night, and the animal's condition."""
        row, column = state.at
        night = state.clock % DAY >= LIGHT
        around = ["".join(_seen(state, (r, c)) for c in range(column - 1, column + 2)) for r in range(row - 1, row + 2)]
        if night:
            around = ["???", f"?{around[1][1]}?", "???"]
        return {
            "grid": around,
            "day": state.clock // DAY + 1,
            "hour": state.clock % DAY + 1,
            "time": "night" if night else "light",
            "row": row,
            "column": column,
            "energy": state.energy,
            "water": state.water,
            "here": _described(state),
            "gauges": {"energy": [state.energy, 0, MOST_ENERGY], "water": [state.water, 0, MOST_WATER]},
        }


def _ground(state: State, cell: Cell) -> str:
    return state.land.rows[cell[0]][cell[1]]


def _seen(state: State, cell: Cell) -> str:
    size = len(state.land.rows)
    if not inside(cell, size, size):
        return "#"
    bush = state.land.bushes.get(cell)
    if bush is None:
        return _ground(state, cell)
    if state.eaten >> bush.number & 1:
        return "e"
    return "R" if state.clock // DAY >= bush.ripe else "G"


def _described(state: State) -> str:
    symbol = _seen(state, state.at)
    if symbol in "RG":
        return f"a bush with {state.land.bushes[state.at].berries} {'ripe' if symbol == 'R' else 'green'} berries"
    return {"e": "an empty bush", "w": "water", "b": "a burrow"}.get(symbol, "grass")


DYNAMICS = BurrowDays()
