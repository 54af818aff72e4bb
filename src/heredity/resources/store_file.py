"""The file of a store: its schema, and how it comes into being and is opened."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

_BUSY_S = 60.0
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


def connect(path: Path) -> sqlite3.Connection:
    """Open a file so that every transaction is synced before it returns, and writers wait for each other."""
    database = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    database.execute("PRAGMA synchronous = FULL")
    return database


def create_file(path: Path) -> None:
    """Make a whole store beside and link it into place: whoever finds a file here finds a store, or damage."""
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
