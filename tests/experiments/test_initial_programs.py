"""A program to begin with that is not valid Python is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from heredity.errors import ConfigError
from heredity.experiments.config import load
from heredity.experiments.preflight import require
from heredity.experiments.suites import suite_file


def test_a_policy_with_a_syntax_error_is_refused_with_its_file_line_and_text(tmp_path: Path) -> None:
    start = tmp_path / "start"
    start.mkdir()
    (start / "policy.py").write_text("class Policy:\n    def act(self, observation:\n        return 0\n")
    config = load(suite_file("demo"), [f"evolver.initial={start}"])
    with pytest.raises(ConfigError) as refused:
        require(config, tmp_path / "out")
    assert f"evolver.initial, {start}: policy.py is not valid Python: line 2: " in str(refused.value)
    assert "in 'def act(self, observation:'" in str(refused.value)
