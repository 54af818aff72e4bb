from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator
from glob import glob
from pathlib import Path

import pytest
import pytest_asyncio
from tests.kinds.world.folders.folders import BAKERY, CANAL, FERRY, changed, in_step, written

from heredity._core.errors import ConfigError, HeredityError, UnknownNameError
from heredity.engine.programs import SandboxedPrograms
from heredity.kinds.world.folders.audit import audit_folder
from heredity.kinds.world.folders.findings import Finding, FolderReport
from heredity.kinds.world.folders.folder import enumerate_actions, malformed_actions, misfit, parameters_of, values_of
from heredity.sandbox import isolation

try:
    isolation.resolve()
except HeredityError:
    pytest.skip("programs cannot be confined on this machine", allow_module_level=True)

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ferry(programs: SandboxedPrograms) -> FolderReport:
    return await audit_folder(FERRY, programs, 500)  # enough to exhaust every level


def of_kind(report: FolderReport, kind: str) -> list[Finding]:
    return [finding for finding in report.findings if finding.kind == kind]


async def test_nothing_is_found_in_a_clean_folder(programs: SandboxedPrograms) -> None:
    report = await audit_folder(CANAL, programs, 300)
    assert [(finding.kind, finding.fault) for finding in report.findings] == [("unseeded-chance", False)]
    assert {row.solvable for row in report.levels} == {"shown"}
    assert {row.to_json()["share"] for row in report.levels} == {1.0}


async def test_pay_for_actions_that_do_not_exist_is_found(ferry: FolderReport) -> None:
    [flagged] = of_kind(ferry, "invalid-income")
    assert (flagged.fault, len(flagged.actions)) == (True, 12)
    assert {action["action"] for action in flagged.actions} == {"no_such_action"}
    assert {"level_01", "level_02"} < set(flagged.levels)
    assert "level_04" not in flagged.levels


async def test_pay_for_doing_nothing_is_found(ferry: FolderReport) -> None:
    [flagged] = of_kind(ferry, "idle-income")
    assert flagged.reproduction == f"{flagged.level}, seed 0: {{'action': 'wait', 'params': {{}}}} x 12"


async def test_a_bound_that_is_beaten_is_found_with_the_actions_that_beat_it(ferry: FolderReport) -> None:
    [finding] = of_kind(ferry, "bound-beaten")
    assert finding.level == "level_02"
    assert 0 < len(finding.actions) <= 12
    rows = {row.level: row.to_json() for row in ferry.levels}
    assert rows["level_02"]["share"] > 1
    assert (rows["level_01"]["best"], rows["level_01"]["solvable"]) == (18.0, "shown")


async def test_a_level_that_holds_the_same_as_another_is_found(ferry: FolderReport) -> None:
    assert [finding.text for finding in of_kind(ferry, "duplicate")] == [
        "levels/level_03.yaml has the same contents as levels/level_01.yaml"
    ]


async def test_parameters_that_crash_are_found_one_action_long(ferry: FolderReport) -> None:
    [finding] = of_kind(ferry, "malformed-crash")
    assert finding.text.startswith("no parameters: KeyError: 'sacks'")
    assert finding.actions == ({"action": "load", "params": {}},)
    assert any("sacks None: TypeError" in text for text in finding.others)
    assert not any("'action'" in text for text in (finding.text, *finding.others))  # {} never reaches a world


async def test_chance_that_no_seed_governs_is_found(ferry: FolderReport) -> None:
    assert set(of_kind(ferry, "not-deterministic")[0].levels) == {row.level for row in ferry.levels}
    assert "at the beginning" in of_kind(ferry, "not-deterministic")[0].text


async def test_a_level_where_nothing_pays_is_shown_to_be_unsolvable(ferry: FolderReport) -> None:
    [finding] = of_kind(ferry, "unsolvable")
    assert finding.level == "level_04"
    assert "all 5 reachable states" in finding.text
    assert {row.level: row.solvable for row in ferry.levels}["level_04"] == "unsolvable"


async def test_files_that_are_read_and_written_are_found(ferry: FolderReport) -> None:
    assert [finding.text for finding in of_kind(ferry, "outside")] == ["outside read /etc/hostname"]
    [note] = of_kind(ferry, "writes")
    assert (note.fault, note.text) == (False, "it writes log.txt in its own folder")


async def test_a_search_path_that_leads_outside_is_no_fault(programs: SandboxedPrograms, tmp_path: Path) -> None:
    lines = "import sys\nsys.path.insert(0, '../../../')\n"
    folder = changed(CANAL, tmp_path / "w", "env_main.py", "import random\n", f"{lines}import random\n")
    assert [finding.kind for finding in (await audit_folder(folder, programs, 0)).findings] == ["unseeded-chance"]


async def test_a_generator_that_fails_and_a_bound_that_is_missing_are_found(ferry: FolderReport) -> None:
    assert "the shipyard is closed" in of_kind(ferry, "generator")[0].text
    assert [finding.level for finding in of_kind(ferry, "no-bound")] == ["../val_levels/level_12"]


async def test_a_report_is_json_and_faults_come_first(ferry: FolderReport) -> None:
    value = json.loads(json.dumps(ferry.to_json()))
    assert value["faults"] == ferry.faults == sum(finding["fault"] for finding in value["findings"])
    assert [finding["fault"] for finding in value["findings"]] == sorted(
        (finding["fault"] for finding in value["findings"]), reverse=True
    )
    assert value["plays"] > 100


async def test_missing_and_unreadable_files_are_all_named(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = shutil.copytree(CANAL, tmp_path / "w")
    for name in ("env_validator.py", "level_max_rewards.json"):
        (folder / name).unlink()
    (folder / "config.yaml").write_text("meta: [")
    (folder / "levels" / "level_02.yaml").write_text("boat: {")
    report = await audit_folder(folder, programs, 0)
    [missing], [unreadable] = of_kind(report, "missing-file"), of_kind(report, "unreadable")
    assert {missing.text, *missing.others} == {"env_validator.py is missing", "level_max_rewards.json is missing"}
    texts = " ".join((unreadable.text, *unreadable.others))
    assert "config.yaml" in texts
    assert "level_02.yaml" in texts
    with pytest.raises(ConfigError, match="not a folder"):
        await audit_folder(tmp_path / "nowhere", programs)


async def test_a_level_that_cannot_be_begun_is_found(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = changed(CANAL, tmp_path / "w", "levels/level_02.yaml", "boat:", "raft:")
    report = await audit_folder(folder, programs, 0)
    [finding] = of_kind(report, "fails")
    assert (finding.level, "KeyError: 'boat'" in finding.text) == ("level_02", True)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("if self._t == 4: raise OSError('a leak')", "OSError: a leak"),
        ("import os; self._t < 1 or os._exit(1)", "crash"),
    ],
)
async def test_a_world_that_fails_in_the_middle_is_found(
    programs: SandboxedPrograms, tmp_path: Path, lines: str, said: str
) -> None:
    report = await audit_folder(in_step(lines, tmp_path / "w"), programs, 0)
    failures = of_kind(report, "fails")
    assert said in failures[0].text
    assert len(failures[0].actions) >= 5 or said == "crash"


async def test_what_an_episode_leaves_in_the_process_is_noted(programs: SandboxedPrograms, tmp_path: Path) -> None:
    lines = "type(self).tide = getattr(type(self), 'tide', 0) + 1\nself.mist += type(self).tide"
    report = await audit_folder(in_step(lines, tmp_path / "w"), programs, 0)
    assert {(finding.kind, finding.fault) for finding in report.findings if finding.kind != "unseeded-chance"} == {
        ("leaks-state", False)
    }


async def test_a_bound_that_no_play_can_reach_is_noted(programs: SandboxedPrograms, tmp_path: Path) -> None:
    folder = changed(
        FERRY,
        tmp_path / "w",
        "level_max_rewards.json",
        '"level_11": {"max_reward": 20.0}',
        '"level_11": {"max_reward": 19.0}',
    )
    for name in ("level_01", "level_02", "level_03", "level_04"):
        (folder / "levels" / f"{name}.yaml").unlink()
    report = await audit_folder(folder, programs, 1500)
    [finding] = of_kind(report, "bound-unreached")
    assert finding.text == "the bound 19 is unreachable: at most 18 can be collected"


# --- faults that show only after some steps


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def bakery(programs: SandboxedPrograms, tmp_path_factory: pytest.TempPathFactory) -> FolderReport:
    return await audit_folder(written(BAKERY, tmp_path_factory.mktemp("audit") / "bakery"), programs, 900)


async def test_pay_for_what_is_no_action_is_found_after_the_steps_that_it_takes(bakery: FolderReport) -> None:
    [finding] = of_kind(bakery, "invalid-income")
    names = [action["action"] for action in finding.actions]
    assert names[0] == "bake"  # before anything is sold nothing of it pays
    assert "sell" in names
    assert len(names) == 12
    assert names[-1] not in ("bake", "taste", "rest")
    assert "steps after" in finding.text


async def test_values_in_prose_and_names_in_the_state_are_tried(bakery: FolderReport) -> None:
    best = next(row.best for row in bakery.levels if row.level == "level_01")
    assert best is not None
    sold = [action["params"]["buyer"] for action in best.actions if action["action"] == "sell"]
    assert "Ada" in sold


async def test_idle_income_and_a_cycle_that_pays_are_found(bakery: FolderReport) -> None:
    [idle], [farm] = of_kind(bakery, "idle-income"), of_kind(bakery, "farmable")
    assert idle.actions[-1] == {"action": "rest", "params": {}}
    assert farm.actions[-1] == {"action": "taste", "params": {}}
    assert "level_03" not in {*idle.levels, *farm.levels}


async def test_amounts_without_an_end_are_found(bakery: FolderReport) -> None:
    [finding] = of_kind(bakery, "unbounded-amount")
    assert "amount of bake accepts" in finding.text
    assert "loaves" in finding.text


async def test_a_level_that_differs_in_what_nobody_notices_is_found(bakery: FolderReport) -> None:
    [finding] = of_kind(bakery, "duplicate")
    assert finding.text == "level_02 plays the same as level_01: they differ in seed"
    assert finding.levels == ("level_02",)


async def test_bounds_that_are_beaten_are_corrected(bakery: FolderReport) -> None:
    rows = {row.level: row.to_json() for row in bakery.levels}
    assert rows["level_01"]["corrected"] > 3
    assert rows["level_01"]["basis"] == "at least"
    assert of_kind(bakery, "unseeded-chance")[0].fault is False
    assert not of_kind(bakery, "not-deterministic")


async def test_only_the_levels_that_are_named_are_audited_and_the_same_is_found_again(
    programs: SandboxedPrograms, tmp_path: Path, bakery: FolderReport
) -> None:
    report = await audit_folder(written(BAKERY, tmp_path / "bakery"), programs, 900, levels=["level_04"])
    assert [row.level for row in report.levels] == ["../val_levels/level_04"]
    before = next(row for row in bakery.levels if row.level == "../val_levels/level_04")
    assert report.levels[0].to_json() == before.to_json()
    with pytest.raises(UnknownNameError, match="level_04"):
        await audit_folder(tmp_path / "bakery", programs, 0, levels=["level_40"])


async def test_a_harvest_that_ripens_is_no_idle_income(programs: SandboxedPrograms, tmp_path: Path) -> None:
    ripens = BAKERY["env_main.py"].replace(
        'paid = 1.0 if self._state["sold"] and action["action"] not in ("bake", "taste") else 0.0',
        'ripe = self._state["loaves"] > 0\n        self._state["loaves"] -= 0.25 * ripe\n        paid = 0.25 * ripe',
    )
    folder = written(BAKERY, tmp_path / "w", **{"env_main.py": ripens.replace("0.25 * self.tasted", "0")})
    report = await audit_folder(folder, programs, 300, levels=["level_01"])
    assert of_kind(report, "idle-income") == []
    assert report.levels[0].best is not None
    assert report.levels[0].best.total > 0


# --- the release of AutoEnv, in a folder that the environment names


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "level", "kind"),
    [
        (2, "level_01", "invalid-income"),
        (17, "", "duplicate"),
        (20, "level_04", "unsolvable"),
        (25, "level_01", "bound-beaten"),
        (31, "level_01", "idle-income"),
        (31, "level_01", "farmable"),
        (33, "level_01", "unbounded-amount"),
        (36, "level_04", "unsolvable"),
        (7, "level_01", "unseeded-chance"),
    ],
)
async def test_what_is_wrong_with_the_folders_of_autoenv_is_found(
    programs: SandboxedPrograms, number: int, level: str, kind: str
) -> None:
    if not os.environ.get("HEREDITY_AUTOENV"):
        pytest.skip("HEREDITY_AUTOENV names no folder with the benchmarks of AutoEnv's release")
    [folder] = (Path(entry) for entry in glob(f"{os.environ['HEREDITY_AUTOENV']}/{number}_*"))
    report = await audit_folder(folder, programs, 2500 if level else 100, levels=[level] if level else ())
    assert of_kind(report, kind)


# --- action spaces


@pytest.mark.parametrize(
    ("said", "kind", "tried", "complete"),
    [
        ("int, 0 to 3", "integer", (0, 1, 2, 3), True),
        ("integer (1-3)", "integer", (1, 2, 3), True),
        ({"type": "integer", "minimum": 0, "maximum": 2}, "integer", (0, 1, 2), True),
        ({"type": "integer", "description": "Column index [0, 2]"}, "integer", (0, 1, 2), True),
        ({"type": "string", "enum": ["red", "blue"]}, "text", ("red", "blue"), True),
        (["red", "blue"], "text", ("red", "blue"), True),
        ("string: 'red' or 'blue'", "text", ("red", "blue"), True),
        ("one of: red, blue", "text", ("red", "blue"), True),
        ("bool", "boolean", (True, False), True),
        ("float, 0.0-1.0", "number", (0.0, 0.25, 0.5, 0.75, 1.0), False),
        ("int", "integer", (0, 1, 2, 3), False),
        ("horizontal coordinate (0-4)", "integer", (0, 1, 2, 3, 4), True),
        ("amount to inject (10, 20, or 30)", "integer", (10, 20, 30), True),
        ("displacement (-1, 0, or 1)", "integer", (-1, 0, 1), True),
        ("camp to attack (0 or 1)", "integer", (0, 1), True),
        ("from 0 (off) to 3 (maximum)", "integer", (0, 1, 2, 3), True),
        ("length (must be between 2 and 4)", "integer", (2, 3, 4), True),
        ("ratio between 0.2 and 0.8", "number", (0.2, 0.35, 0.5, 0.65, 0.8), False),
        ("name of the reagent (Acid, Base, or Solvent)", "text", ("Acid", "Base", "Solvent"), True),
        ("domain (thermal_grid, data_archive)", "text", ("thermal_grid", "data_archive"), True),
        ("place to look (e.g., 'office', 'yard')", "text", ("office", "yard"), False),
        ("items to sell (must not exceed inventory)", "", (0, 1, "a"), False),
    ],
)
async def test_what_a_parameter_may_be_is_read_from_prose(
    said: object, kind: str, tried: tuple[object, ...], complete: bool
) -> None:
    values = values_of(said)
    assert (values.kind, values.tried, values.complete) == (kind, tried, complete)


@pytest.mark.parametrize(
    "listed",
    [
        {"column": "int"},
        {"type": "object", "properties": {"column": {"type": "integer"}}},
        [{"name": "column", "type": "int"}],
        ["column"],
    ],
)
async def test_parameters_are_found_however_they_are_listed(listed: object) -> None:
    assert list(parameters_of({"name": "drop", "parameters": listed})) == ["column"]


async def test_actions_are_enumerated_by_turns_and_it_is_known_whether_these_are_all() -> None:
    actions = [{"name": "drop", "parameters": {"column": "int 0-2"}}, {"name": "pass", "parameters": {}}]
    enumerated, complete = enumerate_actions(actions)
    assert [action["action"] for action in enumerated] == ["drop", "pass", "drop", "drop"]
    assert complete
    assert not enumerate_actions([{"name": "say", "parameters": {"words": "string"}}])[1]
    assert len(enumerate_actions(actions, 2)[0]) == 2
    assert not enumerate_actions(actions, 2)[1]


async def test_no_malformed_action_fits_the_list_that_it_is_made_from() -> None:
    actions = [{"name": "drop", "parameters": {"column": "int 0-2", "face": "string: 'up' or 'down'"}}]
    made = [action for _, action, _ in malformed_actions(actions) if isinstance(action.get("action"), str)]
    assert len(made) > 20
    assert [action for action in made if not misfit({**action, "params": action.get("params") or {}}, actions)] == []
    assert misfit({"action": "drop", "params": {"column": 2, "face": "up"}}, actions) == ""
