"""Levels of `ember_caves`: caves with a safe path to the ember, and the shortest one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell, shortest_path
from heredity.library.worlds.ember_caves.dynamics import GENTLE, SIGNS, perilous

BACK: Mapping[str, str] = {"north": "south", "south": "north", "west": "east", "east": "west"}
SAFE = 0.55
"""The share of safe chambers."""

PLAIN = 0.75
"""The share of chambers with two signs of one kind, of which every one is the contrary of what it seems."""


class Caves(Levels):
    """Makes caves."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a cave: safe chambers are drawn first, then matching signs.

        Gentle and grim signs share six weights; either kind may have the heaviest.
        """
        size = 4 + difficulty
        mouth, ember = self._corners(rng, size)
        safe, way = self._safe(rng, size, mouth, ember, detour=difficulty > 1)
        heavier = int(rng.integers(2))
        gentle, grim = ([weight - less for weight in rng.permutation([2, 4, 6])] for less in (1 - heavier, heavier))
        weights = [int(weight) for weight in gentle + grim]
        fitting = {risky: _pairs(weights, risky=risky) for risky in (False, True)}
        signs = [[_drawn(rng, *fitting[(r, c) not in safe]) for c in range(size)] for r in range(size)]
        return {
            "signs": signs,
            "weights": weights,
            "mouth": list(mouth),
            "ember": list(ember),
            "hearts": 3 if difficulty < 3 else 2,
            "pebbles": 5 - difficulty,
            "torches": 2,
            "steps": 2 * len(way) + 14,
        }

    @staticmethod
    def _corners(rng: np.random.Generator, size: int) -> tuple[Cell, Cell]:
        """Return two corners that face each other."""
        row, column = (int(side) * (size - 1) for side in rng.integers(0, 2, 2))
        return (row, column), (size - 1 - row, size - 1 - column)

    @staticmethod
    def _safe(
        rng: np.random.Generator, size: int, mouth: Cell, ember: Cell, *, detour: bool
    ) -> tuple[set[Cell], list[str]]:
        """Draw safe chambers, about half of all, until a path leads through them, optionally with a detour."""
        shortest = 2 * (size - 1) + (1 if detour else 0)
        while True:
            safe = {(int(r), int(c)) for r, c in np.argwhere(rng.random((size, size)) < SAFE)} | {mouth, ember}
            way = shortest_path(mouth, ember, safe.__contains__)
            if way is not None and len(way) >= shortest:
                return safe, way

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: the safe way there and back fits into the horizon."""
        return UpperBound(
            1.0, "exact", "success pays 1 once, and the shortest safe way, there and back, fits into the horizon"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the shortest safe path to the ember and back."""
        way = _way(level)
        return [Action.of("walk", direction=d) for d in [*way, *(BACK[d] for d in reversed(way))]]


def _pairs(weights: Sequence[int], *, risky: bool) -> tuple[list[list[int]], list[list[int]]]:
    """Return the possible pairs of signs: two of one kind, which seem to say the contrary, and one of each."""
    pairs = [list(pair) for pair in combinations(range(len(SIGNS)), 2) if perilous(pair, weights) is risky]
    mixed = [pair for pair in pairs if sum(sign < GENTLE for sign in pair) == 1]
    return [pair for pair in pairs if pair not in mixed], mixed


def _drawn(rng: np.random.Generator, plain: list[list[int]], mixed: list[list[int]]) -> list[int]:
    pairs = plain if rng.random() < PLAIN else mixed
    return pairs[int(rng.integers(len(pairs)))]


def _way(level: LevelData) -> list[str]:
    rows = enumerate(level["signs"])
    safe = {(r, c) for r, row in rows for c, pair in enumerate(row) if not perilous(pair, level["weights"])}
    mouth, ember = (level["mouth"][0], level["mouth"][1]), (level["ember"][0], level["ember"][1])
    return shortest_path(mouth, ember, safe.__contains__) or []


LEVELS = Caves()
