from __future__ import annotations

from typing import Any

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.fog_skirmish.dynamics import DYNAMICS

GROUND = ["#########", "#.......#", "#.T.....#", "#.......#", "#########"]


def level(**changed: Any) -> dict[str, Any]:
    plain = {"ground": GROUND, "units": [[1, 1], [3, 1]], "enemies": [], "depots": [[1, 7]], "arrows": 2, "flares": 1}
    return {**plain, **changed}


def test_a_raider_in_sight_comes_nearer_and_then_strikes() -> None:
    state = DYNAMICS.start(level(enemies=[["raider", 1, 4, "east"]]))
    for _ in range(2):
        DYNAMICS.act(state, Action.of("hold"))
    assert state.now.enemies[0].at == (1, 2)
    outcome = DYNAMICS.act(state, Action.of("hold"))
    assert state.now.health == (3, 2)
    assert "guard is struck" in outcome.message


def test_a_raider_does_not_notice_who_stands_in_a_wood_and_marches_to_and_fro() -> None:
    data = level(enemies=[["raider", 2, 5, "east"]], units=[[2, 2], [3, 1]])
    state = DYNAMICS.start(data)
    seen: list[int] = []
    for _ in range(5):
        DYNAMICS.act(state, Action.of("hold"))
        seen.append(state.now.enemies[0].at[1])
    assert seen[:3] == [6, 7, 6]


def test_an_arrow_flies_three_cells_and_is_used_up_by_a_miss() -> None:
    state = DYNAMICS.start(level(enemies=[["keeper", 3, 4, "east"], ["keeper", 3, 6, "east"]]))
    assert "staggers" in DYNAMICS.act(state, Action.of("strike", unit="archer", direction="east")).message
    DYNAMICS.act(state, Action.of("strike", unit="archer", direction="north"))
    assert state.now.arrows == 0
    with pytest.raises(RefusedError, match="no arrows"):
        DYNAMICS.act(state, Action.of("strike", unit="archer", direction="east"))


def test_a_beaten_enemy_and_a_taken_depot_pay_once() -> None:
    state = DYNAMICS.start(level(enemies=[["raider", 1, 2, "east"], ["keeper", 3, 7, "east"]], depots=[[2, 1]]))
    assert DYNAMICS.act(state, Action.of("strike", unit="guard", direction="east")).reward == 3.0
    paid = [
        DYNAMICS.act(state, Action.of("march", unit="guard", direction=d)).reward for d in ("south", "north", "south")
    ]
    assert paid == [2.0, 0.0, 0.0]


def test_enemies_out_of_sight_are_not_shown_and_a_flare_tells_where_they_are() -> None:
    state = DYNAMICS.start(level(enemies=[["keeper", 3, 7, "east"]]))
    assert not any("k" in row for row in DYNAMICS.observe(state)["grid"])
    assert "a keeper at row 3, column 7" in DYNAMICS.act(state, Action.of("flare")).message


def test_the_episode_ends_when_both_units_are_lost() -> None:
    state = DYNAMICS.start(level(enemies=[["keeper", 2, 1, "east"]]))
    outcomes = [DYNAMICS.act(state, Action.of("hold")) for _ in range(6)]
    assert [o.done for o in outcomes] == [False] * 5 + [True]
    assert sum(o.reward for o in outcomes) == 0.0
