"""Rows of JSONL, CSV and parquet files with their positions; a damaged row is returned with its problem.

CSV may be separated by commas, semicolons, tabs or bars. Text is UTF-8 or UTF-16, unless an encoding is given.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value, read_bytes
from heredity._core.refusals import reading

_SUFFIXES = (".jsonl", ".csv", ".tsv", ".parquet")
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_SAMPLE = 4096
_LARGEST_CELL = 1 << 28


class Row(NamedTuple):
    """Row: its position (`questions.csv, line 3`), its cells, and a problem of the whole row."""

    where: str
    cells: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True)
class Rows:
    """Rows of a file.

    Attributes:
        rows: in order.
        columns: names of the columns, as written.
        form: the encoding and the separator, if they are not UTF-8 and commas.
    """

    rows: Sequence[Row]
    columns: Sequence[str]
    form: Sequence[str] = field(default_factory=list[str])


def read_rows(path: Path, encoding: str | None = None, what: str = "questions") -> Rows:
    """Read a file; empty rows of JSONL and CSV are skipped.

    Args:
        path: the file.
        what: its rows, for messages.
        encoding: encoding of its text, such as `"cp1252"`; by default UTF-8 or UTF-16, detected.

    Raises:
        ConfigError: if it is missing, has another suffix, or cannot be parsed; with line and column if known.
    """
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ConfigError(f"{path} is not a file of {what}; expected {', '.join(_SUFFIXES)}")
    page = "questions" if what == "questions" else "null-audit"
    with reading(path, suffix.removeprefix(".").upper(), f"give a file with the columns of docs/{page}.md"):
        data = read_bytes(path)
    if suffix == ".parquet":
        rows, columns, form = _parquet(path, data)
    else:
        text, form = _decoded(path, data, encoding)
        if suffix == ".jsonl":
            rows, columns = _json_lines(path, text), []
        else:
            rows, columns, separated = _csv(path, text, "\t" if suffix == ".tsv" else None)
            form += separated
    columns = columns or list(dict.fromkeys(name for row in rows for name in row.cells))
    if not rows:
        raise ConfigError(f"{path} has no {what}; expected at least one row")
    if not columns:
        raise ConfigError(f"{rows[0].where}: {rows[0].problem}")
    return Rows(rows, columns, form)


def _decoded(path: Path, data: bytes, encoding: str | None) -> tuple[str, list[str]]:
    chosen = encoding or _recognised(data)
    try:
        text = data.decode(chosen)
    except LookupError as error:
        raise ConfigError(f"encoding is {encoding!r}; expected one that Python knows, such as cp1252") from error
    except UnicodeDecodeError as error:
        raise ConfigError(_undecodable(path, data, error, encoding)) from error
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    before, nul, _ = text.partition("\0")
    if nul:
        raise ConfigError(
            f"{path}, line {before.count(chr(10)) + 1}: it holds a NUL byte; remove it, or name the encoding"
        )
    return text, [] if chosen.startswith("utf-8") else [f"read as {chosen.upper()}"]


def _recognised(data: bytes) -> str:
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return encoding
    # UTF-8 text has no zero bytes; in UTF-16, every other byte of Latin text is zero.
    sample = data[:_SAMPLE]
    low, high = sample[1::2].count(0), sample[::2].count(0)
    if max(low, high) > len(sample) / 5:
        return "utf-16-le" if low > high else "utf-16-be"
    return "utf-8"


def _undecodable(path: Path, data: bytes, error: UnicodeDecodeError, encoding: str | None) -> str:
    before = data[: error.start]
    line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
    problem = f"{path.name}, line {line}, byte {column}: 0x{data[error.start]:02x} is not {error.encoding.upper()}"
    if encoding is not None:
        return f"{problem}; name the encoding that {path} has"
    return (
        f"{problem}; it may be Latin-1 or Windows-1252: save {path} as UTF-8, or name its encoding, as in "
        f"questions/file:{path.name}?encoding=cp1252"
    )


def _json_lines(path: Path, text: str) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path.name}, line {number}"
        try:
            cells = json_value(line)
        except ValueError as error:
            rows.append(Row(where, {}, f"it is not JSON: {error!s:.200}; write one object per line"))
            continue
        if isinstance(cells, dict):
            rows.append(Row(where, cells))
        else:
            rows.append(Row(where, {}, f"{line[:80]!r} is not a JSON object; write one per line"))
    return rows


def _csv(path: Path, text: str, delimiter: str | None) -> tuple[list[Row], list[str], list[str]]:
    csv.field_size_limit(_LARGEST_CELL)
    chosen = delimiter or _delimiter(text)
    lines = text.split("\n")
    read = _cells(text, chosen)
    first, header = next(read, (1, list[str]()))
    columns = _columns(path, first, header)
    rows: list[Row] = []
    line = first
    for line, cells in read:
        where = f"{path.name}, line {line}"
        named = {name: cell or None for name, cell in zip(columns, cells, strict=False) if name}
        rows.append(Row(where, named, _too_many(cells, columns)))
    try:
        list(csv.reader(io.StringIO("\n".join(lines[line - 1 :])), delimiter=chosen, strict=True))
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise ConfigError(
                f"{path.name}, line {line}: a quote opens and does not close; close it, or write it twice"
            ) from error
    return rows, [name for name in columns if name], [] if chosen == "," else [f"separated by {_DELIMITERS[chosen]}"]


def _too_many(cells: Sequence[str], columns: Sequence[str]) -> str:
    more = [cell for cell in cells[len(columns) :] if cell.strip()]
    if not more:
        return ""
    return (
        f"{len(cells)} cells for {len(columns)} columns ({', '.join(columns)}), {more[0]!r:.60} belongs to none; "
        "put quotes around a cell that has the separator in it"
    )


def _cells(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of CSV text that are not empty, each with its first line number."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    for cells in reader:
        if any(cell.strip() for cell in cells):
            yield line, cells
        line = reader.line_num + 1


def _delimiter(text: str) -> str:
    """Return the separator with which the first line has the most columns; by default the comma."""
    header = {one: next(_cells(text[: _SAMPLE * 16], one), (1, list[str]()))[1] for one in _DELIMITERS}
    return max(header, key=lambda one: len(header[one]))


def _columns(path: Path, line: int, header: Sequence[str]) -> list[str]:
    columns = [name.strip() for name in header]
    twice = {name for name in columns if name and columns.count(name) > 1}
    if twice:
        raise ConfigError(f"{path.name}, line {line}: two columns have the name {min(twice)!r}; rename one")
    return columns


def _parquet(path: Path, data: bytes) -> tuple[list[Row], list[str], list[str]]:
    import polars as pl

    try:
        table = pl.read_parquet(data)
    # The reader's internal errors do not derive from `Exception`.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ConfigError(f"{path} is not a parquet file: {error!s:.200}; write or download it again") from error
    rows = [Row(f"{path.name}, row {number}", cells) for number, cells in enumerate(table.iter_rows(named=True), 1)]
    return rows, table.columns, []


def renamed(rows: Rows, columns: Mapping[str, str]) -> list[Row]:
    """Return rows with some columns renamed; other columns give up those names.

    Args:
        rows: the rows.
        columns: new name to the column of the file.
    """
    taken = {column: name for name, column in columns.items()}
    others = {column: f"column {column}" if column in columns else column for column in rows.columns}
    return [
        row._replace(cells={taken.get(name) or others.get(name, name): cell for name, cell in row.cells.items()})
        for row in rows.rows
    ]
