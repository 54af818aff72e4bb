"""What a killed process leaves in the `-wal` file is there when the store is opened again, or its loss is reported."""

from __future__ import annotations

import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from heredity._core.errors import DamagedRecordError
from heredity.resources import Registry, Store

COUNT = 12


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store whose last twelve versions are only in the `-wal` file of a killed process."""
    path = tmp_path_factory.mktemp("killed") / "s.db"
    with Store(path) as store:
        Registry(store).register("prompt", "p", "first")
    pid = os.fork()
    if pid == 0:
        registry = Registry(Store(path))
        for i in range(COUNT):
            registry.update("prompt", "p", f"text {i}")
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    return path


def copied(killed: Path, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for file in killed.parent.iterdir():
        shutil.copyfile(file, folder / file.name)
    return folder / killed.name


def wal(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def test_a_sound_leftover_is_folded_in(killed: Path, tmp_path: Path) -> None:
    with Store(copied(killed, tmp_path)) as store:
        assert len(store.list("prompt", "p")) == COUNT + 1
        assert store.check() == []


@pytest.mark.parametrize("seed", range(25))
def test_a_flipped_bit_in_a_leftover_is_reported_and_nothing_is_touched(
    killed: Path, tmp_path: Path, seed: int
) -> None:
    path = copied(killed, tmp_path)
    draw, data = random.Random(seed), bytearray(wal(path).read_bytes())
    data[draw.randrange(len(data)) if seed else len(data) - 1] ^= 1 << draw.randrange(8)
    wal(path).write_bytes(data)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(DamagedRecordError, match=r"s\.db-wal has \d+ intact frames"):
        Store(path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("left", [0, 31, 32, 5000, -1, None])
def test_a_leftover_cut_short_or_removed_is_reported(killed: Path, tmp_path: Path, left: int | None) -> None:
    path = copied(killed, tmp_path)
    if left is None:
        wal(path).unlink()
    else:
        wal(path).write_bytes(wal(path).read_bytes()[:left])
    with pytest.raises(DamagedRecordError, match="the last changes"):
        Store(path)


def test_what_is_intact_can_be_had_and_the_damaged_file_is_kept(killed: Path, tmp_path: Path) -> None:
    path = copied(killed, tmp_path)
    data = bytearray(wal(path).read_bytes())
    data[len(data) // 2] ^= 1
    wal(path).write_bytes(data)
    with Store(path, intact=True) as store:
        assert 1 < len(store.list("prompt", "p")) < COUNT + 1
        assert len(store.check()) == 1
        assert Registry(store).save_to_json(tmp_path / "kept.json", intact=True) == len(store.list("prompt", "p"))
    assert (tmp_path / "s.db-wal.damaged").read_bytes() == data
    with Store(path) as store:
        assert store.check() == []


def test_without_the_index_file_sqlite_is_trusted(killed: Path, tmp_path: Path) -> None:
    path = copied(killed, tmp_path)
    path.with_name("s.db-shm").unlink()
    with Store(path) as store:
        assert len(store.list("prompt", "p")) == COUNT + 1


def test_no_alarm_while_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        Registry(store).register("prompt", "p", "first")
    pid = os.fork()
    if pid == 0:
        registry = Registry(Store(path))
        for i in range(100_000):
            registry.update("prompt", "p", f"{i} " * 400)
        os._exit(1)
    try:
        sizes: list[int] = []
        # The other process may be slow to start; its own end is far off.
        while len(sizes) < 60 or (sizes[-1] == sizes[0] and len(sizes) < 20_000):
            with Store(path) as store:
                sizes.append(len(store.list("prompt", "p")))
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]
