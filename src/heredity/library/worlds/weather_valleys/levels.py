"""Levels of `weather_valleys`: winds, and the best course for them by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.weather_valleys.dynamics import (
    DYNAMICS,
    SATURATED,
    SOAKED,
    TORN,
    VALLEYS,
    WINDS,
    Air,
    State,
    day,
    growing,
)

_DEEDS = (("wait", 0), *((deed, valley) for deed in ("seed", "heat", "veil") for valley in (0, 1)))
_SHAPE = (SOAKED + 1, SOAKED + 1, SATURATED + 1, SATURATED + 1, TORN + 2)
"""How many values each part of the air can have."""
_DAYS = {1: 16, 2: 22, 3: 28}
_GUSTS = {1: (0, 1, 2, 3), 2: (0, 1, 1, 2, 2, 3), 3: (0, 0, 1, 1, 2, 2, 3)}
Numbers = NDArray[np.int64]


class Winds(Levels):
    """Makes winds for which waiting, or repeating one deed, achieves little."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level on which repeating one deed brings at most a quarter of the attainable reward."""
        days = _DAYS[difficulty]
        while True:
            level: dict[str, Any] = {
                "air": [int(rng.integers(most)) for most in (3, 3, SATURATED, SATURATED)],
                "worth": [int(rng.integers(1, 5)), int(rng.integers(1, 5))],
                "winds": [_GUSTS[difficulty][int(i)] for i in rng.integers(len(_GUSTS[difficulty]), size=days)],
                "steps": days,
            }
            level["usual"] = _usual(level)
            best = self.upper_bound(level).value
            gains = [_gain(level, deed, valley) for deed, valley in _DEEDS]
            if best >= days // 2 and 4 * max(gains) <= best:
                return level

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the exact upper bound, by dynamic programming over every state of the air, days and deeds."""
        hopes = _hopes(tuple(level["winds"]), tuple(level["worth"]))
        start = DYNAMICS.start(level)
        best = max(_hoped(hopes[0], start, move) for move in _DEEDS)
        return UpperBound(
            float(best - sum(level["usual"])),
            "exact",
            "dynamic programming over every state of ground and sky, every day and every deed",
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the deeds of a best course."""
        state, plan = DYNAMICS.start(level), list[Action]()
        for hope in _hopes(tuple(level["winds"]), tuple(level["worth"])):
            best = max(_hoped(hope, state, move) for move in _DEEDS)
            plan.append(_action(*next(move for move in _DEEDS if _hoped(hope, state, move) == best)))
            DYNAMICS.act(state, plan[-1])
        return plan


def _number(air: Air) -> int:
    return int(np.ravel_multi_index(air, _SHAPE))


@cache
def _nights() -> Numbers:
    """Return the next air number, by deed, wind and current air number."""
    airs = [Air(*digits) for digits in np.ndindex(_SHAPE)]
    return np.array(
        [
            [[_number(day(air, deed, valley, wind).air) for air in airs] for wind in range(len(WINDS))]
            for deed, valley in _DEEDS
        ]
    )


@lru_cache(maxsize=2)
def _hopes(winds: tuple[int, ...], worth: tuple[int, int]) -> list[Numbers]:
    """Return for each day the maximum reward of it and all later days, by deed and air number at its night."""
    count = int(np.prod(_SHAPE))
    airs = [Air(*digits) for digits in np.ndindex(_SHAPE)]
    pays = np.array([[sum(worth[i] for i in growing(air, *move)) for air in airs] for move in _DEEDS])
    value, hopes = np.zeros(count, np.int64), list[Numbers]()
    for wind in reversed(winds):
        hopes.append(pays + value)
        value = np.take_along_axis(hopes[-1], _nights()[:, wind], axis=1).max(axis=0)
    return hopes[::-1]


def _hoped(hope: Numbers, state: State, move: tuple[str, int]) -> int:
    night = day(state.air, *move, state.winds[state.today])
    return int(hope[_DEEDS.index(move), _number(night.air)])


def _usual(level: LevelData) -> list[int]:
    """Return the reward of each day without any deeds."""
    state = DYNAMICS.start({**level, "usual": [0] * len(level["winds"])})
    return [int(DYNAMICS.act(state, _action("wait", 0)).reward) for _ in level["winds"]]


def _gain(level: LevelData, deed: str, valley: int) -> float:
    """Return the reward of repeating one deed every day."""
    state = DYNAMICS.start(level)
    return sum(DYNAMICS.act(state, _action(deed, valley)).reward for _ in level["winds"])


def _action(deed: str, valley: int) -> Action:
    return Action.of(deed) if deed == "wait" else Action.of(deed, valley=VALLEYS[valley])


LEVELS = Winds()
