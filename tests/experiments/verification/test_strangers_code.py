"""Code that a stranger's folder brings along is not run by its verification, outside of any sandbox."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError
from heredity._core.outside import distrusting
from heredity.experiments.verification.verify import verify
from heredity.tasks.registry import taskset

from .. import sample

ENVIRONMENT = """
import pathlib
pathlib.Path({mark!r}).write_text("run")
import gymnasium
from gymnasium.envs.classic_control.cartpole import CartPoleEnv
gymnasium.register("Mine-v0", entry_point=CartPoleEnv, max_episode_steps=5)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with an environment's module and a program task with an interpreter, each of which leaves a mark when run."""
    folder = tmp_path / "strangers"
    task = folder / "task"
    task.mkdir(parents=True)
    (folder / "mine.py").write_text(ENVIRONMENT.format(mark=str(tmp_path / "mark")))
    (task / "task.toml").write_text('title = "One"\npython = "bin/python"\n')
    (task / "program.py").write_text("def solve():\n    return 1.0\n")
    (task / "scorer.py").write_text("def verify(answer):\n    return answer\n")
    (task / "bin").mkdir()
    (task / "bin" / "python").write_text("#!/bin/sh\n")
    (task / "bin" / "python").chmod(0o755)
    (folder / "linked.py").symlink_to(tmp_path / "elsewhere.py")
    (tmp_path / "elsewhere.py").write_text(ENVIRONMENT.format(mark=str(tmp_path / "mark")))
    return folder


NAMES: dict[str, Callable[[Path], str]] = {
    "a file": lambda folder: f"gymnasium/{folder}/mine.py:Mine-v0",
    "a file from here": lambda folder: "gymnasium/./mine.py:Mine-v0",
    "a link": lambda folder: f"gymnasium/{folder}/linked.py:Mine-v0",
    "a module": lambda folder: "gymnasium/mine:Mine-v0",
    "an interpreter": lambda folder: f"program/{folder}/task",
}


@pytest.mark.parametrize("name", NAMES)
def test_what_lies_in_a_distrusted_folder_is_not_run(
    folder: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with distrusting(folder), pytest.raises(ConfigError, match="lies in the folder that is checked"):
        taskset(NAMES[name](folder)).info  # noqa: B018
    assert not (tmp_path / "mark").exists()


def test_the_same_file_runs_where_it_is_trusted(folder: Path, tmp_path: Path) -> None:
    with distrusting(tmp_path / "other"):
        assert taskset(f"gymnasium/{folder}/mine.py:Mine-v0").info.kind == "episode"
    assert (tmp_path / "mark").read_text() == "run"


@pytest.mark.skipif(not sample.isolated(), reason="policies cannot be confined here")
def test_verifying_a_run_whose_configuration_names_its_own_code_does_not_run_it(folder: Path, tmp_path: Path) -> None:
    chosen = sample.config(run={"seeds": 1}, suite={"baselines": False}, budget={"episodes": 4})
    assert not sample.run(tmp_path / "runs" / "one", chosen).failures
    run = sorted((tmp_path / "runs" / "one" / "runs").iterdir())[0]
    (run / "mine.py").write_text((folder / "mine.py").read_text())
    text = (run / "run.toml").read_text()
    assert "gymnasium/CartPole-v1" in text
    (run / "run.toml").write_text(text.replace("gymnasium/CartPole-v1", f"gymnasium/{run}/mine.py:Mine-v0"))
    assert any(check.status == "failed" for check in verify(run).checks)
    assert not (tmp_path / "mark").exists()
