"""Levels of `grid_treasure`: mazes, and shortest paths through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell, cells_of, maze, shortest_path

_SHORTEST, _LONGEST = 8, 26


class Mazes(Levels):
    """Makes mazes whose treasure is far from the start."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a maze; the treasure lies in the farthest third of its cells, neither too near nor too far for the oil."""
        size = 5 + 2 * difficulty
        while True:
            grid = maze(rng, size, size)
            cells = cells_of(grid, ".")
            start = cells[int(rng.integers(len(cells)))]
            by_distance = sorted(cells, key=lambda cell: (len(_way(grid, start, cell)), cell))
            far = by_distance[-max(1, len(cells) // 3) :]
            treasure = far[int(rng.integers(len(far)))]
            length = len(_way(grid, start, treasure))
            if _SHORTEST <= length <= _LONGEST:
                return {"grid": grid, "at": list(start), "treasure": list(treasure), "steps": 2 * length + 8}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and the shortest path fits into the horizon."""
        return UpperBound(1.0, "exact", "success pays 1 once, and the shortest way fits into the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest path."""
        start, goal = tuple(level["at"]), tuple(level["treasure"])
        return [Action.of("move", direction=d) for d in _way(level["grid"], start, goal)]


def _way(grid: Sequence[str], start: Cell, goal: Cell) -> list[str]:
    return shortest_path(start, goal, lambda cell: grid[cell[0]][cell[1]] != "#") or []


LEVELS = Mazes()
