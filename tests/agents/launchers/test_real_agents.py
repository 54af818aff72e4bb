"""The real programs, where they are installed, each driven through a whole run by a scripted model."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agents.launchers.scripts import Call, steps, write_rules

from heredity.agents.launchers import available
from heredity.agents.launchers.registry import programs
from heredity.experiments.config import resolve
from heredity.experiments.suite import SuiteResult, open_suite, run_suite
from heredity.records import read_journal

SHELLS: dict[str, tuple[str, Callable[[str], Call]]] = {
    "claude-code": ("Bash", lambda text: ("Bash", {"command": text, "description": "one step"})),
    "codex": ("exec_command", lambda text: ("exec_command", {"cmd": text, "yield_time_ms": 30_000})),
    "gemini-cli": ("run_shell_command", lambda text: ("run_shell_command", {"command": text})),
    "mini-swe-agent": ("bash", lambda text: ("bash", {"command": text})),
    "opencode": ("bash", lambda text: ("bash", {"command": text, "description": "one step"})),
    "qwen-code": ("run_shell_command", lambda text: ("run_shell_command", {"command": text, "is_background": False})),
}
STREAMING = ("claude-code", "codex", "gemini-cli", "opencode", "qwen-code")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}"),
]


@pytest.fixture
def host_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("name", SHELLS)
def test_an_agent_completes_a_run(name: str, tmp_path: Path, host_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if not programs()[name].installed:
        pytest.skip(f"{name} is not installed; heredity agents install {name}")
    monkeypatch.setenv("HOST_SECRET", "1")
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    tool, call = SHELLS[name]
    commands = steps(secret, host_port)
    if name == "mini-swe-agent":
        commands.append("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT; exit 0")
    write_rules(tmp_path / "rules.toml", commands, call, tool)
    result, folder = run(tmp_path, {"launcher": name, "model": f"scripted/{tmp_path}/rules.toml", "time_limit_s": 120})
    log = (folder / "logs" / "agent.log").read_text()
    events = list(read_journal(folder / "journal.jsonl"))
    assert {**result.failures, **result.evolver_failures} == {}, log
    (metrics,) = result.runs
    returns = [row.train_mean for row in metrics.submissions]
    assert len(returns) == 2, log
    assert returns[0] < 15 < 100 < returns[1]
    assert metrics.heldout.mean > 100
    assert [e.data["reason"] for e in events if e.kind == "session.closed"] == ["finished"]
    probe = (folder / "workspace" / "probe.txt").read_text()
    assert not any(word in probe for word in ("SECRET", "REACHED"))
    blocked = [said in probe for said in ("No such file", "Connection refused", "\n0\n", "Read-only file system")]
    assert blocked == [True] * 4, probe
    assert_accounts(name, metrics, events)


def assert_accounts(name: str, metrics: dict[str, Any], events: list[Any]) -> None:
    counted = [e.data for e in events if e.kind == "agent.usage" and e.data["source"] == "broker"]
    assert len(counted) > 8
    assert metrics.tokens.output_tokens == sum(entry["output_tokens"] for entry in counted)
    if name in STREAMING:
        assert_same_accounts(metrics)
    else:
        assert metrics.agent_accounts is None


def assert_same_accounts(metrics: Any) -> None:
    """Check that an agent's own stream and the broker count the same."""
    difference = metrics.agent_accounts.difference.model_dump()
    assert difference == {"input_tokens": 0, "cache_tokens": 0, "output_tokens": 0}


def run(tmp_path: Path, evolver: dict[str, Any]) -> tuple[SuiteResult, Path]:
    config = resolve(
        {
            "run": {"tasksets": ["gymnasium/CartPole-v1"]},
            "evolver": evolver,
            "budget": {"episodes": 8},
            "views": {"validation": 2, "heldout": 2},
            "engine": {"workers": 1},
        }
    )
    folder = tmp_path / "runs" / "suite"
    result = asyncio.run(run_suite(folder, open_suite(folder, config)))
    return result, next(folder.glob("runs/*"))


def test_a_killed_agent_is_accounted_by_what_it_had_said(tmp_path: Path) -> None:
    name = "claude-code"
    if not programs()[name].installed:
        pytest.skip(f"{name} is not installed; heredity agents install {name}")
    tool, call = SHELLS[name]
    # It refuses to run a plain sleep.
    waiting = 'python3 -c "import time; time.sleep(100)"'
    write_rules(tmp_path / "rules.toml", ["heredity submit --episodes 0-1", waiting], call, tool)
    # Killed in the midst of a call, nobody knows what that one used: by then it must wait.
    result, folder = run(tmp_path, {"launcher": name, "model": f"scripted/{tmp_path}/rules.toml", "time_limit_s": 60})
    (metrics,) = result.runs
    assert len(metrics.submissions) == 1, (folder / "logs" / "agent.log").read_text()
    accounts = metrics.agent_accounts
    said, counted = accounts.by_source[name], accounts.by_source["broker"]
    # When a message begins, what its input used is an estimate.
    assert said.input_tokens == pytest.approx(counted.input_tokens, rel=0.1)
    # It prints what a message used when the message begins, so that of an answer's tokens it knows the first only.
    assert 0 < said.output_tokens < counted.output_tokens
    assert accounts.difference.output_tokens == said.output_tokens - counted.output_tokens
