"""Levels of `belt_warehouse`: bays are placed where a forward search from the start arrives late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell
from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.library.worlds.belt_warehouse.dynamics import DYNAMICS, MOVES, Hall, Now, after, read_hall

Move = tuple[str, str]
_SIZES = {1: (6, 6), 2: (7, 7), 3: (7, 8)}
_CRATES = {1: 2, 2: 2, 3: 3}
_LENGTHS = {1: (10, 16), 2: (14, 22), 3: (14, 24)}
_MOST_SEEN = {1: 5000, 2: 9000, 3: 11000}


class Halls(Levels):
    """Makes halls with belts, and bays far from the crates' start."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a hall whose shortest plan has a length in the difficulty's range and uses belts."""
        while True:
            floor, cells = _floor(rng, difficulty)
            at, *crates = (cells[int(i)] for i in rng.permutation(len(cells))[: 1 + _CRATES[difficulty]])
            hall = read_hall(floor, ())
            start = Now(at, tuple(crates), 0)
            ends = _far(hall, start, difficulty)
            if not ends:
                continue
            length, bays = ends[int(rng.integers(len(ends)))]
            if _rides(hall, start, _plan(hall, start, bays)):
                places = {"bays": bays, "crates": crates}
                shown = {name: [list(cell) for cell in of] for name, of in places.items()}
                return {"floor": list(floor), "at": list(at), **shown, "steps": min(60, 2 * length + 12)}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and a plan shorter than the horizon was found."""
        return UpperBound(1.0, "exact", "success pays 1 once, and the shortest plan fits into the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest plan."""
        state = DYNAMICS.start(level)
        plan = _plan(state.hall, state.now, state.hall.bays)
        return [Action.of(verb, direction=way) if way else Action.of(verb) for verb, way in plan]


def _floor(rng: np.random.Generator, difficulty: int) -> tuple[tuple[str, ...], list[Cell]]:
    """Draw a hall with a few pillars and straight belts; return it with its free cells."""
    rows, columns = _SIZES[difficulty]
    grid = [["#" if r in (0, rows - 1) or c in (0, columns - 1) else "." for c in range(columns)] for r in range(rows)]
    for _ in range(1 + difficulty):
        grid[int(rng.integers(1, rows - 1))][int(rng.integers(1, columns - 1))] = "#"
    for belt in range(2 + difficulty // 3):
        length = int(rng.integers(2, 4))
        if belt % 2:
            row, column = int(rng.integers(1, rows - 1)), int(rng.integers(1, columns - length))
            run, symbol = [(row, column + i) for i in range(length)], "<>"[int(rng.integers(2))]
        else:
            row, column = int(rng.integers(1, rows - length)), int(rng.integers(1, columns - 1))
            run, symbol = [(row + i, column) for i in range(length)], "^v"[int(rng.integers(2))]
        for r, c in run:
            grid[r][c] = symbol
    floor = tuple("".join(row) for row in grid)
    return floor, [(r, c) for r, row in enumerate(floor) for c, s in enumerate(row) if s == "."]


def _far(hall: Hall, start: Now, difficulty: int) -> list[tuple[int, tuple[Cell, ...]]]:
    """Return placements of the crates first reached in the wanted range of steps, with the number of steps.

    In each, every crate has left its cell and none is on a belt.
    """
    low, high = _LENGTHS[difficulty]
    depths: dict[Now, int] = {start: 0}
    placed: dict[tuple[Cell, ...], int] = {start.crates: 0}
    layer = [start]
    while layer and len(depths) < _MOST_SEEN[difficulty]:
        following: list[Now] = []
        for now in layer:
            depth = depths[now] + 1
            for _, other in _moves(hall, now):
                if other not in depths:
                    depths[other] = depth
                    placed.setdefault(other.crates, depth)
                    following.append(other)
        layer = following
    belts = hall.rides[0]
    return [
        (depth, crates)
        for crates, depth in placed.items()
        if low <= depth <= high
        and not any(cell in belts for cell in crates)
        and all(cell != first for cell, first in zip(crates, start.crates, strict=True))
    ]


def _plan(hall: Hall, start: Now, bays: tuple[Cell, ...]) -> list[Move]:
    return shortest_plan(start, lambda now: _moves(hall, now), lambda now: now.crates == bays) or []


def _rides(hall: Hall, now: Now, plan: Sequence[Move]) -> bool:
    """Return True if a crate rides at least twice on the way."""
    count = 0
    for verb, direction in plan:
        other = after(hall, now, verb, direction)
        pushed = other.at in now.crates
        count += sum(a != b for a, b in zip(now.crates, other.crates, strict=True)) - pushed
        now = other
    return count >= 2


def _moves(hall: Hall, now: Now) -> Iterator[tuple[Move, Now]]:
    for verb, direction in MOVES:
        try:
            yield (verb, direction), after(hall, now, verb, direction)
        except RefusedError:
            continue


LEVELS = Halls()
