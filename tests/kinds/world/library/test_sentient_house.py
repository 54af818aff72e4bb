"""How the house of `sentient_house` answers, and whether its bound is the best of all courses."""

from __future__ import annotations

import itertools

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.sentient_house.dynamics import DYNAMICS, Guest, House, answered, pleased
from heredity.library.worlds.sentient_house.levels import LEVELS

ALL = 0b111_111_111


@pytest.mark.parametrize(
    ("before", "verb", "room", "after"),
    [
        (House(0, 0), "open", 0, House(0b100_000_001, 1)),
        (House(ALL, 1), "close", 0, House(0b011_111_110, 1)),
        (House(0b100_000_000, 2), "open", 0, House(0b1, 3)),
        (House(0b1, 3), "close", 0, House(0b100_000_000, 3)),
        (House(0, 3), "open", 4, House(0, 4)),
        (House(0b000_000_111, 4), "hold", 0, House(0b000_000_101, 3)),
        (House(0b000_000_111, 4), "hold", 1, House(0b000_000_110, 3)),
        (House(0b000_000_001, 5), "open", 1, House(0b000_000_010, 5)),
        (House(ALL, 3), "praise", 0, House(ALL, 1)),
    ],
)
def test_the_house_answers_by_the_mood_it_was_in(before: House, verb: str, room: int, after: House) -> None:
    assert answered(before, verb, room) == after


def test_a_guest_walks_side_by_side_and_only_while_it_is_quiet() -> None:
    guest = Guest(start=0, end=4, quiet=8, worth=3, until=5)
    assert pleased(0b000_011_001, guest)
    assert not pleased(0b000_010_001, guest)
    assert not pleased(0b100_011_001, guest)
    assert not pleased(0b000_011_000, guest)


def test_the_bound_is_the_best_of_all_courses_of_three_turns() -> None:
    level = {"house": [0b000_010_000, 2], "guests": [[0, 4, 8, 5, 2], [4, 6, 2, 7, 3], [0, 2, 4, 9, 3]], "steps": 3}
    actions = [Action.of("praise"), *(Action.of(v, room=r) for v in ("open", "close", "hold") for r in range(1, 10))]
    totals = list[float]()
    for course in itertools.product(actions, repeat=3):
        state, total = DYNAMICS.start(level), 0.0
        for action in course:
            try:
                outcome = DYNAMICS.act(state, action)
            except RefusedError:
                outcome = DYNAMICS.refuse(state)
            total += outcome.reward
            if outcome.done:
                break
        totals.append(total)
    assert LEVELS.upper_bound(level).value == max(totals) > 0
