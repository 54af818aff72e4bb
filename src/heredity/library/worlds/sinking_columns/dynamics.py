"""The rules of `sinking_columns`, on boards of bits.

A cell is bit `7 * column + height`, from the bottom left; the seventh bit of each column stays 0, so that no line wraps
around.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

HEIGHT = 6
STRIDE = HEIGHT + 1
LINES = (1, STRIDE, STRIDE - 1, STRIDE + 1)
"""How far apart neighbours in a line are: upright, across, and the two diagonals."""
COLUMN = (1 << HEIGHT) - 1
CELLS = [[1 << STRIDE * column + height for column in range(7)] for height in reversed(range(HEIGHT))]
"""The bits of the widest board, row by row from the top."""


@dataclass(frozen=True)
class Habits:
    """The opponent's strategy: its preferred columns, and whether it considers the cell on top of its stone."""

    order: tuple[int, ...]
    careful: bool

    def __deepcopy__(self, memo: object) -> Habits:
        return self


@dataclass(slots=True)
class State:
    """The board, and the opponent."""

    mine: int
    theirs: int
    plugged: int
    plugs: int
    habits: Habits


def four(stones: int) -> bool:
    """Return True if four stones form a line."""
    for step in LINES:
        pairs = stones & stones >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


def place(taken: int, column: int) -> int:
    """Return the bit where a stone lands in a column; 0 if it is full."""
    height = (taken >> STRIDE * column & COLUMN).bit_length()
    return 0 if height == HEIGHT else 1 << STRIDE * column + height


def landings(taken: int, columns: Iterable[int]) -> list[tuple[int, int]]:
    """Return the columns that are not full, each with the bit where a stone lands."""
    return [(column, bit) for column in columns if (bit := place(taken, column))]


def completing(stones: int, free: Iterable[tuple[int, int]]) -> int | None:
    """Return the first of these columns in which one more stone makes four in a line, if any."""
    for column, bit in free:
        if four(stones | bit):
            return column
    return None


def reply(mine: int, theirs: int, taken: int, habits: Habits) -> int:
    """Return the opponent's column; one is always available, since full bottom rows sink."""
    free = landings(taken, habits.order)
    for stones in (theirs, mine):
        column = completing(stones, free)
        if column is not None:
            return column
    for column, bit in free if habits.careful else ():
        if completing(mine, landings(taken | bit, (column,))) is None:
            return column
    return free[0][0]


def sunk(state: State) -> bool:
    """Remove the bottom row if it is full; return True if it was."""
    taken = state.mine | state.theirs | state.plugged
    bottom = sum(1 << STRIDE * column for column in state.habits.order)
    if taken & bottom != bottom:
        return False
    state.mine = (state.mine & ~bottom) >> 1
    state.theirs = (state.theirs & ~bottom) >> 1
    state.plugged = (state.plugged & ~bottom) >> 1
    return True


class SinkingColumns(Dynamics[State]):
    """Four in a line on sinking ground."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        habits = Habits(tuple(level["order"]), level["careful"])
        return State(level["mine"], level["theirs"], 0, level["plugs"], habits)

    def act(self, state: State, action: Action) -> Outcome:
        """Drop a stone or a plug, or wait; then the opponent replies."""
        if action.name == "wait":
            return self._replied(state, "You wait.")
        column = action.params["column"] - 1
        if column >= len(state.habits.order):
            raise RefusedError(f"There are {len(state.habits.order)} columns.")
        bit = place(state.mine | state.theirs | state.plugged, column)
        if not bit:
            raise RefusedError("That column is full.")
        if action.name == "plug":
            if not state.plugs:
                raise RefusedError("You have no plugs left.")
            state.plugs -= 1
            state.plugged |= bit
            message = f"You plug column {column + 1}."
        else:
            state.mine |= bit
            message = f"You drop into column {column + 1}."
            if four(state.mine):
                return Outcome(1.0, True, f"{message} Four in a line: you have won.")
        return self._replied(state, message + (" The bottom row sinks away." if sunk(state) else ""))

    def refuse(self, state: State) -> Outcome:
        """Let the opponent move."""
        return self._replied(state, "")

    @staticmethod
    def _replied(state: State, message: str) -> Outcome:
        taken = state.mine | state.theirs | state.plugged
        column = reply(state.mine, state.theirs, taken, state.habits)
        state.theirs |= place(taken, column)
        message = f"{message} The opponent drops into column {column + 1}.".strip()
        if four(state.theirs):
            return Outcome(0.0, True, f"{message} It has four in a line: you have lost.")
        return Outcome(message=message + (" The bottom row sinks away." if sunk(state) else ""))

    def observe(self, state: State) -> dict[str, Any]:
        """Show the board from the top, and the opponent's habits."""
        order, mine, theirs, plugged = state.habits.order, state.mine, state.theirs, state.plugged
        rows = [
            [
                "O" if mine & bit else "X" if theirs & bit else "#" if plugged & bit else "."
                for bit in line[: len(order)]
            ]
            for line in CELLS
        ]
        return {
            "grid": ["".join(row) for row in rows],
            "columns": "1234567"[: len(order)],
            "order": ", ".join(str(column + 1) for column in order),
            "manner": "careful" if state.habits.careful else "not careful",
            "plugs": state.plugs,
        }


DYNAMICS = SinkingColumns()
