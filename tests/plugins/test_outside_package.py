"""A package from outside adds a protocol, a kind, a taskset, a method, a world and a suite, and is run end to end."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import heredity as offered

PACKAGE = Path(__file__).parent / "acme"
SOURCE = Path(__file__).parents[2] / "src" / "heredity"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package is installed: its files, and the metadata that an installer writes."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    shutil.copytree(PACKAGE / "acme", folder / "acme", ignore=shutil.ignore_patterns("__pycache__"))
    info = folder / f"acme_heredity-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    lines = [line for group, entries in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in entries.items()))]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    rows = [f"{path.relative_to(folder)},sha256={sha256(path.read_bytes()).hexdigest()}," for path in files]
    (info / "RECORD").write_text("\n".join(rows) + "\n")
    return folder


def heredity(site: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "heredity", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env={**os.environ, "PYTHONPATH": paths}, check=False
    )


@pytest.fixture(scope="module")
def suite(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work") / "runs" / "one"
    done = heredity(site, "run", "guessing", "--out", str(folder), cwd=folder.parents[1])
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run_of(suite: Path, seed: int = 0) -> Path:
    return next((suite / "runs").glob(f"*--s{seed}"))


def results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "metrics.json").read_text())


def test_its_protocol_judges_its_kind_of_task_with_its_method(suite: Path) -> None:
    run = results(run_of(suite))
    assert (run["protocol"], run["status"], run["evolver"]["name"]) == ("guessing", "finished", "halving")
    assert run["heldout"]["mean"] > run["reference"]["heldout_mean"]
    assert len(run["heldout"]["scores"]) == 12


def test_its_part_of_the_results_is_typed_and_on_its_page(suite: Path, site: Path) -> None:
    run = results(run_of(suite))
    assert run["part"]["distance"] == pytest.approx(-run["heldout"]["mean"])
    assert 0 <= run["part"]["near"] <= 1
    for name in ("report.html", "report.md"):
        assert "How far away" in (run_of(suite) / name).read_text()
    schema = heredity(site, "schema", "results", cwd=suite).stdout
    assert "GuessResults" in json.loads(schema)["$defs"]


def test_what_it_loaded_is_on_record_with_version_and_digest(suite: Path) -> None:
    first = json.loads((run_of(suite) / "journal.jsonl").read_text().splitlines()[0])
    assert first["data"]["guess"] == {"near": 20, "kind": "number"}
    origins = {(origin["group"], origin["name"]): origin for origin in first["data"]["plugins"]}
    assert {("heredity.protocols", "guessing"), ("heredity.kinds", "number"), ("heredity.methods", "halving")} <= set(
        origins
    )
    for origin in origins.values():
        assert (origin["distribution"], origin["version"], len(origin["digest"])) == ("acme-heredity", "0.1.0", 64)


def test_its_section_is_checked_as_all_sections_are(site: Path, tmp_path: Path) -> None:
    done = heredity(site, "run", "guessing", "guess.nearr=3", "--out", str(tmp_path / "x"), cwd=tmp_path)
    assert done.returncode != 0
    assert "guess.nearr" in done.stderr
    assert "near" in done.stderr
    done = heredity(site, "run", "guessing", "guess.near=0", "--out", str(tmp_path / "x"), cwd=tmp_path)
    assert "guess.near" in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_suite_of_it_is_resumed_and_reported_again(site: Path, suite: Path) -> None:
    before = results(suite)
    assert heredity(site, "resume", str(suite), cwd=suite).returncode == 0
    (suite / "metrics.json").unlink()
    assert heredity(site, "report", str(suite), cwd=suite).returncode == 0
    assert results(suite) == before


def test_its_suite_its_taskset_and_its_world_are_found(site: Path, tmp_path: Path) -> None:
    assert "guessing" in heredity(site, "suites", cwd=tmp_path).stdout
    assert "acme/numbers" in heredity(site, "tasks", "list", cwd=tmp_path).stdout
    verified = heredity(site, "worlds", "verify", "lamp_row", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "lamp_row" in verified.stdout


def test_without_the_package_its_names_are_unknown(tmp_path: Path) -> None:
    done = heredity(tmp_path, "run", "guessing", "--out", str(tmp_path / "x"), cwd=tmp_path)
    assert done.returncode != 0
    assert "guessing" in done.stderr


@pytest.mark.parametrize("word", ["guessing", "acme", "lamp_row", "halving"])
def test_nothing_of_heredity_knows_of_it(word: str) -> None:
    assert not [path for path in SOURCE.rglob("*.py") if f'"{word}"' in path.read_text()]


def test_it_imports_public_names_alone() -> None:
    public, modules = set(offered.__all__), 0
    for path in (PACKAGE / "acme").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "heredity":
                modules += 1
                assert node.module == "heredity", f"{path}:{node.lineno} imports {node.module}"
                assert {alias.name for alias in node.names} <= public, f"{path}:{node.lineno}"
            elif isinstance(node, ast.Import):
                assert not [alias for alias in node.names if alias.name.split(".")[0] == "heredity"], path
    assert modules >= 6
