"""The rules of `quantum_doors`, on a corridor of four rooms with two doors of one family."""

from __future__ import annotations

from typing import Any

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.quantum_doors.dynamics import DYNAMICS, State

EAST = {"direction": "east"}


def corridor(*, second_opens: int, spin: int = 0, middle: str = ".") -> State:
    level: dict[str, Any] = {
        "plan": ["#########", f"#.a{middle}a..E#", "#########"],
        "doors": [[1, 2, 0], [1, 4, second_opens]],
        "at": [1, 1],
        "spin": spin,
        "blurs": 1,
    }
    return DYNAMICS.start(level)


def done(state: State, *verbs: str) -> float:
    return sum(DYNAMICS.act(state, Action(verb, EAST)).reward for verb in verbs)


def test_an_undecided_door_lets_nobody_through() -> None:
    with pytest.raises(RefusedError, match="open and shut at once"):
        done(corridor(second_opens=0), "move")


def test_one_look_settles_the_whole_family() -> None:
    assert done(corridor(second_opens=0), "look", "move", "move", "move") == 1.0
    with pytest.raises(RefusedError, match="shut"):
        done(corridor(second_opens=1), "look", "move", "move")


def test_a_door_looked_at_with_the_other_spin_is_shut() -> None:
    with pytest.raises(RefusedError, match="shut"):
        done(corridor(second_opens=0, spin=1), "look", "move")


def test_a_plate_turns_the_spin_and_a_blur_gives_another_look() -> None:
    state = corridor(second_opens=1, middle="%")
    assert done(state, "look", "move", "blur", "look", "move", "move") == 1.0
    assert state.now.blurs == 0


def test_doors_out_of_sight_and_how_they_open_are_not_shown() -> None:
    shown = DYNAMICS.observe(corridor(second_opens=1))
    assert shown == DYNAMICS.observe(corridor(second_opens=0))
    assert shown["grid"][2].count("?") == 1
