from __future__ import annotations

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.icy_grip.dynamics import DYNAMICS, State

LEVEL = {"plan": ["########", "#::~:+:#", "#::!:::#", "#::::::#", "#E#:::##", "########"], "at": [1, 1]}


def pushed(state: State, *directions: str) -> tuple[int, int]:
    for direction in directions:
        DYNAMICS.act(state, Action.of("push", direction=direction))
    return state.now.at


def test_mirror_ice_holds_and_grit_does_not() -> None:
    assert pushed(DYNAMICS.start(LEVEL), "east") == (1, 3)
    assert pushed(DYNAMICS.start({**LEVEL, "at": [3, 1]}), "east") == (3, 6)


def test_the_green_flag_lands_one_where_one_set_out_and_the_red_one_is_safe() -> None:
    assert pushed(DYNAMICS.start(LEVEL), "east", "east") == (1, 1)
    assert pushed(DYNAMICS.start(LEVEL), "east", "south") == (2, 3)


def test_with_spikes_one_slides_over_mirror_ice_and_green_flags() -> None:
    state = DYNAMICS.start(LEVEL)
    DYNAMICS.act(state, Action.of("spikes", wear="on"))
    assert pushed(state, "east") == (1, 6)
    with pytest.raises(RefusedError):
        DYNAMICS.act(state, Action.of("spikes", wear="on"))


def test_the_shelter_takes_in_who_slides_to_it() -> None:
    outcome = DYNAMICS.act(DYNAMICS.start(LEVEL), Action.of("push", direction="south"))
    assert (outcome.reward, outcome.done) == (1.0, True)


def test_an_echo_tells_the_distance_of_the_bank_and_a_push_against_it_is_refused() -> None:
    state = DYNAMICS.start(LEVEL)
    assert "from 6 cells east" in DYNAMICS.act(state, Action.of("shout", direction="east")).message
    with pytest.raises(RefusedError):
        pushed(state, "north")
