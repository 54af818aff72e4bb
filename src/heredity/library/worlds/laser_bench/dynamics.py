"""The rules of `laser_bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, inside

LAMPS: dict[str, Cell] = {"^": (-1, 0), "v": (1, 0), "<": (0, -1), ">": (0, 1)}
COLOURS = "rgb"
NAMES = {"r": "red", "g": "green", "b": "blue"}
PIECES = {"slash": "/", "backslash": "\\", "prism": "A"}
MIRRORS = "/\\"


@dataclass(slots=True)
class State:
    """The bench cell by cell, row after row; the pieces in the tray; the cells lit by the last flash."""

    cells: list[str]
    size: int
    bolted: tuple[int, ...]
    mirrors: int
    prisms: int
    flashes: int
    light: tuple[str, ...]


def trace(cells: Sequence[str], size: int, colour: str) -> list[int]:
    """Return the cells that light of a colour crosses after the lamp; a detector that it meets is the last.

    Mirrors and prisms permute headings, so light never loops.
    """
    at = next(index for index, symbol in enumerate(cells) if symbol in LAMPS)
    (row, column), (down, right) = divmod(at, size), LAMPS[cells[at]]
    path: list[int] = []
    while True:
        row, column = row + down, column + right
        if not inside((row, column), size, size):
            return path
        at = row * size + column
        symbol = cells[at]
        if symbol == "#" or symbol in LAMPS:
            return path
        path.append(at)
        if symbol in COLOURS:
            return path
        down, right = _turned(symbol, colour, down, right)


def _turned(symbol: str, colour: str, down: int, right: int) -> Cell:
    if symbol == "/":
        return -right, -down
    if symbol == "\\":
        return right, down
    if symbol == "A" and colour == "g":
        return -right, down
    if symbol == "A" and colour == "b":
        return right, -down
    return down, right


def lit(cells: Sequence[str], size: int) -> dict[int, str]:
    """Return the colours that cross each cell that is lit."""
    colours: dict[int, str] = {}
    for colour in COLOURS:
        for at in set(trace(cells, size, colour)):
            colours[at] = colours.get(at, "") + colour
    return colours


def solved(cells: Sequence[str], size: int) -> bool:
    """Return True if every detector gets exactly its colour."""
    return _right(cells, lit(cells, size))


def _right(cells: Sequence[str], light: Mapping[int, str]) -> bool:
    return all(light.get(at) == symbol for at, symbol in enumerate(cells) if symbol in COLOURS)


class LaserBench(Dynamics[State]):
    """A lamp, detectors, and pieces that turn light."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        cells = list("".join(level["grid"]))
        size = len(level["grid"])
        bolted = tuple(at for at, symbol in enumerate(cells) if symbol in PIECES.values())
        return State(cells, size, bolted, level["mirrors"], level["prisms"], level["flashes"], ("." * size,) * size)

    def act(self, state: State, action: Action) -> Outcome:
        """Place, take or turn a piece, or flash the lamp."""
        if action.name == "flash":
            return self._flash(state)
        row, column = action.params["row"], action.params["column"]
        if not inside((row, column), state.size, state.size):
            raise RefusedError(f"The bench has rows and columns 0 to {state.size - 1}.")
        at = row * state.size + column
        if action.name == "place":
            return self._place(state, at, action.params["piece"])
        symbol = state.cells[at]
        if at in state.bolted or symbol not in PIECES.values():
            raise RefusedError(f"There is no loose piece at row {row}, column {column}.")
        if action.name == "take":
            state.cells[at] = "."
            _put_back(state, symbol)
            return Outcome(message="The piece is back in the tray.")
        if symbol not in MIRRORS:
            raise RefusedError("A prism is the same from every side; only mirrors can be turned.")
        state.cells[at] = "\\" if symbol == "/" else "/"
        return Outcome(message="The mirror is turned.")

    @staticmethod
    def _place(state: State, at: int, piece: str) -> Outcome:
        if state.cells[at] != ".":
            raise RefusedError("That cell is not empty.")
        left = state.prisms if piece == "prism" else state.mirrors
        if not left:
            raise RefusedError(f"No {'prism' if piece == 'prism' else 'mirror'} is left in the tray.")
        if piece == "prism":
            state.prisms -= 1
        else:
            state.mirrors -= 1
        state.cells[at] = PIECES[piece]
        return Outcome(message=f"A {'prism' if piece == 'prism' else 'mirror'} is placed.")

    @staticmethod
    def _flash(state: State) -> Outcome:
        size, light = state.size, lit(state.cells, state.size)
        shown = ["."] * (size * size)
        for at, colours in light.items():
            shown[at] = _glow(colours)
        state.light = tuple("".join(shown[at : at + size]) for at in range(0, size * size, size))
        state.flashes -= 1
        verdicts = [
            f"{NAMES[symbol]} detector: {_verdict(symbol, light.get(at, ''))}"
            for at, symbol in enumerate(state.cells)
            if symbol in COLOURS
        ]
        message = f"The lamp flashes. {'; '.join(verdicts)}."
        if _right(state.cells, light):
            return Outcome(1.0, done=True, message=message)
        return Outcome(done=not state.flashes, message=message)

    def observe(self, state: State) -> dict[str, Any]:
        """Show the bench, the tray, and the light of the last flash."""
        rows, size = "".join(state.cells), state.size
        return {
            "grid": [rows[at : at + size] for at in range(0, size * size, size)],
            "light": list(state.light),
            "mirrors": state.mirrors,
            "prisms": state.prisms,
            "flashes": state.flashes,
            "last": size - 1,
            "bolted": ", ".join(f"row {at // size} column {at % size}" for at in state.bolted) or "nothing",
        }


def _put_back(state: State, symbol: str) -> None:
    if symbol in MIRRORS:
        state.mirrors += 1
    else:
        state.prisms += 1


def _glow(colours: str) -> str:
    return colours.upper() if len(colours) == 1 else "W" if colours == COLOURS else "*"


def _verdict(wanted: str, colours: str) -> str:
    if colours == wanted:
        return "right"
    return " and ".join(NAMES[colour] for colour in colours) + " light" if colours else "dark"


DYNAMICS = LaserBench()
