"""That the methods learn: 128 episodes, then 32 held-out cases that no method saw."""

from __future__ import annotations

import asyncio
from functools import cache

import numpy as np
import pytest
from tests.methods.local_session import LocalSession, context_for, judge, public_of, rollout

from heredity.engine.space_numbers import starter_program
from heredity.methods.programs import control_source, controller_program
from heredity.methods.registry import method

FAST = ["CartPole-v1"]
SLOW = ["Pendulum-v1", "Acrobot-v1", "MountainCarContinuous-v0"]


@cache
def heldout(name: str, env: str, seed: int = 0) -> np.ndarray:
    session = LocalSession(env)
    assert session.env is not None
    public = public_of(session.env, env)
    asyncio.run(method(name).evolve(session, context_for(public, starter_program(public), seed=seed)))
    assert session.failures == 0
    return judge(session, cases=16, heldout=32)[1]


def half_width(returns: np.ndarray) -> float:
    return 2.04 * float(returns.std(ddof=1)) / returns.size**0.5


def beats_random(name: str, env: str, seed: int) -> bool:
    learned, random = heldout(name, env, seed), heldout("random", env)
    return learned.mean() - half_width(learned) > random.mean() + half_width(random)


@pytest.mark.parametrize("name", ["parametric", "structural"])
@pytest.mark.parametrize("env", FAST)
@pytest.mark.fast(1)
def test_a_search_beats_random_beyond_both_intervals(name: str, env: str):
    assert beats_random(name, env, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", ["parametric", "structural"])
@pytest.mark.parametrize("env", FAST + SLOW)
def test_a_search_beats_random_beyond_both_intervals_for_every_seed(name: str, env: str, seed: int):
    assert beats_random(name, env, seed)


def test_the_grid_planner_opens_a_door_it_was_not_told_about():
    pytest.importorskip("minigrid")
    env = LocalSession("MiniGrid-DoorKey-5x5-v0").env
    assert env is not None
    tree = controller_program(public_of(env, "DoorKey"), control_source(["g.seek(0, 1, 2, (3, 5))"]))
    assert np.mean([rollout(tree, env, seed)[0] for seed in range(10)]) > 0.85


@pytest.mark.slow
def test_structural_search_finds_a_grid_planner():
    pytest.importorskip("minigrid")
    assert heldout("structural", "MiniGrid-DoorKey-5x5-v0").mean() > 0.8
