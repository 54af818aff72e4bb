from __future__ import annotations

import itertools
import os
import random
import resource
import select
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError, UnknownNameError
from heredity.resources import Draft, Number, Registry, SourceTree, Store


def draft(text: str, name: str = "p") -> Draft:
    return Draft("prompt", name, SourceTree({"prompt.md": text}))


def filled(path: Path, count: int = 40) -> Path:
    with Store(path) as store:
        for i in range(count):
            store.put(draft(f"text {i} " * 40, f"p{i}"), new=True)
    return path


def test_a_new_store_holds_nothing_and_is_sound(tmp_path: Path) -> None:
    with Store(tmp_path / "deep" / "s.db") as store:
        assert store.list() == []
        assert store.check() == []


def test_a_missing_store_is_not_made_by_reading(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no store"):
        Store(tmp_path / "s.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_a_full_disk_cannot_hold_is_reported(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(RecordError, match=r"s\.db could not be used"):
            Store(tmp_path / "s.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("left", [0, 60, 4096, 3 * 4096 + 100])
def test_a_store_cut_short_is_reported_and_left_as_it_is(tmp_path: Path, left: int) -> None:
    path = filled(tmp_path / "s.db")
    data = path.read_bytes()[:left]
    path.write_bytes(data)
    with pytest.raises(DamagedRecordError, match=r"s\.db"), Store(path) as store:
        store.list()
    assert path.read_bytes() == data


@pytest.mark.parametrize("content", [b"not a database " * 100, None])
def test_another_file_is_not_taken_for_a_store(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "s.db"
    if content is None:
        database = sqlite3.connect(path)
        database.execute("CREATE TABLE mine (a)")
        database.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(DamagedRecordError):
        Store(path)
    assert path.read_bytes() == before


def test_a_flipped_bit_in_a_content_is_reported_and_every_other_version_is_intact(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.db")
    data = bytearray(path.read_bytes())
    data[data.index(b"text 7 text 7") + 5] ^= 1
    path.write_bytes(data)
    with Store(path) as store:
        version = store.get("prompt", "p7")
        with pytest.raises(DamagedRecordError, match=r"prompt/p7@1\.0\.0"):
            store.tree(version)
        assert store.tree(store.get("prompt", "p8")).text("prompt.md").startswith("text 8 ")
        assert any("content" in line for line in store.check())
        kept = [v.name for v, _ in store.intact()]
        assert kept == [f"p{i}" for i in range(40) if i != 7]
        Registry(store).save_to_json(tmp_path / "kept.json", intact=True)
    with Store(tmp_path / "other.db") as other:
        assert Registry(other).load_from_json(tmp_path / "kept.json") == 39
        assert other.check() == []


def test_flipped_bits_anywhere_are_never_read_as_something_else(tmp_path: Path) -> None:
    path = filled(tmp_path / "s.db")
    sound = path.read_bytes()
    with Store(path) as store:
        truth = {v.digest: t for v, t in store.intact()}
    draw = random.Random(7)
    reported = 0
    for _ in range(25):
        data = bytearray(sound)
        data[draw.randrange(100, len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(data)
        try:
            with Store(path) as store:
                kept = {v.digest: t for v, t in store.intact()}
                damage = store.check()
        except DamagedRecordError:
            reported += 1
            continue
        assert kept.items() <= truth.items()
        assert len(kept) == len(truth) or damage
        reported += bool(damage)
    assert reported >= 10


def child(path: Path, work: int, acknowledge: int) -> None:
    """Put versions in a process of its own until it is killed, and write the number of each that was put."""
    with Store(path) as store:
        registry = Registry(store)
        for _ in range(3000):
            version = registry.update("prompt", "p", f"{work} {time.monotonic_ns()}")
            os.write(acknowledge, f"{version.number} {work}\n".encode())
            # SQLite lets whoever asks first write, and this would always be the one that has just written.
            time.sleep(0.001)


def start(path: Path, work: int, acknowledge: int) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            child(path, work, acknowledge)
        finally:
            os._exit(1)
    return pid


def test_what_was_put_before_a_kill_at_any_instant_is_there_and_sound(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.put(draft("first"), new=True)
    draw = random.Random(3)
    acknowledged = [Number(1, 0, 0)]
    for i in range(20):
        reading, writing = os.pipe()
        pid = start(path, i, writing)
        os.close(writing)
        if i % 2:  # else it may be killed before it has put anything, on a busy machine always
            select.select([reading], [], [])
        time.sleep(draw.uniform(0.005, 0.06))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        with os.fdopen(reading) as lines:
            acknowledged += [Number.parse(line.split()[0]) for line in lines]
        with Store(path) as store:
            versions = store.list("prompt", "p")
            assert {v.number for v in versions} >= set(acknowledged)
            assert store.get("prompt", "p") == versions[-1]
            assert all(b.parents == (a.digest,) for a, b in itertools.pairwise(versions))
    with Store(path) as store:
        assert store.check() == []
    assert len(acknowledged) > 10


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.put(draft("first"), new=True)
    reading, writing = os.pipe()
    pids = [start(path, i, writing) for i in range(2)]
    os.close(writing)
    acknowledged: list[str] = []
    workers: list[str] = []
    with os.fdopen(reading) as lines:
        for line in lines:
            acknowledged.append(line.split()[0])
            workers.append(line.split()[1])
            if min(workers.count("0"), workers.count("1")) == 20:
                for pid in pids:
                    os.kill(pid, signal.SIGKILL)
    for pid in pids:
        os.waitpid(pid, 0)
    assert min(workers.count("0"), workers.count("1")) >= 20
    assert len(set(acknowledged)) == len(acknowledged)
    with Store(path) as store:
        versions = store.list("prompt", "p")
        assert {str(v.number) for v in versions} >= set(acknowledged)
        assert all(b.parents == (a.digest,) for a, b in itertools.pairwise(versions))
        assert store.check() == []


def test_a_number_that_was_given_is_never_given_again(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        first = store.put(draft("one"), new=True)
        with pytest.raises(ConfigError, match=r"never overwritten.*1\.0\.1"):
            store.put(Draft("prompt", "p", SourceTree({"prompt.md": "two"}), number=Number(1, 0, 0)))
        assert store.list("prompt", "p") == [first]


def test_unknown_names_versions_and_branches_are_answered_with_the_nearest(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db") as store:
        store.put(draft("one", "solver"), new=True)
        with pytest.raises(UnknownNameError, match="did you mean solver"):
            store.get("prompt", "solvr")
        with pytest.raises(UnknownNameError, match=r"did you mean 1\.0\.0"):
            store.get("prompt", "solver", Number(1, 0, 1))
        with pytest.raises(UnknownNameError, match="did you mean main"):
            store.get("prompt", "solver", branch="man")
        with pytest.raises(UnknownNameError, match="did you mean prompt"):
            store.list("prompts")
