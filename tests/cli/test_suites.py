from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import UnknownNameError
from heredity.cli.main import app
from heredity.experiments.config import suites

run = CliRunner()


def test_the_list_says_what_each_suite_is_for() -> None:
    text = run.invoke(app, ["suites"]).output
    rows = json.loads(run.invoke(app, ["suites", "--json"]).output)
    assert [row["name"] for row in rows] == list(suites())
    for row in rows:
        assert Path(row["file"]).is_file()
        assert f"{row['about']}\n" in text


def test_a_suite_is_shown_as_it_is_written() -> None:
    shown = run.invoke(app, ["suites", "show", "demo"]).output
    assert shown == suites()["demo"].read_text()
    assert tomllib.loads(shown)["run"]["protocol"] == "policy-evolution"
    error = run.invoke(app, ["suites", "show", "demos"]).exception
    assert isinstance(error, UnknownNameError)
    assert error.suggestions == ["demo"]


def test_run_takes_the_name_of_a_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    error = run.invoke(app, ["run", "demmo"]).exception
    assert isinstance(error, UnknownNameError)
    error = run.invoke(app, ["run", "demo", "budget.episode=64"]).exception
    assert "demo.toml: unknown key budget.episode; did you mean episodes?" in str(error)
