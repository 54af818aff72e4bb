from __future__ import annotations

from heredity.kinds.world.contract import Action
from heredity.library.worlds.dream_rooms.dynamics import DOORS, DYNAMICS, Now, State, after, read_dream

LEVEL = {
    "rooms": ["a", "b", "c", "d", "e", "f", "g"], "strides": [1, 2, 3], "ponds": [0], "ladders": [0], "bed": 1, "first": 0,
    "deepest": 2, "hour": 0, "keepsakes": [["key", 0, 1]], "steps": 30,
}  # fmt: skip
"""A dream in which everything but the bed is in the first room."""


def test_in_deep_sleep_the_door_of_the_same_hour_leads_back() -> None:
    dream = read_dream(LEVEL)
    for door in range(len(DOORS)):
        for hour in range(3):
            there = after(dream, Now(3, 0, hour, (False,)), "walk", door).at
            assert after(dream, Now(there, 1, hour, (False,)), "walk", door).at == 3


def test_the_strides_change_doors_with_every_hour() -> None:
    dream = read_dream(LEVEL)
    at_first = [after(dream, Now(0, 0, 0, (False,)), "walk", door).at for door in range(3)]
    later = [after(dream, Now(0, 0, 1, (False,)), "walk", door).at for door in range(3)]
    assert at_first == [1, 2, 3]
    assert later == [2, 3, 1]


def test_waking_without_everything_leads_back_and_with_it_succeeds() -> None:
    state: State = DYNAMICS.start(LEVEL)
    DYNAMICS.act(state, Action.of("walk", door="left"))
    early = DYNAMICS.act(state, Action.of("wake"))
    assert not early.done
    assert state.now.at == 0
    for verb in ("sink", "take", "rise", "listen", "listen"):
        DYNAMICS.act(state, Action.of(verb))
    DYNAMICS.act(state, Action.of("walk", door="left"))
    assert DYNAMICS.act(state, Action.of("wake")).reward == 1.0


def test_a_keepsake_is_seen_only_in_its_own_depth_of_sleep() -> None:
    state: State = DYNAMICS.start(LEVEL)
    assert "key" not in DYNAMICS.observe(state)["things"]
    DYNAMICS.act(state, Action.of("sink"))
    assert "key" in DYNAMICS.observe(state)["things"]
