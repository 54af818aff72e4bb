"""Levels of `sinking_columns`: positions from which a line of play wins, found by playing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from heredity._core.ids import canonical_json, generator
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.sinking_columns.dynamics import DYNAMICS, State, completing, four, landings, place

STEPS = 20
TRIES = 400
"""How many lines of play are tried on a position before another is drawn."""


class Positions(Levels):
    """Makes positions without an immediate win for either side."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Draw positions until one is quiet and has a winning line of play that is not too short."""
        columns = 4 + difficulty
        while True:
            stones = [0, 0]
            for turn in range(2 * difficulty):
                stones[turn % 2] |= place(stones[0] | stones[1], int(rng.integers(columns)))
            level = {
                "mine": stones[0],
                "theirs": stones[1],
                "order": [int(column) for column in rng.permutation(columns)],
                "careful": difficulty > 1,
                "plugs": 2 if difficulty < 3 else 1,
                "steps": STEPS,
            }
            if _quiet(stones, columns) and len(_winning(canonical_json(level))) >= 2 + difficulty:
                return level

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: a winning line of play was found."""
        return UpperBound(
            1.0, "exact", "success pays 1 once, and a line of play wins against this opponent within the horizon"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return that line."""
        return [Action.of("drop", column=column + 1) for column in _winning(canonical_json(dict(level)))]


def _quiet(stones: Sequence[int], columns: int) -> bool:
    """Return True if neither side has four, or could have with one more stone; so few stones never fill a bottom row."""
    taken = stones[0] | stones[1]
    free = landings(taken, range(columns))
    return not any(four(side) or completing(side, free) is not None for side in stones)


@lru_cache(maxsize=32)
def _winning(text: bytes) -> tuple[int, ...]:
    """Return the columns of the shortest winning line found; empty if none is found.

    A line completes four if it can, and blocks the opponent if it must; all other moves are random.
    """
    level = json.loads(text)
    rng, best = generator(0, "sinking_columns", "line", text.decode()), tuple[int, ...]()
    for _ in range(TRIES):
        state, line = DYNAMICS.start(level), list[int]()
        while len(line) < (len(best) - 1 if best else STEPS):
            line.append(_choice(state, rng))
            outcome = DYNAMICS.act(state, Action.of("drop", column=line[-1] + 1))
            if outcome.reward:
                best = tuple(line)
            if outcome.done:
                break
    return best


def _choice(state: State, rng: np.random.Generator) -> int:
    free = landings(state.mine | state.theirs | state.plugged, range(len(state.habits.order)))
    for stones in (state.mine, state.theirs):
        column = completing(stones, free)
        if column is not None:
            return column
    return free[int(rng.integers(len(free)))][0]


LEVELS = Positions()
