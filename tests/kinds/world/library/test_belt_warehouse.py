from __future__ import annotations

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.belt_warehouse.dynamics import DYNAMICS

LEVEL = {
    "floor": ["######", "#.>>.#", "#....#", "######"],
    "at": [2, 1], "crates": [[1, 3], [1, 2]], "bays": [[2, 4], [1, 4]], "steps": 20,
}  # fmt: skip


def test_a_crate_follows_into_the_cell_that_another_has_just_left() -> None:
    state = DYNAMICS.start(LEVEL)
    DYNAMICS.act(state, Action.of("wait"))
    assert state.now.crates == ((1, 4), (1, 3))


def test_a_crate_waits_behind_one_whose_turn_comes_later() -> None:
    state = DYNAMICS.start({**LEVEL, "crates": [[1, 2], [1, 3]]})
    DYNAMICS.act(state, Action.of("wait"))
    assert state.now.crates == ((1, 2), (1, 4))


def test_reversed_belts_carry_the_other_way_at_once() -> None:
    state = DYNAMICS.start({**LEVEL, "crates": [[1, 3], [2, 3]]})
    DYNAMICS.act(state, Action.of("reverse"))
    assert state.now.crates[0] == (1, 2)
    assert DYNAMICS.observe(state)["plan"][1] == "#.<<B#"


def test_two_crates_are_not_pushed_at_once_and_belts_run_after_a_refusal() -> None:
    state = DYNAMICS.start({**LEVEL, "at": [2, 2], "crates": [[1, 2], [2, 3]]})
    with pytest.raises(RefusedError, match="cannot be pushed"):
        DYNAMICS.act(state, Action.of("drive", direction="north"))
    DYNAMICS.refuse(state)
    assert state.now.crates[0] == (1, 3)
    state = DYNAMICS.start({**LEVEL, "crates": [[2, 2], [2, 3]]})
    with pytest.raises(RefusedError, match="Crate a cannot be pushed east"):
        DYNAMICS.act(state, Action.of("drive", direction="east"))


def test_crates_in_each_others_bays_do_not_succeed_and_in_their_own_they_do() -> None:
    swapped = DYNAMICS.start({**LEVEL, "at": [2, 2], "crates": [[1, 4], [2, 3]]})
    assert DYNAMICS.act(swapped, Action.of("drive", direction="east")).reward == 0.0
    right = DYNAMICS.start({**LEVEL, "at": [2, 2], "crates": [[2, 3], [1, 4]]})
    assert DYNAMICS.act(right, Action.of("drive", direction="east")).done
