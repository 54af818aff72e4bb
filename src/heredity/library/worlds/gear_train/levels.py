"""Levels of `gear_train`: working trains, taken apart, and extra gears that also mesh but give other ratios."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.gear_train.dynamics import PLACES

LOW, HIGH = 10, 40
"""Teeth of drivers and driven gears."""
TRIES = 3
FASTEST = 3


class Trains(Levels):
    """Makes trains of two to four stages; at difficulty 2 and 3 the direction requires an idler somewhere."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return distances, a box and the target; `answer` is the train that they were made from."""
        stages = 1 + difficulty
        while True:
            pairs = [[int(v) for v in rng.integers(LOW, HIGH + 1, 2)] for _ in range(stages)]
            speeds = [Fraction(prod(p[0] for p in pairs[:n]), prod(p[1] for p in pairs[:n])) for n in range(stages + 1)]
            if all(a != b for a, b in pairs) and speeds[-1] != 1 and max(speeds) <= FASTEST:
                break
        idlers = [int(rng.integers(LOW, 20)) if stage < difficulty - 1 else 0 for stage in range(stages)]
        idlers = [idlers[int(index)] for index in rng.permutation(stages)]
        answer = [[a, idler, b] for (a, b), idler in zip(pairs, idlers, strict=True)]
        return {
            "distances": [a + 2 * idler + b for a, idler, b in answer],
            "box": sorted(self._box(rng, answer)),
            "ratio": [speeds[-1].numerator, speeds[-1].denominator],
            "against": sum(not idler for idler in idlers) % 2 == 1,
            "fastest": FASTEST,
            "tries": TRIES,
            "steps": 4 * stages + 2 * difficulty + 6,
            "answer": answer,
        }

    @staticmethod
    def _box(rng: np.random.Generator, answer: Sequence[Sequence[int]]) -> list[int]:
        """Return the gears of the answer, two alternatives that fit each distance, and one that fits none by design."""
        box = [teeth for train in answer for teeth in train if teeth]
        for driver, _, driven in answer:
            shift = int(rng.integers(1, max(2, (driver + driven) // 2 - 8)))
            box += [(driver + driven) // 2 - shift, (driver + driven + 1) // 2 + shift]
        return [*box, int(rng.integers(LOW, HIGH + 1))]

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and the train that the level was made from runs."""
        return UpperBound(1.0, "exact", "success pays 1 once, and the train that the level was made from runs")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the train that the level was made from, and a turn of the crank."""
        mounts = [
            Action.of("mount", stage=stage, place=place, teeth=teeth)
            for stage, train in enumerate(level["answer"], 1)
            for place, teeth in zip(PLACES, train, strict=True)
            if teeth
        ]
        return [*mounts, Action.of("crank")]


LEVELS = Trains()
