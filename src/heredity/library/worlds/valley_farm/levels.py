"""Levels of `valley_farm`: fields and crops, and the best season, by dynamic programming."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity._core.ids import canonical_json
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import DIRECTIONS
from heredity.library.worlds.valley_farm.dynamics import (
    BARE,
    PLACES,
    UNSOWN,
    WORKS,
    YIELDS,
    apart,
    changed,
    neighbour,
    start_stages,
)

STAGES = range(BARE + 1)
Numbers = NDArray[np.int64]


class Farms(Levels):
    """Makes farms."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a farm: crops and stages of the fields, and each crop's responses to work."""
        sown = sorted(int(field) for field in rng.permutation(len(PLACES))[: 2 + difficulty])
        crops = [UNSOWN] * len(PLACES)
        for index, field in enumerate(sown):
            crops[field] = index % 3
        effects = [
            [-int(e) for e in rng.integers(1, 3, 2)] + [int(e) for e in rng.permutation([1, 2])] for _ in range(3)
        ]
        return {
            "at": int(rng.integers(len(PLACES))),
            "crops": crops,
            "stages": [int(stage) for stage in rng.integers(0, 3, len(PLACES))],
            "effects": effects,
            "prices": [int(price) for price in rng.integers(1, 5, 3)],
            "steps": 16,
        }

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the best season, by dynamic programming over all states."""
        total, _ = _best(canonical_json(dict(level)))
        return UpperBound(
            float(total), "exact", "dynamic programming over every day, place of the farmer and stage of the fields"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions of that season."""
        return _best(canonical_json(dict(level)))[1]


def _tables(level: LevelData) -> list[tuple[Action, Numbers, Numbers]]:
    """Return each action, with next states and rewards by state number.

    A state's number is the farmer's place, plus 6 times the stages of the sown fields, read as digits in base 6. A
    refused action lets a day pass, like resting, so it needs no row.
    """
    sown = [field for field, crop in enumerate(level["crops"]) if crop != UNSOWN]
    bases = [len(PLACES) * len(STAGES) ** position for position in range(len(sown))]
    numbers = np.arange(len(PLACES) * len(STAGES) ** len(sown))
    at = numbers % len(PLACES)
    stages = [numbers // base % len(STAGES) for base in bases]
    overnight = np.array([changed(stage, 1) for stage in STAGES])
    far = np.array([[apart(one, other) > 1 for other in sown] for one in range(len(PLACES))])

    def after(position: Numbers, worked: Sequence[Numbers]) -> Numbers:
        slept = [np.where(far[position, f], overnight[stage], stage) for f, stage in enumerate(worked)]
        return position + sum(base * stage for base, stage in zip(bases, slept, strict=True))

    def underfoot(by_stage: Sequence[Sequence[int]]) -> list[Numbers]:
        return [np.where(at == field, np.array(by_stage[f])[stages[f]], stages[f]) for f, field in enumerate(sown)]

    nothing = np.zeros_like(numbers)
    tables = [(Action.of("rest"), after(at, stages), nothing)]
    for direction in DIRECTIONS:
        ways = [neighbour(position, direction) for position in range(len(PLACES))]
        target = np.array([position if way is None else way for position, way in enumerate(ways)])[at]
        tables.append((Action.of("walk", direction=direction), after(target, stages), nothing))
    crops = [level["crops"][field] for field in sown]
    for work, how in enumerate(WORKS):
        by_stage = [[changed(stage, level["effects"][crop][work]) for stage in STAGES] for crop in crops]
        tables.append((Action.of("work", how=how), after(at, underfoot(by_stage)), nothing))
    paid = [
        np.where(at == field, np.array(YIELDS)[stages[f]] * level["prices"][crops[f]], 0)
        for f, field in enumerate(sown)
    ]
    cleared = underfoot([[BARE] * len(STAGES)] * len(sown))
    tables.append((Action.of("harvest"), after(at, cleared), np.sum(paid, axis=0)))
    return tables


@lru_cache(maxsize=8)
def _best(text: bytes) -> tuple[int, list[Action]]:
    """Return the maximum reward of a season and a plan: backward induction over all states, reachable or not."""
    level = json.loads(text)
    tables = _tables(level)
    values = [np.zeros_like(tables[0][1])]
    for _ in range(level["steps"]):
        values.append(np.max([paid + values[-1][following] for _, following, paid in tables], axis=0))
    digits = [stage for stage, crop in zip(start_stages(level), level["crops"], strict=True) if crop != UNSOWN]
    state = level["at"] + len(PLACES) * sum(stage * len(STAGES) ** index for index, stage in enumerate(digits))
    total, plan = int(values[-1][state]), list[Action]()
    for later in reversed(values[:-1]):
        if not later.any() and not plan:
            break
        action, following, _ = max(tables, key=lambda table: int(table[2][state] + later[table[1][state]]))
        plan.append(action)
        state = int(following[state])
    return total, plan


LEVELS = Farms()
