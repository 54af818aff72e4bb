from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, HostError, MissingExtraError, UnknownNameError
from heredity.kinds.policy.environments import (
    environment_ids,
    environment_spec,
    environment_specs,
    installed,
    make,
    registry,
)
from heredity.kinds.policy.environments.making import make_from_spec
from heredity.kinds.policy.environments.spec import EnvironmentSpec
from heredity.kinds.policy.environments.taskset import SOURCE
from heredity.tasks.registry import taskset

ABSENT = EnvironmentSpec(
    "Absent-v0", "absent", "Absent-v0", 10, 0.0, "Not there.", extra="absent", requires=("no_such_simulator",)
)


def test_importing_the_package_imports_no_gymnasium_and_no_simulator():
    code = (
        "import sys, heredity.kinds.policy.environments.conformance, heredity.kinds.policy.environments.video\n"
        "loaded = {'gymnasium', 'mujoco', 'minigrid', 'Box2D', 'pygame', 'imageio', 'torch'} & set(sys.modules)\n"
        "sys.exit(', '.join(loaded) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ids_are_unique_and_families_partition_them():
    ids = environment_ids()
    assert len(ids) == len(set(ids)) >= 90
    assert sorted(ids) == sorted(i for family in registry.FAMILIES for i in environment_ids(family))


def test_every_description_tells_observations_actions_and_rewards():
    for spec in environment_specs():
        for word in ("Observation", "Action", "Reward", "Source"):
            assert word in spec.description, (spec.id, word)
        assert "{" not in spec.description, spec.id


def test_an_unknown_id_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="CartPole-v1"):
        environment_spec("CartPol-v1")


def test_an_unknown_family_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean mujoco"):
        environment_ids("mujcoo")


def test_the_prefix_of_a_taskset_name_may_stay():
    assert environment_spec("gymnasium/CartPole-v1") is environment_spec("CartPole-v1")


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(registry._SPECS, "Absent-v0", ABSENT)
    assert not installed(ABSENT)
    with pytest.raises(MissingExtraError, match=r"heredity\[absent\]"):
        environment_spec("Absent-v0")
    with pytest.raises(MissingExtraError, match=r"heredity\[absent\]"):
        make(ABSENT)


def test_a_spec_that_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="max_episode_steps"):
        EnvironmentSpec("A-v0", "a", "A-v0", 0, 0.0, "")
    with pytest.raises(ConfigError, match="failure_return"):
        EnvironmentSpec("A-v0", "a", "A-v0", 1, float("-inf"), "")
    with pytest.raises(ConfigError, match="entry id"):
        EnvironmentSpec("A-v0", "a", "", 1, 0.0, "")


def test_a_users_environment_is_found_by_module_and_id():
    spec = environment_spec("tests.kinds.policy.faulty:Sound-v0")
    assert (spec.family, spec.entry_id, spec.max_episode_steps) == ("tests", "Sound-v0", 50)
    env = make(spec)
    env.reset(seed=0)
    env.close()


def test_a_measured_bound_lies_below_random_returns_and_is_the_same_again():
    from heredity.kinds.policy.environments.generic import measured_spec

    first, second = (measured_spec("tests.kinds.policy.faulty:Sound-v0", []) for _ in range(2))
    assert first == second
    # A walk that ends beyond ±4 pays at least 4 for its last step.
    assert first.failure_return < -4


def test_an_environment_without_a_horizon_is_given_one():
    assert environment_spec("tests.kinds.policy.faulty:Endless-v0").max_episode_steps == 1000


def test_a_missing_module_is_named():
    with pytest.raises(ConfigError, match="no_such_module"):
        environment_spec("no_such_module:A-v0")


def test_a_module_that_fails_to_load_is_named_with_its_error(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "collapsing.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(HostError, match=r"collapsing.*no licence"):
        environment_spec("collapsing:A-v0")


def test_an_environment_that_fails_while_it_is_measured_is_the_hosts_failure():
    with pytest.raises(HostError, match="the wheel came off"):
        environment_spec("tests.kinds.policy.faulty:Raising-v0")


def test_an_id_that_gymnasium_knows_gets_its_family_wherever_it_was_imported_before():
    pytest.importorskip("minigrid")
    direct, by_module = environment_spec("MiniGrid-Empty-5x5-v0"), environment_spec("minigrid:MiniGrid-Empty-5x5-v0")
    assert direct.family == by_module.family == "minigrid"
    assert direct.max_episode_steps == 100
    assert direct.modules == ("minigrid",)


def test_an_environment_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "narrow_corridor.py"
    file.write_text(
        (Path(__file__).parents[3] / "examples" / "corridor.py").read_text().replace("Corridor-v0", "Narrow-v0")
    )
    name = SOURCE.located("gymnasium/narrow_corridor.py:Narrow-v0", tmp_path)
    assert name == f"gymnasium/{file}:Narrow-v0"
    info = taskset(name).info
    # Who plays learns its name and what is in it, and not where it lies.
    assert info.public["env"] == "narrow_corridor.py:Narrow-v0"
    assert str(tmp_path) not in json.dumps(dict(info.public)) + info.description
    assert re.search(r"narrow_corridor\.py [0-9a-f]{8}", info.version)
    assert SOURCE.located("gymnasium/CartPole-v1", tmp_path) == "gymnasium/CartPole-v1"
    env = make_from_spec(info.spec)
    assert env.reset(seed=3)[0].shape == (2,)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("gone.py", "is not there; correct its path"),
        ("json.py", "has the name of another module"),
        ("a-b.py", "letters, digits and _"),
    ],
)
def test_a_file_that_is_no_module_is_refused(tmp_path: Path, name: str, complaint: str) -> None:
    if name != "gone.py":
        (tmp_path / name).write_text("")
    with pytest.raises(ConfigError, match=complaint):
        _ = taskset(f"gymnasium/{tmp_path / name}:Narrow-v0").info
