"""What every world of the library must keep to."""

from __future__ import annotations

import copy
import json
import string

import numpy as np
import pytest

from heredity._core.ids import digest_json, generator
from heredity.kinds.world.episode import sample_action
from heredity.kinds.world.verify import verify_level
from heredity.kinds.world.world import SPLITS, World, world, world_names


@pytest.fixture(params=world_names())
def library_world(request: pytest.FixtureRequest) -> World:
    return world(request.param)


LONG = ("belt_warehouse", "mind_chorus", "terrain_trek")
"""Worlds whose levels take seconds each to be searched for."""


@pytest.mark.parametrize("name", [name for name in world_names() if name not in LONG])
def test_a_shipped_level_of_each_difficulty_is_what_its_seed_generates(name: str) -> None:
    made = world(name)
    for level in {level.difficulty: level for level in made.shipped["test"]}.values():
        again = made.make(level.seed, level.difficulty, level.id)
        assert again.to_json() == level.to_json()


@pytest.mark.slow
@pytest.mark.parametrize("name", world_names())
def test_the_shipped_levels_are_what_their_seeds_generate(name: str) -> None:
    made = world(name)
    assert (made.folder / "levels.json").read_text(encoding="utf-8") == made.levels_text()


def test_the_shipped_levels_are_all_different(library_world: World) -> None:
    levels = [level for split in SPLITS for level in library_world.shipped[split]]
    assert [len(library_world.shipped[s]) for s in SPLITS] == list(SPLITS.values())
    assert len({digest_json(level.to_json()["data"]) for level in levels}) == len(levels)


def check_tricks(made: World, step: int) -> None:
    for split in SPLITS:
        for level in made.shipped[split][::step]:
            report = verify_level(made, level, seconds=0.05, random_agents=5)
            assert not report.faults, f"{report.level}: {report.faults}"


def test_no_cheap_trick_pays_or_beats_the_bound(library_world: World) -> None:
    check_tricks(library_world, 9)


@pytest.mark.slow
def test_no_cheap_trick_pays_or_beats_the_bound_of_any_level(library_world: World) -> None:
    check_tricks(library_world, 1)


def test_a_random_agent_hardly_ever_succeeds_in_a_binary_world(library_world: World) -> None:
    if library_world.description.meta.reward != "binary":
        pytest.skip("rewards add up")
    rng, totals = generator(5, "test", library_world.name), list[float]()
    for level in library_world.shipped["test"]:
        for _ in range(20):
            episode = library_world.start(level.data)
            while not episode.done:
                episode.step(sample_action(rng, library_world.description.actions).to_json())
            totals.append(episode.total)
    assert set(totals) <= {0.0, 1.0}
    assert np.mean(totals) <= 0.1


def test_the_same_actions_lead_to_the_same_episode_and_a_copy_goes_its_own_way(library_world: World) -> None:
    level, rng = library_world.shipped["test"][5], generator(3, "test", library_world.name)
    actions = [sample_action(rng, library_world.description.actions).to_json() for _ in range(200)]
    before = json.dumps(level.to_json())
    first, second = library_world.start(level.data), library_world.start(level.data)
    for action in actions:
        if first.done:
            break
        twin = first.copy()
        shown = copy.deepcopy(twin.observe())
        assert first.step(action) == second.step(action)
        assert first.observe() == second.observe()
        assert twin.observe() == shown
    assert json.dumps(level.to_json()) == before


def test_the_skin_shows_every_state_on_the_way_of_the_reference_solution(library_world: World) -> None:
    from heredity.kinds.world.skins import render

    for level in library_world.shipped["test"][::3]:
        episode = library_world.start(level.data)
        for action in library_world.levels.solve(level.data):
            assert set(render(library_world.description.skin, episode.observe())) <= set(string.printable)
            if episode.done:
                break
            assert not episode.step(action.to_json()).refused, f"{level.id}: {action} was refused: {episode.message}"
        json.dumps(episode.observe(), allow_nan=False)
