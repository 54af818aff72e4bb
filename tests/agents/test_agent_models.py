"""Agents that ask a language model: through the relay into the sandbox, or by its address without one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.agents.fakes import FakeSession, make_terms, program

from heredity._core.errors import RecordError
from heredity.agents import Workspace, evolve_with_agent
from heredity.agents.launchers import AgentExit, CommandAgent, available, launcher
from heredity.agents.models import agent_usage, models_for_agent
from heredity.analysis.usage import TokenUsage
from heredity.models import Usage
from heredity.models.broker import Limits
from heredity.models.scripted import Rule, Scripted
from heredity.protocols.policy_evolution.protocol import BRIEFING
from heredity.resources import Candidate

confined = pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}")
either = pytest.mark.parametrize("unsafe", [pytest.param(False, marks=confined), True], ids=["confined", "unsafe"])

ASK = """
import json, os, sys, urllib.error, urllib.request

def ask(url, body, header):
    request = urllib.request.Request(url, json.dumps({"model": "whatever", **body}).encode(), header)
    try:
        return json.load(urllib.request.urlopen(request, timeout=10))
    except urllib.error.HTTPError as error:
        return error.code

said = [{"role": "user", "content": "What is six times seven?"}]
openai = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
print(ask(os.environ["OPENAI_BASE_URL"] + "/chat/completions", {"messages": said}, openai))
anthropic = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
body = {"messages": said, "max_tokens": 9, "metadata": {"user_id": "u"}}
print(ask(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, anthropic))
print(ask(os.environ["OPENAI_BASE_URL"] + "/chat/completions", {"messages": said}, {"Authorization": "Bearer no"}))
print(urllib.request.urlopen(os.environ["HEREDITY_URL"] + "/health").read())
"""


class Run:
    """A run whose session is a fake; its agent and its broker are real."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = FakeSession(make_terms())
        self.workspace = Workspace(folder / "workspace", self.session.terms, BRIEFING)
        self.recorded: list[tuple[str, Mapping[str, Any]]] = []
        self.dropped: list[Sequence[str]] = []

    async def record(self, source: str, usage: Mapping[str, Any], dropped: Sequence[str]) -> None:
        self.recorded.append((source, usage))
        self.dropped.append(dropped)

    async def agent(self, agent: CommandAgent, limits: Limits | None = None) -> AgentExit:
        model = Scripted([Rule("Forty-two.")])
        async with models_for_agent(model, run="r", record=self.record, limits=limits or Limits()) as broker:
            return await evolve_with_agent(
                self.session,
                self.workspace,
                agent,
                initial=Candidate.program(program(1.0)),
                logs=self.folder,
                broker=broker,
            )

    @property
    def log(self) -> str:
        return (self.folder / "agent.log").read_text()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run")


@either
async def test_an_agent_reaches_its_model_and_its_session(run: Run, unsafe: bool) -> None:
    end = await run.agent(CommandAgent(["python3", "-c", ASK], unsafe=unsafe, time_limit_s=60))
    assert end.code == 0, run.log
    assert run.log.count("Forty-two.") == 2
    assert "401" in run.log
    assert '{"status":"ok"}' in run.log.replace(": ", ":")
    assert [source for source, _ in run.recorded] == ["broker", "broker"]
    assert run.dropped == [[], ["metadata"]]
    assert run.recorded[0][1] == {"input_tokens": 6, "cache_tokens": 0, "output_tokens": 4, "cost_usd": 0.0}


@confined
async def test_without_a_broker_there_is_none_to_reach(run: Run) -> None:
    end = await evolve_with_agent(
        run.session,
        run.workspace,
        CommandAgent("env; ls /run/heredity"),
        initial=Candidate.program(program(1.0)),
        logs=run.folder,
    )
    assert end.code == 0
    assert "BASE_URL" not in run.log
    assert "API_KEY" not in run.log
    assert "broker.sock" not in run.log


@either
async def test_what_an_agent_is_given_comes_before_the_broker(run: Run, unsafe: bool) -> None:
    given = {"OPENAI_BASE_URL": "http://elsewhere/v1", "ANTHROPIC_API_KEY": "mine"}
    await run.agent(
        CommandAgent('echo "$OPENAI_BASE_URL $ANTHROPIC_API_KEY $ANTHROPIC_BASE_URL"', environment=given, unsafe=unsafe)
    )
    assert run.log.startswith("http://elsewhere/v1 mine http://127.0.0.1:")


async def test_a_spent_budget_refuses_calls(run: Run) -> None:
    await run.agent(CommandAgent(["python3", "-c", ASK], unsafe=True, time_limit_s=60), Limits(tokens=5))
    assert run.log.count("Forty-two.") == 1
    assert "429" in run.log
    assert len(run.recorded) == 1


async def test_a_call_that_cannot_be_recorded_is_an_error_of_the_run(run: Run) -> None:
    async def fail(source: str, usage: Mapping[str, Any], dropped: Sequence[str]) -> None:
        raise RecordError("the disk is full")

    run.record = fail  # type: ignore[method-assign]
    with pytest.raises(RecordError, match="full"):
        await run.agent(CommandAgent(["python3", "-c", ASK], unsafe=True, time_limit_s=60))


async def test_every_call_is_recorded_before_the_block_ends(run: Run) -> None:
    async def slowly(source: str, usage: Mapping[str, Any], dropped: Sequence[str]) -> None:
        await asyncio.sleep(0.2)
        run.recorded.append((source, usage))

    run.record = slowly  # type: ignore[method-assign]
    await run.agent(CommandAgent(["python3", "-c", ASK], unsafe=True, time_limit_s=60))
    assert len(run.recorded) == 2


@either
async def test_a_folders_exit_code_is_its_own_and_its_variables_win(
    run: Run, tmp_path: Path, unsafe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my agent"
    folder.mkdir()
    (folder / "start.sh").write_text(
        'echo "$STYLE $PLACE $HEREDITY_PROMPT"; cat "$(dirname "$0")/note"; exit 7 | tee log\n'
    )
    (folder / "note").write_text("a note\n")
    (folder / "config.yaml").write_text("env_vars: {STYLE: bold}\n")
    monkeypatch.setenv("STYLE", "shy")
    monkeypatch.setenv("PLACE", "here")
    launch = launcher(str(folder)).launch("Begin.", "m")
    agent = CommandAgent(
        launch.command,
        environment=launch.environment,
        inherit=("STYLE", "PLACE"),
        read_only=launch.read_only,
        unsafe=unsafe,
    )
    end = await run.agent(agent)
    assert run.log == "bold here Begin.\na note\n"
    assert end.code == 7


def test_cached_input_is_counted_beside_the_input() -> None:
    assert agent_usage(Usage(100, 7, 40, 0.5)) == TokenUsage(60, 40, 7, 0.5)
    assert agent_usage(Usage(100, None, None, None)) == TokenUsage(100, None, None, None)
    assert json.dumps(agent_usage(Usage()).to_json()).count("null") == 4
