"""The file of a store: its schema, creation and opening."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from heredity._core.errors import DamagedRecordError, RecordError
from heredity._core.ids import digest_bytes, digest_json
from heredity._core.outside import resolved


def findings(database: Connection, path: Path) -> list[str]:
    """Read a whole store and return its damage, one sentence each."""
    problems = [database.lost] if database.lost else []
    try:
        problems += [f"{path}: {line}" for (line,) in database.execute("PRAGMA integrity_check(20)") if line != "ok"]
    except sqlite3.DatabaseError as error:
        problems.append(f"{path}: {error}")
    contents: set[str] = set()
    for row in rows(database, "contents", "digest, data"):
        if row is None or not isinstance(row[1], bytes) or digest_bytes(row[1]) != row[0]:
            problems.append(f"a content is damaged{_label_of(row)}")
        else:
            contents.add(row[0])
    versions: set[str] = set()
    for row in rows(database, "versions", "digest, body, type, name"):
        if row is None or not _matches(row[1], row[0]):
            problems.append(f"the record of a version is damaged{_label_of(row)}")
            continue
        body = json.loads(row[1])
        if (body["type"], body["name"]) != row[2:]:
            problems.append(f"the index of {body['type']}/{body['name']}@{body['number']} is damaged")
        if body["content"] not in contents:
            problems.append(f"the content of {body['type']}/{body['name']}@{body['number']} cannot be read")
        versions.add(row[0])
    for row in rows(database, "moves", "seal, body"):
        if row is None or not _matches(row[1], row[0]):
            problems.append("an entry of the log of moves is damaged")
    return problems + _damaged_heads(database, versions)


def rows(database: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...] | None]:
    """Yield the rows of a table by their number, and None for unreadable ones.

    A scan ends at the first damaged page; reading rows one by one does not.
    """
    query = f"SELECT {columns} FROM {table} WHERE rowid = ?"
    for number in range(1, _last(database, table) + 1):
        try:
            row = database.execute(query, (number,)).fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            yield None
        else:
            if row is not None:
                yield row


def _last(database: sqlite3.Connection, table: str) -> int:
    try:
        return database.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0
    except sqlite3.DatabaseError:
        return 0


def _damaged_heads(database: sqlite3.Connection, versions: set[str]) -> list[str]:
    problems: list[str] = []
    try:
        for row in database.execute("SELECT * FROM heads").fetchall():
            if digest_json(list(row[:5])) != row[5]:
                problems.append(f"the head of {row[0]}/{row[1]} on {row[2]} is damaged")
            elif row[3] not in versions:
                problems.append(f"the head of {row[0]}/{row[1]} on {row[2]} points to a version that cannot be read")
    except (sqlite3.DatabaseError, TypeError) as error:
        problems.append(f"the heads cannot be read: {error}")
    return problems


def _matches(body: Any, digest: Any) -> bool:
    return isinstance(body, str) and digest_bytes(body.encode("utf-8", "surrogateescape")) == digest


def _label_of(row: tuple[Any, ...] | None) -> str:
    return f" ({str(row[0])[:12]})" if row is not None else " and cannot be read at all"


_WAL_HEADER, _FRAME_HEADER = 32, 24
_INDEX_VERSION = 3007000
_RACE_S = 0.05
Sums = tuple[int, int]


def lost_frames(path: Path) -> str:
    """Describe the frames missing from a store's `-wal` file; `""` if none are, or if it is unknown.

    Call it only while this process does not have the store open: closing the `-shm` file would drop SQLite's locks.
    """
    if not _compare(path):
        return ""
    # A process that is writing may have changed one file between reading the two.
    time.sleep(_RACE_S)
    return _compare(path)


def _compare(path: Path) -> str:
    index = _read(path.with_name(path.name + "-shm"))[:100]
    if len(index) < 100 or index[:48] != index[48:96] or struct.unpack_from("=I", index)[0] != _INDEX_VERSION:
        return ""
    if _sums(index[:40], (0, 0), sys.byteorder) != struct.unpack_from("=II", index, 40):
        return ""
    frames, folded = struct.unpack_from("=I", index, 16)[0], struct.unpack_from("=I", index, 96)[0]
    if folded >= frames:
        return ""
    wal = path.with_name(path.name + "-wal")
    intact = _intact_frames(_read(wal), index[32:40], frames)
    return "" if intact == frames else f"{wal} has {intact} intact frames of {frames} that were written"


def _intact_frames(wal: bytes, salts: bytes, most: int) -> int:
    if len(wal) < _WAL_HEADER or wal[16:24] != salts:
        return 0
    order = "big" if wal[3] & 1 else "little"
    sums = _sums(wal[:24], (0, 0), order)
    if sums != struct.unpack_from(">II", wal, 24):
        return 0
    size = _FRAME_HEADER + struct.unpack_from(">I", wal, 8)[0]
    for number in range(most):
        frame = wal[_WAL_HEADER + number * size : _WAL_HEADER + (number + 1) * size]
        if len(frame) < size or frame[8:16] != salts:
            return number
        sums = _sums(frame[:8] + frame[_FRAME_HEADER:], sums, order)
        if sums != struct.unpack_from(">II", frame, 16):
            return number
    return most


def _sums(data: bytes, before: Sums, order: str) -> Sums:
    """Return SQLite's running checksum: `a += x + b; b += y + a` over pairs of 32-bit words, here as one product."""
    words = np.frombuffer(data, ">u4" if order == "big" else "<u4").astype(np.uint64)
    weights = _weights(len(words) // 2 + 1)
    a, b = weights @ np.concatenate((np.array([before[0], before[1] - before[0]], np.int64).astype(np.uint64), words))
    return int(a) & 0xFFFFFFFF, int(b) & 0xFFFFFFFF


@cache
def _weights(pairs: int) -> npt.NDArray[np.uint64]:
    """Return each word's contribution to the two sums, modulo 2**32, shape (2, 2 * pairs)."""
    step, weights = np.array([[1, 1], [1, 2]], np.uint64), np.zeros((2, 2 * pairs), np.uint64)
    column = np.array([[1, 0], [1, 1]], np.uint64)
    for pair in reversed(range(pairs)):
        weights[:, 2 * pair : 2 * pair + 2] = column
        column = (step @ column) & np.uint64(0xFFFFFFFF)
    return weights


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


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
        lost: content lost from a damaged `-wal` file; `""` if it is complete.
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
        intact: continue without the transactions lost from a damaged `-wal` file, and keep a copy of it.

    Raises:
        DamagedRecordError: if transactions are lost and `intact` is false; nothing is changed then.
        RecordError: if it is not a plain file.
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
        # A file that is not a store is opened all the same.
        database.close()
        raise
    return database


def create_file(path: Path) -> None:
    """Create a complete store under another name and link it into place: a file here is always a store, or damage."""
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
