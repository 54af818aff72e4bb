"""Replies on disk: one SQLite file, which several processes may use at once."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError
from heredity._core.ids import canonical_json, digest_bytes
from heredity._core.outside import json_value
from heredity.models.contract import Reply

_APPLICATION = 0x48524C59
"""SQLite application id of our files."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS replies (
    key TEXT PRIMARY KEY, model TEXT NOT NULL, messages TEXT NOT NULL, reply BLOB NOT NULL, checksum TEXT NOT NULL,
    stored REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replies_by_messages ON replies (messages, model);
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A reply as it was given, and when it was stored in Unix time."""

    reply: Reply
    stored: float


class ReplyStore:
    """Replies by key. Opened at first use; safe in threads and across processes.

    Raises (every method):
        DamagedRecordError: if the file or an entry fails its checksum. The file is never replaced: move it away to
            start a new one.
        RecordError: if the file cannot be opened or is locked for longer than 30 s.
        ConfigError: if it is the SQLite file of another program.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get(self, key: str) -> Stored | None:
        """Return the reply stored under a key, if there is one."""
        rows = self._execute("SELECT reply, checksum, stored FROM replies WHERE key = ?", (key,))
        if not rows:
            return None
        data, checksum, stored = rows[0]
        if not isinstance(data, bytes) or digest_bytes(data) != checksum:
            raise DamagedRecordError(
                f"the cache {self.path}: the reply {key[:12]} does not match its checksum; move it away"
            )
        try:
            return Stored(Reply.from_json(json_value(data)), float(stored))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise DamagedRecordError(
                f"the cache {self.path}: the entry {key[:12]} is not a reply: {error!s:.200}; move the file away"
            ) from error

    def put(self, key: str, model: str, messages: str, reply: Reply) -> None:
        """Store a reply; the first one stored under a key stays."""
        data = canonical_json(reply.to_json())
        row = (key, model, messages, data, digest_bytes(data), time.time())
        self._execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?, ?, ?, ?)", row)

    def knows_messages(self, model: str, messages: str) -> bool:
        """Return whether any key holds a reply of the model to these messages."""
        query = "SELECT 1 FROM replies WHERE messages = ? AND model = ? LIMIT 1"
        return bool(self._execute(query, (messages, model)))

    def __len__(self) -> int:
        return int(self._execute("SELECT count(*) FROM replies", ())[0][0])

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _execute(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        with self._lock, self._reported():
            if self._connection is None:
                self._connection = self._open()
            return self._connection.execute(statement, values).fetchall()

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and not self.path.is_file():
            raise RecordError(f"the cache {self.path} is not a plain file; give it a path of its own")
        connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            # One process at a time inspects and sets up the file.
            connection.execute("BEGIN IMMEDIATE")
            (mark,) = connection.execute("PRAGMA application_id").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            if mark != _APPLICATION and tables:
                raise ConfigError(f"{self.path} is an SQLite file of another program; give the cache a path of its own")
            for statement in _SCHEMA.split(";"):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            connection.execute("COMMIT")
            # Another process may be making the same switch, which holds for the file: it is done then, or next time.
            with suppress(sqlite3.OperationalError):
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _reported(self) -> Generator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise RecordError(f"the cache {self.path} cannot be used ({error}); make room, or move it away") from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # SQLite may quote the damaged content
            raise DamagedRecordError(
                f"the cache {self.path} is damaged: {error}; nothing was changed in it; move it away to begin a new one"
            ) from error
        except OSError as error:
            raise RecordError(
                f"the cache {self.path} cannot be opened: {error.strerror}; give it another path"
            ) from error
