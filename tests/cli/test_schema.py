"""`heredity schema`: what it prints is the form that is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity.cli.main import app
from heredity.records import Journal
from heredity.records.events import EVENTS, HEARTBEAT, RUN_FINISHED


def printed(what: str) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["schema", what])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_the_schema_of_the_journal_holds_every_event_of_every_protocol() -> None:
    kinds = [line["properties"]["kind"]["const"] for line in printed("journal")["anyOf"]]
    assert set(EVENTS) | {"snapshot.assessed", "code.revised"} <= set(kinds)
    assert len(kinds) == len(set(kinds))


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
