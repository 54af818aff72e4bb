"""Levels of `field_probe`: fields with one node, and flawed copies of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell
from heredity.library.worlds.field_probe.dynamics import NODE, patch

SIZES = (9, 11, 13)
FARTHEST = 3
"""The most cells of one glide."""
HALO = 0.6
"""How likely a cell at distance two of a node or a copy is 1."""
NOISE = 0.12
"""How likely any other cell is 1."""


class Fields(Levels):
    """Makes fields that a sweep in threes covers, with steps for that and for the way to the node."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a field; copies have three, two and one flaws at difficulty 1, 2 and 3."""
        size, copies = SIZES[difficulty - 1], 1 + difficulty
        while True:
            places = self._spread(rng, size, 1 + copies)
            field = (rng.random((size, size)) < NOISE).astype(int)
            for number, (row, column) in enumerate(places):
                around = field[max(0, row - 2) : row + 3, max(0, column - 2) : column + 3]
                around[:] = rng.random(around.shape) < HALO
                shape = np.array(NODE) if number == 0 else self._flawed(rng, 4 - difficulty)
                field[row - 1 : row + 2, column - 1 : column + 2] = shape
            rows = ["".join(map(str, row)) for row in field.tolist()]
            if nodes(rows) == [places[0]]:
                break
        stops = -(-size // 3)  # the way to a corner, the sweep, the way back and the mark take no more than the steps
        at = [int(v) for v in rng.integers(1, size - 1, 2)]
        if at == list(places[0]):
            at = [size - 1 - at[0], 0]
        return {"field": rows, "at": at, "node": list(places[0]), "steps": stops * stops + 2 * stops + 2}

    @staticmethod
    def _spread(rng: np.random.Generator, size: int, count: int) -> list[Cell]:
        """Return centres at least four apart in row or column, none at the edge."""
        while True:
            centres: list[Cell] = []
            for _ in range(60):
                row, column = (int(v) for v in rng.integers(1, size - 1, 2))
                if all(max(abs(row - r), abs(column - c)) >= 4 for r, c in centres):
                    centres.append((row, column))
                if len(centres) == count:
                    return centres

    @staticmethod
    def _flawed(rng: np.random.Generator, flaws: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return a node with a number of its eight outer cells one step too weak or too strong."""
        shape = np.array(NODE)
        outer = [(r, c) for r in range(3) for c in range(3) if (r, c) != (1, 1)]
        for index in rng.permutation(len(outer))[:flaws]:
            shape[outer[int(index)]] += 2 * int(rng.integers(2)) - 1
        return shape

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and the way to the node and a mark fit into the horizon."""
        return UpperBound(1.0, "exact", "success pays 1 once, and the way to the node and a mark fit into the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the way to the node, and a mark."""
        (row, column), (goal_row, goal_column) = level["at"], level["node"]
        down = _glides("south" if goal_row > row else "north", abs(goal_row - row))
        right = _glides("east" if goal_column > column else "west", abs(goal_column - column))
        return [*down, *right, Action.of("mark")]


def nodes(field: Sequence[str]) -> list[Cell]:
    """Return the cells where the field looks like a node."""
    inner, wanted = range(1, len(field) - 1), [list(row) for row in NODE]
    return [(row, column) for row in inner for column in inner if patch(field, (row, column)) == wanted]


def _glides(direction: str, far: int) -> list[Action]:
    return [
        Action.of("glide", direction=direction, cells=min(FARTHEST, far - gone)) for gone in range(0, far, FARTHEST)
    ]


LEVELS = Fields()
