from __future__ import annotations

import copy

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.toy_workshop.dynamics import DYNAMICS, State
from heredity.library.worlds.toy_workshop.levels import LEVELS

LEVEL = {
    "names": ["hall", "den", "attic"],
    "doors": [{"east": 1}, {"west": 0, "east": 2}, {"west": 1}],
    "things": [["red body", 0], ["blue wheels", 0], ["green wheels", 2], ["key", 1], ["blue wheels", 1]],
    "orders": [["red cart on blue wheels", 6], ["red cart on green wheels", 9]],
    "bench": 1, "shop": 0, "at": 0, "locked": 2, "steps": 12,
}  # fmt: skip
EVERYTHING = [
    *(Action.of("go", direction=d) for d in ("north", "south", "west", "east")),
    *(Action.of("take", thing=t) for t in ("red body", "blue wheels", "green wheels", "key")),
    Action.of("combine"),
    *(Action.of("sell", number=n) for n in (1, 2)),
]


@pytest.mark.parametrize("steps", [3, 6, 9, 12])
def test_the_bound_is_the_most_that_any_actions_earn(steps: int) -> None:
    seen: dict[tuple[object, int], float] = {}

    def most(state: State, left: int) -> float:
        key = (state.now, left)
        if left and key not in seen:
            best = most(state, 0)
            for action in EVERYTHING:
                after = copy.deepcopy(state)
                try:
                    paid = DYNAMICS.act(after, action).reward
                except RefusedError:
                    continue
                best = max(best, paid + most(after, left - 1))
            seen[key] = best
        return seen[key] if left else 0.0

    assert LEVELS.upper_bound({**LEVEL, "steps": steps}).value == most(DYNAMICS.start(LEVEL), steps)


def played(*actions: Action) -> tuple[State, float]:
    state = DYNAMICS.start(LEVEL)
    return state, sum(DYNAMICS.act(state, action).reward for action in actions)


def go(direction: str) -> Action:
    return Action.of("go", direction=direction)


def take(thing: str) -> Action:
    return Action.of("take", thing=thing)


def test_an_order_is_paid_once_and_a_cart_that_nobody_ordered_sells_for_little() -> None:
    cart = [
        take("red body"),
        take("blue wheels"),
        go("east"),
        Action.of("combine"),
        go("west"),
        Action.of("sell", number=1),
    ]
    state, paid = played(*cart)
    assert paid == 6
    assert state.now.open == (1,)
    loose, paid = played(take("red body"), Action.of("sell", number=1))
    assert (paid, loose.now.hands) == (1, ())


def test_a_locked_door_wants_a_key_in_hand_and_keeps_it() -> None:
    state, _ = played(go("east"))
    with pytest.raises(RefusedError, match="locked"):
        DYNAMICS.act(state, go("east"))
    DYNAMICS.act(state, take("key"))
    DYNAMICS.act(state, go("east"))
    assert state.now.hands == ()
    for direction in ("west", "east"):
        DYNAMICS.act(state, go(direction))
    assert state.now.room == 2


def test_two_hands_carry_two_things_and_the_bench_wants_a_body_and_wheels() -> None:
    state, _ = played(take("blue wheels"), go("east"), take("blue wheels"))
    with pytest.raises(RefusedError, match="full"):
        DYNAMICS.act(state, take("key"))
    with pytest.raises(RefusedError, match="one body"):
        DYNAMICS.act(state, Action.of("combine"))


def test_orders_are_read_in_the_shop_only() -> None:
    state, _ = played()
    assert "for 9" in DYNAMICS.observe(state)["orders"]
    DYNAMICS.act(state, go("east"))
    assert "for 9" not in DYNAMICS.observe(state)["orders"]
