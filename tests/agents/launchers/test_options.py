"""Settings of agents: each launcher translates or refuses them, and a login's files reach an agent only when asked for."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from tests.agents.launchers.test_command import Run, confined
from tests.agents.launchers.test_launchers import PROGRAMS, pretend

from heredity._core.errors import ConfigError
from heredity.agents.launchers import LaunchOptions, launcher, linked
from heredity.agents.launchers.registry import settings_of
from heredity.configuration.secrets import without_secrets
from heredity.experiments.config import resolve

NAMES = sorted(PROGRAMS)


@pytest.fixture(autouse=True)
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEREDITY_AGENTS", str(tmp_path / "agents"))
    for name in NAMES:
        pretend(PROGRAMS[name], "exit 0")


def text(name: str, model: str = "m", **options: object) -> str:
    launch = launcher(name).launch("Begin.", model, LaunchOptions(**options))  # type: ignore[arg-type]
    return launch.command + json.dumps(dict(launch.environment))


@pytest.mark.parametrize("name", NAMES)
def test_an_effort_changes_the_start_and_one_that_is_not_supported_is_refused(name: str) -> None:
    efforts = settings_of(name)["efforts"]
    assert len({text(name, effort=effort) for effort in ("", *efforts)}) == len(efforts) + 1
    for effort in {"minimal", "low", "medium", "high", "xhigh", "max"} - set(efforts):
        with pytest.raises(ConfigError, match=f"{name} does not support effort = '{effort}'; supported: "):
            text(name, effort=effort)


@pytest.mark.parametrize("name", NAMES)
def test_a_profile_changes_the_tools_of_an_agent_that_has_others(name: str) -> None:
    profiles = settings_of(name)["profiles"]
    starts = {profile: text(name, profile=profile) for profile in profiles}
    assert len(set(starts.values())) == (1 if name == "mini-swe-agent" else len(profiles))
    if "shell" not in profiles:
        with pytest.raises(ConfigError, match="does not support profile = 'shell'; supported: full, coding"):
            text(name, profile="shell")


@pytest.mark.parametrize("name", NAMES)
def test_an_account_is_asked_for_its_own_model_without_a_broker(name: str) -> None:
    start = text(name, "", account_model="mine/own-1")
    assert "own-1" in start
    assert "heredity/" not in start.replace("heredity-", "")
    assert "BASE_URL" not in start


@pytest.mark.parametrize("name", [name for name in NAMES if settings_of(name)["login"]])
def test_a_login_is_shown_when_asked_for_and_its_absence_is_reported(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with pytest.raises(
        ConfigError, match=f"{name} is not logged in: {tmp_path}/.* does not exist; .* or leave login out"
    ):
        text(name, "", login=True)
    assert launcher(name).launch("", "m").logins == {}
    for path in (
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".gemini/oauth_creds.json",
        ".local/share/opencode/auth.json",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("{}")
    logins = launcher(name).launch("", "", LaunchOptions(login=True)).logins
    assert logins == {path: tmp_path / path for path in logins}
    assert len(logins) == 1


def test_agents_of_several_interfaces_use_that_of_the_models_provider() -> None:
    packages = {
        "anthropic": "@ai-sdk/anthropic",
        "openai": '@ai-sdk/openai\\"',
        "google": "@ai-sdk/google",
        "lab": "compatible",
    }
    for provider, package in packages.items():
        assert package in text("opencode", provider=provider)
    types = {"anthropic": "anthropic", "openai": "openai", "google": "gemini", "lab": "openai"}
    for provider, kind in types.items():
        assert f"--auth-type {kind} " in text("qwen-code", provider=provider)


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-2.5-pro", "low", {"thinkingBudget": 1024}),
        ("gemini-3-pro-preview", "high", {"thinkingLevel": "HIGH"}),
    ],
)
def test_gemini_cli_gets_an_effort_in_the_form_that_its_model_takes(
    model: str, effort: str, thinking: dict[str, object]
) -> None:
    (settings,) = [
        word for word in shlex.split(text("gemini-cli", model, effort=effort)) if word.startswith('{"security"')
    ]
    (override,) = json.loads(settings)["modelConfigs"]["customOverrides"]
    assert override["match"] == {"model": model}
    assert override["modelConfig"]["generateContentConfig"]["thinkingConfig"] == thinking


@confined
async def test_a_login_is_read_only_inside_and_leaves_no_copy_in_the_workspace(tmp_path: Path) -> None:
    credentials = tmp_path / "own" / "auth.json"
    credentials.parent.mkdir()
    credentials.write_text("TOKEN")
    logins = {".codex/auth.json": credentials}
    run = Run(tmp_path / "run")
    script = """cat "$HOME/.codex/auth.json"; echo x >> "$HOME/.codex/auth.json"
    cat "$HOME/.codex/auth.json" > copy && mv copy "$HOME/.codex/auth.json" && cat "$HOME/.codex/auth.json" """
    ended = await run.agent(linked(script, logins), logins=logins, time_limit_s=30)
    assert ended.output.count("TOKEN") == 2, run.log
    assert "Read-only file system" in run.log
    assert credentials.read_text() == "TOKEN"
    assert not any(b"TOKEN" in file.read_bytes() for file in run.workspace.root.rglob("*") if file.is_file())


@confined
async def test_a_login_behind_a_link_of_the_agent_is_not_removed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "auth.json").write_text("TOKEN")
    run = Run(tmp_path / "run")
    logins = {".codex/auth.json": mine / "auth.json"}
    await run.agent(f'rm -rf "$HOME/.codex"; ln -s {mine} "$HOME/.codex"', logins=logins, time_limit_s=30)
    assert (mine / "auth.json").read_text() == "TOKEN"


def evolver(**values: object) -> dict[str, object]:
    return {"run": {"tasksets": ["gymnasium/CartPole-v1"]}, "evolver": values, "gateway": {"execution": "scripted/x"}}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"agent": "my-agent", "effort": "high"}, "effort: only a launcher has it"),
        ({"method": "parametric", "profile": "shell"}, "profile: only a launcher has it"),
        ({"launcher": "codex", "login": True}, "login: the agent's own account needs network = true and no model"),
        (
            {"launcher": "codex", "account_model": "m", "network": True, "model": "scripted/x"},
            "account_model: the agent's own account needs network = true and no model",
        ),
        ({"launcher": "codex", "effort": "huge"}, "evolver.effort"),
    ],
)
def test_settings_that_would_do_nothing_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(evolver(**values))


@pytest.mark.parametrize(
    "tables",
    [
        {"evolver": {"launcher": "acp:LAB_API_KEY=s3cr3t-value my-agent --acp"}},
        {"evolver": {"launcher": "acp:my-agent --api-key s3cr3t-value"}},
        {"matrix": {"evolver.launcher": ["codex", "acp:LAB_API_KEY=s3cr3t-value my-agent --acp"]}},
    ],
)
def test_a_key_in_the_command_of_an_acp_agent_is_refused_without_being_repeated(tables: dict[str, Any]) -> None:
    with pytest.raises(
        ConfigError, match=r"launcher (sets LAB_API_KEY|gives --api-key).* set (it|a variable) before"
    ) as error:
        without_secrets(tables)
    assert "s3cr3t" not in str(error.value)


def test_an_acp_agent_is_named_by_its_program() -> None:
    for command, label in (
        ("STYLE=calm my-agent --acp", "my-agent-acp"),
        ("codex", "codex-acp"),
        ("codex-acp", "codex-acp"),
    ):
        assert resolve(evolver(launcher=f"acp:{command}", model="scripted/x")).evolver.label == label


def test_gemini_cli_sends_another_providers_model_no_parameter_that_it_does_not_take() -> None:
    assert '"topK": null' in text("gemini-cli", "gpt-5", provider="openai")
    assert "topK" not in text("gemini-cli", "gemini-2.5-pro", provider="google")
    assert "topK" not in text("gemini-cli", "", account_model="gemini-2.5-pro")
