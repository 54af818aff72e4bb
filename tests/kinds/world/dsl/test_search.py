"""The search for what rules allow: as much as the library's own dynamic programs find, and honest about what it did not see."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kinds.world.dsl.test_rules import RULES, TWINS, compiled, lantern

from heredity._core.errors import ConfigError
from heredity._core.ids import generator
from heredity.kinds.world.dsl.bounded import RuleError
from heredity.kinds.world.dsl.dynamics import RulesLevels, search
from heredity.kinds.world.episode import Episode
from heredity.kinds.world.world import World, world


def collected(changed: dict[str, Any], level: dict[str, Any], most: int = 1000) -> tuple[float, float, str]:
    """Return what a search promises, what its plan collects when it is played, and of what kind it is."""
    description, dynamics = lantern(**changed), compiled(**changed)
    value, plan, kind = search(description, dynamics, level, most)
    episode = Episode(description, dynamics, level)
    for action in plan:
        episode.step(action)
    while not episode.done:
        episode.step(None)
    return value, episode.total, kind


@pytest.mark.parametrize("name", TWINS)
def test_bounds_of_rules_are_those_of_the_library(name: str) -> None:
    twin = World(RULES / name)
    for level in (world(name).shipped["test"][0], world(name).shipped["validation"][0]):
        bound = twin.levels.upper_bound(level.data)
        assert bound.value >= level.reference
        if bound.kind == "exact" == level.upper_bound.kind:
            assert bound.value == level.upper_bound.value
            assert twin.play(level.data) == bound.value


def test_what_is_only_shown_does_not_tell_situations_apart() -> None:
    counted = {
        "state__shown": {"type": "integer", "start": "0"},
        "actions__wait": "shown += 1 + oil",
        "observe__oil": "oil + shown",
    }
    assert "shown" not in compiled(**counted).compiled.matters
    assert "shown" in compiled(**{**counted, "actions__wait": "shown += 1\npay(shown)"}).compiled.matters
    assert "shown" in compiled(**{**counted, "finish": "shown"}).compiled.matters
    doubled = {**counted, "functions": {"twice": {"do": "return 2 * shown"}}, "actions__wait": "pay(twice())"}
    assert "shown" in compiled(**doubled).compiled.matters
    assert collected(counted, {"oil": 5, "steps": 40}, most=60)[1:] == (5.0, "exact")


def test_a_search_that_did_not_see_everything_says_so_and_its_plan_holds() -> None:
    wandering = {"state__places": {"type": "list", "start": "[]"}, "actions__wait": "places = places + [len(places)]"}
    level = {"oil": 9, "steps": 12}
    assert collected(wandering, level, most=100_000) == (9.0, 9.0, "exact")
    value, total, kind = collected({**wandering, "actions__wait": "places = [len(places), places]"}, level, most=25)
    assert (value, kind) == (total, "declared")
    assert value > 0


def test_what_is_paid_at_the_horizon_is_searched_for() -> None:
    kept = {"finish": "3 * oil"}
    assert collected(kept, {"oil": 4, "steps": 4}) == (12.0, 12.0, "exact")
    drained = {**kept, "refused": "oil = greatest(0, oil - 2)", "actions__wait": "say('Nothing.')"}
    assert collected(drained, {"oil": 4, "steps": 4}) == (12.0, 12.0, "exact")


def test_a_refused_action_that_helps_is_part_of_a_plan() -> None:
    changed = {
        "refused": "oil = 9",
        "actions__wait": "if oil < 9:\n  refuse('Not yet.')\npay(20)\nend()",
        "actions__pour": "refuse('No.')",
    }
    assert collected(changed, {"oil": 3, "steps": 3}) == (20.0, 20.0, "exact")


def test_generators_may_ask_how_a_draft_is_solved() -> None:
    asking = (
        'made = {"oil": draw(1, 6), "steps": 4}\nfound = solution(made)\n'
        'require(len(found) == 3 and found[0][0] == "pour" and total([p["drops"] for name, p in found]) == made["oil"])\n'
        "return made"
    )
    levels = RulesLevels(compiled(levels__make=asking))
    made = [levels.generate(generator(seed, "lantern"), 1)["oil"] for seed in range(8)]
    assert min(made) >= 3
    with pytest.raises(ConfigError, match="solution is called only where levels are made"):
        compiled(actions__wait="x = solution({})")
    many = "for n in below(9):\n  x = solution({'oil': n})\nreturn {'oil': 3}"
    with pytest.raises(RuleError, match="passes through loops"):
        RulesLevels(compiled(levels__make=many)).generate(generator(1, "lantern"), 1)


def test_tables_may_have_cells_as_keys() -> None:
    rule = "seen = {[0, 1]: 3}\nseen[[0, 1]] += 4\nseen[[2, 2]] = 5\nsay(f'{seen[[0, 1]] + seen[[2, 2]]}')"
    episode = Episode(lantern(actions__wait=rule), compiled(actions__wait=rule), {"oil": 3})
    assert episode.step({"action": "wait"}).message == "12"


@pytest.mark.parametrize(
    ("kind", "start", "change"),
    [
        ("table", "{'a': {'b': 0}}", "kept = {'a': {'b': kept['a']['b'] + 1}}"),
        ("table", "{'a': [{'b': 0}]}", "kept = {'a': [{'b': kept['a'][0]['b'] + 1}]}"),
        ("list", "[{'b': 0}]", "kept = [{'b': kept[0]['b'] + 1}]"),
        ("list", "[[{'b': {'c': [0]}}]]", "kept = [[{'b': {'c': [kept[0][0]['b']['c'][0] + 1]}}]]"),
    ],
)
def test_situations_with_tables_inside_of_tables_and_lists_are_told_apart(kind: str, start: str, change: str) -> None:
    rule = f"{change}\nif kept == {start}:\n  pay(1)"
    changed = {"state__kept": {"type": kind, "start": start, "most": 9}, "actions__wait": rule}
    assert collected(changed, {"oil": 3, "steps": 3}) == (3.0, 3.0, "exact")
