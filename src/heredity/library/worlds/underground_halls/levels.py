"""Levels of `underground_halls`: mountains, and the best work order in them by search."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.search import richest_plan
from heredity.library.worlds.underground_halls.dynamics import City, Now, after, read_level

_SIZES = {1: (4, 5), 2: (5, 5), 3: (5, 6)}
_HALLS = {1: 3, 2: 4, 3: 5}
_DAYS = {1: 15, 2: 18, 3: 21}
_FANS = {1: 1, 2: 2, 3: 2}
_FAR = 10_000
Move = tuple[str, int]


class Mountains(Levels):
    """Makes mountains in which not every hall can be settled."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a mountain in which at least two halls can be settled."""
        while True:
            level = _draft(rng, difficulty)
            state = read_level(level)
            ways = _ways(state.city)
            start = state.now.dug.bit_length() - 1
            if all(ways[start][hall.cell] < _DAYS[difficulty] for hall in state.city.halls):
                return level

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the exact upper bound, by best-first search over all actions."""
        state = read_level(level)
        best, _ = _best(state.city, state.now)
        return UpperBound(
            float(best), "exact", "best-first search over all orders of digging, blasting and setting up fans"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a best work order."""
        state = read_level(level)
        _, moves = _best(state.city, state.now)
        places = ((verb, divmod(cell, state.city.columns)) for verb, cell in moves)
        return [Action.of(verb, row=row, column=column) for verb, (row, column) in places]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    rows, columns = _SIZES[difficulty]
    rock = [":::%%##"[int(i)] for i in rng.integers(7, size=rows * columns)]
    letters = "abcde"[: _HALLS[difficulty]]
    for letter, cell in zip(letters, rng.permutation(rows * columns), strict=False):
        rock[int(cell)] = letter
    shaft = int(rng.integers(columns))
    surface = "".join("=" if column == shaft else "~" for column in range(columns))
    days = _DAYS[difficulty]
    return {
        "plan": [surface, *("".join(rock[row * columns : (row + 1) * columns]) for row in range(rows))],
        "halls": [[letter, int(rng.integers(days - 2, 2 * days + 1))] for letter in letters],
        "charges": 1 + difficulty // 3,
        "fans": _FANS[difficulty],
        "steps": days,
    }


def _ways(city: City) -> list[list[int]]:
    """Return the fewest days of digging between cells, without blasts."""
    return [_days_from(city, cell) for cell in range(len(city.costs))]


def _days_from(city: City, start: int) -> list[int]:
    days = [_FAR] * len(city.costs)
    days[start] = 0
    queue = [(0, start)]
    while queue:
        so_far, cell = heapq.heappop(queue)
        around = city.around(1 << cell)
        for other, cost in enumerate(city.costs):
            if cost and around >> other & 1 and so_far + cost < days[other]:
                days[other] = so_far + cost
                heapq.heappush(queue, (days[other], other))
    return days


def moves_from(city: City, now: Now) -> Iterator[tuple[Move, Now, int]]:
    """Yield all possible actions, with next states and rewards."""
    beside = city.around(now.dug) & ~now.dug
    for cell in range(len(city.costs)):
        verbs = ("dig", "blast") if beside >> cell & 1 else ("fan",) if now.dug >> cell & 1 else ()
        for verb in verbs:
            try:
                then, pay = after(city, now, verb, cell)
            except RefusedError:
                continue
            yield (verb, cell), then, pay


@lru_cache(maxsize=2)
def _best(city: City, start: Now) -> tuple[int, list[Move]]:
    """Return the maximum attainable reward, and a best work order.

    An unsettled hall is worth at most its value on the earliest possible day: one day for the next action, or the days
    of digging to it minus two per charge, plus one for a fan if none stands. If no fan is left and none stands close
    enough, it is worth nothing.
    """
    ways = _ways(city)
    hops = [_days_from(replace(city, costs=tuple(map(bool, city.costs))), cell) for cell in range(len(city.costs))]

    def hope(now: Now) -> int:
        dug = [cell for cell in range(len(city.costs)) if now.dug >> cell & 1]
        total, done = 0, now.settled | now.ruined
        for hall in city.halls:
            near = now.spare or any(hops[fan][hall.cell] <= fan // city.columns for fan in now.fans)
            if near and not done >> hall.cell & 1:
                days = max(0, min([ways[cell][hall.cell] for cell in dug]) - 2 * now.charges)
                total += max(0, hall.worth - now.day - max(1, days + (not now.fans)))
        return total

    return richest_plan(start, lambda now: moves_from(city, now), hope)


LEVELS = Mountains()
