from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.policy.environments import EnvironmentTaskset, environment_spec, make_from_spec
from heredity.kinds.policy.environments.taskset import SEED_LIMIT
from heredity.tasks import SPLITS

CARTPOLE = EnvironmentTaskset(environment_spec("CartPole-v1"))


def seeds(split: str, count: int, entropy: int) -> list[int]:
    return [task.spec["seed"] for task in CARTPOLE.draw(split, count, entropy)]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**256), st.integers(0, 60), st.integers(0, 60))
def test_a_larger_draw_extends_a_smaller_one_and_splits_share_no_seed(entropy: int, few: int, more: int):
    drawn = {split: seeds(split, few + more, entropy) for split in SPLITS}
    everything = [seed for split in SPLITS for seed in drawn[split]]
    assert len(set(everything)) == len(everything)
    assert all(0 <= seed < SEED_LIMIT for seed in everything)
    assert all(seeds(split, few, entropy) == drawn[split][:few] for split in SPLITS)


def test_other_entropy_or_another_environment_gives_other_tasks():
    acrobot = EnvironmentTaskset(environment_spec("Acrobot-v1"))
    assert seeds("heldout", 32, 1) != seeds("heldout", 32, 2)
    assert seeds("heldout", 32, 1) != [t.spec["seed"] for t in acrobot.draw("heldout", 32, 1)]


def test_seeds_are_spread_over_their_whole_range():
    drawn = np.array(seeds("train", 2000, 7))
    assert drawn.min() < SEED_LIMIT * 0.01
    assert drawn.max() > SEED_LIMIT * 0.99
    assert abs(drawn.mean() / SEED_LIMIT - 0.5) < 0.03


def test_handles_count_from_zero_and_ids_name_the_split():
    tasks = CARTPOLE.draw("validation", 3, 0)
    assert [(t.id, t.split, t.index) for t in tasks] == [(f"validation/{i}", "validation", i) for i in range(3)]
    assert tasks[0].spec["options"] == {}
    assert "seed" not in repr(tasks[0])


def test_an_unknown_split_or_a_senseless_count_is_refused():
    with pytest.raises(UnknownNameError, match="heldout"):
        CARTPOLE.draw("held-out", 1, 0)
    with pytest.raises(ConfigError, match="-1 tasks"):
        CARTPOLE.draw("train", -1, 0)
    with pytest.raises(ConfigError, match="from 0 to"):
        CARTPOLE.draw("train", SEED_LIMIT, 0)


def test_the_info_says_what_evolvers_may_know_and_rebuilds_the_environment():
    info = CARTPOLE.info
    assert (info.name, info.kind, info.failure_return, info.family) == (
        "gymnasium/CartPole-v1",
        "episode",
        0.0,
        "classic_control",
    )
    assert set(info.public) == {
        "env",
        "env_version",
        "max_episode_steps",
        "obs_space",
        "action_space",
        "obs_storage",
        "reward_components",
    }
    assert info.public["action_space"] == {"type": "Discrete", "n": 2, "start": 0}
    spec = json.loads(json.dumps(info.spec))
    env = make_from_spec(spec)
    observation, _ = env.reset(seed=CARTPOLE.draw("train", 1, 0)[0].spec["seed"])
    assert observation.shape == (4,)
    assert "Push" in info.description or "pushing" in info.description


def test_the_version_changes_with_what_the_environment_is_built_with():
    import dataclasses

    spec = environment_spec("CartPole-v1")
    other = EnvironmentTaskset(dataclasses.replace(spec, max_episode_steps=100))
    assert "gymnasium " in CARTPOLE.info.version
    assert other.info.version != CARTPOLE.info.version
    again = EnvironmentTaskset(spec)
    assert again.info.version == CARTPOLE.info.version


def test_the_version_names_the_simulator():
    pytest.importorskip("mujoco")
    info = EnvironmentTaskset(environment_spec("Reacher-v5")).info
    assert "mujoco 3." in info.version
    assert "mujoco 3." in info.public["env_version"]


def test_a_longer_draw_begins_with_the_shorter_one_and_repeats_nothing() -> None:
    long = [task.spec["seed"] for task in CARTPOLE.draw("heldout", 20_000, 7)]
    # As they have always been: suites are resumed and repeated by them.
    assert long[:5] == [161869001, 1415523161, 1126003985, 264404831, 1850344298]
    assert long[-1] == 1681366712
    assert len(set(long)) == 20_000
    assert [task.spec["seed"] for task in CARTPOLE.draw("heldout", 11, 7)] == long[:11]
