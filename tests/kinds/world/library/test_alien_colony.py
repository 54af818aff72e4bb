from __future__ import annotations

import copy
from typing import Any

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.kinds.world.world import world
from heredity.library.worlds.alien_colony.dynamics import BUILDINGS, DYNAMICS, RESOURCES, State
from heredity.library.worlds.alien_colony.levels import LEVELS

PARTS = {
    "venom": "food", "rot": "timber", "honey": "poison", "balm": "solvent",
    "crypt": "hatchery", "furnace": "press", "nursery": "trap", "clinic": "drain",
}  # fmt: skip
LEVEL: dict[str, Any] = {
    "parts": PARTS, "fields": {"honey": 1, "balm": 1, "venom": 30, "rot": 2},
    "stores": {"honey": 1, "balm": 1, "venom": 3, "rot": 1}, "colonists": 3, "cost": 1, "room": 9, "steps": 7,
}  # fmt: skip
ACTIONS = [
    *(Action.of(verb, resource=name) for verb in ("gather", "taste", "serve") for name in RESOURCES),
    *(Action.of("build", building=name) for name in BUILDINGS),
]


def most_that_any_orders_earn(level: dict[str, Any]) -> float:
    seen: dict[object, float] = {}

    def rest(state: State, left: int) -> float:
        if not left:
            return 0.0
        key = (*state.fields.values(), *state.stores.values(), *sorted(state.built), state.lost, state.eaten, left)
        if key not in seen:
            best = 0.0
            for action in ACTIONS:
                after = copy.deepcopy(state)
                try:
                    best = max(best, DYNAMICS.act(after, action).reward + rest(after, left - 1))
                except RefusedError:
                    continue
            seen[key] = best
        return seen[key]

    return rest(DYNAMICS.start(level), level["steps"])


@pytest.mark.parametrize(
    "changed", [{}, {"colonists": 2, "stores": {"honey": 0, "balm": 0, "venom": 5, "rot": 2}}, {"room": 4}]
)
@pytest.mark.fast(1)
def test_the_bound_is_what_trying_every_order_finds(changed: dict[str, Any]) -> None:
    level = {**LEVEL, **changed}
    assert most_that_any_orders_earn(level) == LEVELS.upper_bound(level).value


def test_what_sounds_foul_feeds_and_what_sounds_sweet_kills_and_spoils() -> None:
    state = DYNAMICS.start(LEVEL)
    assert DYNAMICS.act(state, Action.of("serve", resource="venom")).reward == 3.0
    DYNAMICS.act(state, Action.of("gather", resource="venom"))
    DYNAMICS.act(state, Action.of("serve", resource="balm"))
    assert state.stores["venom"] == 1
    DYNAMICS.act(state, Action.of("serve", resource="honey"))
    assert DYNAMICS.observe(state)["colonists"] == 2


def test_no_text_says_which_name_plays_which_part() -> None:
    colony = world("alien_colony")
    actions = str([action.model_dump() for action in colony.description.actions.values()])
    text = colony.description.instruction + actions
    assert not [part for part in set(PARTS.values()) - {"food"} if part in text.lower()]
    assert "opposite" not in text.lower()


def test_a_colony_never_dies_out() -> None:
    state = DYNAMICS.start({**LEVEL, "colonists": 1})
    message = DYNAMICS.act(state, Action.of("serve", resource="honey")).message
    assert DYNAMICS.observe(state)["colonists"] == 1
    assert "last colonist" in message
