"""Files of environments that users bring: what is wrong with one is said with its file, line and names."""

from __future__ import annotations

from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, HeredityError
from heredity.kinds.policy.environments import child, environment_spec
from heredity.kinds.policy.environments.child import TIMEOUT_VARIABLE, EnvironmentFailedError
from heredity.kinds.policy.environments.taskset import EnvironmentTaskset

SOURCE = """
import os, sys
from pathlib import Path
import gymnasium

class Own(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def reset(self, **options):
        {reset}
        return 0, {{}}

    def step(self, action):
        return 0, 1.0, False, False, {{}}

gymnasium.register("Own-v0", entry_point=Own, max_episode_steps=5)
gymnasium.register("Maze-v0", entry_point=Own, max_episode_steps=5)
"""


def written(folder: Path, name: str, reset: str = "pass", source: str = SOURCE) -> str:
    (folder / f"{name}.py").write_text(source.format(reset=reset))
    return str(folder / f"{name}.py")


@pytest.mark.parametrize(
    ("entry", "says"),
    [("", "{0}:Own-v0 or {0}:Maze-v0"), (":", "{0}:Own-v0 or {0}:Maze-v0"), (":Owm-v0", "{0}:Own-v0")],
)
def test_a_wrong_or_missing_id_is_answered_with_those_that_the_file_registers(
    tmp_path: Path, entry: str, says: str
) -> None:
    file = written(tmp_path, "brought_ids")
    with pytest.raises(ConfigError, match=f"write {says.format(file)}"):
        environment_spec(file + entry)


def test_a_file_that_registers_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"registers no environment; call gymnasium\.register in it"):
        environment_spec(written(tmp_path, "brought_nothing", source="x = 1"))


def test_a_syntax_error_is_shown_with_file_line_and_text(tmp_path: Path) -> None:
    file = written(tmp_path, "brought_typo", source="x = 1\nclass Own pass\n")
    with pytest.raises(HeredityError, match=rf"SyntaxError: .* \({file}, line 2\): class Own pass"):
        environment_spec(f"{file}:Own-v0")


def test_an_exit_in_reset_is_said_to_be_in_reset(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFailedError, match=r"failed in reset: SystemExit: 3.*tried 3 times and never worked"):
        environment_spec(f"{written(tmp_path, 'brought_exit', 'sys.exit(3)')}:Own-v0")


def test_one_that_fails_now_and_then_is_measured_again_and_that_is_noted(tmp_path: Path) -> None:
    once = f"Path({str(tmp_path / 'been')!r}).exists() or (Path({str(tmp_path / 'been')!r}).touch(), os._exit(4))"
    spec = environment_spec(f"{written(tmp_path, 'brought_moody', once)}:Own-v0")
    (note,) = EnvironmentTaskset(spec).info.notes
    assert "ended its process in reset, with exit code 4" in note
    assert "measured again" in note


def test_the_variable_bounds_the_import_of_a_module_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "LEAST_MAKE_S", 0.1)
    monkeypatch.setenv(TIMEOUT_VARIABLE, "0.2")
    file = written(tmp_path, "brought_late", source="import time\ntime.sleep(100)\n")
    with pytest.raises(EnvironmentFailedError, match=r"importing its module and constructing it took more than 0\.2 s"):
        environment_spec(f"{file}:Own-v0")
