"""Levels of `tile_quakes`: random walks backward from the wanted pattern; shortest paths by bidirectional search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS
from heredity.kinds.world.mechanics.search import meeting_plan
from heredity.library.worlds.tile_quakes.dynamics import (
    PRIZE,
    SIZE,
    Now,
    Puzzle,
    moved,
    next_quake,
    passed,
    read_level,
    slid,
    turned,
)

_WALK = {1: 9, 2: 13, 3: 17}
_SHORTEST = {1: 7, 2: 10, 3: 13}
_PERIOD = {1: 6, 2: 5, 3: 4}
_JOLTS = {1: 1, 2: 1, 3: 2}
_BACK = {"north": "south", "south": "north", "west": "east", "east": "west"}
Move = tuple[str, str]


class Puzzles(Levels):
    """Makes puzzles whose pattern can be reached in time, including quakes."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a puzzle; a backward walk from a disordered pattern proves that it is solvable."""
        while True:
            level = _draft(rng, difficulty)
            shortest = len(_plan(*_question(level)))
            if shortest >= _SHORTEST[difficulty]:
                return {**level, "steps": 2 * shortest + 10}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the value of all tiles plus the largest prize; the plan of `solve` collects both.

        A tile pays at most once. The prize falls by 1 per step, so it is largest on a shortest path, and every tile has
        been in place on any path to the whole pattern.
        """
        state = read_level(level)
        open_ = sum(
            state.puzzle.worth[tile - 1]
            for tile, paid in zip(state.puzzle.goal, state.paid, strict=True)
            if tile and not paid
        )
        prize = PRIZE + level["steps"] - len(_plan(*_question(level)))
        reason = "every tile pays once, and the prize is greatest on a shortest way, found by search from both ends"
        return UpperBound(float(open_ + prize), "exact", reason)

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest path to the pattern."""
        return [
            Action.of(verb, direction=direction) if direction else Action.of(verb)
            for verb, direction in _plan(*_question(level))
        ]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    goal = _disorder(rng)
    period, jolts = _PERIOD[difficulty], _JOLTS[difficulty]
    rows = [int(r) for r in rng.permutation(SIZE)[:2]]
    quakes = [[row, int(rng.choice([-1, 1]))] for row in rows]
    worth = [int(w) for w in rng.integers(1, 6, 8)]
    level = {"goal": goal, "worth": worth, "period": period, "quakes": quakes, "jolts": jolts, "steps": 0}
    puzzle = read_level({**level, "board": goal}).puzzle
    steps = _WALK[difficulty]
    now, seen = Now(puzzle.goal, steps % puzzle.round, 0), {puzzle.goal}
    for _ in range(steps):
        slides = [n for (verb, _), n in _before(puzzle, jolts, now) if verb == "slide" and n.board not in seen]
        if slides:
            now = slides[int(rng.integers(len(slides)))]
        else:
            now = next(n for (verb, _), n in _before(puzzle, jolts, now) if verb == "wait")
        seen.add(now.board)
    return {**level, "board": list(now.board)}


def _disorder(rng: np.random.Generator) -> list[int]:
    """Return a pattern in which no tile has the next number next to it or below."""
    while True:
        cells = [int(n) for n in rng.permutation(SIZE * SIZE)]
        pairs = [(i, i + 1) for i in range(SIZE * SIZE) if i % SIZE < SIZE - 1]
        pairs += [(i, i + SIZE) for i in range(SIZE * SIZE - SIZE)]
        if all(abs(cells[a] - cells[b]) != 1 for a, b in pairs):
            return cells


def _question(level: LevelData) -> tuple[Puzzle, Now]:
    state = read_level({**level, "steps": 0})
    return state.puzzle, state.now


@lru_cache(maxsize=4)
def _plan(puzzle: Puzzle, start: Now) -> tuple[Move, ...]:
    goals = [Now(puzzle.goal, phase, jolts) for phase in range(puzzle.round) for jolts in range(start.jolts + 1)]
    plan = meeting_plan(start, goals, lambda now: _after(puzzle, now), lambda now: _before(puzzle, start.jolts, now))
    return tuple(plan or ())


def _after(puzzle: Puzzle, now: Now) -> Iterator[tuple[Move, Now]]:
    for verb, direction in (("wait", ""), ("jolt", ""), *(("slide", d) for d in DIRECTIONS)):
        try:
            yield (verb, direction), passed(puzzle, moved(puzzle, now, verb, direction))
        except RefusedError:
            continue


def _before(puzzle: Puzzle, most_jolts: int, now: Now) -> Iterator[tuple[Move, Now]]:
    """Yield the actions that lead to a situation, each with its predecessor: undo the quake, then the action."""
    phase = (now.phase - 1) % puzzle.round
    row, shift = next_quake(puzzle, phase)
    board = now.board if now.phase % puzzle.period else turned(now.board, row, -shift)
    yield ("wait", ""), Now(board, phase, now.jolts)
    if now.jolts < most_jolts:
        yield ("jolt", ""), Now(turned(board, row, -shift), phase, now.jolts + 1)
    for direction in DIRECTIONS:
        came_from = slid(board, _BACK[direction])
        if came_from is not None:
            yield ("slide", direction), Now(came_from, phase, now.jolts)


LEVELS = Puzzles()
