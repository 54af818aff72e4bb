from __future__ import annotations

import pytest

from heredity._core.errors import UnknownNameError
from heredity.kinds.world.commands.episodes import AGENTS, agent, play_random, play_reference, play_search
from heredity.kinds.world.verify import verify_worlds
from heredity.kinds.world.world import world

MADE = world("grid_treasure")
LEVEL = MADE.level("test-01")


def test_the_reference_agent_gets_what_the_level_says() -> None:
    played = play_reference(MADE, LEVEL)
    assert (played.total, played.practice) == (LEVEL.reference, 0)


def test_agents_play_the_same_for_the_same_seed() -> None:
    for play in AGENTS.values():
        assert play(MADE, LEVEL, 3) == play(MADE, LEVEL, 3)
    assert len({play_random(MADE, LEVEL, seed).steps for seed in range(40)} | {0}) > 1


def test_search_practises_within_its_bound_and_finds_more_than_chance() -> None:
    reef = world("glowing_reef")
    level = reef.level("test-01")
    chance = sum(play_random(reef, level, seed).total for seed in range(5)) / 5
    played = play_search(reef, level, 0, practice=2000)
    assert played.total > 2 * chance
    assert 2000 <= played.practice <= 2000 + played.steps + 100
    assert played.total <= level.upper_bound.value


def test_an_unknown_agent_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="random"):
        agent("randm")


def test_worlds_are_verified_level_by_level() -> None:
    reports = list(verify_worlds(["grid_treasure"], seconds=0.1, processes=1))
    assert len(reports) == 15
    assert all(not report.faults for report in reports)
