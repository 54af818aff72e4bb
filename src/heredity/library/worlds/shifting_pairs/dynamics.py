"""The rules of `shifting_pairs`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

PICTURES = ("anchor", "bell", "comet", "drum", "eagle", "fern", "glove", "harp", "iris", "jug")
TAKEN = -1

Place = tuple[int, int]


@dataclass(slots=True)
class State:
    """The table; `open` is the place of the one open tile."""

    tiles: list[list[int]]
    belts: tuple[int, ...]
    peeks: int
    left: int
    open: Place | None = None


class ShiftingPairs(Dynamics[State]):
    """Pairs to find, on rows that slide."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        tiles = [list(row) for row in level["tiles"]]
        return State(tiles, tuple(level["belts"]), level["peeks"], sum(map(len, tiles)) // 2)

    def act(self, state: State, action: Action) -> Outcome:
        """Turn a tile up, peek under a row, or turn the open tile down."""
        if action.name == "close":
            if state.open is None:
                raise RefusedError("No tile is open.")
            state.open = None
            return Outcome(message="You turn the open tile down.")
        row = action.params["row"] - 1
        if row >= len(state.tiles):
            raise RefusedError(f"There are {len(state.tiles)} rows.")
        if action.name == "peek":
            return self._peek(state, row)
        column = action.params["column"] - 1
        if column >= len(state.tiles[0]):
            raise RefusedError(f"There are {len(state.tiles[0])} columns.")
        return self._turn(state, (row, column))

    @staticmethod
    def _peek(state: State, row: int) -> Outcome:
        if not state.peeks:
            raise RefusedError("You have no peeks left.")
        state.peeks -= 1
        seen = ", ".join("gap" if tile == TAKEN else PICTURES[tile] for tile in state.tiles[row])
        return Outcome(message=f"Under row {row + 1}, from the left: {seen}.")

    @staticmethod
    def _turn(state: State, cell: Place) -> Outcome:
        row, column = cell
        tile, first = state.tiles[row][column], state.open
        if tile == TAKEN:
            raise RefusedError("There is a gap; its tile was taken.")
        if first == cell:
            raise RefusedError("That tile is open already.")
        if first is None:
            state.open = cell
            return Outcome(message=f"You turn up: {PICTURES[tile]}.")
        state.open = None
        other = state.tiles[first[0]][first[1]]
        if tile == other:
            state.tiles[row][column] = state.tiles[first[0]][first[1]] = TAKEN
            state.left -= 1
            message = f"You turn up: {PICTURES[tile]}. A pair! Both are taken away."
            return Outcome(message=message) if state.left else Outcome(1.0, True, f"{message} The table is clear.")
        message = f"You turn up: {PICTURES[tile]}. It does not match the {PICTURES[other]}; both are turned down."
        if row in state.belts:
            line = state.tiles[row]
            line.insert(0, line.pop())
            message += f" Row {row + 1} slides one place to the right."
        return Outcome(message=message)

    def observe(self, state: State) -> dict[str, Any]:
        """Show backs, gaps and the open tile."""
        rows = [["." if tile == TAKEN else "?" for tile in line] for line in state.tiles]
        shown = "none"
        if state.open is not None:
            row, column = state.open
            rows[row][column] = "O"
            shown = f"{PICTURES[state.tiles[row][column]]} at row {row + 1}, column {column + 1}"
        return {
            "grid": ["".join(row) for row in rows],
            "open": shown,
            "left": state.left,
            "peeks": state.peeks,
            "belts": ", ".join(str(row + 1) for row in state.belts),
        }


DYNAMICS = ShiftingPairs()
