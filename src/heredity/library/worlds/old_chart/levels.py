"""Levels of `old_chart`: lands with a safe path out, and the shortest one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell, cells_of, maze, shortest_path
from heredity.library.worlds.old_chart.dynamics import DRAIN, EXIT, FLOOR, FORBIDDING, INVITING, TONIC, TRAPDOOR, WALL

LONGEST = 24
"""The most steps from the start to the way out."""
SAFE = {str(role) for role in (FLOOR, TONIC, EXIT)}


class Lands(Levels):
    """Makes lands of winding ways."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a land: a maze without its rim, with drains and trapdoors among its walls; the exit is far from the start."""
        size = 5 + 2 * difficulty
        paths = [row[1:-1] for row in maze(rng, size + 2, size + 2, loops=0.25)[1:-1]]
        ground = [[FLOOR if cell == "." else WALL for cell in row] for row in paths]
        free = cells_of(paths, ".")
        start = free[int(rng.integers(len(free)))]
        lengths = {cell: len(_way(paths, start, cell, ".")) for cell in free}
        near = sorted((length, cell) for cell, length in lengths.items() if length <= LONGEST)
        farthest = near[-len(free) // 5 :]
        length, goal = farthest[int(rng.integers(len(farthest)))]
        self._sow(rng, ground, [cell for cell in free if cell not in (start, goal)], TONIC, 2 + difficulty)
        walls = cells_of(paths, "#")
        self._sow(rng, ground, walls, DRAIN, len(walls) // 4)
        self._sow(rng, ground, [(r, c) for r, c in walls if ground[r][c] == WALL], TRAPDOOR, len(walls) // 6)
        ground[goal[0]][goal[1]] = EXIT
        signs = [FORBIDDING[int(i)] for i in rng.permutation(3)] + [INVITING[int(i)] for i in rng.permutation(3)]
        return {
            "land": ["".join(map(str, row)) for row in ground],
            "signs": "".join(signs),
            "at": list(start),
            "strength": 2 * length + 12,
        }

    @staticmethod
    def _sow(rng: np.random.Generator, ground: list[list[int]], cells: Sequence[Cell], role: int, count: int) -> None:
        for index in rng.permutation(len(cells))[:count]:
            row, column = cells[int(index)]
            ground[row][column] = role

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: the shortest safe path takes half of the strength."""
        return UpperBound(1.0, "exact", "success pays 1 once, and the shortest safe way fits into strength and horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the shortest path over harmless ground."""
        land: list[str] = level["land"]
        start, goal = (level["at"][0], level["at"][1]), cells_of(land, str(EXIT))[0]
        return [Action.of("walk", direction=direction) for direction in _way(land, start, goal, SAFE)]


def _way(land: Sequence[str], start: Cell, goal: Cell, free: str | set[str]) -> list[str]:
    size = len(land)
    way = shortest_path(start, goal, lambda c: 0 <= c[0] < size and 0 <= c[1] < size and land[c[0]][c[1]] in free)
    return way or []


LEVELS = Lands()
