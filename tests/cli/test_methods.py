from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from heredity._core.errors import UnknownNameError
from heredity.cli.main import app
from heredity.methods.registry import METHODS

run = CliRunner()


@pytest.mark.parametrize("name", METHODS.names())
def test_every_option_of_a_method_is_shown_with_its_default_and_meaning(name: str) -> None:
    shown = run.invoke(app, ["methods", "show", name])
    assert shown.exit_code == 0, shown.exception
    rows = json.loads(run.invoke(app, ["methods", "show", name, "--json"]).output)
    fields = METHODS.load(name).options_model.model_fields
    assert [row["option"] for row in rows] == list(fields)
    for row in rows:
        assert row["meaning"], row
        assert row["option"] in shown.output
        default = fields[row["option"]].default
        assert row["default"] == (list(default) if isinstance(default, tuple) else default)


def test_ranges_are_in_words() -> None:
    rows = {
        row["option"]: row["values"]
        for row in json.loads(run.invoke(app, ["methods", "show", "grpo", "--json"]).output)
    }
    assert rows["clip_low"] == "at least 0, less than 1"
    assert rows["evidence_chars"] == "at least 100, at most 1,000,000"
    rows = {
        row["option"]: row["values"]
        for row in json.loads(run.invoke(app, ["methods", "show", "gepa", "--json"]).output)
    }
    assert rows["components"] == "round_robin, all"


def test_the_list_has_a_purpose_for_every_method() -> None:
    rows = json.loads(run.invoke(app, ["methods", "--json"]).output)
    assert [row["name"] for row in rows] == list(METHODS.names())
    assert all(row["about"] for row in rows)


def test_an_unknown_method_names_the_nearest() -> None:
    error = run.invoke(app, ["methods", "show", "grp"]).exception
    assert isinstance(error, UnknownNameError)
    assert "grpo" in error.suggestions
