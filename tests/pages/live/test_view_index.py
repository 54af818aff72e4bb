"""The read model: what it holds, that it is brought up to date from where it was, and what is not believed."""

from __future__ import annotations

import os
import sqlite3
import threading
from pathlib import Path

import pytest

from heredity._core.errors import RecordError
from heredity.pages.live import index as module
from heredity.pages.live import watching
from heredity.pages.live.index import index_path, open_index
from heredity.pages.live.rows import lines_from
from heredity.pages.live.watching import Watched
from heredity.records import RunFolder


def counts(folder: Path) -> dict[str, int]:
    with open_index(folder) as index:
        index.update()
        tables = ("runs", "events", "candidates", "decisions", "evaluations", "rollouts", "calls", "spans")
        return {table: index.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables}


def test_everything_of_a_run_has_a_row(run_folder: Path) -> None:
    assert counts(run_folder) == {
        "runs": 1,
        "events": 17,
        "candidates": 3,
        "decisions": 2,
        "evaluations": 4,
        "rollouts": 15,
        "calls": 1,
        "spans": 2,
    }


def test_an_update_reads_only_what_is_new(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts(run_folder)
    begun: list[int] = []

    def watched(path: Path, offset: int) -> object:
        begun.append(offset)
        return lines_from(path, offset)

    monkeypatch.setattr(module, "lines_from", watched)
    with open_index(run_folder) as index:
        assert not index.update()
        assert begun == []
        size = (run_folder / "runs" / "a--s0" / "journal.jsonl").stat().st_size
        with RunFolder.open(run_folder / "runs" / "a--s0") as run:
            run.journal.append("heartbeat", {"clock_s": 1.0})
        assert index.update()
        assert begun == [size]
        assert index.rows("SELECT kind FROM events ORDER BY seq DESC LIMIT 1")[0][0] == "heartbeat"


def test_rows_added_in_many_updates_are_those_of_one(run_folder: Path, tmp_path: Path) -> None:
    whole = (run_folder / "runs" / "a--s0" / "journal.jsonl").read_bytes()
    other = tmp_path / "other" / "runs" / "a--s0"
    other.mkdir(parents=True)
    with open_index(tmp_path / "other") as index:
        for end in range(0, len(whole) + 997, 997):
            (other / "journal.jsonl").write_bytes(whole[:end])
            index.update()
        pieces = {
            table: [tuple(r) for r in index.rows(f"SELECT * FROM {table}")]
            for table in ("events", "candidates", "evaluations", "rollouts")
        }
    with open_index(run_folder) as index:
        index.update()
        for table, rows in pieces.items():
            assert rows == [tuple(r) for r in index.rows(f"SELECT * FROM {table}")], table


def test_a_torn_last_line_waits_for_its_end(run_folder: Path) -> None:
    journal = run_folder / "runs" / "a--s0" / "journal.jsonl"
    before = counts(run_folder)
    with journal.open("ab") as file:
        file.write(b'{"at":1,"data":{"x":')
    with open_index(run_folder) as index:
        assert not index.update()
    assert counts(run_folder) == before


def test_a_journal_that_was_cut_and_goes_on_otherwise_is_read_again(run_folder: Path) -> None:
    before = counts(run_folder)
    with RunFolder.open(run_folder / "runs" / "a--s0") as run:
        run.journal.cut_from(5)
        for i in range(40):
            run.journal.append("heartbeat", {"clock_s": float(i)})
    after = counts(run_folder)
    assert after["events"] == 45
    assert after["rollouts"] < before["rollouts"]
    assert after["candidates"] == 2


def test_a_damaged_line_is_named_and_what_stands_before_it_is_shown(run_folder: Path) -> None:
    journal = run_folder / "runs" / "a--s0" / "journal.jsonl"
    lines = journal.read_bytes().split(b"\n")
    lines[9] = lines[9].replace(b'"charge":4', b'"charge":5').replace(b'"status":"ok"', b'"status":"no"', 1)
    journal.write_bytes(b"\n".join(lines))
    with open_index(run_folder) as index:
        index.update()
        row = index.rows("SELECT * FROM runs")[0]
        assert "line 10" in row["damage"]
        assert row["lines"] == 9


def test_two_who_update_at_once_add_nothing_twice(run_folder: Path) -> None:
    problems: list[Exception] = []

    def work() -> None:
        try:
            with open_index(run_folder) as index:
                index.update()
        except (OSError, sqlite3.Error) as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert counts(run_folder)["rollouts"] == 15


def test_values_of_other_types_than_they_should_have_are_left_out(tmp_path: Path) -> None:
    with RunFolder.open(tmp_path / "s" / "runs" / "r") as run:
        for kind in (
            "run.started",
            "candidate",
            "submission.admitted",
            "submission.completed",
            "candidate.decided",
            "model.called",
            "judging.selected",
            "x",
        ):
            run.journal.append(
                kind,
                {
                    "digest": 7,
                    "parents": "no",
                    "outcomes": [3, {"score": "x", "failure": []}],
                    "evolver": [],
                    "submit_id": {},
                    "charge": 1 << 80,
                    "usage": 3,
                    "budget": 1,
                    "view": 1,
                    "candidate": [1],
                    "scores": ["a", 1 << 70, None],
                    "tasks": 9,
                },
            )
    with open_index(tmp_path / "s") as index:
        index.update()
        assert index.rows("SELECT lines, damage FROM runs")[0][:] == (8, "")


def test_a_file_that_is_no_index_of_this_version_is_made_again(run_folder: Path) -> None:
    path = index_path(run_folder)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE runs (x)")
        connection.execute("CREATE TRIGGER evil AFTER INSERT ON runs BEGIN SELECT load_extension('x'); END")
    connection.close()
    assert counts(run_folder)["rollouts"] == 15
    path.write_bytes(b"SQLite format 3\0" + os.urandom(5000))
    assert counts(run_folder)["rollouts"] == 15


@pytest.mark.parametrize("share", [0.05, 0.5, 0.95])
def test_an_index_that_was_cut_is_made_again(run_folder: Path, share: float) -> None:
    counts(run_folder)
    path = index_path(run_folder)
    os.truncate(path, int(share * path.stat().st_size))
    assert counts(run_folder)["rollouts"] == 15


def test_an_index_that_turns_out_to_be_damaged_when_it_is_read_is_made_again(run_folder: Path) -> None:
    with open_index(run_folder) as index:
        index.update()
        page = index.rows("SELECT rootpage FROM sqlite_master WHERE name = 'rollouts'")[0][0]
    size = int.from_bytes(index.path.read_bytes()[16:18], "big")
    with index.path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with open_index(run_folder) as index:
        assert not index.update()
        with pytest.raises(RecordError, match="rebuild it"):
            index.rows("SELECT * FROM rollouts")
        assert index.update()
        assert index.rows("SELECT count(*) FROM rollouts")[0][0] == 15


def test_an_index_of_another_version_is_made_again(run_folder: Path) -> None:
    counts(run_folder)
    with sqlite3.connect(index_path(run_folder)) as connection:
        connection.execute("UPDATE about SET version = version + 1")
        connection.execute("DELETE FROM rollouts")
    connection.close()
    assert counts(run_folder)["rollouts"] == 15


def test_an_index_that_is_taken_away_while_it_is_open_is_made_again(run_folder: Path) -> None:
    with open_index(run_folder) as index:
        index.update()
        index.path.unlink()
        assert index.update()
        assert index.rows("SELECT count(*) FROM rollouts")[0][0] == 15


def test_an_index_that_is_a_link_or_lies_where_nobody_may_write_is_kept_in_the_cache(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (run_folder / "view.sqlite").symlink_to(victim)
    assert index_path(run_folder).is_relative_to(tmp_path / "cache")
    assert counts(run_folder)["rollouts"] == 15
    assert victim.read_text() == "mine"
    (run_folder / "view.sqlite").unlink()
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert index_path(run_folder).is_relative_to(tmp_path / "cache")


def test_only_its_owner_reads_an_index(run_folder: Path) -> None:
    counts(run_folder)
    assert index_path(run_folder).stat().st_mode & 0o077 == 0


def test_links_to_journals_are_not_followed(run_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "s" / "runs" / "linked").mkdir(parents=True)
    (tmp_path / "s" / "runs" / "linked" / "journal.jsonl").symlink_to(run_folder / "runs" / "a--s0" / "journal.jsonl")
    (tmp_path / "s" / "runs" / "folder").symlink_to(run_folder / "runs" / "a--s0")
    assert counts(tmp_path / "s")["runs"] == 0
    with pytest.raises(RecordError, match="cannot be read"):
        list(lines_from(tmp_path / "s" / "runs" / "linked" / "journal.jsonl", 0))


async def test_pages_are_told_once_a_run_that_was_left_has_stopped(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_index(run_folder) as index:
        watched = Watched(index)
        for version in (1, 1):
            assert await watched.refresh(60)
            assert watched.version == version
        # Nothing is added any more, and nobody works on it: its row says so from now on, and not before.
        monkeypatch.setattr(watching, "STILL_S", 0.0)
        for version in (2, 2):
            assert await watched.refresh(60)
            assert watched.version == version
