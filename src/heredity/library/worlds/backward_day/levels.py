"""Levels of `backward_day`: chains of events, and the fewest changes in the morning that fix the evening."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.backward_day.dynamics import NAMES, Event, evening, happen


class Days(Levels):
    """Makes days in which fixing the wrong things directly in the morning does not help."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a day of four to eight events over four to six things."""
        count, hours = 3 + difficulty, 2 + 2 * difficulty
        while True:
            events = [self._event(rng, count) for _ in range(hours)]
            morning = [int(v) for v in rng.integers(2, size=count)]
            reach = sorted(int(i) for i in rng.permutation(count)[: 1 + (count + 1) // 2])
            turned = [int(i) for i in rng.permutation(reach)[: 2 + difficulty // 3]]
            level = {
                "morning": morning,
                "events": [[e.cause, e.when, e.effect] for e in events],
                "wanted": evening(_turned(morning, turned), events),
                "reach": reach,
                "until": (difficulty + 1) // 2,
            }
            if self._puzzling(level, events):
                least = len(_fewest(level))
                return {**level, "turns": least + 2 + difficulty, "steps": 6 * hours + 12}

    @staticmethod
    def _event(rng: np.random.Generator, count: int) -> Event:
        cause, effect = (int(i) for i in rng.permutation(count)[:2])
        return Event(cause, int(rng.integers(2)), effect)

    @staticmethod
    def _puzzling(level: LevelData, events: Sequence[Event]) -> bool:
        """Return True if half of the events fire, two things end up wrong, and the plain remedy fails."""
        things = list(level["morning"])
        fired = sum(happen(event, things) for event in events)
        wrong = [i for i, (is_so, wanted) in enumerate(zip(things, level["wanted"], strict=True)) if is_so != wanted]
        plain = _turned(level["morning"], [i for i in wrong if i in level["reach"]])
        return fired * 2 >= len(events) and len(wrong) >= 2 and evening(plain, events) != level["wanted"]

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and the turns and the horizon suffice for the solution."""
        return UpperBound(
            1.0, "exact", "success pays 1 once, and going back, turning and going on again fits into the horizon"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the way back to the morning, the fewest changes there, and the way to the evening."""
        hours = len(level["events"])
        turns = [Action.of("turn", thing=NAMES[thing]) for thing in _fewest(level)]
        return [Action.of("rewind")] * hours + turns + [Action.of("advance")] * hours


def _turned(morning: Sequence[int], turned: Sequence[int]) -> list[int]:
    return [value ^ (thing in turned) for thing, value in enumerate(morning)]


def _fewest(level: LevelData) -> tuple[int, ...]:
    """Return the fewest things to turn in the morning; events are reversible, so the one right morning is known."""
    events = [Event(*event) for event in level["events"]]
    return next(
        turned
        for count in itertools.count()
        for turned in itertools.combinations(level["reach"], count)
        if evening(_turned(level["morning"], turned), events) == level["wanted"]
    )


LEVELS = Days()
