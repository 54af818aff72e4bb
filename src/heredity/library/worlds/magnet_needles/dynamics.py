"""The rules of `magnet_needles`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, inside, moved

WAYS = tuple(DIRECTIONS)
ARROWS = {"north": "^", "south": "v", "west": "<", "east": ">", "": "o"}
LETTERS = {"north": "N", "south": "S", "west": "W", "east": "E"}
AHEAD, ASIDE = 12, 6
"""The field of a magnet one cell away, in line with it and beside it; farther off it is divided by the distance."""


@dataclass(frozen=True, slots=True)
class Needle:
    """A compass needle: its cell, its target direction, and its value."""

    cell: Cell
    wanted: str
    worth: int

    def __deepcopy__(self, memo: object) -> Needle:
        return self


@dataclass(slots=True)
class State:
    """The board, the magnets on it, and the needles' directions.

    `pointing` is each needle's direction, `fixed` marks the fixed ones; `rows` and `lines` show the board and the
    needles.
    """

    board: tuple[str, ...]
    needles: tuple[Needle, ...]
    magnets: dict[Cell, str]
    spare: int
    pulses: int
    pointing: list[str]
    fixed: list[bool]
    rows: list[str]
    lines: list[str]


def pointing(board: Sequence[str], magnets: Mapping[Cell, str], cell: Cell) -> str:
    """Return the direction of a needle, `""` if it is at rest.

    The needle senses its row and column up to the first iron on each side. A magnet aligned with that line pulls it in
    the magnet's direction with 12 / distance. A magnet across the line pulls against its direction with 6 / distance
    (the two axes of a dipole's field). The larger component of the sum decides; equal components cancel.
    """
    south = east = 0
    for way in WAYS:
        other, distance = moved(cell, way), 1
        while inside(other, len(board), len(board[0])) and board[other[0]][other[1]] != "#":
            facing = magnets.get(other)
            if facing is not None:
                in_line = (way in ("north", "south")) == (facing in ("north", "south"))
                strength = AHEAD // distance if in_line else -(ASIDE // distance)
                south += strength * DIRECTIONS[facing][0]
                east += strength * DIRECTIONS[facing][1]
            other, distance = moved(other, way), distance + 1
    if abs(south) == abs(east):
        return ""
    if abs(south) > abs(east):
        return "south" if south > 0 else "north"
    return "east" if east > 0 else "west"


class MagnetNeedles(Dynamics[State]):
    """A board of iron, needles and magnets, and a current that fixes correctly pointing needles."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        needles = tuple(Needle((row, column), wanted, worth) for row, column, wanted, worth in level["needles"])
        count = len(needles)
        state = State(
            tuple(level["board"]), needles, {}, level["magnets"], level["pulses"], [""] * count, [False] * count, [], []
        )
        _settle(state)
        return state

    def act(self, state: State, action: Action) -> Outcome:
        """Lay, turn or lift a magnet, or send a pulse."""
        if action.name == "pulse":
            return self._pulse(state)
        cell: Cell = (action.params["row"], action.params["column"])
        if not inside(cell, len(state.board), len(state.board[0])):
            raise RefusedError(f"The board ends at row and column {len(state.board) - 1}.")
        if action.name == "place":
            message = self._place(state, cell, action.params["facing"])
        elif cell not in state.magnets:
            raise RefusedError(f"There is no magnet at row {cell[0]}, column {cell[1]}.")
        elif action.name == "turn":
            state.magnets[cell] = action.params["facing"]
            message = f"The magnet faces {action.params['facing']}."
        else:
            del state.magnets[cell]
            state.spare += 1
            message = "You take the magnet up again."
        _settle(state)
        return Outcome(message=message)

    @staticmethod
    def _place(state: State, cell: Cell, facing: str) -> str:
        if not state.spare:
            raise RefusedError("All magnets are on the board; lift one first.")
        if cell in state.magnets or state.board[cell[0]][cell[1]] != "." or any(n.cell == cell for n in state.needles):
            raise RefusedError(f"Row {cell[0]}, column {cell[1]} is not empty.")
        state.magnets[cell] = facing
        state.spare -= 1
        return f"You lay a magnet, facing {facing}."

    @staticmethod
    def _pulse(state: State) -> Outcome:
        state.pulses -= 1
        caught = [
            number
            for number, needle in enumerate(state.needles)
            if not state.fixed[number] and state.pointing[number] == needle.wanted
        ]
        for number in caught:
            state.fixed[number] = True
        paid = sum(state.needles[number].worth for number in caught)
        _settle(state)
        names = ", ".join(str(number + 1) for number in caught) or "none"
        return Outcome(
            float(paid),
            not state.pulses or all(state.fixed),
            f"The current flows. Needles fixed: {names}; this pays {paid}.",
        )

    def observe(self, state: State) -> dict[str, Any]:
        """Show everything."""
        return {
            "grid": state.rows,
            "needles": state.lines,
            "spare": state.spare,
            "pulses": state.pulses,
            "gauges": {"spare magnets": [state.spare, 0, 4], "pulses": [state.pulses, 0, 4]},
        }


def _settle(state: State) -> None:
    """Let the needles follow the magnets, and redraw the board."""
    rows, lines = [list(row) for row in state.board], list[str]()
    for cell, facing in state.magnets.items():
        rows[cell[0]][cell[1]] = LETTERS[facing]
    for number, needle in enumerate(state.needles):
        row, column = needle.cell
        if not state.fixed[number]:
            state.pointing[number] = pointing(state.board, state.magnets, needle.cell)
        now = state.pointing[number]
        rows[row][column] = "*" if state.fixed[number] else ARROWS[now]
        stands = ", fixed" if state.fixed[number] else ""
        lines.append(
            f"needle {number + 1} at row {row}, column {column}: should point {needle.wanted}, worth {needle.worth}{stands}"
        )
    state.rows, state.lines = ["".join(row) for row in rows], lines


DYNAMICS = MagnetNeedles()
