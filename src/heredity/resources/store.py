"""The store of versions: one SQLite file, durable, shared by several processes, with detection of damage.

Every operation is one transaction, synced before it returns (WAL, `synchronous=FULL`). Versions and contents are only
ever added; only branches' heads move, and each move is logged. Every row carries its digest, because SQLite detects
damage to its pages only where it breaks their format.
"""

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
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError, UnknownNameError
from heredity._core.ids import canonical_json, digest_bytes, digest_json
from heredity._core.outside import resolved
from heredity.resources.tree import AnyPath, SourceTree
from heredity.resources.versions import (
    FIRST,
    MAIN,
    TYPES,
    Draft,
    Move,
    Number,
    Version,
    checked_identity,
    checked_name,
)


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


class Store:
    """The versions of all resources, in one file.

    One object serves one thread; open the file again in another thread or process. Its four core methods are `put`,
    `get`, `list`, `move`; the others read its records.
    """

    def __init__(
        self,
        path: AnyPath,
        *,
        create: bool = True,
        intact: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Open a store, which is created if missing.

        Args:
            path: the file; SQLite keeps `-wal` and `-shm` files next to it while it is open.
            create: whether to create it.
            intact: open it without the changes lost from a damaged `-wal` file; `check` lists them.
            now: the time of moves of heads.

        Raises:
            ConfigError: if it is missing and `create` is false.
            DamagedRecordError: if the file or its `-wal` is cut short or damaged, or something else; it is left as it
                is.
            RecordError: if it cannot be created or opened, as on a full disk.
        """
        self.path = path = Path(path)
        self._now = now
        if not path.exists():
            if not create:
                raise ConfigError(f"there is no store of resources at {path}; name another, or register one first")
            with self._reporting():
                create_file(path)
        if path.stat().st_size == 0:
            raise DamagedRecordError(f"{path} is empty, which a store never is; take it from a backup or remove it")
        with self._reporting():
            self._db = connect(path, intact=intact)
            try:
                self._check_format()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Close the file; the last one to do so folds the `-wal` file into it."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- the four

    def put(self, draft: Draft, *, branch: str | None = MAIN, new: bool = False, action: str = "update") -> Version:
        """Add a version and move a branch's head to it, both or neither.

        Args:
            draft: the version.
            branch: the branch to move; None to move none.
            new: require that the resource does not exist yet (instead of that it does).
            action: the action for the log.

        Raises:
            ConfigError: if the resource exists already (or is hidden), the number was used before, or pins form a
                cycle.
            UnknownNameError: if the resource, branch or pinned version does not exist.
        """
        with self.transaction():
            numbers = self._numbers(draft.type, draft.name)
            if new and numbers:
                raise ConfigError(
                    f"{draft.type}/{draft.name} is registered already; update it, or restore it if hidden"
                )
            head = None if new or branch is None else self._head(draft.type, draft.name, branch)
            number = draft.number or (numbers[0].next(draft.part) if numbers else FIRST)
            if draft.number and self._row(draft.type, draft.name, draft.number):
                raise ConfigError(
                    f"{draft.type}/{draft.name} has a version {number} already, which is never overwritten; the next"
                    f" free one is {numbers[0].next()}"
                )
            parents = draft.parents if draft.parents is not None else (head,) if head else ()
            version = Version.of(draft, number, parents)
            self._check_pins(version)
            self._insert(version, draft.tree)
            if branch is not None:
                self._set_head(version, branch, action)
            return version

    def get(self, type_: str, name: str, number: Number | None = None, *, branch: str = MAIN) -> Version:
        """Return one version, or a branch's head.

        Raises:
            UnknownNameError: if the resource, version or branch does not exist, or it is hidden and no number is
                given.
            DamagedRecordError: if its row does not match its digest.
        """
        checked_identity(type_, name)
        with self._reporting():
            if number is None:
                return self._by_digest(self._head(type_, name, branch))
            row = self._row(type_, name, number)
            if row is None:
                numbers = self._numbers(type_, name, 50)
                if not numbers:
                    raise UnknownNameError(type_, name, self._names(type_))
                raise UnknownNameError(f"version of {type_}/{name}", str(number), map(str, numbers))
            return _version(*row)

    def list(self, type_: str | None = None, name: str | None = None, *, hidden: bool = False) -> list[Version]:
        """Return the heads of all resources by type and name, or (given a name) every version of it from the first.

        Raises:
            UnknownNameError: if the type or the resource does not exist.
            DamagedRecordError: if a row does not match its digest.
        """
        if type_ is not None and type_ not in TYPES:
            raise UnknownNameError("type of resource", type_, TYPES)
        with self._reporting():
            if type_ is not None and name is not None:
                rows = self._db.execute(
                    "SELECT digest, body FROM versions WHERE type = ? AND name = ? ORDER BY major, minor, patch",
                    (type_, name),
                ).fetchall()
                if not rows:
                    raise UnknownNameError(type_, name, self._names(type_))
                return [_version(*row) for row in rows]
            heads = self._db.execute(
                "SELECT * FROM heads WHERE branch = ? AND hidden <= ? AND (? IS NULL OR type = ?) ORDER BY type, name",
                (MAIN, int(hidden), type_, type_),
            ).fetchall()
            return [self._by_digest(_sealed(row)[3]) for row in heads]

    def move(
        self, type_: str, name: str, number: Number | None = None, *, branch: str = MAIN, hidden: bool = False
    ) -> Version:
        """Point a branch at a version of the same resource, and hide or show the resource as a whole.

        Args:
            type_: the resource's type.
            name: its name.
            number: the version (None leaves the head where it is).
            branch: created if missing.
            hidden: whether `list` and `get` leave out the resource from now on; its history stays.

        Raises:
            UnknownNameError: if the resource, version, or (without a number) branch does not exist.
        """
        with self.transaction():
            version = self.get(type_, name, number, branch=branch)
            for row in self._heads(type_, name):
                self._write_head(row[:4], hidden)
            self._set_head(version, branch, "unregister" if hidden else "restore", hidden=hidden)
            return version

    # --- reading the records

    def tree(self, version: Version) -> SourceTree:
        """Return a version's files.

        Raises:
            DamagedRecordError: if the content is missing or does not match its digest.
        """
        with self._reporting():
            row = self._db.execute("SELECT data FROM contents WHERE digest = ?", (version.content,)).fetchone()
        if row is None or not isinstance(row[0], bytes) or digest_bytes(row[0]) != version.content:
            raise DamagedRecordError(
                f"the content of {version.label} ({version.content[:12]}) is {'missing' if row is None else 'damaged'} in"
                f" {self.path}; take it from a backup, its other versions are not touched"
            )
        return SourceTree.from_bytes(row[0])

    def versions(self) -> Iterator[Version]:
        """Yield every version of every resource, the oldest first."""
        with self._reporting():
            for row in self._db.execute("SELECT digest, body FROM versions ORDER BY id"):
                yield _version(*row)

    def branches(self, type_: str, name: str, *, intact: bool = False) -> dict[str, str]:
        """Return the digest of the head of every branch; `intact` leaves out damaged ones instead of raising."""
        try:
            with self._reporting():
                return {row[2]: row[3] for row in self._heads(type_, name)}
        except DamagedRecordError:
            if not intact:
                raise
            return {}

    def hidden(self, type_: str, name: str) -> bool:
        """Return whether a resource is unregistered."""
        with self._reporting():
            return any(row[4] for row in self._heads(type_, name))

    def moves(self, type_: str, name: str) -> list[Move]:
        """Return every move of the resource's heads, the first one first."""
        with self._reporting():
            rows = self._db.execute(
                "SELECT body, seal FROM moves WHERE type = ? AND name = ? ORDER BY id", (type_, name)
            ).fetchall()
        return [_move(*row) for row in rows]

    def label(self, digest: str) -> str:
        """Return `type/name@number` of the version with a digest, or the digest's first letters."""
        with self._reporting():
            row = self._db.execute("SELECT digest, body FROM versions WHERE digest = ?", (digest,)).fetchone()
        return _version(*row).label if row else digest[:12]

    def adopt(self, entries: Iterable[tuple[Version, SourceTree]], heads: Iterable[tuple[str, Version, bool]]) -> int:
        """Add unchanged versions (in one transaction) and return the number of new ones.

        Args:
            entries: versions and their files; pinned ones come before those that pin them.
            heads: branch, version, and whether it is hidden (heads of existing resources stay).

        Raises:
            ConfigError: if another version has the same number here; nothing is added then.
        """
        with self.transaction():
            here: set[tuple[str, str]] = set(self._db.execute("SELECT DISTINCT type, name FROM heads").fetchall())
            added = 0
            for version, tree in entries:
                row = self._row(version.type, version.name, version.number)
                if row is not None and row[0] != version.digest:
                    raise ConfigError(f"{version.label} is here already and differs; copy one of them to another name")
                if row is None:
                    self._check_pins(version)
                    self._insert(version, tree)
                    added += 1
            for branch, version, hidden in heads:
                if (version.type, version.name) not in here:
                    self._set_head(version, branch, "import", hidden=hidden)
            return added

    def check(self) -> list[str]:
        """Read everything and return the damage, one sentence each; empty without damage."""
        return findings(self._db, self.path)

    def intact(self) -> Iterator[tuple[Version, SourceTree]]:
        """Yield every version whose row and content are readable and match their digests, oldest first."""
        for row in rows(self._db, "versions", "digest, body"):
            if row is not None:
                with suppress(DamagedRecordError):
                    version = _version(*row)
                    yield version, self.tree(version)

    # --- internals

    def _check_format(self) -> None:
        application = self._db.execute("PRAGMA application_id").fetchone()[0]
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        names = {row[0] for row in self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if application != APPLICATION or not names >= TABLES:
            raise DamagedRecordError(f"{self.path} is a database, and no store of resources; name another file")
        if version != FORMAT:
            raise RecordError(f"{self.path} has format {version}, and this program reads {FORMAT}; use a newer one")

    @contextmanager
    def _reporting(self) -> Generator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", 0)  # SQLite may quote damaged content, which is not UTF-8
            if isinstance(error, UnicodeDecodeError) or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise DamagedRecordError(
                    f"{self.path} is damaged ({error}); it was left as it is: export what is intact, or take a backup"
                ) from error
            raise RecordError(f"{self.path} could not be used: {error}; name another, or make it readable") from error

    @contextmanager
    def transaction(self) -> Generator[None]:
        """Run reads and writes in one transaction, which excludes other writers."""
        if self._db.in_transaction:
            yield
            return
        with self._reporting():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _numbers(self, type_: str, name: str, limit: int = 1) -> list[Number]:
        rows = self._db.execute(
            "SELECT major, minor, patch FROM versions WHERE type = ? AND name = ?"
            " ORDER BY major DESC, minor DESC, patch DESC LIMIT ?",
            (type_, name, limit),
        ).fetchall()
        return [Number(*row) for row in rows]

    def _names(self, type_: str) -> list[str]:
        return [row[0] for row in self._db.execute("SELECT DISTINCT name FROM heads WHERE type = ?", (type_,))]

    def _row(self, type_: str, name: str, number: Number) -> tuple[str, str] | None:
        return self._db.execute(
            "SELECT digest, body FROM versions WHERE type = ? AND name = ? AND major = ? AND minor = ? AND patch = ?",
            (type_, name, number.major, number.minor, number.patch),
        ).fetchone()

    def _by_digest(self, digest: str) -> Version:
        row = self._db.execute("SELECT digest, body FROM versions WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            raise DamagedRecordError(f"{self.path} has no version {digest[:12]} that a branch points to")
        return _version(*row)

    def _heads(self, type_: str, name: str) -> list[tuple[Any, ...]]:
        rows = self._db.execute("SELECT * FROM heads WHERE type = ? AND name = ? ORDER BY branch", (type_, name))
        return [_sealed(row) for row in rows.fetchall()]

    def _head(self, type_: str, name: str, branch: str) -> str:
        heads = {row[2]: row for row in self._heads(type_, name)}
        if not heads:
            raise UnknownNameError(type_, name, self._names(type_))
        if branch not in heads:
            raise UnknownNameError(f"branch of {type_}/{name}", branch, heads)
        if heads[branch][4]:
            raise ConfigError(f"{type_}/{name} is unregistered; restore one of its versions to use it again")
        return heads[branch][3]

    def _insert(self, version: Version, tree: SourceTree) -> None:
        self._db.execute("INSERT OR IGNORE INTO contents VALUES (?, ?)", (version.content, tree.to_bytes()))
        number = version.number
        self._db.execute(
            "INSERT INTO versions (type, name, major, minor, patch, digest, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                *(version.type, version.name, number.major, number.minor, number.patch),
                *(version.digest, canonical_json(version.to_json()).decode()),
            ),
        )

    def _set_head(self, version: Version, branch: str, action: str, *, hidden: bool = False) -> None:
        checked_name(branch, "name of a branch")
        digest = version.digest
        self._write_head((version.type, version.name, branch, digest), hidden)
        move = Move(branch, digest, action, self._now().isoformat(timespec="microseconds"))
        body = canonical_json(move.to_json()).decode()
        self._db.execute(
            "INSERT INTO moves (type, name, body, seal) VALUES (?, ?, ?, ?)",
            (version.type, version.name, body, digest_bytes(body.encode())),
        )

    def _write_head(self, head: tuple[Any, ...], hidden: bool) -> None:
        row = [*head, int(hidden)]
        self._db.execute("INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?, ?, ?)", (*row, digest_json(row)))

    def _check_pins(self, version: Version) -> None:
        """Follow a version's dependencies to any depth, and refuse cycles back to it."""
        origin = f"{version.type}/{version.name}"
        open_: list[tuple[tuple[str, ...], Version]] = [((origin,), version)]
        seen: set[str] = set()
        while open_:
            path, needing = open_.pop()
            for target, number in needing.manifest.pins.items():
                if target == origin:
                    raise ConfigError(f"cyclic dependency: {' needs '.join((*path, origin))}; remove one of these pins")
                label = f"{target}@{number}"
                if label not in seen:
                    seen.add(label)
                    type_, _, name = target.partition("/")
                    open_.append(((*path, target), self.get(type_, name, Number.parse(number))))


def _version(digest: str, body: str) -> Version:
    if digest_bytes(body.encode("utf-8", "surrogateescape")) != digest:
        raise DamagedRecordError(f"the record of version {digest[:12]} is damaged; the others are not touched")
    return Version.from_json(json.loads(body))


def _move(body: str, seal: str) -> Move:
    if digest_bytes(body.encode("utf-8", "surrogateescape")) != seal:
        raise DamagedRecordError("an entry of the log of moves is damaged; the versions are not touched")
    return Move(**json.loads(body))


def _sealed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    if digest_json(list(row[:5])) != row[5]:
        raise DamagedRecordError(f"the head of {row[0]}/{row[1]} on {row[2]} is damaged; restore one of its versions")
    return row
