"""Levels of `lamp_row`: rows that some presses lit, and the presses that put them out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from heredity import world

from .dynamics import DYNAMICS


class Rows(world.Levels):
    """Makes rows that can be put out, since they were lit by presses."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a row of `3 + difficulty` lamps that is not dark."""
        while True:
            state = [0] * (3 + difficulty)
            for lamp in rng.choice(len(state), size=int(rng.integers(1, 4)), replace=False):
                DYNAMICS.act(state, world.Action.of("press", lamp=int(lamp) + 1))
            if any(state):
                return {"lamps": state, "steps": 12}

    def upper_bound(self, level: world.LevelData) -> world.UpperBound:
        """Return 1: the row can be put out."""
        return world.UpperBound(1.0, "exact", "the reference solution puts all lamps out")

    def solve(self, level: world.LevelData) -> Sequence[world.Action]:
        """Return the fewest presses that put the row out: their order does not matter, and none is pressed twice."""
        count = len(level["lamps"])
        for presses in range(1, count + 1):
            for lamps in combinations(range(1, count + 1), presses):
                state = DYNAMICS.start(level)
                actions = [world.Action.of("press", lamp=lamp) for lamp in lamps]
                if [DYNAMICS.act(state, action) for action in actions][-1].done:
                    return actions
        return ()


LEVELS = Rows()
