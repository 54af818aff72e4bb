"""Keys in configurations: they reach the agent, and no record, name or message."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from heredity._core.errors import ConfigError, HeredityError, redacted
from heredity.configuration.secrets import program_of
from heredity.experiments.config import cells, resolve
from heredity.team.settings import load_team

BASE: dict[str, Any] = {"run": {"tasksets": ["gymnasium/CartPole-v1"], "seeds": 1}, "suite": {"baselines": False}}
KEY = "sk-proj-" + "Zq7" * 8
SHAPES = [
    KEY,
    "sk-ant-api03-" + "b4_-" * 8,
    "ghp_" + "a1" * 18,
    "github_pat_" + "A1_" * 10,
    "hf_" + "Ab" * 15,
    "xai-" + "c3" * 20,
    "gsk_" + "d4" * 20,
    "AKIA" + "ABCD1234" * 2,
    "AIza" + "e5" * 18,
    "xoxb-" + "123-abc" * 3,
    "glpat-" + "f6" * 10,
    "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3" + ".SflKxwRJSMeKKF2QT4",
]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "MY_TOKEN"):
        monkeypatch.setenv(name, "before")


def agent(command: str) -> Any:
    return resolve(BASE, changes={"evolver.agent": command})


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("OPENAI_API_KEY={} my-agent --fast", "my-agent --fast"),
        ("OPENAI_API_KEY='{}' STYLE=calm my-agent", "STYLE=calm my-agent"),
        ('env STYLE=calm OPENAI_API_KEY="{}" my-agent', "env STYLE=calm my-agent"),
        ("  OPENAI_API_KEY={}   bin/my-agent.sh 'a b'", "bin/my-agent.sh 'a b'"),
    ],
)
@pytest.mark.parametrize("value", [KEY, "hunter2"])
def test_a_key_before_a_command_becomes_a_variable(command: str, expected: str, value: str) -> None:
    config = agent(command.format(value))
    assert config.evolver.agent == expected
    assert config.evolver.label == "my-agent"
    assert config.evolver.inherit == ["OPENAI_API_KEY"]
    assert os.environ["OPENAI_API_KEY"] == value
    assert value not in config.model_dump_json() + "".join(cell.id for cell in cells(config))


def test_keys_of_a_matrix_of_agents_become_variables() -> None:
    agents = [f"OPENAI_API_KEY={KEY} one", f"MY_TOKEN={KEY} two"]
    config = resolve({**BASE, "matrix": {"evolver.agent": agents}})
    assert config.evolver.inherit == ["OPENAI_API_KEY", "MY_TOKEN"]
    assert {cell.label for cell in cells(config)} == {"one", "two"}
    with pytest.raises(ConfigError, match="gives OPENAI_API_KEY two values"):
        resolve({**BASE, "matrix": {"evolver.agent": [*agents, "OPENAI_API_KEY=other three"]}})


@pytest.mark.parametrize(
    "command",
    [
        "my-agent --api-key hunter2",
        "my-agent --api-key=hunter2",
        "my-agent --hf-token hunter2 --fast",
        "cd there && OPENAI_API_KEY=hunter2 my-agent",
        "bash -c 'OPENAI_API_KEY=hunter2 my-agent'",
        f"my-agent {KEY}",
    ],
)
def test_a_key_that_cannot_be_taken_out_is_refused_and_not_repeated(command: str) -> None:
    with pytest.raises(ConfigError, match=r"records would show; set .*evolver\.inherit") as refused:
        agent(command)
    assert "hunter2" not in str(refused.value)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    "command",
    [
        'my-agent --api-key "$OPENAI_API_KEY"',
        "my-agent --max-tokens 100 --keyboard x",
        "OPENAI_API_KEY=$MINE my-agent",
        "A=1 b",
    ],
)
def test_a_command_without_a_key_stays_as_it_is(command: str) -> None:
    assert agent(command).evolver.agent == command
    assert agent(command).evolver.inherit == []


@pytest.mark.parametrize("key", ["evolver.environment", "run.name", "evolver.prompt", "evolver.name"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_key_anywhere_in_a_configuration_is_refused(key: str, shape: str) -> None:
    value = {"A": shape} if key.endswith("environment") else f"a {shape} b"
    with pytest.raises(ConfigError, match=f"{key}.* holds a key, which records would show") as refused:
        resolve(BASE, changes={key: value})
    assert shape not in str(refused.value)


@pytest.mark.parametrize("shape", SHAPES)
def test_no_error_says_a_key(shape: str) -> None:
    assert shape not in str(HeredityError(f"the program said {shape}, and ended"))
    assert redacted(f"({shape})") == f"({shape[:4]}…)"


@pytest.mark.parametrize(
    "text", ["sk-learn", "task-sk-1", "skeleton", "hf_model", "xai-grok", "risk-assessment-of-the-models"]
)
def test_what_is_no_key_is_left_alone(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/opt/tools/solver --fast x", "solver"),
        ("python3.11 -u agents/improve.py --x", "improve"),
        ("python -m my_agent.main --key", "my_agent"),
        (f"python --secret {KEY}", "agent"),
        ("A=1 B='x y' exec solver", "solver"),
        ("A=1", "agent"),
        ("it's", "it's"),
        (KEY, "agent"),
        ("", "agent"),
    ],
)
def test_an_agent_is_called_by_its_program_alone(command: str, name: str) -> None:
    assert program_of(command) == name


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ('[mcp.n]\ncommand = ["python3", "x.py", "--api-key", "hunter2"]', "mcp.n.command"),
        ('[mcp.n]\ncommand = ["env", "API_KEY=hunter2", "python3"]', "mcp.n.command"),
        ('[mcp.n]\ncommand = ["x"]\nenvironment = ["API_KEY=hunter2"]', "mcp.n.environment"),
        ('[mcp.n]\ncommand = ["x"]\nenvironment = {API_KEY = "hunter2"}', "mcp.n.environment.API_KEY"),
        ('[mcp.n]\nurl = "http://127.0.0.1:9/mcp?api_key=hunter2"', "mcp.n.url"),
        ('[mcp.n]\nurl = "http://me:hunter2@h/mcp"', "mcp.n.url"),
        ('[agents.f]\ndescription = "y"\na2a = "http://h:9/?token=hunter2"', "agents.f.a2a"),
        ('[search]\nservice = "searxng"\nurl = "http://h/?key=hunter2"', "search.url"),
        ('[gateway.providers.lab]\nbase_url = "http://h/v1"\nextra_body = {api_key = "hunter2"}', "extra_body.api_key"),
        ('[gateway.providers.lab]\nbase_url = "http://me:hunter2@h/v1"', "gateway.providers.lab.base_url"),
    ],
)
def test_a_team_whose_settings_hold_a_secret_is_refused_without_repeating_it(
    tmp_path: Path, section: str, key: str
) -> None:
    path = tmp_path / "team.toml"
    path.write_text(f'[team]\nmodel = "offline/x"\n[agents.coder]\ndescription = "x"\ntools = ["python"]\n{section}\n')
    with pytest.raises(ConfigError, match=re.escape(key)) as refused:
        load_team(path)
    assert "hunter2" not in str(refused.value)
