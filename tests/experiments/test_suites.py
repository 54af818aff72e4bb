"""Suites by name, and paths in them as seen from the suite's own file."""

from __future__ import annotations

from pathlib import Path

import pytest

from heredity import library
from heredity._core.errors import ConfigError, UnknownNameError
from heredity.experiments.config import headline, load, resolve, suite_file, suites

SUITE = """
[run]
protocol = "agent-learning"
tasksets = ["world-folders/worlds/9_Ferry", "questions/file:a.csv?x=1", "questions/mix/gsm8k+file:b.csv", "worlds/grid_treasure"]
[evolver]
method = "static"
initial = "starter"
read_only = ["/opt/tools", "data"]
[budget]
episodes = 4
[gateway]
cache = "answers.sqlite"
"""


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a suite in a folder beside the current one."""
    file = tmp_path / "mine" / "mine.toml"
    file.parent.mkdir()
    file.write_text(SUITE)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return file


def test_every_suite_of_the_library_has_a_name_and_says_what_it_is_for() -> None:
    files = suites()
    assert {"demo", "core16", "worlds-six", "posttrain-cpu"} <= files.keys()
    assert all(file.parent == Path(library.__path__[0]) / "suites" for file in files.values())
    assert all(40 < len(headline(file)) <= 132 for file in files.values())
    assert all(headline(file).endswith((".", "?")) for file in files.values())


def test_a_suite_without_a_comment_has_no_headline(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[run]\n# not the first line\n")
    assert headline(tmp_path / "a.toml") == ""


def test_a_path_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert suite_file("demo") == suites()["demo"]
    (tmp_path / "demo").mkdir()
    assert suite_file("demo") == suites()["demo"]
    (tmp_path / "core16").write_text("")
    assert suite_file("core16") == Path("core16")


def test_an_unknown_name_suggests_the_nearest_and_a_wrong_path_is_called_one() -> None:
    with pytest.raises(UnknownNameError, match="unknown suite 'dmeo'; did you mean demo"):
        suite_file("dmeo")
    for path in ("suites/demo.toml", "demo.toml"):
        with pytest.raises(ConfigError, match=r"there is no file .*heredity suites"):
            suite_file(path)


def test_paths_are_seen_from_the_file_that_names_them(mine: Path) -> None:
    config = load(mine)
    home = mine.parent
    assert config.run.tasksets == [
        f"world-folders/{home}/worlds/9_Ferry",
        f"questions/file:{home}/a.csv?x=1",
        f"questions/mix/gsm8k+file:{home}/b.csv",
        "worlds/grid_treasure",
    ]
    assert config.evolver.initial == str(home / "starter")
    assert config.evolver.read_only == ["/opt/tools", str(home / "data")]
    assert config.gateway.cache == str(home / "answers.sqlite")


def test_paths_of_overrides_are_seen_from_the_current_folder(mine: Path) -> None:
    here = Path.cwd()
    given = ["evolver.initial=other", 'matrix={"evolver.initial" = ["one", "two"]}']
    config = load(mine, given)
    assert config.evolver.initial == str(here / "other")
    assert config.matrix == {"evolver.initial": [str(here / "one"), str(here / "two")]}
    assert config.evolver.read_only == ["/opt/tools", str(mine.parent / "data")]
    assert resolve(
        {"run": {"tasksets": ["x"]}, "evolver": {"initial": "a"}, "budget": {"episodes": 1}}
    ).evolver.initial == str(here / "a")


def test_what_a_package_holds_is_named_by_the_package(mine: Path) -> None:
    config = load(mine, ["evolver.initial=heredity.library:harnesses/explorer"])
    assert config.evolver.initial == str(Path(library.__path__[0]) / "harnesses" / "explorer")
    with pytest.raises(ConfigError, match="no_such_package:x: the package no_such_package is not installed"):
        load(mine, ["evolver.initial=no_such_package:x"])


@pytest.mark.parametrize("name", suites())
def test_a_suite_of_the_library_is_the_same_from_every_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = load(suite_file(name))
    monkeypatch.chdir(tmp_path)
    there = load(suite_file(name))
    assert here == there
    for path in (there.evolver.initial, there.evolver.launcher):
        assert path is None or Path(path).is_dir()


def test_a_folder_is_run_by_its_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=r"\. is a folder without a suite\.toml"):
        suite_file(".")
    (tmp_path / "suite.toml").write_text("")
    assert suite_file(".").resolve() == tmp_path / "suite.toml"
    assert suite_file(str(tmp_path)) == tmp_path / "suite.toml"
