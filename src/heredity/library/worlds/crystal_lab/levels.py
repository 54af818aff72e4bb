"""Levels of `crystal_lab`: batches that need different flasks, and the best use of the time, by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.crystal_lab.dynamics import HEATS, MISFIT, MOST, SOURS

DOSES = ("plain", "catalyst", "poison")
Ints = NDArray[np.int64]


class Batches(Levels):
    """Makes rows of batches without enough time to prepare all."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return 6, 8 or 10 batches, each needing a flask far from the previous one, and the bottles."""
        count = 4 + 2 * difficulty
        start = wanted = (int(rng.integers(2, 8)), int(rng.integers(2, 8)))
        batches: list[dict[str, int]] = []
        for _ in range(count):
            wanted = self._far(rng, wanted)
            heats, sours = (int(v) for v in rng.integers(-difficulty, difficulty + 1, 2))
            worth = int(rng.integers(5, 13))
            batches.append({"heat": wanted[0], "acid": wanted[1], "worth": worth, "heats": heats, "sours": sours})
        return {
            "heat": start[0],
            "acid": start[1],
            "batches": batches,
            "strengths": {bottle: int(rng.integers(1, 4)) for bottle in (*HEATS, *SOURS)},
            "room": [int(v) for v in rng.integers(2, 8, 2)],
            "steps": 3 * count - 2,
        }

    @staticmethod
    def _far(rng: np.random.Generator, last: tuple[int, int]) -> tuple[int, int]:
        """Return a heat and an acidity at a combined distance of at least five degrees from the last ones."""
        while True:
            heat, acid = (int(v) for v in rng.integers(0, MOST + 1, 2))
            if abs(heat - last[0]) + abs(acid - last[1]) >= 5:
                return heat, acid

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the most crystals that any order of actions yields."""
        return UpperBound(
            float(_best(level)[0]), "exact", "dynamic programming over every step, batch, dose, heat and acidity"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions that yield them."""
        return _best(level)[1]


def _best(level: LevelData) -> tuple[int, list[Action]]:
    """Return the maximum number of crystals and a plan: backward induction over all states."""
    actions, after, paid = _tables(level)
    places = np.arange(after.shape[1])
    value, choices = np.zeros(len(places), np.int64), list[Ints]()
    for _ in range(level["steps"]):
        totals = paid + value[after]
        choices.append(totals.argmax(axis=0))
        value = totals[choices[-1], places]
    at = start = int(np.ravel_multi_index((0, 0, level["heat"], level["acid"]), _shape(level)))
    plan: list[Action] = []
    for choice in reversed(choices):
        taken = int(choice[at])
        plan.append(actions[taken])
        at = int(after[taken, at])
    return int(value[start]), plan


def _shape(level: LevelData) -> tuple[int, int, int, int]:
    """Return the numbers of batches done, doses, heats and acidities."""
    return len(level["batches"]) + 1, len(DOSES), MOST + 1, MOST + 1


def _tables(level: LevelData) -> tuple[list[Action], Ints, Ints]:
    """Return the actions, with next states and rewards for every state; none when all batches are done."""
    shape = _shape(level)
    batch, dose, heat, acid = (part.ravel() for part in np.indices(shape))
    batches = [*level["batches"], dict.fromkeys(("worth", "heat", "acid", "heats", "sours"), 0)]
    of = {key: np.array([b[key] for b in batches])[batch] for key in batches[0]}
    right = np.maximum(0, of["worth"] - MISFIT * (abs(heat - of["heat"]) + abs(acid - of["acid"])))
    following = np.minimum(batch + 1, shape[0] - 1)
    nothing = np.zeros_like(batch)
    room_heat, room_acid = level["room"]
    rows: list[tuple[Action, tuple[Ints, Ints, Ints, Ints], Ints]] = [
        (
            Action.of("run"),
            (following, nothing, heat + of["heats"], acid + of["sours"]),
            np.choose(dose, [right, right // 2, 2 * right]),
        ),
        (Action.of("skip"), (following, dose, heat, acid), nothing),
        (Action.of("rest"), (batch, dose, heat + np.sign(room_heat - heat), acid + np.sign(room_acid - acid)), nothing),
    ]
    for bottle, strength in level["strengths"].items():
        warmer, sourer = strength * HEATS.get(bottle, 0), strength * SOURS.get(bottle, 0)
        rows.append((Action.of("add", bottle=bottle), (batch, dose, heat + warmer, acid + sourer), nothing))
    for number, bottle in enumerate(DOSES[1:], 1):
        rows.append((Action.of("add", bottle=bottle), (batch, nothing + number, heat, acid), nothing))
    after = [np.ravel_multi_index(to, shape, mode="clip") for _, to, _ in rows]
    return [row[0] for row in rows], np.array(after), np.array([paid for *_, paid in rows])


LEVELS = Batches()
