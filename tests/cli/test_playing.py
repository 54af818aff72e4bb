"""`heredity env play --policy`: a policy program in the sandbox, filmed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.experiments.sample import heredity, isolated
from typer.testing import CliRunner

from heredity._core.errors import CandidateError, ConfigError, UnknownNameError
from heredity.kinds.policy.commands.env import app
from heredity.kinds.policy.kind import KIND as EPISODES
from heredity.kinds.world.commands.play import parse_line

pytestmark = pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")

GOOD = """
class Policy:
    def __init__(self, obs_space, action_space, env_meta): ...
    def reset(self, episode_index): ...
    def act(self, obs): return int(3 * obs[2] + obs[3] > 0)
"""
BAD = GOOD.replace("return int(3 * obs[2] + obs[3] > 0)", "return 1 // 0")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    pytest.importorskip("imageio")
    pytest.importorskip("pygame")
    folder = tmp_path / "policy"
    folder.mkdir()
    (folder / "policy.py").write_text(GOOD)
    return folder


def play(*arguments: str | Path):
    return CliRunner().invoke(app, ["play", *map(str, arguments)])


def test_a_policy_is_read_from_its_file_and_other_paths_say_what_is_expected(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(GOOD)
    read = EPISODES.candidates.read
    assert read(tmp_path / "mine.py").parts["agent"]["policy.py"] == GOOD.encode()
    (tmp_path / "notes.md").write_text("x")
    with pytest.raises(ConfigError, match=r"notes.md is not a policy; give a folder with policy.py in it, or one file"):
        read(tmp_path / "notes.md")
    suite = tmp_path / "suite"
    for folder in ("runs", "best"):
        (suite / folder).mkdir(parents=True)
    (suite / "suite.toml").write_text("")
    with pytest.raises(ConfigError, match=f"is the folder of a suite; give its winner: {suite}/best"):
        read(suite)


@pytest.mark.parametrize("name", ["a.mp4", "a.gif", "a.png"])
def test_a_policy_is_filmed(policy: Path, tmp_path: Path, name: str) -> None:
    if name.endswith("mp4"):
        pytest.importorskip("imageio_ffmpeg")
    video = tmp_path / "videos" / name
    result = play("CartPole-v1", "--policy", policy, "--video", video, "--steps", 6, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["steps"], report["total_reward"], report["frames"], report["seed"]) == (6, 6.0, 7, 3)
    assert (report["terminated"], report["truncated"]) == (False, False)
    assert Path(report["path"]).stat().st_size > 100
    assert len(list(video.parent.iterdir())) == (7 if name == "a.png" else 1)


def test_the_end_of_the_episode_is_told(policy: Path, tmp_path: Path) -> None:
    (policy / "policy.py").write_text(GOOD.replace("> 0)", "> 9)"))
    result = play("CartPole-v1", "--policy", policy, "--video", tmp_path / "a.gif")
    assert result.exit_code == 0
    assert result.stdout.strip().endswith("terminated")
    assert "return" in result.stdout


def test_a_policy_that_fails_gives_its_author_file_line_and_traceback(policy: Path, tmp_path: Path) -> None:
    (policy / "policy.py").write_text(BAD)
    result = play("CartPole-v1", "--policy", policy, "--video", tmp_path / "a.gif")
    assert isinstance(result.exception, CandidateError)
    assert not (tmp_path / "a.gif").exists()
    whole = heredity("env", "play", "CartPole-v1", "--policy", policy, "--video", tmp_path / "a.gif")
    assert (whole.returncode, whole.stdout) == (2, "")
    assert 'File "policy.py", line 5, in act' in whole.stderr
    assert "heredity/" not in whole.stderr, "the program's own frames only"


def test_what_is_asked_for_wrongly_is_said(policy: Path, tmp_path: Path) -> None:
    video = ("--video", tmp_path / "a.gif")
    both = play("CartPole-v1", "--policy", policy, "--actions", "zero", *video)
    assert isinstance(both.exception, ConfigError)
    assert "--policy and --actions" in str(both.exception)
    assert "does not exist" in str(play("CartPole-v1", "--policy", tmp_path / "none", *video).exception)
    assert "has no policy.py" in str(play("CartPole-v1", "--policy", tmp_path, *video).exception)
    assert isinstance(play("CartPol-v1", "--policy", policy, *video).exception, UnknownNameError)
    assert "must end in" in str(play("CartPole-v1", "--policy", policy, "--video", "a.avi").exception)


def test_an_action_that_is_nested_without_end_is_told_to_its_player() -> None:
    with pytest.raises(ValueError, match="invalid JSON: it is nested too deeply"):
        parse_line('{"a":' * 50_000)
