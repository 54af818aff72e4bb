"""The tables of an index, and what is asked of a file before it is taken for one."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

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
"""The file is derived: a power cut may cost it, and it is made again. It may also come from elsewhere, so nothing in it is run."""


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Open an index that is there, or, to write, make it; a file that is not one of ours is replaced.

    Raises:
        OSError: if the file belongs to another user, is a link or no plain file, or cannot be made.
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
    raise OSError(f"{path} cannot be made an index")


def discard(path: Path) -> None:
    """Remove an index and what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def inode_of(path: Path) -> int:
    """Return the number of a file, -1 where there is none."""
    try:
        return path.stat(follow_symlinks=False).st_ino
    except OSError:
        return -1


def _check_file(path: Path) -> None:
    """Make the file, readable by its owner alone, or refuse what is there.

    What is there is not opened: closing it would take away the locks that SQLite has on it elsewhere in this process.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
    about = path.stat(follow_symlinks=False)
    if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
        raise OSError(f"{path} is no plain file of this user")


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    connection.row_factory = sqlite3.Row
    return connection


def _ours(connection: sqlite3.Connection) -> bool:
    """Return whether the tables are those of this version, to the letter; an empty file is given them."""
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
