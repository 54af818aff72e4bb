"""Projects to begin with: each is written whole, fits the configuration, runs, goes on after a kill and passes its own test."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.cli.main import app
from heredity.experiments.config import load
from heredity.sandbox.bubblewrap_root import available
from heredity.team.settings import load_team

SUITES = ("agent-eval", "harness", "policy", "post-training", "program", "prompts", "worlds")
KINDS = tuple(sorted((*SUITES, "team")))


def heredity(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "heredity", *arguments]


def written(kind: str, folder: Path) -> Path:
    result = CliRunner().invoke(app, ["init", kind, str(folder), "--json"])
    assert result.exit_code == 0, result.output
    configured = "team.toml" if kind == "team" else "suite.toml"
    assert {"README.md", configured, "test_project.py"} <= set(json.loads(result.stdout)["files"])
    return folder


def test_kinds_are_listed() -> None:
    listed = json.loads(CliRunner().invoke(app, ["init", "--json"]).stdout)
    assert tuple(one["kind"] for one in listed) == KINDS
    assert all(one["about"] for one in listed)


@pytest.mark.parametrize("kind", SUITES)
def test_a_project_fits_the_configuration(kind: str, tmp_path: Path) -> None:
    folder = written(kind, tmp_path / kind)
    config = load(folder / "suite.toml")
    assert not [path for path in folder.rglob("*") if path.suffix == ".pyc"]
    # What is of one's own is found from wherever the suite is run.
    if kind != "harness":
        assert str(folder) in config.model_dump_json()
    else:
        assert str(folder / "harness") in config.model_dump_json()


def test_the_own_test_of_the_worlds_project_shows_progress(tmp_path: Path) -> None:
    folder = written("worlds", tmp_path / "worlds")
    said = "import sys; print(sys.argv[1:], file=sys.stderr)\n"
    (folder / "heredity.py").write_text(said)
    tested = subprocess.run([sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True, check=True)
    assert "['worlds', 'verify'" in tested.stderr
    assert not {"--json", "--quiet"} & set(re.findall(r"--\w+", tested.stderr))


@pytest.mark.slow
@pytest.mark.skipif(available() is not None, reason="needs bubblewrap")
def test_the_tasks_of_the_harness_project_are_sound_and_two_agents_can_be_compared_on_them(tmp_path: Path) -> None:
    folder = written("harness", tmp_path / "harness")
    shutil.copytree(folder / "harness", folder / "careful")
    with (folder / "careful/prompt/system/prompt.md").open("a") as prompt:
        prompt.write("Search folders at every depth. Compare numbers by value, never as text.\n")
    checked = json.loads(CliRunner().invoke(app, ["tasks", "check", str(folder / "my-tasks"), "--json"]).stdout)
    assert (len(checked["tasks"]), checked["faulty"]) == (4, 0)
    words = heredity("run", "compare.toml", "--json")
    ran = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (tasks,) = json.loads(ran.stdout)["tasksets"]
    scores = {cell["evolver"].split()[0]: cell["mean"] for cell in tasks["cells"]}
    assert scores["static-careful"] == 1.0
    assert {"static-careful", "static-harness"} <= set(scores)


def test_what_is_to_be_typed_next_can_be_typed_in_a_folder_with_spaces(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["init", "program", str(tmp_path / "my own ä")]).stdout
    (line,) = re.findall(r"^next: (cd .*) && heredity run suite.toml$", said, re.MULTILINE)
    assert subprocess.run(["bash", "-c", f"{line} && test -f suite.toml"], check=False).returncode == 0


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ConfigError, match="not empty; give another folder"):
        CliRunner().invoke(app, ["init", "policy", str(tmp_path)], catch_exceptions=False)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(UnknownNameError, match="policy"):
        CliRunner().invoke(app, ["init", "polcy", str(tmp_path / "new")], catch_exceptions=False)
    assert not (tmp_path / "new").exists()


ROLES = {"reader", "deep-researcher", "browser-user", "analyzer", "tool-caller", "coder"}
QUESTION = "How many days of leave has Ines Albrecht left?"


def test_the_team_has_every_role_and_names_what_each_needs(tmp_path: Path) -> None:
    folder = written("team", tmp_path / "team")
    assert set(load_team(folder / "team.toml").agents) == ROLES
    text = (folder / "team.toml").read_text()
    sections = re.split(r"^\[(?=planner|agents)", text, flags=re.MULTILINE)[1:]
    assert len(sections) == len(ROLES) + 1
    assert all("# needs: " in section for section in sections)


def test_the_team_without_a_key_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    folder = written("team", tmp_path / "team")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["team", "run", QUESTION, "--team", str(folder / "team.toml"), "--out", str(tmp_path / "out"), "--unsafe"]
    with pytest.raises(ConfigError, match="environment variable OPENAI_API_KEY, which is not set; set it"):
        CliRunner().invoke(app, words, catch_exceptions=False)


@pytest.mark.skipif(available() is not None, reason="needs bubblewrap")
def test_the_team_answers_over_its_documents_without_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = written("team", tmp_path / "team")
    monkeypatch.chdir(folder)
    said = CliRunner().invoke(app, ["team", "run", QUESTION, "--model", "scripted/offline.toml", "--json"])
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout)["answer"].startswith("Ines Albrecht has 19 days of leave left")


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUITES)
def test_a_project_runs_goes_on_and_passes_its_own_test(kind: str, tmp_path: Path) -> None:
    if kind == "post-training" and find_spec("torch") is None:
        pytest.skip("needs torch")
    folder = written(kind, tmp_path / kind)
    tested = subprocess.run(
        [sys.executable, "-m", "unittest"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert tested.returncode == 0, tested.stderr
    begun = subprocess.Popen(
        heredity("run", "suite.toml", "--out", "out"), cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    while begun.poll() is None and not any((folder / "out" / "runs").glob("*/journal.jsonl")):
        time.sleep(0.05)
    os.kill(begun.pid, signal.SIGKILL)
    begun.wait()
    done = subprocess.run(heredity("resume", "out", "--json"), cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["failures"] == {}
    assert (folder / "out" / "report.html").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_the_readme_of_a_project_tells_to_type_can_be_typed(kind: str, tmp_path: Path) -> None:
    if kind == "post-training" and find_spec("torch") is None:
        pytest.skip("needs torch")
    folder = written(kind, tmp_path / kind)
    (block,) = re.findall(
        r"^```bash\n(.*?)^```", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    script = re.sub(r"suite-…", r"suite-*", block)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
