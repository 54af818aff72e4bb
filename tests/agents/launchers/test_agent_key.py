"""An agent given in one text is a launcher or a command; a program that is not there is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.agents.launchers import agent_key, check_command
from heredity.cli.main import app

BIN = [Path("/usr/bin"), Path("/bin")]


def test_a_name_or_a_folder_is_a_launcher_and_anything_else_a_command(tmp_path: Path) -> None:
    assert {name: agent_key(name) for name in ("codex", "claude-code", str(tmp_path))} == dict.fromkeys(
        ("codex", "claude-code", str(tmp_path)), "launcher"
    )
    for command in ("codex exec x", "my-agent", "/bin/sh", f"{tmp_path} --headless", "codex "):
        assert agent_key(command) == "agent"
    with pytest.raises(ConfigError, match="empty; give the name of an agent"):
        agent_key(" ")
    for path in ("./my-agent", "../agent.sh", "~/no-such-agent"):
        with pytest.raises(ConfigError, match=f"--agent {path} is not a folder; give one with a start.sh"):
            agent_key(path)


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'exit 0'", "A=1 B=2 sh x", "exec sh x", "cd system && ./go", "./mine.sh", "heredity submit --episodes 8",
        "(sh x)", "{ sh x; }", "$AGENT --go", "/bin/sh x", "sh -c 'a | b' | tee log", "for i in 1 2; do sh x; done",
    ],
)  # fmt: skip
def test_a_command_whose_program_is_there_or_that_only_a_shell_can_tell_is_taken(command: str) -> None:
    check_command(command, BIN)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("my-agent --headless", r"finds no program my-agent in /usr/bin:/bin; install it there, or give its path, and its folder"),
        ("claude-cod", r"finds no program claude-cod .*; did you mean claude-code\? \(heredity agents list\)"),
        ("K=1 /opt/no/agent x", r"/opt/no/agent does not exist; correct the path"),
        ("sh 'x", r"no shell can read .*; close the quotation"),
    ],
)  # fmt: skip
def test_a_program_that_is_not_there_is_refused_with_what_to_do(command: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_command(command, BIN)


def test_a_program_out_of_sight_is_named_with_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=f"{tmp_path / 'mine'} is out of the agent's sight: give that path"):
        check_command("mine --go", BIN)
    check_command("mine --go", [tmp_path])


@pytest.mark.parametrize("command", ["run", "evolve"])
def test_run_and_evolve_take_an_agent_alike(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEREDITY_AGENTS", str(tmp_path / "agents"))
    (tmp_path / "folder").mkdir()
    what = ["run", "demo", "--out", "out"] if command == "run" else ["evolve", "circle-packing-26", "--out", "out"]
    missing = {
        "claude-code": "claude-code 2.1.330 is not installed",
        "./folder": "has no start.sh",
        "no-such-agent --headless": "finds no program no-such-agent in",
        "": "--agent is empty",
    }
    for agent, said in missing.items():
        refused = CliRunner().invoke(app, [*what, "--agent", agent])
        message = refused.stderr or str(refused.exception)
        assert said in message, (agent, message)
        assert not list(tmp_path.rglob("journal.jsonl"))
