from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.kinds.world.folders.folders import BAKERY, CANAL, FERRY, written
from typer import Typer
from typer.testing import CliRunner, Result

from heredity._core.errors import ConfigError, HeredityError
from heredity.analysis.worlds import GROUPS, PUBLISHED
from heredity.kinds.world.commands.bench import _print_players, bench
from heredity.kinds.world.commands.episodes import groups_of, is_release
from heredity.kinds.world.commands.play import audit
from heredity.kinds.world.commands.worlds import admit
from heredity.kinds.world.folders import audit as folder_audit
from heredity.kinds.world.folders.audit import audit_folder
from heredity.kinds.world.folders.findings import FolderReport
from heredity.sandbox import isolation

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

app = Typer()
app.command("admit")(admit)
app.command("bench")(bench)
app.command("audit")(audit)


def invoke(*given: str) -> Result:
    return CliRunner().invoke(app, given)


def test_the_audit_of_a_clean_folder_ends_well() -> None:
    audited = CliRunner().invoke(app, ["audit", str(CANAL), "--steps", "300"])
    assert audited.exit_code == 0, audited.output
    assert "0 faults" in audited.output
    assert "shown" in audited.output


def test_the_audit_of_a_faulty_folder_says_what_to_do_to_see_it() -> None:
    audited = CliRunner().invoke(
        app, ["audit", str(FERRY), "--steps", "300", "--level", "level_02", "--level", "level_03"]
    )
    assert audited.exit_code == 1
    assert "fault invalid-income: an action that does not exist pays: 3 in 12 steps\n" in audited.output
    assert "    level_02, seed 0: {'action': 'no_such_action', 'params': {}} x 12\n" in audited.output
    assert "    on 2 levels: level_02, level_03" in audited.output
    assert "level_04" not in audited.output


def test_all_folders_in_a_folder_are_audited_and_their_reports_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ["audit", str(CANAL.parent), "--steps", "0", "--processes", "1", "--json", "--out", str(tmp_path)]
    audited = CliRunner().invoke(app, given)
    assert audited.exit_code == 1
    value = json.loads(audited.stdout)
    assert (value["folders"], value["faulty"]) == (2, 1)
    assert [Path(row["folder"]).name for row in value["rows"]] == [CANAL.name, FERRY.name]
    kept = json.loads((tmp_path / f"{FERRY.name}.json").read_text())
    assert kept == value["rows"][1]
    assert {"kind", "fault", "text", "level", "seed", "actions", "levels", "others"} == kept["findings"][0].keys()
    assert [row["level"] for row in kept["levels"]][:2] == ["level_01", "level_02"]

    audits: list[str] = []

    async def once_more(path: Path, *args: Any, **options: Any) -> FolderReport:
        audits.append(path.name)
        return await audit_folder(path, *args, **options)

    monkeypatch.setattr(folder_audit, "audit_folder", once_more)
    assert json.loads(CliRunner().invoke(app, given).stdout) == value
    assert audits == [], "what is known is not redone"
    (tmp_path / f"{CANAL.name}.json").write_text("{")
    again = json.loads(CliRunner().invoke(app, given).stdout)
    assert (audits, again["faulty"]) == ([CANAL.name], 1)
    CliRunner().invoke(app, [*given, "--level", "level_01"])
    assert audits == [CANAL.name, CANAL.name, FERRY.name], "other levels are another question"


def test_a_folder_at_the_gates_is_told_which_apply(tmp_path: Path) -> None:
    admitted = invoke("admit", str(FERRY), "--out", str(tmp_path))
    assert admitted.exit_code == 1, admitted.output
    rows = {line.split()[0]: line for line in admitted.output.splitlines() if line.strip()}
    assert "REJECTED" in rows["reward"]
    assert "left out" in rows["novelty"]
    assert "sandbox" in rows["novelty"]
    certificate = json.loads((tmp_path / "certificate.json").read_text())
    assert (certificate["world"], certificate["admitted"]) == (FERRY.name, False)
    assert not (FERRY / "certificate.json").exists()


def test_players_are_compared_in_all_folders_of_a_folder(tmp_path: Path) -> None:
    shutil.copytree(CANAL, tmp_path / "worlds" / CANAL.name)
    written(BAKERY, tmp_path / "worlds" / "40_Bakery")
    exam = ("--worlds", str(tmp_path / "worlds"), "--runs", "1", "--levels", "2", "--out", str(tmp_path / "out"))
    played = invoke("bench", "--agent", "random", "--agent", "search", *exam, "--json")
    assert played.exit_code == 0, played.output
    tables = {table["player"]: table for table in json.loads(played.stdout)["players"]}
    assert list(tables) == ["random", "search"]
    for table in tables.values():
        assert {Path(name).name: world["episodes"] for name, world in table["worlds"].items()} == {
            CANAL.name: 2,
            "40_Bakery": 2,
        }
        assert table["missing"] == 0
    means = {player: table["groups"]["average"]["mean"] for player, table in tables.items()}
    assert means["search"] > means["random"]
    assert means["search"] > 1  # the declared bounds of one folder are beaten
    again = invoke("bench", "--agent", "search", *exam)
    assert "4 episodes" in again.output
    assert len((tmp_path / "out" / "episodes.jsonl").read_text().splitlines()) == 8  # nothing was played again


def test_the_columns_of_a_folder_are_those_of_its_row_in_the_paper(tmp_path: Path) -> None:
    folder = shutil.copytree(CANAL, tmp_path / "20_Canal")
    assert groups_of([str(folder), str(CANAL)])[str(folder)] == groups_of(["grid_treasure"])["grid_treasure"]


def test_agents_and_skins_that_folders_have_not_are_refused() -> None:
    assert isinstance(invoke("bench", "--agent", "reference", "--worlds", str(CANAL)).exception, ConfigError)
    refused = invoke("bench", "--agent", "random", "--worlds", str(CANAL), "--skin", "inverse").exception
    assert "no skins" in str(refused)


def test_published_rows_stand_beside_the_folders_of_the_release_and_no_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    release = [f"./benchmarks/{number}_World" for number in range(1, 37)]
    assert is_release(release)
    assert not is_release(release[:-1])
    assert not is_release([*release[:-1], "./benchmarks/1_Other"])
    assert not is_release([*release[:-1], "grid_treasure"])
    groups = {group: {"mean": 0.5} for group in (*GROUPS, "average")}
    _print_players([{"player": "random", "groups": groups, "steps": 29.0, "cost_usd": 0.0}], published=True)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if "(published)" in line] == list(PUBLISHED)
    [cheapest] = [line for line in lines if line.startswith("GPT-4o-mini")]
    assert cheapest.split()[2:] == ["7.96", "15.97", "12.65", "11.48", "12.36", "10.58", "11.96", "29.79"]
    for row in PUBLISHED.values():  # each pair of columns averages to the last one, weighted by its worlds
        assert (row[0] + row[1]) / 2 == pytest.approx(row[6], abs=0.06)
        assert (15 * row[2] + 21 * row[3]) / 36 == pytest.approx(row[6], abs=0.4)
