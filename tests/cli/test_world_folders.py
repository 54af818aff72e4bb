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
    audited = CliRunner().invoke(app, [str(CANAL), "--steps", "300"])
    assert audited.exit_code == 0, audited.output
    assert "0 faults" in audited.output
    assert "shown" in audited.output


def test_the_audit_of_a_faulty_folder_says_what_to_do_to_see_it() -> None:
    audited = CliRunner().invoke(app, [str(FERRY), "--steps", "300", "--level", "level_02", "--level", "level_03"])
    assert audited.exit_code == 1
    assert "fault invalid-income: an action that does not exist pays: 3 in 12 steps\n" in audited.output
    assert "    level_02, seed 0: {'action': 'no_such_action', 'params': {}} x 12\n" in audited.output
    assert "    on 2 levels: level_02, level_03" in audited.output
    assert "level_04" not in audited.output


def test_all_folders_in_a_folder_are_audited_and_their_reports_kept(tmp_path: Path) -> None:
    given = [str(CANAL.parent), "--steps", "0", "--processes", "1", "--json", "--out", str(tmp_path)]
    audited = CliRunner().invoke(app, given)
    assert audited.exit_code == 1
    value = json.loads(audited.stdout)
    assert (value["folders"], value["faulty"]) == (2, 1)
    assert [Path(row["folder"]).name for row in value["rows"]] == [CANAL.name, FERRY.name]
    kept = json.loads((tmp_path / f"{FERRY.name}.json").read_text())
    assert kept == value["rows"][1]
    assert {"kind", "fault", "text", "level", "seed", "actions", "levels", "others"} == kept["findings"][0].keys()
    assert [row["level"] for row in kept["levels"]][:2] == ["level_01", "level_02"]
