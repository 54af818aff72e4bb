from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, DamagedRecordError, UnknownNameError
from heredity.cli.main import app
from heredity.resources import Registry, Store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Store(tmp_path / "resources.db") as store:
        registry = Registry(store)
        registry.register("prompt", "solver", "Solve it.\n", {"description": "solves"}, note="first")
        registry.update("prompt", "solver", "Solve it well.\n", note="better")
        registry.register("tool", "add", {"tool.py": "x = 1\n"}, {"description": "adds numbers"})
    return tmp_path / "resources.db"


def call(store: Path, *words: str) -> str:
    done = CliRunner().invoke(app, ["resources", *words, "--store", str(store)])
    if done.exception:
        raise done.exception
    return done.stdout


def call_json(store: Path, *words: str) -> Any:
    return json.loads(call(store, *words, "--json"))


def test_resources_are_listed_and_found(store: Path) -> None:
    assert call(store, "list") == "prompt/solver@1.0.1  solves\ntool/add@1.0.0  adds numbers\n"
    assert [row["name"] for row in call_json(store, "list", "--type", "tool")] == ["add"]
    assert [row["name"] for row in call_json(store, "retrieve", "numbers")] == ["add"]


def test_a_version_is_shown_with_its_parent_and_files(store: Path) -> None:
    text = call(store, "show", "prompt/solver")
    assert "parent   prompt/solver@1.0.0" in text
    assert text.endswith("--- prompt.md\nSolve it well.\n")
    assert call_json(store, "show", "prompt/solver", "--version", "1.0.0")["texts"] == {"prompt.md": "Solve it.\n"}


def test_a_diff_shows_what_changed(store: Path) -> None:
    lines = call(store, "diff", "prompt/solver", "1.0.0").splitlines()
    assert lines[-2:] == ["-Solve it.", "+Solve it well."]
    assert call(store, "diff", "prompt/solver", "1.0.1", "1.0.1") == ""


def test_restoring_and_the_log(store: Path) -> None:
    assert call(store, "restore", "prompt/solver", "1.0.0") == "main of prompt/solver is 1.0.0\n"
    log = call_json(store, "log", "prompt/solver")
    assert [(v["version"], v["parents"], v["branches"]) for v in log["versions"]] == [
        ("1.0.1", ["1.0.0"], []),
        ("1.0.0", [], ["main"]),
    ]
    assert [m["action"] for m in log["moves"]] == ["register", "update", "restore"]
    assert call(store, "log", "prompt/solver").splitlines()[0].startswith("1.0.1 from 1.0.0  2")


def test_export_and_import(store: Path, tmp_path: Path) -> None:
    assert call_json(store, "export", str(tmp_path / "all.json"))["versions"] == 3
    assert call_json(tmp_path / "other.db", "import", str(tmp_path / "all.json"))["added"] == 3
    assert call(tmp_path / "other.db", "list") == call(store, "list")


def test_a_damaged_store_is_exported_only_as_far_as_it_is_intact(store: Path, tmp_path: Path) -> None:
    data = bytearray(store.read_bytes())
    data[data.index(b"Solve it well")] ^= 1
    store.write_bytes(data)
    with pytest.raises(ConfigError, match="--intact"):
        call(store, "export", str(tmp_path / "all.json"))
    assert call_json(store, "export", str(tmp_path / "all.json"), "--intact")["versions"] == 2


def test_a_contract_is_printed_or_written(store: Path, tmp_path: Path) -> None:
    text = call(store, "contract", "tool/add")
    assert text.startswith("---\nname: add\ndescription: adds numbers\n")
    assert call(store, "contract", "tool/add", "--out", str(tmp_path)) == f"{tmp_path / 'add' / 'SKILL.md'}\n"
    assert (tmp_path / "add" / "SKILL.md").read_text() == text


def test_mistakes_are_explained(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="write TYPE/NAME"):
        call(store, "show", "solver")
    with pytest.raises(UnknownNameError, match="did you mean solver"):
        call(store, "log", "prompt/solvr")
    with pytest.raises(ConfigError, match="there is no store"):
        call(tmp_path / "none.db", "list")


def test_a_leftover_that_has_lost_something_is_exported_as_far_as_it_goes(store: Path, tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        registry = Registry(Store(store))
        registry.update("prompt", "solver", "Solve it once more.\n")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    store.with_name("resources.db-wal").unlink()
    with pytest.raises(DamagedRecordError, match="the last changes"):
        call(store, "list")
    exported = call_json(store, "export", str(tmp_path / "all.json"), "--intact")
    assert (exported["versions"], len(exported["damage"])) == (3, 1)
    assert call(store, "list").startswith("prompt/solver@1.0.1")


def test_a_suites_folder_stands_for_its_only_store(store: Path, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    for name in ("one", "two"):
        (suite / "runs" / name).mkdir(parents=True)
    shutil.copy(store, suite / "runs" / "two" / "resources.sqlite")
    assert CliRunner().invoke(app, ["resources", "list", "--store", str(suite)]).exit_code == 0
    shutil.copy(store, suite / "runs" / "one" / "resources.sqlite")
    said = str(CliRunner().invoke(app, ["resources", "list", "--store", str(suite)]).exception)
    assert f"give one: --store {suite}/runs/one or --store {suite}/runs/two" in said


def test_a_resource_is_updated_copied_hidden_and_found_again(store: Path, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Solve it twice.\n")
    assert call(store, "update", "prompt/solver", str(tmp_path / "prompt.md"), "--note", "why", "--part", "minor") == (
        "main of prompt/solver is 1.1.0\n"
    )
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "tool.py").write_text("x = 2\n")
    (tmp_path / "folder" / "resource.json").write_text('{"evolvable": false}')
    updated = call_json(store, "update", "tool/add", str(tmp_path / "folder"), "--description", "adds two numbers")
    assert (updated["number"], updated["manifest"]["evolvable"]) == ("1.0.1", False)
    assert call(store, "copy", "prompt/solver", "careful") == "prompt/careful@1.0.0 is a copy of prompt/solver\n"
    assert call(store, "retrieve", "two numbers").startswith("tool/add@1.0.1  ")
    assert "restore 1.1.0 to use it again" in call(store, "unregister", "prompt/solver")
    assert [row["name"] for row in call_json(store, "list")] == ["careful", "add"]
    with pytest.raises(ConfigError, match="nothing to change"):
        call(store, "update", "tool/add")
    with pytest.raises(ConfigError, match="cannot be read"):
        call(store, "update", "tool/add", str(tmp_path / "none"))


def test_skills_are_imported_and_exported_as_folders(store: Path, tmp_path: Path) -> None:
    for name in ("forms", "tables"):
        (tmp_path / "skills" / name / "scripts").mkdir(parents=True)
        (tmp_path / "skills" / name / "SKILL.md").write_text(f"---\nname: {name}\ndescription: does {name}\n---\n")
        (tmp_path / "skills" / name / "scripts" / "run.sh").write_bytes(b"\xff\x00")
        (tmp_path / "skills" / name / "scripts" / "run.sh").chmod(0o755)
    taken = call_json(tmp_path / "new.db", "import", str(tmp_path / "skills"))
    assert (taken["added"], taken["resources"]) == (2, ["tool/forms@1.0.0", "tool/tables@1.0.0"])
    assert call(tmp_path / "new.db", "export", str(tmp_path / "out")) == f"2 resources in {tmp_path / 'out'}\n"
    script = tmp_path / "out" / "tables" / "scripts" / "run.sh"
    assert (script.read_bytes(), script.stat().st_mode & 0o777) == (b"\xff\x00", 0o755)
    assert call_json(store, "export", str(tmp_path / "all"), "tool/add")["resources"] == ["tool/add@1.0.0"]
    assert (tmp_path / "all" / "tool" / "add" / "tool.py").exists()
    with pytest.raises(ConfigError, match="names are for a folder"):
        call(store, "export", str(tmp_path / "all.json"), "tool/add")


def test_any_operator_is_called_with_words_or_an_object(store: Path, tmp_path: Path) -> None:
    state = json.loads(call(store, "call", "get_state", "type=prompt", "name=solver"))
    assert state["branches"]["main"]["version"] == "1.0.1"
    (tmp_path / "given.json").write_text(json.dumps({"type": "prompt", "name": "p", "files": "Say {{what}}"}))
    assert json.loads(call(store, "call", "register", "--input", str(tmp_path / "given.json")))["number"] == "1.0.0"
    assert json.loads(call(store, "call", "run", "type=prompt", "name=p", 'inputs={"what": "ah"}')) == "Say ah"
    with pytest.raises(UnknownNameError, match="did you mean get_state"):
        call(tmp_path / "none.db", "call", "get_stat")
    assert not (tmp_path / "none.db").exists()


def test_a_memory_is_searched(store: Path) -> None:
    with Store(store) as opened:
        Registry(opened).register(
            "memory", "notes", {"memory.jsonl": '{"text": "check the units"}\n{"text": "other"}\n'}
        )
    assert "memory.jsonl  0.57  check the units\n" in call(store, "run", "memory/notes", "query=units")
    assert [entry["text"] for entry in call_json(store, "run", "memory/notes")] == ["check the units", "other"]
    assert call(store, "run", "memory/notes", "query=7") == "no entry\n"
    with pytest.raises(ConfigError, match="takes a query"):
        call(store, "run", "memory/notes", "limit=0")
