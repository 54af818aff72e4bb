"""Levels of `shifting_pairs`: shuffled tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound

SIZES = {1: (3, 4), 2: (4, 4), 3: (4, 5)}
BELTS = {1: 1, 2: 2, 3: 4}


class Tables(Levels):
    """Shuffles tiles, and puts rows on belts."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a table; its steps suffice for a perfect memory under any layout."""
        rows, columns = SIZES[difficulty]
        pairs = rows * columns // 2
        tiles = rng.permutation(np.repeat(np.arange(pairs), 2)).reshape(rows, columns)
        belts = sorted(int(row) for row in rng.permutation(rows)[: BELTS[difficulty]])
        return {"tiles": tiles.tolist(), "belts": belts, "peeks": 3 - difficulty, "steps": pairs * 9 // 2}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: with known pictures, one step per tile suffices."""
        return UpperBound(1.0, "exact", "success pays 1 once, and turning up pair after pair fits into the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return pair after pair: without a mismatch nothing slides."""
        places: dict[int, list[tuple[int, int]]] = {}
        for r, row in enumerate(level["tiles"]):
            for c, picture in enumerate(row):
                places.setdefault(picture, []).append((r + 1, c + 1))
        return [Action.of("turn", row=r, column=c) for pair in places.values() for r, c in pair]


LEVELS = Tables()
