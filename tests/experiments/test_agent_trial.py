"""Trials of agents: a small agent of this repository does every step, and one that does not is found out."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError
from heredity.agents.launchers import available
from heredity.cli.main import app
from heredity.experiments.agent_trial import try_agent

confined = pytest.mark.skipif(available() is not None, reason=f"agents cannot be confined here: {available()}")

AGENT = textwrap.dedent(
    """
    import json, os, subprocess, sys, urllib.request

    messages = [{"role": "user", "content": os.environ["HEREDITY_PROMPT"]}]
    parameters = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    tool = {"type": "function", "function": {"name": "shell", "description": "runs", "parameters": parameters}}
    while True:
        body = {"model": os.environ["HEREDITY_MODEL"], "messages": messages, "tools": [tool]}
        headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
        url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        message = json.load(urllib.request.urlopen(request))["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            if "finish" in command and "lazy" in sys.argv:
                sys.exit(3)
            done = subprocess.run(command, shell=True, capture_output=True, text=True)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})
    """
)


def agent(folder: Path, arguments: str = "") -> str:
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    (folder / "start.sh").write_text(f'exec python3 "$(dirname "$0")/agent.py" {arguments}\n')
    return str(folder)


@confined
def test_an_agent_that_does_every_step_works(tmp_path: Path) -> None:
    trial = try_agent(agent(tmp_path / "whole"))
    assert [step.name for step in trial.steps if not step.works] == [], trial.output
    assert [step.name for step in trial.steps][:3] == ["starts and ends", "calls its model", "edits files"]


@confined
def test_the_command_names_the_steps_that_fail_and_exits_with_1(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["agents", "check", agent(tmp_path / "half", "lazy"), "--json"])
    assert done.exit_code == 1
    (result,) = json.loads(done.stdout)
    failed = {step["name"] for step in result["steps"] if not step["works"]}
    assert failed == {"starts and ends", "finishes"}, result
    assert result["works"] is False


def test_an_agent_that_is_not_there_is_refused_before_a_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEREDITY_AGENTS", str(tmp_path))
    with pytest.raises(ConfigError, match="heredity agents install opencode"):
        try_agent("opencode")
    with pytest.raises(ConfigError, match="finds no program no-such-agent"):
        try_agent("no-such-agent --headless")
    told = CliRunner().invoke(app, ["agents", "check", "acp:opencode"])
    assert told.exit_code == 1
    assert "acp:opencode: opencode 1.18.18 is not installed" in told.stdout


def test_the_list_says_what_each_agent_supports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEREDITY_AGENTS", str(tmp_path))
    listed = {
        entry["name"]: entry for entry in json.loads(CliRunner().invoke(app, ["agents", "list", "--json"]).stdout)
    }
    assert listed["codex"]["efforts"] == ["minimal", "low", "medium", "high", "xhigh"]
    assert listed["codex"]["profiles"] == ["full", "coding"]
    assert {name for name, entry in listed.items() if entry["acp"]} == {"gemini-cli", "opencode", "qwen-code"}
    assert all(entry["folder"] is None for entry in listed.values())
