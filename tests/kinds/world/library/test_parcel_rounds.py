from __future__ import annotations

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.kinds.world.world import world
from heredity.library.worlds.parcel_rounds.dynamics import DYNAMICS

LEVEL = {
    "plan": ["N-o-E", "=###-", "W-o-S"],
    "parcels": [[0, 2, "S", "light"], [2, 2, "N", "heavy"]],
    "at": [0, 2], "room": 4, "steps": 12,
}  # fmt: skip
LOAD, UNLOAD = Action.of("load"), Action.of("unload")


def drive(*directions: str) -> list[Action]:
    return [Action.of("drive", direction=direction) for direction in directions]


def test_parcels_belong_across_the_town_from_their_label() -> None:
    state = DYNAMICS.start(LEVEL)
    for action in [LOAD, *drive("east", "south")]:
        DYNAMICS.act(state, action)
    with pytest.raises(RefusedError, match="sends parcel 1 back"):
        DYNAMICS.act(state, UNLOAD)
    outcomes = [DYNAMICS.act(state, action) for action in [*drive("north", "west", "west"), UNLOAD]]
    assert outcomes[-1].message == "Depot N takes parcel 1."
    assert not outcomes[-1].done


def test_what_is_stamped_heavy_leaves_more_room() -> None:
    state = DYNAMICS.start(LEVEL)
    DYNAMICS.act(state, LOAD)
    assert DYNAMICS.observe(state)["load"] == 3
    for action in [*drive("east", "south", "west"), LOAD]:
        DYNAMICS.act(state, action)
    assert DYNAMICS.observe(state)["load"] == 4
    crowded = DYNAMICS.start({**LEVEL, "room": 2})
    with pytest.raises(RefusedError, match="the van takes 2"):
        DYNAMICS.act(crowded, LOAD)


def test_express_roads_take_longer_and_the_day_ends_with_its_hours() -> None:
    state = DYNAMICS.start({**LEVEL, "steps": 4})
    assert not DYNAMICS.act(state, drive("west")[0]).done
    assert DYNAMICS.act(state, drive("south")[0]).done
    assert state.hours == 0


def test_the_van_is_unloaded_from_the_top_and_the_last_delivery_wins() -> None:
    episode = world("parcel_rounds").start(LEVEL)
    round_ = [
        LOAD,
        *drive("east", "south", "west"),
        LOAD,
        *drive("east"),
        UNLOAD,
        *drive("north", "west", "west"),
        UNLOAD,
    ]
    steps = [episode.step(action) for action in round_]
    assert [step.reward for step in steps] == [0.0] * 10 + [1.0]
    assert episode.done
