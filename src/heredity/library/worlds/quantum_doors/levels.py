"""Levels of `quantum_doors`: mazes with entangled doors, and shortest paths out by search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS, maze
from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.library.worlds.quantum_doors.dynamics import Maze, Now, after, read_level

_SIZES = {1: (7, 9), 2: (9, 9), 3: (9, 11)}
_PLATES = {1: 2, 2: 3, 3: 3}
_LOOKS = {1: 2, 2: 2, 3: 3}
_SHORTEST = {1: 10, 2: 13, 3: 16}
_LONGEST = 22
_MOST_STEPS = 60
Move = tuple[str, str]


class EntangledMazes(Levels):
    """Makes mazes whose way out leads through doors of several families, with a plate or a blur to use on the way."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a maze whose shortest way out needs some looks, and a blur or a turn of the spin."""
        while True:
            level = _draft(rng, difficulty)
            plan = _way_out(level)
            if plan is None or not _SHORTEST[difficulty] <= len(plan) <= _LONGEST:
                continue
            looks = sum(verb == "look" for verb, _ in plan)
            if looks >= _LOOKS[difficulty] and _asks_for_thought(level, plan):
                return {**level, "steps": min(_MOST_STEPS, 2 * len(plan) + 16)}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: leaving pays 1 once, and the search finds a way that is shorter than the horizon."""
        return UpperBound(1.0, "exact", "leaving pays 1 once, and the shortest way out fits into the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest path out, including looks at doors and blurs."""
        return [Action.of(verb, direction=direction) for verb, direction in _way_out(level) or []]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    rows, columns = _SIZES[difficulty]
    grid = [list(row) for row in maze(rng, rows, columns, loops=0.15)]
    rooms = [(r, c) for r in range(1, rows, 2) for c in range(1, columns, 2)]
    passages = [(r, c) for r in range(rows) for c in range(columns) if (r + c) % 2 and grid[r][c] == "."]
    chosen = rng.permutation(len(passages))[: 3 * (difficulty + 1)]
    doors: list[list[int]] = []
    for number, index in enumerate(chosen):
        r, c = passages[int(index)]
        grid[r][c] = "abcd"[number // 3]
        doors.append([r, c, int(rng.integers(2))])
    at, out, *plates = (rooms[int(i)] for i in rng.permutation(len(rooms))[: 2 + _PLATES[difficulty]])
    grid[out[0]][out[1]] = "E"
    for r, c in plates:
        grid[r][c] = "%"
    return {
        "plan": ["".join(row) for row in grid],
        "doors": sorted(doors),
        "at": list(at),
        "spin": int(rng.integers(2)),
        "blurs": 1 + (difficulty + 1) // 2,
    }


def _way_out(level: LevelData) -> list[Move] | None:
    state = read_level(level)
    maze, out = state.maze, state.maze.out
    return shortest_plan(state.now, lambda now: _moves(maze, now), lambda now: now.at == out)


def _moves(maze: Maze, now: Now) -> Iterator[tuple[Move, Now]]:
    for direction in DIRECTIONS:
        for verb in ("move", "look", "blur"):
            try:
                yield (verb, direction), after(maze, now, verb, direction)
            except RefusedError:
                continue


def _asks_for_thought(level: LevelData, plan: Sequence[Move]) -> bool:
    """Return True if the walker's initial spin does not suffice for the whole way."""
    state = read_level(level)
    now, spins = state.now, set[int]()
    for verb, direction in plan:
        if verb == "look":
            spins.add(now.spin)
        now = after(state.maze, now, verb, direction)
    return len(spins) == 2 or any(verb == "blur" for verb, _ in plan)


LEVELS = EntangledMazes()
