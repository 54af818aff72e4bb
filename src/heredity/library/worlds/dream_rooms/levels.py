"""Levels of `dream_rooms`: circles of rooms, strides, and shortest paths out of the dream by search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.library.worlds.dream_rooms.dynamics import DOORS, DYNAMICS, HOURS, Dream, Now, after, awake

Move = tuple[str, int]
_ROOMS = (
    "attic", "harbour", "orchard", "library", "tunnel", "greenhouse", "theatre", "kitchen", "gallery", "chapel",
    "station", "ballroom",
)  # fmt: skip
_KEEPSAKES = ("key", "music box", "letter", "compass", "feather", "lantern")
_SIZES = {1: 7, 2: 9, 3: 9}
_DEEPEST = {1: 1, 2: 2, 3: 2}
_COUNTS = {1: 2, 2: 2, 3: 3}
_SHORTEST = {1: 9, 2: 11, 3: 14}
_MOST_STEPS = 60
_MOVES: tuple[Move, ...] = (
    *(("walk", door) for door in range(len(DOORS))),
    *((verb, 0) for verb in ("sink", "rise", "take", "listen", "wake")),
)


class Dreams(Levels):
    """Makes dreams that require a change of depth."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a dream whose shortest path out is not too short and leaves time to explore."""
        while True:
            level = _draft(rng, difficulty)
            plan = _way_out(level)
            if plan is not None and _SHORTEST[difficulty] <= len(plan) <= _MOST_STEPS // 3:
                return {**level, "steps": min(_MOST_STEPS, 3 * len(plan) + 12)}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: waking pays 1 once, and the search finds a way that is shorter than the horizon."""
        return UpperBound(1.0, "exact", "waking pays 1 once, and the shortest way out fits into the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest path out of the dream."""
        return [
            Action.of(verb, door=DOORS[door]) if verb == "walk" else Action.of(verb)
            for verb, door in _way_out(level) or []
        ]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    size, deepest, count = _SIZES[difficulty], _DEEPEST[difficulty], _COUNTS[difficulty]
    rooms = [_ROOMS[int(i)] for i in rng.permutation(len(_ROOMS))[:size]]
    lengths = rng.permutation(size // 2)[:HOURS] + 1
    strides = [int(n) if rng.random() < 0.5 else size - int(n) for n in lengths]
    first, bed, *others = (int(i) for i in rng.permutation(size))
    names = rng.permutation(len(_KEEPSAKES))[:count]
    depths = [deepest, *(int(d) for d in rng.integers(0, deepest + 1, count - 1))]
    order = [int(i) for i in rng.permutation(size)]
    return {
        "rooms": rooms,
        "strides": strides,
        "ponds": sorted(order[:2]),
        "ladders": sorted(order[2:4]),
        "bed": bed,
        "first": first,
        "deepest": deepest,
        "hour": int(rng.integers(HOURS)),
        "keepsakes": [[_KEEPSAKES[int(n)], room, d] for n, room, d in zip(names, others, depths, strict=False)],
    }


def _way_out(level: LevelData) -> list[Move] | None:
    state = DYNAMICS.start(level)
    dream = state.dream
    plan = shortest_plan(state.now, lambda now: _moves(dream, now), lambda now: awake(dream, now))
    return None if plan is None else [*plan, ("wake", 0)]


def _moves(dream: Dream, now: Now) -> Iterator[tuple[Move, Now]]:
    for verb, door in _MOVES:
        try:
            yield (verb, door), after(dream, now, verb, door)
        except RefusedError:
            continue


LEVELS = Dreams()
