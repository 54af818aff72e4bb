"""Levels of `pattern_canvas`: pictures that follow a law, masks that leave it recognizable, and tours of the brush."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell
from heredity.library.worlds.pattern_canvas.dynamics import SIZE

_HALF = SIZE // 2
_MASKS = {1: 12, 2: 16, 3: 20}
_PEEKS = 2
Picture = list[list[int]]


def mirrored(rng: np.random.Generator, shifted: bool) -> Picture:
    """Return halves that mirror each other, the second with all values raised by the same number (modulo 10)."""
    half, shift = _shapes(rng, SIZE, _HALF), _shift(rng, shifted)
    picture = [[*row, *((value + shift) % 10 for value in row[::-1])] for row in half]
    return picture if rng.integers(2) else _transposed(picture)


def tiled(rng: np.random.Generator, shifted: bool) -> Picture:
    """Return four copies of a tile, raised by one number from left to right and another from top to bottom."""
    tile, across, down = _shapes(rng, _HALF, _HALF), _shift(rng, shifted), _shift(rng, shifted)
    return [
        [(tile[r % _HALF][c % _HALF] + across * (c // _HALF) + down * (r // _HALF)) % 10 for c in range(SIZE)]
        for r in range(SIZE)
    ]


def turned(rng: np.random.Generator, shifted: bool) -> Picture:
    """Return a quarter rotated about the middle from quarter to quarter, raised by the same number each time."""
    quarter, shift = _shapes(rng, _HALF, _HALF), _shift(rng, shifted)
    picture = [[0] * SIZE for _ in range(SIZE)]
    for r, c in product(range(_HALF), repeat=2):
        row, column, value = r, c, quarter[r][c]
        for _ in range(4):
            picture[row][column] = value
            row, column, value = column, SIZE - 1 - row, (value + shift) % 10
    return picture


def summed(rng: np.random.Generator, shifted: bool) -> Picture:
    """Return a table of sums (modulo 10) of a number for the row and a number for the column."""
    rows, columns = rng.integers(0, 10 if shifted else 4, (2, SIZE))
    return [[int(r + c) % 10 for c in columns] for r in rows]


def _mirror_images(cell: Cell) -> list[set[Cell]]:
    r, c = cell
    return [{(r, SIZE - 1 - c), (SIZE - 1 - r, c)}]


def _copies(cell: Cell) -> list[set[Cell]]:
    (r, c), (s, d) = cell, ((cell[0] + _HALF) % SIZE, (cell[1] + _HALF) % SIZE)
    return [{(r, d)}, {(s, c)}, {(s, d)}]


def _turns(cell: Cell) -> list[set[Cell]]:
    (r, c), (s, d) = cell, (SIZE - 1 - cell[0], SIZE - 1 - cell[1])
    return [{(c, s)}, {(s, d)}, {(d, r)}]


def _rectangles(cell: Cell) -> list[set[Cell]]:
    r, c = cell
    others = product((x for x in range(SIZE) if x != r), (y for y in range(SIZE) if y != c))
    return [{(r, y), (x, c), (x, y)} for x, y in others]


class Law(NamedTuple):
    """A law of pictures.

    Attributes:
        draw: makes a picture that follows it; the flag says whether values are raised from part to part.
        sources: sets of other cells for a cell; each set determines its value.
    """

    draw: Callable[[np.random.Generator, bool], Picture]
    sources: Callable[[Cell], list[set[Cell]]]


_MIRRORED, _TILED = Law(mirrored, _mirror_images), Law(tiled, _copies)
_TURNED, _SUMMED = Law(turned, _turns), Law(summed, _rectangles)
_LAWS: dict[int, tuple[tuple[Law, bool], ...]] = {
    1: ((_MIRRORED, False), (_TILED, False), (_TURNED, False)),
    2: ((_MIRRORED, True), (_TILED, True), (_SUMMED, False)),
    3: ((_TURNED, True), (_SUMMED, True), (_TILED, True)),
}


class Pictures(Levels):
    """Makes pictures whose masked pixels follow from the shown ones."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a picture with masks, and steps for painting them all on a good tour and a few more."""
        laws = _LAWS[difficulty]
        law, shifted = laws[int(rng.integers(len(laws)))]
        picture = law.draw(rng, shifted)
        masked = _masks(rng, _MASKS[difficulty], law)
        at = [int(v) for v in rng.integers(0, SIZE, 2)]
        level = {"picture": ["".join(map(str, row)) for row in picture], "masked": masked, "at": at, "peeks": _PEEKS}
        return {**level, "steps": len(self.solve(level)) + 6}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the number of masked pixels: each pays 1 once, and the tour of `solve` paints all."""
        reason = "every masked pixel pays 1 once, and a tour within the horizon paints them all"
        return UpperBound(float(len(level["masked"])), "exact", reason)

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the shorter of two tours, row by row or column by column, painting the true values."""
        return min((_tour(level, by_rows) for by_rows in (True, False)), key=len)


def _shapes(rng: np.random.Generator, rows: int, columns: int) -> Picture:
    """Return a few rectangles of different values on a ground, as something to recognize."""
    values = [int(v) for v in rng.permutation(10)]
    picture = [[values[0]] * columns for _ in range(rows)]
    for value in values[1:6]:
        top, left = int(rng.integers(rows)), int(rng.integers(columns))
        high, wide = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        for r in range(top, min(rows, top + high)):
            picture[r][left : left + wide] = [value] * len(picture[r][left : left + wide])
    return picture


def _shift(rng: np.random.Generator, shifted: bool) -> int:
    return int(rng.integers(1, 10)) if shifted else 0


def _transposed(picture: Picture) -> Picture:
    return [list(column) for column in zip(*picture, strict=True)]


def _masks(rng: np.random.Generator, count: int, law: Law) -> list[list[int]]:
    """Return cells to mask, as pairs of neighbours; unmasked cells determine the value of each."""
    masked: set[Cell] = set()
    while len(masked) < count:
        r, c = int(rng.integers(SIZE)), int(rng.integers(SIZE - 1))
        wanted = masked | ({(r, c), (r, c + 1)} if rng.integers(2) else {(c, r), (c + 1, r)})
        if all(any(not source & wanted for source in law.sources(cell)) for cell in wanted):
            masked = wanted
    return [list(cell) for cell in sorted(masked)[:count]]


def _tour(level: LevelData, by_rows: bool) -> list[Action]:
    lines: dict[int, list[Cell]] = {}
    for row, column in level["masked"]:
        lines.setdefault(row if by_rows else column, []).append((row, column))
    at, actions = (level["at"][0], level["at"][1]), list[Action]()
    order = sorted(lines, reverse=at[0 if by_rows else 1] >= _HALF)
    for line in order:
        cells = sorted(lines[line])
        ends = (cells[0], cells[-1])
        if _apart(at, ends[1]) < _apart(at, ends[0]):
            cells.reverse()
        for cell in cells:
            actions += _moves(at, cell)
            actions.append(Action.of("paint", value=int(level["picture"][cell[0]][cell[1]])))
            at = cell
    return actions


def _apart(a: Cell, b: Cell) -> int:
    return (a[0] != b[0]) + (a[1] != b[1])


def _moves(a: Cell, b: Cell) -> list[Action]:
    down, right = b[0] - a[0], b[1] - a[1]
    moves = [("south" if down > 0 else "north", abs(down)), ("east" if right > 0 else "west", abs(right))]
    return [Action.of("move", direction=direction, cells=cells) for direction, cells in moves if cells]


LEVELS = Pictures()
