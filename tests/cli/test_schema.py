"""`heredity schema`: what it prints is the form that is written."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity.cli.catalogue import Format, tables_of
from heredity.cli.main import app
from heredity.methods.registry import METHODS
from heredity.records import Journal
from heredity.records.events import EVENTS, HEARTBEAT, RUN_FINISHED


def printed(what: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["schema", what])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_the_schema_of_the_journal_holds_every_event_of_every_protocol() -> None:
    kinds = [line["properties"]["kind"]["const"] for line in printed("journal")["anyOf"]]
    assert set(EVENTS) | {"snapshot.assessed", "code.revised"} <= set(kinds)
    assert {kind for kind in kinds if kinds.count(kind) > 1} == {"run.started"}, (
        "protocols add fields to the start alone"
    )


def test_a_line_that_is_written_fits_its_schema_and_one_without_a_key_does_not(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    journal = Journal.open(tmp_path / "j")
    journal.append_many([HEARTBEAT.line({"clock_s": 1.0}), RUN_FINISHED.line({"status": "finished"})])
    lines = [json.loads(line) for line in (tmp_path / "j").read_text().splitlines()]
    valid = jsonschema.Draft202012Validator(printed("journal")).is_valid
    assert all(map(valid, lines))
    assert not valid({**lines[1], "data": {}})


def test_the_schema_of_configurations_has_their_sections() -> None:
    assert "budget" in json.dumps(printed("config"))


@pytest.mark.parametrize("what", [Format.config, Format.team, Format.world])
def test_every_key_that_a_user_writes_is_described(what: Format) -> None:
    tables = [table for table in tables_of(what) if table.path]
    assert sum(len(table.rows) for table in tables) > 30
    assert [(table.path, row[0]) for table in tables for row in table.rows if not row[3]] == []


@pytest.mark.parametrize("name", METHODS.names())
def test_every_option_of_a_method_is_described(name: str) -> None:
    fields = METHODS.load(name).options_model.model_fields
    assert [key for key, field in fields.items() if not field.description] == []


def test_the_schema_carries_descriptions_also_those_that_a_section_inherits() -> None:
    defined = printed("config")["$defs"]
    assert defined["OpenBudgetSection"]["properties"]["submissions"]["description"].startswith("maximum submissions")
    assert "Attributes:" not in defined["BudgetSection"]["description"]
    assert printed("world")["$defs"]["Bound"]["properties"]["reason"]["description"]


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["schema", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_keys_of_a_section_are_shown_with_defaults_ranges_and_the_protocols_that_differ() -> None:
    text = shown("config", "limits")
    assert re.search(r"^episode_s +3600\.0 +number more than 0 +wall seconds per episode\.$", text, re.MULTILINE)
    assert re.search(r"^\[limits\] under policy-evolution.*\n.*\n.*\nepisode_s +300\.0", text, re.MULTILINE)
    assert "[gateway.providers.NAME.prices.NAME]" in shown("config", "gateway")
    assert "[solver]" in shown("config", "--text")


def test_an_event_is_shown_with_its_keys() -> None:
    text = shown("journal", "run.resumed")
    assert "attempt" in text
    assert "[run.started]" not in text


def test_a_part_that_there_is_not_is_refused_with_those_there_are() -> None:
    result = CliRunner().invoke(app, ["schema", "config", "solvr"])
    assert result.exit_code != 0
    assert "did you mean solver" in str(result.exception)
