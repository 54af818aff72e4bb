"""The rules of `pattern_canvas`.

A picture of 10 by 10 pixel values follows a hidden law and is partly masked. A brush moves over it. A masked pixel can
be painted once and pays if the value is right, or revealed, after which it pays nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell

SIZE = 10
MASKED = "?"
SPOILT = "x"
Row = list[int | str]
_UNDER = {MASKED: "masked", SPOILT: "spoilt"}


@dataclass(slots=True)
class State:
    """The picture, its visible part, and the brush.

    Attributes:
        picture: rows of digits, the true values.
        pixels: rows as shown: values, `?` where masked, `x` where spoilt; a row is replaced, never changed.
        grid: the same as rows of characters.
        at: position of the brush.
        peeks: looks under a mask left.
        left: number of masked pixels.
    """

    picture: tuple[str, ...]
    pixels: list[Row]
    grid: list[str]
    at: Cell
    peeks: int
    left: int

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy."""
        return State(self.picture, self.pixels[:], self.grid[:], self.at, self.peeks, self.left)

    def show(self, value: int | str) -> None:
        """Show a value, or a spoilt mark, at the brush."""
        row, column = self.at
        self.pixels[row] = [*self.pixels[row][:column], value, *self.pixels[row][column + 1 :]]
        self.grid[row] = "".join(map(str, self.pixels[row]))
        self.left -= 1


class PatternCanvas(Dynamics[State]):
    """A picture with holes, and a brush."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        pixels: list[Row] = [[int(value) for value in row] for row in level["picture"]]
        for row, column in level["masked"]:
            pixels[row][column] = MASKED
        grid = ["".join(map(str, row)) for row in pixels]
        at = (level["at"][0], level["at"][1])
        return State(tuple(level["picture"]), pixels, grid, at, level["peeks"], len(level["masked"]))

    def act(self, state: State, action: Action) -> Outcome:
        """Move the brush, paint, or look under the mask."""
        row, column = state.at
        if action.name == "move":
            down, right = DIRECTIONS[action.params["direction"]]
            cells = action.params["cells"]
            row, column = row + cells * down, column + cells * right
            if not (0 <= row < SIZE and 0 <= column < SIZE):
                raise RefusedError(f"{cells} cells {action.params['direction']} is off the canvas.")
            state.at = row, column
            return Outcome()
        if state.grid[row][column] != MASKED:
            raise RefusedError("This pixel is not masked.")
        value = int(state.picture[row][column])
        if action.name == "peek":
            if not state.peeks:
                raise RefusedError("You have no peek left.")
            state.peeks -= 1
            state.show(value)
            return Outcome(done=not state.left, message="You lift the mask; this pixel pays nothing now.")
        right = action.params["value"] == value
        state.show(value if right else SPOILT)
        message = "Right: 1." if right else "Wrong; the pixel is spoilt."
        return Outcome(float(right), done=not state.left, message=message)

    def observe(self, state: State) -> dict[str, Any]:
        """Show the canvas and the brush."""
        row, column = state.at
        grid, below = state.grid[:], state.grid[row][column]
        grid[row] = grid[row][:column] + "@" + grid[row][column + 1 :]
        return {
            "pixels": state.pixels[:],
            "grid": grid,
            "row": row,
            "column": column,
            "under": _UNDER.get(below, "not masked"),
            "peeks": state.peeks,
            "left": state.left,
        }


DYNAMICS = PatternCanvas()
