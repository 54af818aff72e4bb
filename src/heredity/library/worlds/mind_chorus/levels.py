"""Levels of `mind_chorus`: villages, and the least influence that brings them into agreement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.mind_chorus.dynamics import Village, read_village

_NAMES = ("Ada", "Bo", "Cyd", "Dov", "Eli", "Fen", "Gus", "Hal", "Ivo")
_MINDS = {1: 6, 2: 8, 3: 9}
_LEAST = {1: 3, 2: 4, 3: 5}
_MOST = 9
_ROUNDS = {1: 3, 2: 4, 3: 5}
_STEPS = {1: 16, 2: 20, 3: 24}
_NEVER = 1000
_TRIED = 64
Table = NDArray[np.int64]


class Villages(Levels):
    """Makes villages that can reach full agreement with exactly the available influence."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a village where idling or repeating one move achieves little, and the least influence that suffices."""
        count, steps = _MINDS[difficulty], _STEPS[difficulty]
        while True:
            minds = [_mind(rng, mind, count) for mind in range(count)]
            village = read_village({"minds": minds})
            needs = _needs(village, steps)
            for start in map(int, rng.permutation(1 << count)[:_TRIED]):
                needed = int(needs[-1, start])
                idle = _by_itself(village, start, steps)
                gap = sum(village.depths) - idle
                if not _LEAST[difficulty] <= needed <= _MOST or gap < count // 2 + 2:
                    continue
                rounds = int(np.argmax(needs[:, start] <= needed))
                if rounds >= _ROUNDS[difficulty] and 5 * _trivial_gain(village, start, needed, steps) <= 2 * gap:
                    return {"minds": minds, "thoughts": start, "influence": needed, "steps": steps, "idle": idle}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the gain of full agreement over idling: full agreement is the maximum."""
        village = read_village(level)
        gain = sum(village.depths) - level["idle"]
        return UpperBound(
            float(gain), "exact", "full agreement is the best there is, and the influence is enough for it"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest plan to full agreement."""
        village, thoughts, left = read_village(level), level["thoughts"], level["influence"]
        needs, moves, plan = _needs(village, level["steps"]), _moves(village), list[Action]()
        for rounds in range(int(np.argmax(needs[:, thoughts] <= left)), 0, -1):
            verb, mind = next(
                (verb, mind)
                for verb, mind in moves
                if village.cost(verb, mind) + needs[rounds - 1, village.after(thoughts, verb, mind)] <= left
            )
            thoughts, left = village.after(thoughts, verb, mind), left - village.cost(verb, mind)
            plan.append(Action.of(verb) if verb == "listen" else Action.of(verb, mind=village.names[mind]))
        return plan


def _mind(rng: np.random.Generator, mind: int, count: int) -> dict[str, Any]:
    others = [other for other in range(count) if other != mind]
    heard = sorted(others[int(i)] for i in rng.permutation(len(others))[: int(rng.integers(2, 4))])
    return {
        "name": _NAMES[mind],
        "depth": int(rng.integers(1, 4)),
        "temper": ("follower", "follower", "stubborn", "contrary")[int(rng.integers(4))],
        "hears": [[other, int(rng.integers(1, 4))] for other in heard],
    }


def _moves(village: Village) -> list[tuple[str, int]]:
    places = range(len(village.names))
    return [("listen", 0), *((verb, mind) for verb in ("whisper", "steady", "hush") for mind in places)]


@lru_cache(maxsize=2)
def _needs(village: Village, steps: int) -> Table:
    """Return the least influence that leads to full agreement within 0, 1, ... rounds (rows) from all thoughts (columns).

    With one more round it is the minimum over all moves of the move's cost plus the influence needed after it.
    """
    everything = np.arange(1 << len(village.names))
    table = np.array([village.after(everything, verb, mind) for verb, mind in _moves(village)])
    costs = np.array([[village.cost(verb, mind)] for verb, mind in _moves(village)])
    needs = [np.full(len(everything), _NEVER)]
    needs[0][[0, -1]] = 0
    for _ in range(steps):
        needs.append(np.minimum(needs[-1], (costs + needs[-1][table]).min(axis=0)))
    return np.array(needs)


def _trivial_gain(village: Village, start: int, influence: int, steps: int) -> int:
    """Return the maximum gain of repeating one move."""
    first = best = _by_itself(village, start, steps)
    for verb, mind in _moves(village):
        now, left, cost = start, influence, village.cost(verb, mind)
        for _ in range(steps):
            if cost > left:
                break
            now, left = village.after(now, verb, mind), left - cost
            best = max(best, village.agreement(now))
    return best - first


def _by_itself(village: Village, start: int, steps: int) -> int:
    """Return the best agreement reached by listening alone."""
    now, best = start, village.agreement(start)
    for _ in range(steps):
        now = village.after(now, "listen", 0)
        best = max(best, village.agreement(now))
    return best


LEVELS = Villages()
