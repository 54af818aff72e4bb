"""Finds damage in a store of versions, and the parts that are still readable."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heredity._core.ids import digest_bytes, digest_json
from heredity.resources.store_file import Connection


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
