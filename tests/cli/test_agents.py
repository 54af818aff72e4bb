from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity.agents.launchers.registry import programs
from heredity.cli.main import app, explanation


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEREDITY_AGENTS", str(tmp_path))
    return tmp_path


def install(name: str, says: str) -> None:
    path = programs()[name].folder / programs()[name].entry
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)


def test_agents_are_listed_with_their_folders(agents: Path) -> None:
    install("codex", "codex-cli 0.169.0")
    listed = json.loads(CliRunner().invoke(app, ["agents", "list", "--json"]).stdout)
    assert {agent["name"]: agent["folder"] for agent in listed} == {
        "claude-code": None,
        "codex": str(agents / "codex-0.169.0"),
        "gemini-cli": None,
        "mini-swe-agent": None,
        "opencode": None,
        "qwen-code": None,
    }
    assert "mini-swe-agent" in CliRunner().invoke(app, ["agents", "list"]).stdout


def test_a_check_fails_where_a_program_is_not_what_it_should_be() -> None:
    none = CliRunner().invoke(app, ["agents", "check", "--version-only"])
    assert (none.exit_code, "no agent is installed" in none.stdout) == (1, True)
    install("codex", "codex-cli 0.169.0")
    done = CliRunner().invoke(app, ["agents", "check", "--version-only"])
    assert (done.exit_code, done.stdout) == (0, "codex: works\n")
    install("claude-code", "1.0.0")
    done = CliRunner().invoke(app, ["agents", "check", "--version-only", "--json"])
    assert done.exit_code == 1
    checked = {agent["agent"]: agent for agent in json.loads(done.stdout)}
    assert checked["codex"]["works"]
    assert "1.0.0" in checked["claude-code"]["problem"]
    assert CliRunner().invoke(app, ["agents", "check", "mini-swe-agent"]).exit_code == 1


def test_installing_what_is_there_changes_nothing(agents: Path) -> None:
    install("codex", "codex-cli 0.169.0")
    done = CliRunner().invoke(app, ["agents", "install", "codex"])
    assert done.stdout == f"codex 0.169.0 is in {agents}/codex-0.169.0\n"


def test_an_unknown_agent_names_the_nearest() -> None:
    error = CliRunner().invoke(app, ["agents", "install", "claude"]).exception
    assert error is not None
    assert "claude-code" in (explanation(error) or "")
