from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, RecordError
from heredity.experiments.measured import MEASURED, keep_measured, remember_measured
from heredity.tasks.registry import measurements, remember, taskset

CHANCE = '''
import gymnasium, os
class Chance(gymnasium.Env):
    """Pays what no seed decides, and shows what the order of a set does."""
    observation_space, action_space = gymnasium.spaces.Discrete(1 << 30), gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return hash("lantern") % 1000, {}
    def step(self, action):
        self.steps += 1
        return hash("lantern") % 1000, os.urandom(2)[0] / 7, self.steps >= 5, False, {}
gymnasium.register("Chance-v0", Chance)
'''
SUITE = """
[run]
tasksets = ["gymnasium/chance_of_nobody.py:Chance-v0"]
seeds = 1
[evolver]
method = "random"
[budget]
episodes = 8
[views]
validation = 2
heldout = 2
"""


@pytest.fixture
def chance(tmp_path: Path) -> str:
    (tmp_path / "chance_of_nobody.py").write_text(CHANCE)
    (tmp_path / "suite.toml").write_text(SUITE)
    return f"gymnasium/{tmp_path}/chance_of_nobody.py:Chance-v0"


def version_elsewhere(name: str, suite: Path) -> str:
    code = (
        "import sys; from pathlib import Path; from heredity.experiments.measured import keep_measured\n"
        "from heredity.tasks.registry import taskset\n"
        "keep_measured(Path(sys.argv[2]), [sys.argv[1]]); print(taskset(sys.argv[1]).info.version)"
    )
    done = subprocess.run([sys.executable, "-c", code, name, suite], capture_output=True, text=True, check=True)
    return done.stdout


def test_what_was_measured_is_the_same_in_every_process_of_a_suite(chance: str, tmp_path: Path) -> None:
    (suite := tmp_path / "suite").mkdir()
    (other := tmp_path / "other").mkdir()
    first = version_elsewhere(chance, suite)
    assert list(json.loads((suite / MEASURED).read_text())) == [chance]
    assert version_elsewhere(chance, suite) == first
    assert version_elsewhere(chance, other) != first


def test_a_killed_run_goes_on_though_its_rewards_hang_on_chance(chance: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "heredity"]
    out, quiet = tmp_path / "out", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*command, "run", tmp_path / "suite.toml", "--out", out], **quiet) as running:
        while running.poll() is None and not any(out.glob("runs/*/journal.jsonl")):
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [*command, "resume", out, "--quiet"], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "random reaches a held-out return of" in done.stdout


def test_only_what_is_measured_is_kept(tmp_path: Path) -> None:
    assert measurements(["gymnasium/CartPole-v1", "worlds/grid_treasure", "nobody/knows"]) == {}
    keep_measured(tmp_path, ["gymnasium/CartPole-v1"])
    assert not (tmp_path / MEASURED).exists()
    assert not remember_measured(tmp_path)


def test_what_was_measured_decides_what_failures_count_as(chance: str) -> None:
    remember({chance: [2.0, 5.0]})
    assert taskset(chance).info.failure_return == -1.0
    remember({chance: [2, 6]})
    assert taskset(chance).info.failure_return == -2.0
    assert measurements([chance]) == {chance: [2.0, 6.0]}


@pytest.mark.parametrize("values", ["[1", "[]", "null"])
def test_a_damaged_record_is_refused(values: str, tmp_path: Path) -> None:
    (tmp_path / MEASURED).write_text(values)
    with pytest.raises(RecordError, match=r"measured\.json"):
        remember_measured(tmp_path)


@pytest.mark.parametrize("value", [[1], [2, 1], ["a", "b"], [1, 1e999], {}, None, [float("nan"), 1]])
def test_a_value_that_was_never_measured_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="expected its lowest and its highest return"):
        remember({"gymnasium/x.py:Chance-v0": value})
