"""Worlds from outside: of an installed package, of one that is partly broken, and of plain folders."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kinds.world.folders.folders import CANAL
from typer.testing import CliRunner

from heredity import library
from heredity._core.errors import ConfigError, HeredityError
from heredity.kinds.world.commands.worlds import app
from heredity.kinds.world.folders.folder import WorldFolder, is_folder
from heredity.sandbox import isolation
from heredity.tasks.registry import located_taskset, taskset

MAZE = Path(library.__path__[0]) / "worlds" / "grid_treasure"
ENTRIES = "[heredity.worlds]\nacme = acme_worlds\ngone = no_such_package\n"

try:
    isolation.resolve()
    CONFINED = True
except HeredityError:
    CONFINED = False
confined = pytest.mark.skipif(not CONFINED, reason="programs cannot be confined on this machine")


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of packages: worlds that are sound, badly described, badly programmed, and named as one of the library."""
    site = tmp_path_factory.mktemp("site")
    (site / "acme-1.0.dist-info").mkdir()
    (site / "acme-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (site / "acme-1.0.dist-info" / "entry_points.txt").write_text(ENTRIES)
    text = (MAZE / "world.yaml").read_text().replace("  paper: [20, GridNavigation]\n", "")
    for name in ("tin_maze", "cracked", "crashing", "ember_caves"):
        folder = site / "acme_worlds" / name
        shutil.copytree(MAZE, folder)
        (folder / "world.yaml").write_text(text.replace("name: grid_treasure", f"name: {name}"))
    (site / "acme_worlds" / "__init__.py").touch()
    (site / "acme_worlds" / "cracked" / "world.yaml").write_text("meta: [\n")
    (site / "acme_worlds" / "crashing" / "dynamics.py").write_text("raise RuntimeError('out of tin')\n")
    return site


def python(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False, timeout=120
    )


def test_faulty_worlds_are_listed_with_their_errors_and_the_others_work(acme: Path) -> None:
    done = python(acme, "-m", "heredity", "worlds", "list", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["world"]: row for row in json.loads(done.stdout)}
    errors = {name: row["error"] for name, row in rows.items() if "error" in row}
    assert errors.keys() == {"cracked", "crashing", "ember_caves", "package gone"}
    assert "acme_worlds/cracked/world.yaml is not YAML" in errors["cracked"]
    assert "failed to load: RuntimeError('out of tin')" in errors["crashing"]
    assert errors["ember_caves"].startswith(
        "two packages have a world 'ember_caves': acme_worlds and heredity.library.worlds"
    )
    assert "no_such_package" in errors["package gone"]
    assert (rows["tin_maze"]["number"], rows["tin_maze"]["paper"]) == (None, None)
    assert rows["grid_treasure"]["number"] == 20
    [warning] = done.stderr.splitlines()
    assert "cracked" in warning
    assert "cannot be used" in warning


def test_a_world_of_a_package_is_listed_and_shown_without_a_row_of_the_paper(acme: Path) -> None:
    listed = python(acme, "-m", "heredity", "worlds", "list")
    [row] = [line for line in listed.stdout.splitlines() if " tin_maze " in line]
    assert row.split()[:3] == ["-", "tin_maze", "-"]
    assert "cracked: " in listed.stdout
    shown = python(acme, "-m", "heredity", "worlds", "show", "tin_maze")
    assert shown.stdout.startswith("Treasure in the dark (tin_maze): binary, partial\n"), shown.stderr


def test_the_tasksets_of_sound_worlds_are_there_beside_faulty_ones(acme: Path) -> None:
    code = """
import json
from heredity._core.errors import ConfigError
from heredity.tasks.registry import expand, taskset, taskset_names

def error(name):
    try:
        taskset(name)
    except ConfigError as raised:
        return str(raised)

task, = taskset("worlds/tin_maze").draw("train", 1, entropy=3)
print(json.dumps([task.spec["world"], "worlds/tin_maze" in taskset_names(), len(expand(["worlds/six"])), error("worlds/cracked")]))
"""
    done = python(acme, "-c", code)
    assert done.returncode == 0, done.stderr
    world, named, six, error = json.loads(done.stdout)
    assert (world, named, six) == ("tin_maze", True, 6)
    assert "cracked/world.yaml is not YAML" in error


def test_worlds_of_a_package_are_verified(acme: Path) -> None:
    done = python(
        acme, "-m", "heredity", "worlds", "verify", "tin_maze", "--seconds", "0.1", "--processes", "1", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["levels"] == 15


# --- plain folders


def test_a_path_has_a_slash_and_a_name_has_none() -> None:
    assert is_folder("./mine")
    assert is_folder("/mine?skin=inverse")
    assert is_folder(".")
    assert not is_folder("mine?path=/a")


def test_the_code_of_a_plain_folder_never_runs_in_this_process(tmp_path: Path) -> None:
    folder = tmp_path / "tin_maze"
    shutil.copytree(MAZE, folder)
    (folder / "dynamics.py").write_text("raise AssertionError('run in the host')\n")
    for open_it in (WorldFolder, lambda path: taskset(f"worlds/{path}"), lambda path: taskset(f"world-folders/{path}")):
        with pytest.raises(ConfigError, match=r"installed package may.*heredity\.worlds.*world-folders/"):
            open_it(str(folder))
    for command in ("show", "play", "verify"):
        error = CliRunner().invoke(app, [command, str(folder)]).exception
        assert isinstance(error, ConfigError)
        assert "installed package may" in str(error)


def test_a_world_folder_is_a_taskset_of_worlds_by_its_path(tmp_path: Path) -> None:
    tasks = taskset(f"worlds/{CANAL}")
    assert tasks.info.name == f"world-folders/{CANAL}"
    assert tasks.info.version == taskset(f"world-folders/{CANAL}").info.version
    assert located_taskset("worlds/./mine", tmp_path) == f"world-folders/{tmp_path}/mine"
    assert located_taskset("worlds/grid_treasure?skin=inverse", tmp_path) == "worlds/grid_treasure?skin=inverse"


@confined
def test_a_world_folder_is_shown_and_played_in_the_sandbox() -> None:
    shown = CliRunner().invoke(app, ["show", str(CANAL)])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.startswith(f"3_LanternCanal (world-folders/{CANAL}): at most 20 steps; levels: 3 in levels")
    assert "--- level_01\nStep 0. You are at 0." in shown.stdout
    details = json.loads(CliRunner().invoke(app, ["show", str(CANAL), "--level", "level_11", "--json"]).stdout)
    assert details["level"] == "../val_levels/level_11"
    assert details["bounds"]["levels/level_01.yaml"] > 0
    typed = "help\nsail\nsail source\nlight\nquit\n"
    played = CliRunner().invoke(app, ["play", str(CANAL)], input=typed)
    assert played.exit_code == 0, played.output
    assert "'source' is not a parameter; write key=value; nothing was done" in played.stdout
    assert "left before the end, 2 of 20 steps" in played.stdout


@confined
def test_verifying_a_world_folder_is_its_audit() -> None:
    done = CliRunner().invoke(app, ["verify", str(CANAL), "--seconds", "1", "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["folders"], report["faulty"]) == (1, 0)
    with pytest.raises(ConfigError, match="cannot be verified together"):
        CliRunner().invoke(app, ["verify", str(CANAL), "grid_treasure"], catch_exceptions=False)


def test_a_world_folder_has_no_skins() -> None:
    with pytest.raises(ConfigError, match="no skins"):
        CliRunner().invoke(app, ["show", str(CANAL), "--skin", "inverse"], catch_exceptions=False)
