"""The index of a suite, or of a run that stands alone: opened, brought up to date, asked.

with open_index(Path("runs/demo")) as index:
    index.update()
    index.rows("SELECT name FROM runs")
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from heredity._core.errors import RecordError
from heredity._core.ids import digest_json
from heredity.pages.live.rows import Facts, Writer, bytes_at, lines_from, size_of, span_rows
from heredity.records.journal import START, decode_line

VERSION = 2

TABLES = (
    """CREATE TABLE about (version INTEGER NOT NULL)""",
    """CREATE TABLE runs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL, lines INTEGER NOT NULL,
        head TEXT NOT NULL, damage TEXT NOT NULL, span_bytes INTEGER NOT NULL, spans INTEGER NOT NULL, facts TEXT NOT NULL)""",
    """CREATE TABLE events (run INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL,
        offset INTEGER NOT NULL, length INTEGER NOT NULL, brief TEXT NOT NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID""",
    """CREATE TABLE candidates (run INTEGER NOT NULL, digest TEXT NOT NULL, number INTEGER NOT NULL, blob TEXT NOT NULL,
        parents TEXT NOT NULL, note TEXT NOT NULL, at REAL NOT NULL, state TEXT NOT NULL, score REAL, view TEXT NOT NULL,
        PRIMARY KEY (run, digest)) WITHOUT ROWID""",
    """CREATE TABLE decisions (run INTEGER NOT NULL, seq INTEGER NOT NULL, candidate TEXT NOT NULL, accepted INTEGER NOT NULL,
        PRIMARY KEY (run, seq)) WITHOUT ROWID""",
    """CREATE TABLE evaluations (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, number INTEGER, view TEXT NOT NULL,
        candidate TEXT NOT NULL, at REAL NOT NULL, charge INTEGER NOT NULL, status TEXT NOT NULL, mean REAL,
        rollouts INTEGER NOT NULL, failed INTEGER NOT NULL,
        seconds REAL, blob TEXT NOT NULL, tokens REAL, cost REAL, admitted INTEGER, seq INTEGER)""",
    """CREATE INDEX evaluations_by_run ON evaluations (run, number)""",
    """CREATE INDEX evaluations_by_candidate ON evaluations (run, candidate)""",
    """CREATE TABLE rollouts (id INTEGER PRIMARY KEY, run INTEGER NOT NULL, evaluation INTEGER NOT NULL, position INTEGER NOT NULL,
        task TEXT NOT NULL, score REAL, length INTEGER, status TEXT NOT NULL, message TEXT NOT NULL, seconds REAL)""",
    """CREATE INDEX rollouts_by_run ON rollouts (run, id)""",
    """CREATE INDEX rollouts_by_score ON rollouts (run, score)""",
    """CREATE INDEX rollouts_by_status ON rollouts (run, status)""",
    """CREATE INDEX rollouts_by_evaluation ON rollouts (evaluation, position)""",
    """CREATE TABLE calls (run INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL,
        place INTEGER NOT NULL, error TEXT NOT NULL, input REAL, output REAL, cached REAL, cost REAL,
        PRIMARY KEY (run, seq)) WITHOUT ROWID""",
    """CREATE TABLE tasks (run INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, task TEXT NOT NULL, status TEXT NOT NULL,
        solved INTEGER, rounds INTEGER, steps INTEGER, hops INTEGER, tools TEXT NOT NULL, seconds REAL, tokens REAL,
        folder TEXT NOT NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID""",
    """CREATE TABLE spans (run INTEGER NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT NOT NULL,
        name TEXT NOT NULL, kind TEXT NOT NULL, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
        problem TEXT NOT NULL, about TEXT NOT NULL,
        offset INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (run, number)) WITHOUT ROWID""",
    """CREATE INDEX spans_by_length ON spans (run, end_ns - start_ns)""",
    """CREATE INDEX spans_by_parent ON spans (run, parent)""",
)

OF_RUN = ("events", "candidates", "decisions", "evaluations", "rollouts", "calls", "tasks", "spans")
"""Tables whose rows belong to a run."""

_PRAGMAS = (
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "synchronous = OFF",
    "busy_timeout = 20000",
    "cache_size = -32000",
)
"""Pragmas. The file is derived: a power cut may destroy it, and it is rebuilt. It may be untrusted, so none of it is run."""


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open an index, or create it for writing; a file that is not an index is replaced.

    Raises:
        OSError: if the file cannot be created, or is not a plain file of this user (a link, say).
        sqlite3.Error: if it cannot be read.
    """
    if not write:
        address = f"file:{quote(str(path))}?mode=ro"
        return _prepared(sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False))
    for _ in range(2):
        _check_file(path)
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            if _ours(_prepared(connection)):
                return connection
        except sqlite3.OperationalError:
            connection.close()
            raise
        except sqlite3.DatabaseError:
            pass
        connection.close()
        discard(path)
    raise OSError(f"{path} cannot be used as an index")


def discard(path: Path) -> None:
    """Remove an index and SQLite's files next to it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def inode_of(path: Path) -> int:
    """Return a file's inode number, or -1 if it does not exist."""
    try:
        return path.stat(follow_symlinks=False).st_ino
    except OSError:
        return -1


def _check_file(path: Path) -> None:
    """Create the file, readable by its owner only, or refuse an existing one of another kind.

    An existing file is not opened: closing it would release SQLite's locks on it in this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    about = path.stat(follow_symlinks=False)
    if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
        raise OSError(f"{path} is not a plain file of this user")


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    connection.row_factory = sqlite3.Row
    return connection


def _ours(connection: sqlite3.Connection) -> bool:
    """Report whether the tables are exactly those of this version; an empty file gets them."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    try:
        statements = [
            row[0] for row in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
        ]
        if not statements:
            for statement in TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO about VALUES (?)", (VERSION,))
            return True
        same = [" ".join(text.split()) for text in statements] == [" ".join(text.split()) for text in TABLES]
        return same and [row[0] for row in connection.execute("SELECT version FROM about")] == [VERSION]
    finally:
        if connection.in_transaction:
            connection.execute("COMMIT")


NAME = "view.sqlite"
JOURNAL, SPANS = "journal.jsonl", "spans.jsonl"
_STEP_LINES, _STEP_BYTES = 2000, 16 << 20
"""Bytes of a journal after which a transaction ends."""
_MOST_SPANS = 2_000_000


@dataclass(slots=True)
class Progress:
    """Progress of an index: bytes read, bytes in total, and whether it is being created."""

    done: int = 0
    total: int = 0
    busy: bool = False

    @property
    def share(self) -> float:
        """Share done, from 0 to 1."""
        return 1.0 if not self.total else min(1.0, self.done / self.total)


@dataclass(slots=True)
class Index:
    """Index of a folder.

    Attributes:
        folder: folder of a suite, or of a run that stands alone.
        path: the file.
        progress: progress of the current update.
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
        """Close the file; closing twice is harmless."""
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
        """Add new lines of journals and spans, and return True if there were any (else False).

        A damaged index is rebuilt.

        Args:
            stop: called after each step; true ends the update early.

        Raises:
            OSError: if the file cannot be written.
            sqlite3.Error: if it is locked for too long, or the disk is full.
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
        """Return the connection that writes; a damaged or removed file is rebuilt."""
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
        """Return the rows of a query, read over a separate read-only connection.

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
            raise RecordError(f"{self.path} cannot be read ({error}); reload the page to rebuild it") from error

    def _step(self, connection: sqlite3.Connection, name: str, folder: Path) -> bool:
        """Read some lines of a run in one transaction; report whether there may be more."""
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
            # The trace is not part of the record: its readable lines are shown.
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
    """Return the path of a folder's index: inside it, or in this user's cache if the folder is not theirs or not writable."""
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
    """Return the index of a suite's or a run's folder; only `update` reads records."""
    return Index(folder, index_path(folder))


def _behind(row: sqlite3.Row, folder: Path, sizes: tuple[int, int]) -> bool:
    """Report whether a run's files have grown or changed since they were read."""
    return sizes[0] != row["bytes"] or sizes[1] > row["span_bytes"] or not _continues(row, folder)


def _continues(row: sqlite3.Row, folder: Path) -> bool:
    """Report whether the journal still has, at the position read last, the line read last."""
    if row["bytes"] == 0:
        return True
    if size_of(folder / JOURNAL) < row["bytes"] or size_of(folder / SPANS) < row["span_bytes"]:
        return False
    try:
        return bytes_at(folder / JOURNAL, row["bytes"] - 67, 67) == row["head"].encode() + b'"}\n'
    except RecordError:
        return False
