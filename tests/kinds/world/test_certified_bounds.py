"""Certified bounds against exhaustive search over the rules themselves, on levels cut short."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.kinds.world.world import World, world
from heredity.library.worlds.backward_day.dynamics import Event, evening, happen
from heredity.library.worlds.glowing_reef.dynamics import reply_to
from heredity.library.worlds.magnet_needles.dynamics import pointing
from heredity.library.worlds.terraform_belt.dynamics import worked


def every_action(world: World, most: Mapping[str, int]) -> list[Action]:
    actions: list[Action] = []
    for name, action in world.description.actions.items():
        combined: list[dict[str, Any]] = [{}]
        for key, kind in action.params.items():
            values: Sequence[Any] = kind.of or range(int(kind.low or 0), most[key] + 1)
            combined = [{**params, key: value} for params in combined for value in values]
        actions += [Action(name, params) for params in combined]
    return actions


def most_by_trying_everything(world: World, data: Mapping[str, Any], steps: int, actions: Sequence[Action]) -> float:
    rules, seen = world.dynamics, dict[tuple[str, int], float]()

    def rest(state: Any, left: int) -> float:
        if left == 0:
            return 0.0
        key = (repr([getattr(state, field.name) for field in dataclasses.fields(state)]), left)
        if key not in seen:
            best = 0.0
            for action in actions:
                after = copy.deepcopy(state)
                try:
                    outcome = rules.act(after, action)
                except RefusedError:
                    outcome = rules.refuse(after)
                paid = max(outcome.reward, 0.0) if outcome.done else outcome.reward
                best = max(best, paid + (0.0 if outcome.done else rest(after, left - 1)))
            seen[key] = best
        return seen[key]

    return rest(rules.start(data), steps)


@pytest.mark.parametrize(
    ("name", "cut"),
    [
        ("dimension_exchange", {"steps": 5, "stock": [1, 1, 1]}),
        ("glowing_reef", {"steps": 7}),
        ("entropy_door", {"steps": 13}),
        ("terraform_belt", {"energy": 5, "steps": 8}),
    ],
)
@pytest.mark.fast(2)
def test_the_bound_is_what_trying_everything_finds(name: str, cut: dict[str, Any]) -> None:
    named_world = world(name)
    for level in named_world.shipped["test"][:2]:
        data = {**level.data, **cut}
        bound = most_by_trying_everything(named_world, data, data["steps"], every_action(named_world, {"region": 2}))
        assert bound == named_world.levels.upper_bound(data).value
        assert bound == named_world.play(data)


def test_undoing_the_hours_of_a_day_brings_its_morning_back() -> None:
    data = world("backward_day").level("test-10").data
    events = [Event(*event) for event in data["events"]]
    things = evening(data["morning"], events)
    for event in reversed(events):
        happen(event, things)
    assert things == data["morning"]


def test_a_dialect_reorders_the_call_and_exchanges_its_colours() -> None:
    exchange = [1, 2, 3, 0]
    assert reply_to([0, 1, 3], {"order": "same", "colours": exchange}) == (1, 2, 0)
    assert reply_to([0, 1, 3], {"order": "reversed", "colours": exchange}) == (0, 2, 1)
    assert reply_to([0, 1, 3], {"order": "turned", "colours": exchange}) == (2, 0, 1)


@pytest.mark.parametrize(
    ("magnets", "points"),
    [
        ({}, ""),
        ({(0, 2): "north"}, "north"),
        ({(4, 2): "north"}, "north"),
        ({(2, 3): "north"}, "south"),
        ({(2, 0): "east", (0, 2): "north"}, ""),
        ({(2, 0): "east", (1, 2): "north"}, "north"),
        ({(1, 1): "north"}, ""),
    ],
)
def test_a_needle_follows_magnets_in_line_and_shuns_those_across(
    magnets: dict[tuple[int, int], str], points: str
) -> None:
    assert pointing([".....", ".....", ".....", ".....", "....."], magnets, (2, 2)) == points


def test_iron_screens_a_needle() -> None:
    magnets = {(0, 0): "south"}
    assert pointing([".", ".", "."], magnets, (2, 0)) == "south"
    assert pointing([".", "#", "."], magnets, (2, 0)) == ""


def test_a_mirror_boils_water_off_only_where_it_is_hot() -> None:
    assert worked("mirror", (2, 2, 0)) == (3, 2, 0)
    assert worked("mirror", (3, 2, 0)) == (4, 1, 0)
    assert worked("wind", (4, 0, 4)) == (4, 0, 4)


def test_the_dimensions_of_trade_do_not_betray_their_true_prices() -> None:
    exchange = world("dimension_exchange")
    blurred = 0
    for level in exchange.shipped["test"]:
        episode = exchange.start(level.data)
        for _ in range(10):
            seen = episode.observe()
            true = episode.state.level.prices[episode.state.clock][episode.state.dimension]
            blurred += (seen["quote_ore"], seen["quote_spark"], seen["quote_echo"]) != true
            assert set(seen).isdisjoint({"worths", "tides", "rings", "prices"})
            episode.step({"action": "wait"})
    assert blurred > 50
