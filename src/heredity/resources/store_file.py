"""The file of a store: its schema, and how it comes into being and is opened."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

from heredity.errors import DamagedRecordError, RecordError
from heredity.outside import resolved
from heredity.resources.leftover import lost_frames

_BUSY_S = 60.0
_OPENING = threading.Lock()
_OPEN: Counter[Path] = Counter()
APPLICATION = 0x48455244
FORMAT = 1
_SCHEMA = f"""
CREATE TABLE contents (digest TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE versions (id INTEGER PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL, major INTEGER NOT NULL,
    minor INTEGER NOT NULL, patch INTEGER NOT NULL, digest TEXT NOT NULL UNIQUE, body TEXT NOT NULL);
CREATE UNIQUE INDEX numbers ON versions (type, name, major, minor, patch);
CREATE TABLE heads (type TEXT, name TEXT, branch TEXT, digest TEXT NOT NULL, hidden INTEGER NOT NULL,
    seal TEXT NOT NULL, PRIMARY KEY (type, name, branch)) WITHOUT ROWID;
CREATE TABLE moves (id INTEGER PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL,
    seal TEXT NOT NULL);
CREATE INDEX moved ON moves (type, name);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""
TABLES = {"contents", "versions", "heads", "moves"}


class Connection(sqlite3.Connection):
    """An open file of a store.

    Attributes:
        lost: what a damaged `-wal` file no longer holds; `""` if it holds everything.
    """

    lost = ""
    _path_open: Path | None = None

    def count(self, path: Path) -> None:
        """Note that this process has the file open."""
        self._path_open = path
        _OPEN[path] += 1

    def close(self) -> None:
        """Close the file; the last one to do so folds the `-wal` file into it."""
        with _OPENING:
            super().close()
            if self._path_open is not None:
                _OPEN[self._path_open] -= 1
                self._path_open = None


def connect(path: Path, *, intact: bool = False) -> Connection:
    """Open a file so that every transaction is synced before it returns, and writers wait for each other.

    Args:
        path: the file.
        intact: go on without the transactions that a damaged `-wal` file has lost, and keep a copy of it.

    Raises:
        DamagedRecordError: if there are any and `intact` is false; nothing is changed then.
        RecordError: if it is no plain file.
    """
    if path.exists() and not path.is_file():
        raise RecordError(f"{path} is not a plain file; name another, or take it away")
    with _OPENING:
        whole = resolved(path)
        lost = "" if _OPEN[whole] else lost_frames(path)
        wal = path.with_name(path.name + "-wal")
        if lost and not intact:
            raise DamagedRecordError(
                f"the last changes to {path} cannot be read: {lost}; nothing was touched: put {wal.name} back from a copy,"
                " or export what is intact (--intact), which drops them"
            )
        if lost and wal.exists():
            shutil.copyfile(wal, wal.with_name(wal.name + ".damaged"))
        database = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, factory=Connection)
        database.count(whole)
        database.lost = lost
    try:
        database.execute("PRAGMA synchronous = FULL")
    except BaseException:
        # What is no store is open all the same.
        database.close()
        raise
    return database


def create_file(path: Path) -> None:
    """Make a whole store beside and link it into place: whoever finds a file here finds a store, or damage."""
    if path.is_symlink():
        raise RecordError(f"{path} is a link to nothing; remove it, or name a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".store-") as folder:
        fresh = Path(folder) / "store.db"
        with closing(connect(fresh)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(_SCHEMA)
        descriptor = os.open(fresh, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.link(fresh, path)
        except FileExistsError:
            return
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
