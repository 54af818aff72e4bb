"""Levels of `hooded_ball`: guests and their rivals, and the couples that pay most, by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.hooded_ball.dynamics import COLOURS, MASKS, Guest, Rivals, payment

Couples = tuple[tuple[int, int], ...]


class Balls(Levels):
    """Invites guests."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return guests of evenly mixed colours and masks, the rivals among them, and the values of rivals."""
        count = 8 + 2 * difficulty
        colours, masks = (rng.permutation(np.arange(count) % 4).tolist() for _ in range(2))
        feathers = (rng.permutation(np.arange(count) % 3) + 1).tolist()
        return {
            "guests": [list(guest) for guest in zip(colours, masks, feathers, strict=True)],
            "colour_rivals": _paired(rng, len(COLOURS)),
            "mask_rivals": _paired(rng, len(MASKS)),
            "worths": [int(worth) for worth in rng.permutation([2, 4])],
            "steps": 2 * count + 2 + 2 * difficulty,
        }

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the reward of the best couples; each needs two steps, and there are more steps than guests."""
        total, _ = _best(level)
        reason = "the couples of greatest sum, by dynamic programming over the sets of guests; all fit into the horizon"
        return UpperBound(float(total), "exact", reason)

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the meetings of these couples."""
        return [Action.of("lift", guest=index + 1) for couple in _best(level)[1] for index in couple]


def _paired(rng: np.random.Generator, count: int) -> list[int]:
    """Return the partner of each of an even number of things."""
    order = [int(i) for i in rng.permutation(count)]
    partner = {
        a: b for one, other in zip(order[::2], order[1::2], strict=True) for a, b in ((one, other), (other, one))
    }
    return [partner[i] for i in range(count)]


def _best(level: LevelData) -> tuple[int, Couples]:
    """Return the greatest sum that couples pay, and the couples."""
    guests: list[Guest] = [(g[0], g[1], g[2]) for g in level["guests"]]
    rivals = Rivals.of(level)
    pays = [[payment(one, other, rivals) for other in guests] for one in guests]

    @cache
    def best(left: int) -> tuple[int, Couples]:
        """Return the best result for the guests whose bits are set: the first goes alone, or with one of the others."""
        if not left:
            return 0, ()
        one = (left & -left).bit_length() - 1
        rest = left & (left - 1)
        top = best(rest)
        for other in range(one + 1, len(guests)):
            if rest >> other & 1 and pays[one][other]:
                total, couples = best(rest & ~(1 << other))
                if total + pays[one][other] > top[0]:
                    top = (total + pays[one][other], ((one, other), *couples))
        return top

    return best((1 << len(guests)) - 1)


LEVELS = Balls()
