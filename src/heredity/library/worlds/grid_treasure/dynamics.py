"""The rules of `grid_treasure`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, moved, window

RADIUS = 2


@dataclass(slots=True)
class State:
    """The maze, and the position of the explorer."""

    grid: tuple[str, ...]
    at: Cell
    treasure: Cell
    left: int


class GridTreasure(Dynamics[State]):
    """A maze, a lamp and a treasure."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return State(tuple(level["grid"]), (level["at"][0], level["at"][1]), tuple(level["treasure"]), level["steps"])

    def act(self, state: State, action: Action) -> Outcome:
        """Move, or shout for an echo."""
        if action.name == "call":
            state.left -= 1
            return Outcome(message=f"The echo comes from the {_quarter(state)}.")
        target = moved(state.at, action.params["direction"])
        if state.grid[target[0]][target[1]] == "#":
            raise RefusedError("A wall stops you.")
        state.at = target
        state.left -= 1
        if target == state.treasure:
            return Outcome(1.0, done=True, message="You have found the treasure.")
        return Outcome()

    def refuse(self, state: State) -> Outcome:
        """Burn oil."""
        state.left -= 1
        return Outcome()

    def observe(self, state: State) -> dict[str, Any]:
        """Show the cells in the lamplight."""
        rows = [list(row) for row in window(state.grid, state.at, RADIUS)]
        rows[RADIUS][RADIUS] = "@"
        row, column = state.treasure[0] - state.at[0] + RADIUS, state.treasure[1] - state.at[1] + RADIUS
        if 0 <= row <= 2 * RADIUS and 0 <= column <= 2 * RADIUS:
            rows[row][column] = "T"
        seen = ["".join(r) for r in rows]
        return {"grid": seen, "row": state.at[0], "column": state.at[1], "size": len(state.grid), "left": state.left}


def _quarter(state: State) -> str:
    vertical = "north" if state.treasure[0] < state.at[0] else "south" if state.treasure[0] > state.at[0] else ""
    horizontal = "west" if state.treasure[1] < state.at[1] else "east" if state.treasure[1] > state.at[1] else ""
    return vertical + horizontal


DYNAMICS = GridTreasure()
