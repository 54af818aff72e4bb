from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from tests.methods.local_session import load_policy

from heredity._core.errors import ConfigError
from heredity.engine.space_numbers import MAX_FEATURES, Leaf, leaves, starter_program
from heredity.kinds.policy.environments.spaces import describe_space
from heredity.methods.operators.constants import find_constants
from heredity.methods.programs import control_source, controller_program, find_control, shape_of
from heredity.methods.starter import linear_program, linear_shape
from heredity.methods.structural import NICHES, draw_controls, mutate

BOX = spaces.Box(-1, 1, (3,), np.float32)
OBSERVATIONS = [
    BOX,
    spaces.Box(np.array([-1.2, -np.inf]), np.array([0.6, np.inf]), dtype=np.float64),
    spaces.Box(0, 255, (96, 96, 3), np.uint8),
    spaces.Box(-np.inf, np.inf, (200,), np.float64),
    spaces.Discrete(16),
    spaces.Discrete(500, start=3),
    spaces.MultiDiscrete([3, 4], start=[1, 2]),
    spaces.MultiBinary(5),
    spaces.Tuple((spaces.Discrete(32), spaces.Discrete(2))),
    spaces.Dict({"achieved_goal": BOX, "desired_goal": BOX, "observation": spaces.Box(-1, 1, (25,))}),
    spaces.Dict(
        {"image": spaces.Box(0, 255, (7, 7, 3), np.uint8), "direction": spaces.Discrete(4), "mission": spaces.Text(9)}
    ),
    spaces.Text(5),
]
ACTIONS = [
    spaces.Discrete(2),
    spaces.Discrete(7),
    spaces.Discrete(3, start=-1),
    spaces.Discrete(40),
    BOX,
    spaces.Box(np.array([0.0, -2.0]), np.array([1.0, 5.0]), dtype=np.float64),
    spaces.Box(-np.inf, np.inf, (2,)),
    spaces.Box(-1, 1, (6, 10)),
    spaces.Box(-1, 1, ()),
    spaces.MultiDiscrete([3, 4], start=[1, 2]),
    spaces.MultiBinary(4),
    spaces.Dict({"go": spaces.Discrete(3), "by": spaces.Tuple((BOX, spaces.MultiBinary(2)))}),
]


def public(obs: gymnasium.Space[Any], action: gymnasium.Space[Any]) -> dict[str, Any]:
    return {"env": "Made-v0", "obs_space": describe_space(obs), "action_space": describe_space(action)}


class Spaces:
    def __init__(self, obs: gymnasium.Space[Any], action: gymnasium.Space[Any]) -> None:
        self.observation_space, self.action_space = obs, action


def acts_inside(tree: Any, obs: gymnasium.Space[Any], action: gymnasium.Space[Any], steps: int = 6) -> list[Any]:
    policy = load_policy(tree, Spaces(obs, action), {"policy_seed": 4})  # type: ignore[arg-type]
    policy.reset(0)
    obs.seed(1)
    taken = [policy.act(obs.sample()) for _ in range(steps)]
    for one in taken:
        assert action.contains(one), f"{one!r} is not in {action}"
    return taken


@pytest.mark.parametrize("action", ACTIONS, ids=str)
def test_the_starter_acts_inside_every_space_and_repeats_itself(action: gymnasium.Space[Any]):
    tree = starter_program(public(BOX, action))
    first, again = acts_inside(tree, BOX, action), acts_inside(tree, BOX, action)
    assert repr(first) == repr(again)
    assert len({repr(a) for a in acts_inside(tree, BOX, action, 40)}) > 1


def test_the_starter_covers_its_space_evenly():
    tree = starter_program(public(BOX, spaces.Discrete(3, start=-1)))
    taken = acts_inside(tree, BOX, spaces.Discrete(3, start=-1), 600)
    counts = [taken.count(a) for a in (-1, 0, 1)]
    assert min(counts) > 150


def test_the_starter_differs_between_episodes_and_seeds():
    space = spaces.Discrete(9)
    tree = starter_program(public(BOX, space))

    def actions(seed: int, episode: int) -> list[int]:
        policy = load_policy(tree, Spaces(BOX, space), {"policy_seed": seed})  # type: ignore[arg-type]
        policy.reset(episode)
        return [policy.act(None) for _ in range(12)]

    assert len({tuple(actions(s, e)) for s in (0, 1) for e in (0, 1)}) == 4


def test_an_action_space_without_numbers_is_sampled_by_its_own_method():
    assert acts_inside(starter_program(public(BOX, spaces.Text(4))), BOX, spaces.Text(4))


@pytest.mark.parametrize("obs", OBSERVATIONS, ids=str)
@pytest.mark.parametrize("action", [ACTIONS[1], ACTIONS[5]], ids=str)
def test_linear_programs_read_every_observation(obs: gymnasium.Space[Any], action: gymnasium.Space[Any]):
    described = public(obs, action)
    rows, terms = linear_shape(described)
    weights = np.random.default_rng(0).standard_normal((rows, terms))
    tree = linear_program(described, weights)
    constants = find_constants(tree.text("policy.py"))
    np.testing.assert_allclose([c.value for c in constants], weights.ravel(), rtol=1e-4)
    acts_inside(tree, obs, action)


@pytest.mark.parametrize("action", ACTIONS, ids=str)
def test_linear_programs_write_every_action(action: gymnasium.Space[Any]):
    described = public(BOX, action)
    weights = 3 * np.random.default_rng(0).standard_normal(linear_shape(described))
    acts_inside(linear_program(described, weights), BOX, action)


@pytest.mark.parametrize("obs", OBSERVATIONS, ids=str)
def test_drawn_and_mutated_programs_run_on_every_observation(obs: gymnasium.Space[Any]):
    action = ACTIONS[1] if isinstance(obs, spaces.Dict) else BOX
    described = public(obs, action)
    shape, rng = shape_of(described), np.random.default_rng(3)
    for niche in NICHES:
        controls = draw_controls(rng, shape, niche)
        for _ in range(4):
            acts_inside(controller_program(described, control_source(controls)), obs, action)
            controls, _ = mutate(rng, controls, shape, niche)


def test_observations_are_scaled_to_unit_size():
    low, high = np.array([-1.2, 5.0]), np.array([0.6, 9.0])
    leaf = leaves(describe_space(spaces.Box(low, high, dtype=np.float64)))[0]
    np.testing.assert_allclose((low - leaf.centre) * leaf.scale, -1)
    np.testing.assert_allclose((high - leaf.centre) * leaf.scale, 1)


def test_large_observations_share_the_features_and_small_parts_stay_whole():
    parts: list[Leaf] = leaves(describe_space(spaces.Dict({"big": spaces.Box(-1, 1, (500,)), "small": BOX})))
    assert [len(leaf.centre) for leaf in parts] == [MAX_FEATURES - 3, 3]


def test_goals_become_an_error_to_be_reduced():
    described = public(OBSERVATIONS[9], BOX)
    tree = controller_program(described, control_source(["x[-3]", "x[-2]", "x[-1]"]))
    obs = {"achieved_goal": np.zeros(3), "desired_goal": np.array([0.5, -0.25, 0.0]), "observation": np.zeros(25)}
    policy = load_policy(tree, Spaces(OBSERVATIONS[9], BOX), {})  # type: ignore[arg-type]
    np.testing.assert_allclose(policy.act(obs), [0.5, -0.25, 0.0])


def test_the_fitted_model_steers_a_system_it_was_not_told_about():
    box = spaces.Box(-1, 1, (1,), np.float64)
    tree = controller_program(public(box, box), control_source(["p.toward(0, 0, 0.3)"]))
    policy = load_policy(tree, Spaces(box, box), {})  # type: ignore[arg-type]
    x = np.array([-0.8])
    for _ in range(60):
        x = np.clip(0.9 * x - 0.2 * policy.act(x), -1, 1)
    assert abs(x[0] - 0.3) < 0.01


def test_a_program_of_ours_is_recognised_and_another_authors_is_not():
    described = public(BOX, BOX)
    tree = linear_program(described, np.ones(linear_shape(described)))
    control = find_control(tree, described)
    assert control is not None
    assert "1.0 * x[0]" in control
    theirs = tree.with_file(
        "policy.py", tree.text("policy.py").replace("raw = numbers(obs)", "raw = numbers(obs)[::-1]")
    )
    assert find_control(theirs, described) is None
    assert find_control(starter_program(described), described) is None
    assert find_control(tree.with_file("weights.npy", b"0"), described) is None


def test_a_missing_space_is_a_clear_error():
    with pytest.raises(ConfigError, match="action_space"):
        starter_program({"env": "Made-v0"})


def test_actions_that_no_controller_can_write_are_a_clear_error():
    with pytest.raises(ConfigError, match="Text"):
        linear_program(public(BOX, spaces.Text(4)))
