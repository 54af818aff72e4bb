from __future__ import annotations

import os
from pathlib import Path

import pytest

from heredity.errors import RejectedError
from heredity.resources import SourceTree
from heredity.server.snapshot import snapshot


def test_a_snapshot_equals_the_folder_read_at_rest(tmp_path: Path) -> None:
    tree = SourceTree({"policy.py": "x = 1\n", "lib/a.py": "", "data/w.npy": b"\x00\xff"})
    tree.write_to(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "policy.cpython-311.pyc").write_bytes(b"x")
    assert snapshot(tmp_path) == tree == SourceTree.from_folder(tmp_path)


def test_a_missing_folder_is_a_program_without_files(tmp_path: Path) -> None:
    assert len(snapshot(tmp_path / "system")) == 0


@pytest.mark.parametrize("place", ["secret", "lib/secret"])
def test_a_link_to_a_file_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "secret").write_text("hidden cases")
    system = tmp_path / "system"
    (system / "lib").mkdir(parents=True)
    (system / place).symlink_to(tmp_path / "secret")
    with pytest.raises(RejectedError, match=place):
        snapshot(system)


def test_a_link_to_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sealed").mkdir()
    (tmp_path / "sealed" / "cases.json").write_text("hidden")
    system = tmp_path / "system"
    system.mkdir()
    (system / "lib").symlink_to(tmp_path / "sealed")
    with pytest.raises(RejectedError, match="lib"):
        snapshot(system)


def test_a_link_in_the_place_of_the_program_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sealed").mkdir()
    (tmp_path / "system").symlink_to(tmp_path / "sealed")
    with pytest.raises(RejectedError, match="system"):
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
    with pytest.raises(RejectedError, match=r"policy\.py"):
        snapshot(tmp_path)


def test_limits_are_enforced(tmp_path: Path) -> None:
    SourceTree({"a": b"x" * 600, "b": b"x" * 600}).write_to(tmp_path)
    assert len(snapshot(tmp_path, max_bytes=1200, max_files=2)) == 2
    with pytest.raises(RejectedError, match="size limit at b"):
        snapshot(tmp_path, max_bytes=1199)
    with pytest.raises(RejectedError, match="more than 1 files"):
        snapshot(tmp_path, max_files=1)


def test_a_name_no_program_may_use_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a\nb.py").write_text("")
    with pytest.raises(RejectedError, match="characters"):
        snapshot(tmp_path)
