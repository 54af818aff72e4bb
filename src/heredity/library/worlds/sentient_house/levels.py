"""Levels of `sentient_house`: guests, and the best result for them by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.sentient_house.dynamics import (
    ANGRIEST,
    DYNAMICS,
    ROOMS,
    Guest,
    House,
    State,
    answered,
    pleased,
)

_GUESTS = {1: 3, 2: 4, 3: 5}
_TURNS = {1: 15, 2: 18, 3: 21}
_MOVES = (
    *(("hold", room) for room in range(ROOMS)),
    ("praise", 0),
    *((v, r) for v in ("open", "close") for r in range(ROOMS)),
)
_MOODS = ANGRIEST + 1
Numbers = NDArray[np.int64]


class Guests(Levels):
    """Makes guests; most can be pleased, but not trivially."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a level with at least two thirds of the reward attainable, and at most a quarter by repeating one action."""
        turns = _TURNS[difficulty]
        while True:
            level: dict[str, Any] = {
                "house": [int(rng.integers(1 << ROOMS)) & int(rng.integers(1 << ROOMS)), int(rng.integers(1, _MOODS))],
                "guests": [_guest(rng, index, turns // _GUESTS[difficulty]) for index in range(_GUESTS[difficulty])],
                "steps": turns,
            }
            everything = sum(worth for *_, worth, _ in level["guests"])
            if 4 * max(_trivial(level, verb, room) for verb, room in _MOVES) > everything:
                continue
            if 3 * self.upper_bound(level).value >= 2 * everything:
                return level

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the exact bound, by dynamic programming over every state of the house, every set of guests and every turn."""
        start = DYNAMICS.start(level)
        best = max(_hoped(_hopes(start.guests, level["steps"])[0], start, move) for move in _MOVES)
        return UpperBound(
            float(best), "exact", "dynamic programming over all rooms, moods, turns and guests still to be pleased"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a best course."""
        state, plan = DYNAMICS.start(level), list[Action]()
        for hope in _hopes(state.guests, level["steps"]):
            best = max(_hoped(hope, state, move) for move in _MOVES)
            plan.append(_action(*next(move for move in _MOVES if _hoped(hope, state, move) == best)))
            if DYNAMICS.act(state, plan[-1]).done:
                break
        return plan


def _guest(rng: np.random.Generator, index: int, pace: int) -> list[int]:
    """Return a guest; the later ones stay longer."""
    start, end, quiet = (int(room) for room in rng.permutation(ROOMS)[:3])
    until = (index + 1) * pace - int(rng.integers(2))
    return [start, end, quiet, int(rng.integers(3, 10)), until]


def _action(verb: str, room: int) -> Action:
    return Action.of(verb) if verb == "praise" else Action.of(verb, room=room + 1)


def _trivial(level: LevelData, verb: str, room: int) -> float:
    state, total = DYNAMICS.start(level), 0.0
    for _ in range(level["steps"]):
        try:
            outcome = DYNAMICS.act(state, _action(verb, room))
        except RefusedError:
            outcome = DYNAMICS.refuse(state)
        total += outcome.reward
        if outcome.done:
            break
    return total


@cache
def _answers() -> Numbers:
    """Return the next house number, by move and current house number."""
    return np.array([[_answer(number, *move) for number in range(_MOODS << ROOMS)] for move in _MOVES])


def _answer(number: int, verb: str, room: int) -> int:
    mood, rooms = divmod(number, 1 << ROOMS)
    try:
        rooms, mood = answered(House(rooms, mood), verb, room)
    except RefusedError:
        rooms, mood = answered(House(rooms, mood), "", room)
    return mood << ROOMS | rooms


@lru_cache(maxsize=2)
def _hopes(guests: tuple[Guest, ...], turns: int) -> list[Numbers]:
    """Return for each turn the maximum reward of its end and all later ones, by house number and the guests that paid.

    A refused action has the same effect as holding some room that the house would not shut, so it adds nothing. Holding
    comes first among the moves, so the best move is never a refused one.
    """
    sets = np.arange(1 << len(guests))
    happy = np.array([[pleased(rooms, guest) for guest in guests] for rooms in range(1 << ROOMS)] * _MOODS)
    value, hopes = np.zeros((_MOODS << ROOMS, len(sets)), np.int64), list[Numbers]()
    houses = np.arange(_MOODS << ROOMS)[:, None]
    for turn in range(turns, 0, -1):
        paying = sum((happy[:, index] & (turn <= guest.until)) << index for index, guest in enumerate(guests))
        then = sets | np.asarray(paying)[:, None]
        pay = sum(guest.worth * ((then & ~sets) >> index & 1) for index, guest in enumerate(guests))
        hopes.append(pay + value[houses, then])
        value = np.max([hopes[-1][after] for after in _answers()], axis=0)
    return hopes[::-1]


def _hoped(hope: Numbers, state: State, move: tuple[str, int]) -> int:
    rooms, mood = state.house
    return int(hope[_answer(mood << ROOMS | rooms, *move), state.paid])


LEVELS = Guests()
