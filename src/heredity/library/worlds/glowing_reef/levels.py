"""Levels of `glowing_reef`: dialects, and the animals worth the time, by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.glowing_reef.dynamics import COLOURS, reply_to

KINDS = ("comb jelly", "lantern eel", "fire squid", "sea pen")
ORDERS = ("same", "reversed", "turned")


class Reefs(Levels):
    """Makes a row of animals without enough time for all replies."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return the dialects of two to four kinds, the meetings, and steps for three quarters of their replies."""
        kinds = [
            {"name": name, "order": ORDERS[int(rng.integers(difficulty))], "colours": self._exchange(rng, difficulty)}
            for name in KINDS[: 1 + difficulty]
        ]
        meetings: list[dict[str, Any]] = []
        for number in range(8 + 3 * difficulty):
            length = 2 + int(rng.integers(min(difficulty + 1, 3)))
            meetings.append(
                {
                    "kind": number if number < len(kinds) else int(rng.integers(len(kinds))),
                    "call": [int(c) for c in rng.integers(len(COLOURS), size=length)],
                    "worth": int(rng.integers(1, 7)),
                }
            )
        steps = sum(len(meeting["call"]) for meeting in meetings) * 3 // 4
        return {"kinds": kinds, "meetings": meetings, "steps": steps}

    @staticmethod
    def _exchange(rng: np.random.Generator, difficulty: int) -> list[int]:
        """Return the substitute of each colour: the next on a ring at easy levels, else arbitrary."""
        count = len(COLOURS)
        if difficulty == 1:
            step = int(rng.integers(1, count))
            return [(colour + step) % count for colour in range(count)]
        while True:
            colours = [int(c) for c in rng.permutation(count)]
            if sum(c == index for index, c in enumerate(colours)) <= 1:
                return colours

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the best sum of replies that the horizon has time for."""
        return UpperBound(
            float(sum(paid for _, paid in _best(level))),
            "exact",
            "dynamic programming over animals and steps left: an animal is answered in whole, in part, or left",
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the right pulses for the animals that are worth it; skip the others."""
        plan: list[Action] = []
        for (pulses, _), meeting in zip(_best(level), level["meetings"], strict=False):
            reply = reply_to(meeting["call"], level["kinds"][meeting["kind"]])
            plan += [Action.of("flash", colour=COLOURS[pulse]) for pulse in reply[:pulses]]
            if pulses < len(reply):
                plan.append(Action.of("drift"))
        return plan


def _best(level: LevelData) -> list[tuple[int, int]]:
    """Return the pulses to give to each animal and their reward.

    Every right pulse pays 1, and the last of a reply also its value. A whole reply takes one step per pulse, and
    leaving an animal early takes one more. A wrong pulse and watching count as leaving.
    """
    offers = [(len(meeting["call"]), meeting["worth"]) for meeting in level["meetings"]]

    @cache
    def rest(at: int, steps: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        if at == len(offers) or steps == 0:
            return 0, ()
        length, worth = offers[at]
        best = (-1, tuple[tuple[int, int], ...]())
        for pulses in range(min(length, steps) + 1):
            paid = pulses + worth * (pulses == length)
            total, after = rest(at + 1, max(0, steps - pulses - (pulses < length)))
            best = max(best, (paid + total, ((pulses, paid), *after)))
        return best

    return list(rest(0, level["steps"])[1])


LEVELS = Reefs()
