from __future__ import annotations

import os
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError
from heredity.resources import SourceTree

snapshot = SourceTree.from_folder


def test_a_snapshot_equals_the_folder_read_at_rest(tmp_path: Path) -> None:
    tree = SourceTree({"policy.py": "x = 1\n", "lib/a.py": "", "data/w.npy": b"\x00\xff"})
    tree.write_to(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "policy.cpython-311.pyc").write_bytes(b"x")
    assert snapshot(tmp_path) == tree


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="system does not exist"):
        snapshot(tmp_path / "system")


@pytest.mark.parametrize("link", ["secret", "lib/secret"])
def test_a_link_to_a_file_is_refused(tmp_path: Path, link: str) -> None:
    (tmp_path / "secret").write_text("hidden cases")
    system = tmp_path / "system"
    (system / "lib").mkdir(parents=True)
    (system / link).symlink_to(tmp_path / "secret")
    with pytest.raises(ConfigError, match=link):
        snapshot(system)


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "cases.json").write_text("hidden")
    system = tmp_path / "system"
    system.mkdir()
    (system / "lib").symlink_to(tmp_path / "sealed")
    with pytest.raises(ConfigError, match="lib"):
        snapshot(system)


def test_a_link_in_the_place_of_the_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sealed").mkdir()
    (tmp_path / "system").symlink_to(tmp_path / "sealed")
    with pytest.raises(ConfigError, match="system"):
        snapshot(tmp_path / "system")


def test_a_folder_that_becomes_a_link_meanwhile_reveals_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "cases.json").write_text("hidden")
    system = tmp_path / "system"
    SourceTree({"lib/cases.json": "mine", "policy.py": ""}).write_to(system)
    listed = os.listdir

    def swap_after_listing(where: int) -> list[str]:
        names = listed(where)
        if "cases.json" in names and (system / "lib").is_dir() and not (system / "lib").is_symlink():
            (system / "lib").rename(system / "was")
            (system / "lib").symlink_to(tmp_path / "sealed")
        return names

    monkeypatch.setattr(os, "listdir", swap_after_listing)
    assert snapshot(system)["lib/cases.json"] == b"mine"


def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "policy.py")
    with pytest.raises(ConfigError, match=r"policy\.py"):
        snapshot(tmp_path)


def test_limits_are_enforced(tmp_path: Path) -> None:
    SourceTree({"a": b"x" * 600, "b": b"x" * 600}).write_to(tmp_path)
    assert len(snapshot(tmp_path, max_bytes=1200, max_files=2)) == 2
    with pytest.raises(ConfigError, match="size limit at b"):
        snapshot(tmp_path, max_bytes=1199)
    with pytest.raises(ConfigError, match="more than 1 files"):
        snapshot(tmp_path, max_files=1)


def test_a_name_no_program_may_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a\nb.py").write_text("")
    with pytest.raises(ConfigError, match="characters"):
        snapshot(tmp_path)


def test_a_file_with_holes_beyond_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(1 << 30)
    monkeypatch.setattr("os.fdopen", lambda *_: pytest.fail("it was opened to be read"))
    with pytest.raises(ConfigError, match=r"exceeds its size limit at data\.bin"):
        snapshot(tmp_path)
