from __future__ import annotations

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.terrain_trek.dynamics import DYNAMICS

EFFORT = {
    "boots": {".": 1, "f": 2, "m": 5, "^": 4, "H": 1},
    "waders": {".": 2, "f": 3, "m": 1, "^": 6, "H": 1},
    "rope": {".": 2, "f": 2, "m": 6, "^": 1, "H": 1},
}
LEVEL = {"plan": [".mmH", "f.w^"], "effort": EFFORT, "at": [0, 0], "hut": [0, 3], "full": 6}


def test_what_a_step_takes_depends_on_what_is_worn() -> None:
    state = DYNAMICS.start(LEVEL)
    walk = Action.of("walk", direction="east")
    DYNAMICS.act(state, walk)
    assert state.now.strength == 1
    with pytest.raises(RefusedError, match="strength"):
        DYNAMICS.act(state, walk)
    DYNAMICS.act(state, Action.of("wear", gear="waders"))
    DYNAMICS.act(state, walk)
    assert state.now == ((0, 2), 1, 0)


def test_nobody_rests_in_a_marsh_or_walks_into_water_or_off_the_map() -> None:
    state = DYNAMICS.start({**LEVEL, "at": [0, 2]})
    for action in (Action.of("rest"), Action.of("walk", direction="south"), Action.of("walk", direction="north")):
        with pytest.raises(RefusedError):
            DYNAMICS.act(state, action)
    assert state.now.strength == 6


def test_rest_gives_no_more_than_full_strength() -> None:
    state = DYNAMICS.start(LEVEL)
    DYNAMICS.act(state, Action.of("walk", direction="south"))
    assert DYNAMICS.act(state, Action.of("rest")).message == "You rest, and regain 2."
    assert state.now.strength == 6


def test_a_forest_shows_less_than_a_crag() -> None:
    forest = DYNAMICS.observe(DYNAMICS.start({**LEVEL, "at": [1, 0]}))["grid"]
    crag = DYNAMICS.observe(DYNAMICS.start({**LEVEL, "at": [1, 3]}))["grid"]
    assert sum(row.count("?") for row in forest) == 40
    assert sum(row.count("?") for row in crag) == 0
