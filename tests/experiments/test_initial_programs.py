"""A program to begin with that is not valid Python is refused before anything runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from heredity import library
from heredity._core.errors import ConfigError
from heredity.experiments.config import load, suite_file
from heredity.experiments.preflight import require


def test_a_policy_with_a_syntax_error_is_refused_with_its_file_line_and_text(tmp_path: Path) -> None:
    start = tmp_path / "start"
    start.mkdir()
    (start / "policy.py").write_text("class Policy:\n    def act(self, observation:\n        return 0\n")
    config = load(suite_file("demo"), [f"evolver.initial={start}"])
    with pytest.raises(ConfigError) as refused:
        require(config, tmp_path / "out")
    assert f"evolver.initial, {start}: policy.py is not valid Python: line 2: " in str(refused.value)
    assert "in 'def act(self, observation:'" in str(refused.value)


def test_the_programs_of_a_harness_are_checked_as_well(tmp_path: Path) -> None:
    worker = shutil.copytree(Path(library.__path__[0]) / "harnesses" / "worker", tmp_path / "worker")
    config = load(suite_file("harness-offline"), [f"evolver.initial={worker}"])
    require(config, tmp_path / "out")
    program = next(worker.rglob("*.py"))
    program.write_text("def run(:\n")
    with pytest.raises(ConfigError, match=f"{program.name} .* is not Python: line 1"):
        require(config, tmp_path / "out")
