"""Levels of `magnet_needles`: boards made backward from the arrangements that solve them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell
from heredity.library.worlds.magnet_needles.dynamics import WAYS, pointing

Arrangement = dict[Cell, str]


class Boards(Levels):
    """Makes boards whose needles need two or three arrangements."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a board, its needles, and the arrangements (`plan`) in which each of them points to its target."""
        size, magnets, pulses = 4 + difficulty, 1 + difficulty, 2 + difficulty // 3
        while True:
            cells = [(int(i) // size, int(i) % size) for i in rng.permutation(size * size)]
            iron, places = cells[: size - 2], cells[size - 2 :]
            board = ["".join("#" if (r, c) in iron else "." for c in range(size)) for r in range(size)]
            plan = [{cell: WAYS[int(rng.integers(4))] for cell in places[:magnets]}]
            rest = places[magnets:]
            while len(plan) < pulses:
                plan.append(self._changed(rng, plan[-1], rest.pop()))
            needles = self._needles(rng, board, plan, rest, 2 + 2 * difficulty)
            if needles is None:
                continue
            steps = (
                sum(len(_changes(a, b)) + 1 for a, b in zip([{}, *plan[:-1]], plan, strict=True)) + 7 + 2 * difficulty
            )
            return {
                "board": board,
                "needles": needles,
                "magnets": magnets,
                "pulses": pulses,
                "plan": [[[*cell, facing] for cell, facing in arrangement.items()] for arrangement in plan],
                "steps": steps,
            }

    @staticmethod
    def _changed(rng: np.random.Generator, before: Arrangement, spot: Cell) -> Arrangement:
        """Return the arrangement with one magnet turned, and another (or the same, if it is alone) moved to a spot."""
        magnets = list(before)
        turned, away = magnets[int(rng.integers(len(magnets)))], magnets[int(rng.integers(len(magnets)))]
        after = {**before, turned: WAYS[(WAYS.index(before[turned]) + 1 + int(rng.integers(3))) % 4]}
        facing = after.pop(away)
        return {**after, spot: facing}

    @staticmethod
    def _needles(
        rng: np.random.Generator, board: Sequence[str], plan: Sequence[Arrangement], rest: Sequence[Cell], count: int
    ) -> list[list[Any]] | None:
        """Return needles distributed over the arrangements, each pointing differently in the others; None if too few can be."""
        needles: list[list[Any]] = []
        for cell in rest:
            if any(cell in arrangement for arrangement in plan):
                continue
            turn = len(needles) % len(plan)
            points = [pointing(board, arrangement, cell) for arrangement in plan]
            if points[turn] and points.count(points[turn]) == 1:
                needles.append([*cell, points[turn], int(rng.integers(1, 6))])
            if len(needles) == count:
                return needles
        return None

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the value of all needles: each is fixed once, and the plan fixes all."""
        total = sum(worth for *_, worth in level["needles"])
        return UpperBound(
            float(total), "exact", "every needle pays once, and the planned arrangements fix all of them in time"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the steps from arrangement to arrangement, with a pulse in each."""
        actions: list[Action] = []
        before: Arrangement = {}
        for arrangement in level["plan"]:
            after: Arrangement = {(row, column): facing for row, column, facing in arrangement}
            actions += [*_changes(before, after), Action.of("pulse")]
            before = after
        return actions


def _changes(before: Arrangement, after: Arrangement) -> list[Action]:
    lifted = [Action.of("lift", row=r, column=c) for r, c in before if (r, c) not in after]
    turned = [
        Action.of("turn" if (r, c) in before else "place", row=r, column=c, facing=facing)
        for (r, c), facing in after.items()
        if before.get((r, c)) != facing
    ]
    return lifted + turned


LEVELS = Boards()
