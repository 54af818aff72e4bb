"""Agents that speak the Agent Client Protocol: their turns, requests, ends and settings."""

from __future__ import annotations

import asyncio
import json
import shlex
import time
from pathlib import Path
from typing import Any

import pytest
from tests.agents.launchers.test_command import Run, confined, either

from heredity._core.errors import ConfigError, MissingExtraError
from heredity.agents.launchers import AgentExit, LaunchOptions, agent_key, launcher
from heredity.sandbox import acp_client

pytest.importorskip("acp", reason="the extra acp is not installed")

AGENT = Path(__file__).parent / "acp_agent.py"


class Acp:
    """Runs the small agent behind the launcher."""

    def __init__(self, folder: Path) -> None:
        self.run = Run(folder / "run")
        self.shown = folder / "shown"
        self.shown.mkdir()
        (self.shown / "agent.py").write_bytes(AGENT.read_bytes())

    def launch(self, mode: str, model: str = "", **options: Any) -> Any:
        command = f"python3 {shlex.quote(str(self.shown / 'agent.py'))} {mode}"
        return launcher(f"acp:{command}").launch("Begin.", model, LaunchOptions(**options))

    async def turn(self, mode: str, unsafe: bool, model: str = "", again: bool = False, **options: Any) -> AgentExit:
        launch = self.launch(mode, model)
        environment = {**launch.environment, "HEREDITY_PROMPT": "Go on.", **options.pop("environment", {})}
        return await self.run.agent(
            launch.again if again else launch.command,
            unsafe=unsafe,
            environment=environment,
            read_only=(self.shown,),
            trees=launch.trees,
            **{"time_limit_s": 60, **options},
        )

    def read(self, name: str) -> str:
        return (self.run.folder / "workspace" / name).read_text()

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = (self.run.folder / "agent.events.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture
def acp(tmp_path: Path) -> Acp:
    return Acp(tmp_path)


@either
async def test_a_turn_with_requests_submits_and_is_recorded(acp: Acp, unsafe: bool) -> None:
    ended = await acp.turn("works", unsafe, model="large")
    assert ended.code == 0, acp.run.log
    report = json.loads(acp.read("report.json"))
    assert (report["prompt"], report["model"]) == ("Begin.", "large")
    assert report["permission"]["result"]["outcome"] == {"outcome": "selected", "optionId": "always"}
    assert acp.read("notes/one.txt") == "a\nb\nc\n"
    assert report["read"]["result"] == {"content": "b\n"}
    assert all("error" in answer for answer in report["outside"])
    assert acp.read("sessions.txt") == "session/new \nm = lab/large\n"
    assert len(acp.run.session.trials) == 1
    updates = [e["params"]["update"]["sessionUpdate"] for e in acp.events if e.get("method") == "session/update"]
    assert updates == ["agent_thought_chunk", "news_of_a_later_version", "tool_call", "agent_message_chunk"]


@either
async def test_it_goes_on_with_its_last_session_unless_it_is_to_begin_anew(acp: Acp, unsafe: bool) -> None:
    assert (await acp.turn("auth", unsafe)).code == 0, acp.run.log
    (acp.run.folder / "workspace" / "notes" / "etc").unlink()
    assert (await acp.turn("works", unsafe, again=True)).code == 0, acp.run.log
    assert json.loads(acp.read("report.json"))["prompt"] == "Go on."
    (acp.run.folder / "workspace" / "notes" / "etc").unlink()
    await acp.turn("works", unsafe, again=True, environment={"HEREDITY_ANEW": "1"})
    assert acp.read("sessions.txt").split("\n")[:3] == ["session/new ", "session/load s-1", "session/new "]


@pytest.mark.parametrize(
    ("mode", "code", "said"),
    [
        ("crash", 7, "the agent ended with code 7 before its turn did"),
        ("refuse", 1, "the agent's model refused to go on"),
        ("later", 1, "the agent speaks version 99 of the Agent Client Protocol, not 1"),
        ("silent", 1, "the agent ended with code 0 before its turn did"),
    ],
)
async def test_an_agent_that_fails_is_reported_in_a_line(acp: Acp, mode: str, code: int, said: str) -> None:
    ended = await acp.turn(mode, unsafe=True)
    assert ended.code == code
    assert ended.output.splitlines()[-1] == said
    assert "Traceback" not in acp.run.log


@either
async def test_a_turn_is_cancelled_when_the_agent_is_asked_to_end(acp: Acp, unsafe: bool) -> None:
    started = time.monotonic()
    running = asyncio.create_task(acp.turn("hang", unsafe, time_limit_s=6.0))
    ended = await running
    assert (ended.code, ended.reason) == (acp_client.EXIT_CANCELLED, "time_limit")
    if not unsafe:
        assert any(event.get("result") == {"stopReason": "cancelled"} for event in acp.events), acp.run.log
    assert time.monotonic() - started < 16, "it was cancelled, not killed"


@confined
async def test_an_agent_cannot_import_what_its_client_imports(acp: Acp) -> None:
    launch = acp.launch("works")
    ended = await acp.run.agent("python3 -c 'import pydantic'", trees=launch.trees, time_limit_s=30)
    assert ended.code == 1
    assert "No module named 'pydantic'" in ended.output


def test_an_agent_of_the_protocol_is_a_launcher(tmp_path: Path) -> None:
    assert agent_key("acp:my-agent --acp") == "launcher"
    assert launcher("acp:/opt/my-agent --acp").name == "my-agent"
    with pytest.raises(ConfigError, match="acp: names no agent"):
        launcher("acp:")
    with pytest.raises(ConfigError, match="codex is not started with the Agent Client Protocol"):
        launcher("acp:codex")
    with pytest.raises(ConfigError, match="does not support login"):
        launcher("acp:x").launch("", "", LaunchOptions(login=True))


def test_without_the_extra_the_launcher_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"heredity\[acp\]"):
        launcher("acp:x").launch("Begin.")
