from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from heredity.sandbox import watch as disk
from heredity.sandbox.watch import DiskUse, disk_use

MIB = 1 << 20


def write(path: Path, mib: float = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * int(mib * MIB))
    return path


def mib(folder: Path, **options: object) -> int:
    return round(disk_use(folder, **options).bytes / MIB)  # type: ignore[arg-type]


def nest(folder: Path, depth: int) -> None:
    """Leave the current folder this deep below `folder`, deeper than any path can say."""
    os.chdir(folder)
    for _ in range(depth):
        os.mkdir("d" * 40)
        os.chdir("d" * 40)


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A folder in which folders are nested 400 deep, with a file of 8 MiB at the end; the folders take room too."""
    folder, here = tmp_path / "deep", Path.cwd()
    folder.mkdir()
    try:
        nest(folder, 400)
        write(Path("end"), 8)
    finally:
        os.chdir(here)
    yield folder
    # What tests leave is removed by a recursion that is not as deep as this.
    subprocess.run(["rm", "-rf", folder], check=True)


def test_every_file_below_a_folder_counts(tmp_path: Path) -> None:
    write(tmp_path / "a", 2)
    write(tmp_path / "b" / "c" / "d", 3)
    assert mib(tmp_path) == 5
    assert disk_use(tmp_path).files == 4


def test_a_folder_that_is_not_there_takes_nothing(tmp_path: Path) -> None:
    assert disk_use(tmp_path / "none") == DiskUse(0, 0)


def test_names_that_are_left_out_do_not_count(tmp_path: Path) -> None:
    write(tmp_path / "models" / "base", 4)
    write(tmp_path / "description.md", 4)
    write(tmp_path / "output" / "models", 1)
    assert mib(tmp_path, leave_out=("models", "description.md")) == 1


def test_a_sparse_file_takes_what_is_allocated(tmp_path: Path) -> None:
    write(tmp_path / "sparse")
    os.truncate(tmp_path / "sparse", 1 << 40)
    assert mib(tmp_path) == 1


def test_a_file_with_several_names_counts_once(tmp_path: Path) -> None:
    first = write(tmp_path / "a" / "first", 2)
    for number in range(20):
        os.link(first, tmp_path / f"other-{number}")
    assert mib(tmp_path) == 2


def test_no_link_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "large", 8)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path / "elsewhere")
    (folder / "large").symlink_to(tmp_path / "elsewhere" / "large")
    (folder / "round").symlink_to(folder)
    assert mib(folder) == 0
    linked = tmp_path / "linked"
    linked.symlink_to(tmp_path / "elsewhere")
    assert disk_use(linked) == DiskUse(0, 0)


def test_what_lies_deeper_than_any_path_counts_and_no_descriptor_is_left(deep: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    assert 8 <= mib(deep) <= 10
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_deep_tree_takes_few_descriptors(deep: Path) -> None:
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))\n"
        "from pathlib import Path; from heredity.sandbox.watch import disk_use\n"
        "print(disk_use(Path(sys.argv[1])).files)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script, deep], env=environment, capture_output=True, check=True)
    assert done.stdout == b"401\n"


def test_a_folder_that_is_moved_meanwhile_leads_the_count_nowhere_else(
    deep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "_ASK_EVERY", 100)
    inner = deep / ("d" * 40)
    for number in range(10):
        (inner / f"{number}").mkdir()
        write(tmp_path / f"{number}" / "of the host", 5)

    def move(so_far: int) -> bool:
        if (inner / ("d" * 40)).exists():
            (inner / ("d" * 40)).rename(tmp_path / "moved")
        return True

    assert mib(deep, go_on=move) <= 10
    assert (tmp_path / "moved").exists()
    subprocess.run(["rm", "-rf", tmp_path / "moved"], check=True)


def test_a_huge_tree_is_counted_no_further_than_the_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_ASK_EVERY", 10)
    for number in range(300):
        (tmp_path / f"{number}").touch()
    assert disk_use(tmp_path, most_files=50).files == 60
    for number in range(30):
        write(tmp_path / f"large-{number}")
    assert 2 * MIB < disk_use(tmp_path, go_on=lambda so_far: so_far <= 2 * MIB).bytes < 14 * MIB


def test_a_count_ends_when_it_is_told_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_ASK_EVERY", 1)
    for number in range(20):
        (tmp_path / f"{number}").mkdir()
    assert disk_use(tmp_path, go_on=lambda so_far: False).files == 1


@pytest.mark.skipif(os.getuid() != 0, reason="root can become another user, and no other can")
def test_a_folder_that_its_owner_has_shut_counts() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        write(folder / "shut" / "inner" / "large", 3)
        script = (
            "import os, sys; from heredity.sandbox.watch import disk_use; from pathlib import Path\n"
            "root = Path(sys.argv[1]); os.setgid(65534); os.setuid(65534)\n"
            "(root / 'shut' / 'inner').chmod(0); (root / 'shut').chmod(0)\n"
            "print(round(disk_use(root).bytes / 2**20))"
        )
        for path in (folder, *folder.rglob("*")):
            os.chown(path, 65534, 65534)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", script, folder], env=environment, capture_output=True, text=True)
        assert done.stdout == "3\n", done.stderr
    finally:
        shutil.rmtree(folder)
