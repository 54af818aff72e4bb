"""`heredity team run --live`, and a server of a team that is killed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from rich.console import Console
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.cli.main import app
from heredity.cli.team import TeamLive
from heredity.team.assembly import work
from heredity.team.settings import load_team

TEAM = """
[planner]
model = "scripted/{0}/planner.toml"

[agents.reader]
description = "reads"
model = "scripted/{0}/reader.toml"
"""
PLANNER = """
[[rule]]
when = { user = "gave: read" }
reply = '{"finished": true, "result": "all read"}'

[[rule]]
when = { any = "Steps so far" }
reply = '{"steps": [{"id": "s1", "agent": "reader", "task": "Read it"}, {"id": "s2", "agent": "reader", "task": "Read more"}]}'
"""
READER = """
[[rule]]
when = { user = "Read" }
[rule.reply]
text = "read"
delay_s = DELAY
"""


def write_team(folder: Path, delay: float) -> Path:
    texts = {"team": TEAM.format(folder), "planner": PLANNER, "reader": READER.replace("DELAY", str(delay))}
    for name, text in texts.items():
        (folder / f"{name}.toml").write_text(text)
    return folder / "team.toml"


async def test_the_picture_shows_plan_states_cost_and_time_left(tmp_path: Path) -> None:
    settings = load_team(write_team(tmp_path, 0.0))
    live = TeamLive(settings.team.seconds)
    pictures: list[str] = []

    def look(plan: object) -> None:
        live.planned(plan)  # type: ignore[arg-type]
        out = io.StringIO()
        Console(file=out, width=120).print(live.picture())
        pictures.append(out.getvalue())

    result = await work(settings, tmp_path / "run", "read all", watch=look, opened=live.opened)
    assert result.answer == "all read"
    assert any("running" in picture for picture in pictures)
    last = pictures[-1]
    assert last.count("done") == 2
    assert "3 model calls" in pictures[-2] or "4 model calls" in last
    assert "of budget left" in last
    assert "planner → reader [task] Read it" in last


@pytest.mark.parametrize("width", [40, 60, 80, 120])
async def test_states_and_times_are_whole_at_every_width(tmp_path: Path, width: int) -> None:
    settings = load_team(write_team(tmp_path, 0.0))
    console = Console(file=io.StringIO(), width=width)
    live = TeamLive(settings.team.seconds, console)
    pictures: list[str] = []

    def look(plan: object) -> None:
        live.planned(plan)  # type: ignore[arg-type]
        out = io.StringIO()
        Console(file=out, width=width).print(live.picture())
        pictures.append(out.getvalue())

    await work(settings, tmp_path / "run", "read all", watch=look, opened=live.opened)
    words = pictures[-1].split()
    assert words.count("done") == 2
    assert {"step", "agent", "state", "time", "s1", "s2"} <= set(words)
    assert "of budget left" in " ".join(words)
    assert max(map(len, pictures[-1].splitlines())) <= width


def test_it_is_not_for_those_who_approve(tmp_path: Path) -> None:
    command = ["team", "run", "x", "--team", str(write_team(tmp_path, 0.0)), "--live", "--approve"]
    ran = CliRunner().invoke(app, command)
    assert isinstance(ran.exception, ConfigError)
    assert "--approve" in str(ran.exception)


@pytest.mark.slow
def test_a_server_that_is_killed_loses_no_task(tmp_path: Path) -> None:
    team, token = write_team(tmp_path, 1.5), "a-token-of-the-test"
    command = [sys.executable, "-m", "heredity", "team", "serve", "--team", str(team), "--port", "0", "--mcp", "off"]
    command += ["--no-a2a", "--token", token, "--folder", str(tmp_path / "tasks")]

    def served() -> tuple[subprocess.Popen[str], httpx.Client]:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("page: ").partition("/#")[0]
        return process, httpx.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=30)

    process, client = served()
    with client:
        task = client.post("/tasks", json={"task": "read all"}).json()["id"]
        while '"s1"' not in client.get(f"/tasks/{task}").text:
            time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process, client = served()
    try:
        with client, client.stream("GET", f"/tasks/{task}/events") as events:
            events.read()
        with httpx.Client(base_url=client.base_url, headers=client.headers) as again:
            assert again.get(f"/tasks/{task}").json()["answer"] == "all read"
    finally:
        process.terminate()
        process.wait()
