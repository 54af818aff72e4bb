from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.agents.fakes import FakeSession, make_terms, program

from heredity._core.http import serve
from heredity.agents import Endpoints, SessionApp, Workspace
from heredity.protocols.policy_evolution.protocol import BRIEFING
from heredity.sandbox import guest_client


@dataclass
class Host:
    session: FakeSession
    workspace: Workspace
    endpoints: Endpoints

    async def call(self, *arguments: str, program: str = "heredity") -> int:
        return await asyncio.to_thread(guest_client.main, list(arguments), program)


@pytest.fixture
async def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Host]:
    session = FakeSession(make_terms(episode_budget=12))
    workspace = Workspace(tmp_path / "workspace", session.terms, BRIEFING)
    workspace.prepare(program(2.0))
    for name in ("HEREDITY_SOCKET", "HEREDITY_URL", "EVOPOLICYGYM_SUBMIT_URL"):
        monkeypatch.delenv(name, raising=False)
    async with serve(SessionApp(session, workspace).asgi) as endpoints:
        monkeypatch.setenv("HEREDITY_SOCKET", str(endpoints.unix))
        yield Host(session, workspace, endpoints)


async def test_submitting_prints_one_line(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert await host.call("submit", "--episodes", "0-1,5", "--note", "try") == 0
    assert capsys.readouterr().out == "submit_id=0 status=ok episodes=3 mean_return=-1 failed=0 remaining=9\n"
    assert list(host.session.trials[0].tasks) == [0, 1, 5]
    assert host.session.trials[0].note == "try"


async def test_the_newer_command_takes_half_open_ranges(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert await host.call("program", "--episodes", "0:2,4:8", "--json", program="submit") == 0
    assert json.loads(capsys.readouterr().out)["summary"]["env_instances"] == [0, 1, 4, 5, 6, 7]


async def test_without_episodes_the_fewest_are_taken(host: Host) -> None:
    assert await host.call("submit") == 0
    assert list(host.session.trials[0].tasks) == [0]


async def test_a_url_is_as_good_as_a_socket(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEREDITY_SOCKET")
    monkeypatch.setenv("EVOPOLICYGYM_SUBMIT_URL", f"{host.endpoints.url}/submit")
    assert await host.call("submit", "--episodes", "0") == 0
    monkeypatch.setenv("HEREDITY_URL", host.endpoints.url)
    assert await host.call("info") == 0


async def test_a_program_that_fails_gives_1(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    (host.workspace.system / "policy.py").write_text("def")
    assert await host.call("submit", "--episodes", "0") == 1
    assert "status=import_error" in capsys.readouterr().out


async def test_a_wrong_command_line_gives_2(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["fly"], ["submit", "elsewhere"], ["finish", "x"], []):
        with pytest.raises(SystemExit) as caught:
            await host.call(*wrong)
        assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


async def test_a_refused_request_gives_3(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert await host.call("submit", "--episodes", "99") == 3
    assert "invalid_env_instance: there is no train task 99" in capsys.readouterr().err
    assert host.session.left == 12


async def test_a_closed_run_gives_4(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert await host.call("submit", "--episodes", "0") == 0
    assert await host.call("0", program="finish") == 0
    assert "finished" in capsys.readouterr().out
    assert await host.call("submit", "--episodes", "0") == 4
    assert "run_closed" in capsys.readouterr().err


async def test_an_unreachable_host_gives_5(
    host: Host, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEREDITY_SOCKET", str(host.endpoints.unix) + "x")
    assert await host.call("info") == 5
    monkeypatch.delenv("HEREDITY_SOCKET")
    assert await host.call("info") == 5
    assert "HEREDITY_URL" in capsys.readouterr().err


async def test_info_and_task_are_printed(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert await host.call("info") == 0
    assert json.loads(capsys.readouterr().out)["state"]["remaining_budget"] == 12
    assert await host.call("task") == 0
    assert "Climb the *hill*." in capsys.readouterr().out


async def test_a_key_makes_a_repeat_free(host: Host) -> None:
    for _ in range(2):
        assert await host.call("submit", "--episodes", "0", "--key", "k") == 0
    assert host.session.left == 11
