"""What every world of the library must keep to."""

from __future__ import annotations

import copy
import json
import string

import numpy as np
import pytest

from heredity.ids import digest_json, generator
from heredity.worlds.actions import sample_action
from heredity.worlds.verify import verify_level
from heredity.worlds.world import SPLITS, World, world, world_names


@pytest.fixture(params=world_names())
def each(request: pytest.FixtureRequest) -> World:
    return world(request.param)


def test_the_shipped_levels_are_what_their_seeds_generate(each: World) -> None:
    assert (each.folder / "levels.json").read_text(encoding="utf-8") == each.levels_text()


def test_the_shipped_levels_are_all_different(each: World) -> None:
    levels = [level for split in SPLITS for level in each.shipped[split]]
    assert [len(each.shipped[s]) for s in SPLITS] == list(SPLITS.values())
    assert len({digest_json(level.to_json()["data"]) for level in levels}) == len(levels)


def test_no_cheap_trick_pays_or_beats_the_bound(each: World) -> None:
    for split in SPLITS:
        for level in each.shipped[split][::4]:
            report = verify_level(each, level, seconds=0.05, random_agents=5)
            assert not report.faults, f"{report.level}: {report.faults}"


def test_a_random_agent_hardly_ever_succeeds_in_a_binary_world(each: World) -> None:
    if each.description.meta.reward != "binary":
        pytest.skip("rewards add up")
    rng, totals = generator(5, "test", each.name), list[float]()
    for level in each.shipped["test"]:
        for _ in range(20):
            episode = each.start(level.data)
            while not episode.done:
                episode.step(sample_action(rng, each.description.actions).to_json())
            totals.append(episode.total)
    assert set(totals) <= {0.0, 1.0}
    assert np.mean(totals) <= 0.1


def test_the_same_actions_lead_to_the_same_episode_and_a_copy_goes_its_own_way(each: World) -> None:
    level, rng = each.shipped["test"][5], generator(3, "test", each.name)
    actions = [sample_action(rng, each.description.actions).to_json() for _ in range(200)]
    before = json.dumps(level.to_json())
    first, second = each.start(level.data), each.start(level.data)
    for action in actions:
        if first.done:
            break
        twin = first.copy()
        shown = copy.deepcopy(twin.observe())
        assert first.step(action) == second.step(action)
        assert first.observe() == second.observe()
        assert twin.observe() == shown
    assert json.dumps(level.to_json()) == before


def test_the_skin_shows_every_state_on_the_way_of_the_reference_solution(each: World) -> None:
    from heredity.worlds.skins import render

    for level in each.shipped["test"][::3]:
        episode = each.start(level.data)
        for action in each.levels.solve(level.data):
            assert set(render(each.description.skin, episode.observe())) <= set(string.printable)
            if episode.done:
                break
            assert not episode.step(action.to_json()).refused, f"{level.id}: {action} was refused: {episode.message}"
        json.dumps(episode.observe(), allow_nan=False)
