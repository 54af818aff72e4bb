"""The index of a suite, or of a run that stands alone: opened, brought up to date, asked.

with open_index(Path("runs/demo")) as index:
    index.update()
    index.rows("SELECT name FROM runs")
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from heredity.errors import RecordError
from heredity.ids import digest_json
from heredity.records.journal import START, decode_line
from heredity.view.index.rows import Facts, Writer, span_rows
from heredity.view.index.schema import OF_RUN, connect, discard, inode_of
from heredity.view.index.tail import bytes_at, lines_from, size_of

NAME = "view.sqlite"
JOURNAL, SPANS = "journal.jsonl", "spans.jsonl"
_STEP_LINES, _STEP_BYTES = 2000, 16 << 20
"""After how much of a journal a transaction ends."""
_MOST_SPANS = 2_000_000


@dataclass(slots=True)
class Progress:
    """How far an index is: bytes that were read, of how many, and whether it is being made."""

    done: int = 0
    total: int = 0
    busy: bool = False

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return 1.0 if not self.total else min(1.0, self.done / self.total)


@dataclass(slots=True)
class Index:
    """The index of a folder.

    Attributes:
        folder: a suite's folder, or that of a run which stands alone.
        path: the file.
        progress: of the update that is going on.
    """

    folder: Path
    path: Path
    progress: Progress = field(default_factory=Progress)
    _writer: sqlite3.Connection | None = None
    _inode: int = -1
    _damaged: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; doing so twice is harmless."""
        with self._lock:
            self._close()

    def run_folders(self) -> dict[str, Path]:
        """Return the folders of the runs that have a journal, by name; links are left out."""
        if size_of(self.folder / JOURNAL):
            return {self.folder.name: self.folder}
        try:
            entries = [entry.name for entry in os.scandir(self.folder / "runs") if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return {}
        return {
            name: self.folder / "runs" / name
            for name in sorted(entries)
            if size_of(self.folder / "runs" / name / JOURNAL)
        }

    def update(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Read what the journals and spans have in addition, and return whether there was any.

        An index that is found to be damaged is made again.

        Args:
            stop: asked after each step; true ends the update early.

        Raises:
            OSError: if the file cannot be written.
            sqlite3.Error: if it is in use for too long, or the disk is full.
        """
        with self._lock:
            try:
                return self._update(stop)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self._damaged = True
                return self._update(stop)

    def _update(self, stop: Callable[[], bool]) -> bool:
        writer = self._open()
        rows = {row["name"]: row for row in writer.execute("SELECT * FROM runs")}
        folders = self.run_folders()
        sizes = {name: (size_of(path / JOURNAL), size_of(path / SPANS)) for name, path in folders.items()}
        changed = [name for name in folders if name not in rows or _behind(rows[name], folders[name], sizes[name])]
        gone = [name for name in rows if name not in folders]
        read = {name: (rows[name]["bytes"], rows[name]["span_bytes"]) for name in changed if name in rows}
        before = sum(sum(pair) for pair in read.values())
        self.progress = Progress(0, max(0, sum(sum(sizes[name]) for name in changed) - before), bool(changed))
        try:
            for name in gone:
                self._forget(writer, rows[name]["id"], wholly=True)
            for name in changed:
                while not stop() and self._step(writer, name, folders[name]):
                    pass
        finally:
            self.progress.busy = False
        return self.progress.done > 0 or bool(gone)

    def _open(self) -> sqlite3.Connection:
        """Return the connection that writes; a file that was damaged, or taken away, is made again."""
        if self._damaged:
            self._close()
            discard(self.path)
        elif self._writer is not None and inode_of(self.path) != self._inode:
            self._close()
        if self._writer is None:
            self._writer = connect(self.path, write=True)
            self._inode, self._damaged = inode_of(self.path), False
        return self._writer

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Return what a query gives, by a connection of its own that cannot write.

        Raises:
            RecordError: if the index cannot be read.
        """
        try:
            connection = connect(self.path, write=False)
            try:
                return connection.execute(query, values).fetchall()
            finally:
                connection.close()
        except sqlite3.Error as error:
            self._damaged = self._damaged or not isinstance(error, sqlite3.OperationalError)
            raise RecordError(f"{self.path} cannot be read ({error}); load the page again, it is made anew") from error

    def _step(self, connection: sqlite3.Connection, name: str, folder: Path) -> bool:
        """Read some lines of a run in one transaction; return whether there may be more."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            more = self._read_some(connection, name, folder)
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
        return more

    def _read_some(self, connection: sqlite3.Connection, name: str, folder: Path) -> bool:
        row = connection.execute("SELECT * FROM runs WHERE name = ?", (name,)).fetchone()
        if row is None or not _continues(row, folder):
            if row is not None:
                self._forget(connection, row["id"])
            connection.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, 0, 0, ?, '', 0, 0, '{}')",
                (row["id"] if row is not None else None, name, START.hex()),
            )
            row = connection.execute("SELECT * FROM runs WHERE name = ?", (name,)).fetchone()
        facts: Facts = json.loads(row["facts"])
        writer = Writer(connection, row["id"], facts)
        end, lines, head, damage = row["bytes"], row["lines"], bytes.fromhex(row["head"]), ""
        path, limit, more = folder / JOURNAL, end + _STEP_BYTES, False
        try:
            for offset, line in lines_from(path, end):
                event, head = decode_line(line, lines, head, path)
                writer.take(event, offset, len(line))
                end, lines = offset + len(line) + 1, lines + 1
                if lines - row["lines"] >= _STEP_LINES or end >= limit:
                    more = True
                    break
        except RecordError as error:
            damage = str(error).removeprefix(f"{path} ")
        writer.flush()
        spans = (row["span_bytes"], row["spans"]) if more else self._read_spans(connection, row, folder)
        self.progress.done += end - row["bytes"] + spans[0] - row["span_bytes"]
        connection.execute(
            "UPDATE runs SET bytes = ?, lines = ?, head = ?, damage = ?, span_bytes = ?, spans = ?, facts = ? WHERE id = ?",
            (end, lines, head.hex(), damage, *spans, json.dumps(facts), row["id"]),
        )
        return more or (spans[1] - row["spans"] >= _STEP_LINES and spans[1] < _MOST_SPANS)

    @staticmethod
    def _read_spans(connection: sqlite3.Connection, row: sqlite3.Row, folder: Path) -> tuple[int, int]:
        end, number = row["span_bytes"], row["spans"]
        if size_of(folder / SPANS) <= end or number >= _MOST_SPANS:
            return end, number
        lines: list[tuple[int, int, bytes]] = []
        try:
            for offset, line in lines_from(folder / SPANS, end):
                lines.append((number, offset, line))
                end, number = offset + len(line) + 1, number + 1
                if len(lines) >= _STEP_LINES:
                    break
        except RecordError:
            # The trace is no part of the record: what can be read of it is shown.
            pass
        connection.executemany(
            f"INSERT OR REPLACE INTO spans VALUES ({', '.join('?' * 12)})", span_rows(row["id"], lines)
        )
        return end, number

    @staticmethod
    def _forget(connection: sqlite3.Connection, run: int, *, wholly: bool = False) -> None:
        for table in (*OF_RUN, *(("runs",) if wholly else ())):
            connection.execute(f"DELETE FROM {table} WHERE {'id' if table == 'runs' else 'run'} = ?", (run,))


def index_path(folder: Path) -> Path:
    """Return where the index of a folder is kept: in it, or in this user's cache where it cannot be written or is not one's own."""
    beside = folder / NAME
    try:
        own = folder.stat().st_uid == os.geteuid() and os.access(folder, os.W_OK)
        if own and (not os.path.lexists(beside) or (not beside.is_symlink() and beside.stat().st_uid == os.geteuid())):
            return beside
    except OSError:
        pass
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heredity" / "view"
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    return cache / f"{digest_json(str(folder.resolve()))[:32]}.sqlite"


def open_index(folder: Path) -> Index:
    """Return the index of a suite's or a run's folder; nothing is read before `update`."""
    return Index(folder, index_path(folder))


def _behind(row: sqlite3.Row, folder: Path, sizes: tuple[int, int]) -> bool:
    """Return whether a run has more than was read of it, or other."""
    return sizes[0] != row["bytes"] or sizes[1] > row["span_bytes"] or not _continues(row, folder)


def _continues(row: sqlite3.Row, folder: Path) -> bool:
    """Return whether the journal still holds, at its end as it was read, the line that was read last."""
    if row["bytes"] == 0:
        return True
    if size_of(folder / JOURNAL) < row["bytes"] or size_of(folder / SPANS) < row["span_bytes"]:
        return False
    try:
        return bytes_at(folder / JOURNAL, row["bytes"] - 67, 67) == row["head"].encode() + b'"}\n'
    except RecordError:
        return False
