from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from heredity._core.errors import UnknownNameError
from heredity.kinds.policy.commands.env import app

run = CliRunner()


def test_list_shows_every_environment_as_json():
    result = run.invoke(app, ["list", "--json"])
    rows = {row["id"]: row for row in json.loads(result.output)}
    assert result.exit_code == 0
    assert rows["CarRacing-v3"]["core16"]
    assert rows["CartPole-v1"]["installed"]
    assert sum(row["core16"] for row in rows.values()) == 16


def test_list_can_be_narrowed_to_a_family():
    result = run.invoke(app, ["list", "--family", "classic_control"])
    assert "Acrobot-v1" in result.output
    assert "Taxi" not in result.output


def test_check_passes_a_sound_environment():
    result = run.invoke(app, ["check", "Pendulum-v1", "--steps", "20"])
    assert result.exit_code == 0
    assert "hidden state" in result.output


def test_check_fails_a_faulty_one_with_exit_code_1():
    result = run.invoke(app, ["check", "tests.kinds.policy.faulty:Leaky-v0", "--steps", "20", "--json"])
    report = json.loads(result.output)
    assert result.exit_code == 1
    assert not report["passed"]
    assert {f["name"] for f in report["findings"] if not f["passed"]} == {"repeat", "hidden state"}


def test_play_writes_a_video(tmp_path):
    pytest.importorskip("imageio")
    video = tmp_path / "a.gif"
    result = run.invoke(
        app, ["play", "CartPole-v1", "--video", str(video), "--steps", "3", "--actions", "zero", "--json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["steps"] == 3
    assert video.stat().st_size > 100


def test_errors_are_left_to_the_caller():
    result = run.invoke(app, ["check", "CartPol-v1"])
    assert isinstance(result.exception, UnknownNameError)


def test_every_id_stands_whole_on_a_narrow_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ids = [row["id"] for row in json.loads(run.invoke(app, ["list", "--json"]).output)]
    words = [line.split()[0] for line in run.invoke(app, ["list"]).output.splitlines()[1:]]
    assert words == ids
