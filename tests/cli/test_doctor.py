from __future__ import annotations

import json
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from heredity import attacks
from heredity.cli import doctor as module
from heredity.cli.doctor import Check, doctor


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    app.command()(doctor)
    return app


def test_this_machine_is_examined(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["--json"])
    report = json.loads(result.stdout)
    checks = {check["name"]: check for check in report["checks"]}
    assert {"Python", "namespaces", "landlock", "seccomp", "bubblewrap", "cgroups", "GPU"} <= set(checks)
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
