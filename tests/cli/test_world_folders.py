from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.rollouts.folders import CANAL, FERRY
from typer import Typer
from typer.testing import CliRunner

from heredity.cli.world_folders import audit
from heredity.errors import HeredityError
from heredity.sandbox import isolation

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

app = Typer()
app.command("audit")(audit)


def test_the_audit_of_a_clean_folder_ends_well() -> None:
    audited = CliRunner().invoke(app, [str(CANAL), "--seconds", "2"])
    assert audited.exit_code == 0, audited.output
    assert "0 faults" in audited.output
    assert "shown" in audited.output


def test_the_audit_of_a_faulty_folder_says_what_to_do_to_see_it() -> None:
    audited = CliRunner().invoke(app, [str(FERRY), "--seconds", "0"])
    assert audited.exit_code == 1
    assert "fault invalid-income: an action that does not exist pays: 3 in 12 steps\n" in audited.output
    assert "    level_01, seed 0: {'action': 'no_such_action', 'params': {}} x 12\n" in audited.output
    assert "    likewise level_02, level_03, " in audited.output


def test_the_audit_prints_json(tmp_path: Path) -> None:
    audited = CliRunner().invoke(app, [str(FERRY), "--seconds", "0", "--json"])
    assert audited.exit_code == 1
    value = json.loads(audited.stdout)
    assert value["faults"] > 10
    assert {"kind", "fault", "text", "level", "seed", "actions"} == value["findings"][0].keys()
    assert [row["level"] for row in value["levels"]][:2] == ["level_01", "level_02"]
