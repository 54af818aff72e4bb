"""The index of `heredity view` is kept by whoever runs a suite: complete at the end, sound after a kill, never in the way."""

from __future__ import annotations

import functools
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from heredity.experiments import suite as indexing
from heredity.experiments.suite import keeping_index
from heredity.pages.live.index import Index, index_path, open_index
from heredity.records import RunFolder

from .sample import config, isolated, run

TABLES = ("events", "candidates", "decisions", "evaluations", "rollouts", "calls", "spans")
WRITER = """
import sys
from pathlib import Path
from heredity.bench.view import write_suite, write_submission
from heredity.experiments import indexing
folder, indexing.EVERY_S = Path(sys.argv[1]), 0.005
with indexing.keeping_index(folder):
    if not folder.exists():
        write_suite(folder, 2000)
    print("ready", flush=True)
    for number in range(10**6, 10**7):
        write_submission(folder / "runs" / f"run-{number % 10}", number)
"""


def contents(index: Index) -> dict[str, list[tuple[object, ...]]]:
    """Return what an index holds, by run and in order, without numbers that depend on when runs were read."""
    tables = dict[str, list[tuple[object, ...]]]()
    for table in TABLES:
        rows = [dict(row) for row in index.rows(f"SELECT r.name, t.* FROM {table} t JOIN runs r ON r.id = t.run")]
        tables[table] = sorted(
            tuple(str(v) for k, v in row.items() if k not in ("id", "run", "evaluation")) for row in rows
        )
    return tables


def anew(folder: Path, home: Path) -> dict[str, list[tuple[object, ...]]]:
    with Index(folder, home / "anew.sqlite") as index:
        index.update()
        made = contents(index)
    index.path.unlink()
    return made


def holds(folder: Path, lines: int) -> bool:
    """Return whether the index that is there has so many lines of journals."""
    index = Index(folder, folder / "view.sqlite")
    made = index.path.exists() and index.rows("SELECT 1 FROM sqlite_master WHERE name = 'events'")
    return bool(made) and index.rows("SELECT count(*) FROM events")[0][0] >= lines


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "it has not come to be"
        time.sleep(0.01)


@pytest.mark.skipif(not isolated(), reason="policies cannot be confined on this machine")
def test_a_suite_that_has_ended_is_opened_without_reading_its_journals(tmp_path: Path) -> None:
    result = run(tmp_path / "s", config(budget={"episodes": 4}))
    assert result.notes == {}
    with open_index(tmp_path / "s") as index:
        assert index.path == tmp_path / "s" / "view.sqlite"
        assert index.rows("SELECT count(*) FROM runs")[0][0] == 1
        assert not index.update()
        assert index.progress.total == 0
        assert contents(index) == anew(tmp_path / "s", tmp_path)


def test_what_is_journalled_is_in_the_index_while_the_suite_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexing, "EVERY_S", 0.01)
    folder = tmp_path / "s"
    with keeping_index(folder), RunFolder.open(folder / "runs" / "r") as opened:
        for number in range(3):
            opened.journal.append("heartbeat", {"clock_s": float(number)})
            until(functools.partial(holds, folder, number + 1))


@pytest.mark.slow
def test_an_index_whose_writer_was_killed_goes_on_from_what_it_holds(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    for seconds in (0.0, 0.05, 0.2, 0.5, 0.9, 1.4):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        with open_index(folder) as index:
            index.update()
            assert contents(index) == anew(folder, tmp_path)
            assert index.rows("PRAGMA integrity_check")[0][0] == "ok"


@pytest.mark.parametrize("harm", ["deleted", "cut", "other"])
def test_an_index_that_is_spoilt_while_the_suite_goes_on_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str
) -> None:
    monkeypatch.setattr(indexing, "EVERY_S", 0.01)
    folder, problems = tmp_path / "s", list[str]()
    with keeping_index(folder, problems.append), RunFolder.open(folder / "runs" / "r") as opened:
        opened.journal.append("heartbeat", {"clock_s": 0.0})
        until((folder / "view.sqlite").exists)
        time.sleep(0.1)
        if harm == "other":
            for suffix in ("", "-wal", "-shm"):
                (folder / f"view.sqlite{suffix}").unlink(missing_ok=True)
            (folder / "view.sqlite").write_bytes(b"of another program")
        elif harm == "deleted":
            (folder / "view.sqlite").unlink()
        else:
            with (folder / "view.sqlite").open("r+b") as file:
                file.truncate(4096)
        for number in range(40):
            opened.journal.append("heartbeat", {"clock_s": float(number)})
    assert problems == []
    with open_index(folder) as index:
        index.update()
        assert index.rows("SELECT count(*) FROM events")[0][0] == 41
        assert contents(index) == anew(folder, tmp_path)


def test_a_suite_goes_on_where_no_index_can_be_kept(tmp_path: Path) -> None:
    folder, problems = tmp_path / "s", list[str]()
    (folder / "view.sqlite").mkdir(parents=True)
    with keeping_index(folder, problems.append), RunFolder.open(folder / "runs" / "r") as opened:
        opened.journal.append("heartbeat", {"clock_s": 0.0})
    assert "not a plain file" in problems[0]
    assert index_path(folder) == folder / "view.sqlite"
