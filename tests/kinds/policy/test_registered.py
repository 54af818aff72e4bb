"""Every registered environment that is installed, through the conformance suite and against its own description."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from heredity._core.errors import MissingExtraError
from heredity.kinds.policy.environments import EnvironmentSpec, environment_specs, installed, make
from heredity.kinds.policy.environments.conformance import check_spec

SLOW_FAMILIES = {"highway", "robotics"}
QUICK = {"lane-keeping-v0", "parking-v0", "FetchReach-v4"}
SLOW = {"CarRacing-v3"}


def cases() -> list:
    slow = [s for s in environment_specs() if s.id in SLOW or (s.family in SLOW_FAMILIES and s.id not in QUICK)]
    return [pytest.param(s, id=s.id, marks=[pytest.mark.slow] if s in slow else []) for s in environment_specs()]


def made(spec: EnvironmentSpec) -> gymnasium.Env:
    try:
        return make(spec)
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("spec", cases())
@pytest.mark.fast(20)
def test_it_conforms(spec: EnvironmentSpec):
    if not installed(spec):
        pytest.skip(f"{spec.extra} is not installed")
    findings = check_spec(spec, steps=20 if spec.family == "highway" else 60)
    assert not [f for f in findings if not f.passed]


@pytest.mark.parametrize("spec", cases())
def test_it_gives_its_reward_components_and_no_return_below_its_bound(spec: EnvironmentSpec):
    env = made(spec)
    env.reset(seed=11)
    env.action_space.seed(11)
    total = 0.0
    for _ in range(min(spec.max_episode_steps, 20 if spec.family == "highway" else 200)):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample())
        total += float(reward)
        if spec.reward_components:
            # HumanoidStandup adds a constant that it does not name.
            constant = 1.0 if spec.id == "HumanoidStandup-v5" else 0.0
            assert np.isclose(sum(info[c] for c in spec.reward_components) + constant, reward)
        if terminated or truncated:
            break
    env.close()
    assert total >= spec.failure_return


@pytest.mark.parametrize(
    ("env_id", "worst_step"),
    [
        ("Acrobot-v1", -1.0),
        ("MountainCar-v0", -1.0),
        ("Taxi-v4", -10.0),
        ("CliffWalking-v1", -100.0),
        ("FetchReach-v4", -1.0),
    ],
)
def test_the_bound_is_the_worst_reward_at_every_step(env_id: str, worst_step: float):
    spec = next(s for s in environment_specs() if s.id == env_id)
    assert spec.failure_return == worst_step * spec.max_episode_steps


def test_pendulum_cannot_get_less_than_its_bound():
    spec = next(s for s in environment_specs() if s.id == "Pendulum-v1")
    worst = -(np.pi**2 + 0.1 * 8**2 + 0.001 * 2**2) * 200
    assert spec.failure_return == pytest.approx(worst, rel=1e-7)


def test_core16_is_what_the_paper_names():
    core = {s.id: s for s in environment_specs() if s.core16}
    assert len(core) == 16
    assert {s.id for s in core.values() if s.group == "synthesis"} == {
        "CarRacing-v3",
        "MiniGrid-DoorKey-16x16-v0",
        "MiniGrid-KeyCorridorS4R3-v0",
        "MiniGrid-FourRooms-v0",
        "MiniGrid-ObstructedMaze-1Q-v1",
    }
    assert core["MiniGrid-DoorKey-16x16-v0"].max_episode_steps == 1000


@pytest.mark.parametrize("spec", [s for s in environment_specs() if s.core16], ids=lambda s: s.id)
def test_core16_has_no_wrapper_that_changes_observations_actions_or_rewards(spec: EnvironmentSpec):
    env = made(spec)
    allowed = {"Renewed", "TimeLimit", "OrderEnforcing"}
    while env is not env.unwrapped:
        assert type(env).__name__ in allowed
        env = env.env
    env.close()


@pytest.mark.parametrize("env_id", ["MountainCar-v0", "MiniGrid-DoorKey-16x16-v0", "CliffWalking-v1"])
def test_an_episode_is_cut_at_the_declared_horizon(env_id: str):
    spec = next(s for s in environment_specs() if s.id == env_id)
    env = made(spec)
    env.reset(seed=0)
    steps, truncated = 0, False
    while not truncated:
        _, _, terminated, truncated, _ = env.step(0)
        assert not terminated
        steps += 1
    assert steps == spec.max_episode_steps


def test_the_checker_that_is_left_out_would_change_no_result():
    spec = next(s for s in environment_specs() if s.id == "CartPole-v1")
    streams = []
    for env in (make(spec), gymnasium.make("CartPole-v1")):
        observation, _ = env.reset(seed=5)
        stream = [observation]
        for step in range(20):
            observation, reward, terminated, truncated, _ = env.step(step % 2)
            stream.append(np.append(observation, [reward, terminated, truncated]))
        streams.append(np.concatenate(stream))
    assert np.array_equal(*streams)


@pytest.mark.parametrize("renewed", [True, False])
def test_bipedal_walker_repeats_an_episode_only_when_its_world_is_renewed(renewed: bool):
    spec = next(s for s in environment_specs() if s.id == "BipedalWalker-v3")
    if not installed(spec):
        pytest.skip("box2d is not installed")

    def episode(env, seed: int, action_seed: int, steps: int) -> bytes:
        observation, _ = env.reset(seed=seed)
        env.action_space.seed(action_seed)
        stream = [observation.tobytes()]
        for _ in range(steps):
            observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
            stream.append(observation.tobytes())
            if terminated or truncated:
                break
        return b"".join(stream)

    def build():
        return make(spec) if renewed else gymnasium.make(spec.entry_id)

    used = build()
    for k in (1, 2):
        episode(used, 100 + k, k, 1600)
    assert (episode(used, 3, 2, 200) == episode(build(), 3, 2, 200)) is renewed
