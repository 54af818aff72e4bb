"""Statements about a run, the lines in which logs hold them, and the receipts of logs in the run's folder.

A run makes two statements: its commitment when it has started, and the head of its journal when it has ended. Both
follow from its records, so that anybody can make them again:

    {"commitment": "5f…", "event": "start", "experiment": "9c…", "heredity": 1, "run": "CartPole-v1--gepa--s0", …}

A log file holds one statement in each line, with the SHA-256 of the line before as `previous`. Services that keep no
content, such as a timestamp service, are given that line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from heredity._core.errors import RecordError
from heredity._core.ids import canonical_json, digest_bytes, digest_json
from heredity._core.outside import json_value, read_bytes
from heredity.records import Event, load_config
from heredity.records.events import RUN_FINISHED, RUN_STARTED
from heredity.records.journal import Chain, read_chain
from heredity.results.run import InLog

RECEIPTS = "logged.jsonl"
"""File in a run's folder with the receipts of logs."""

VERSION = 1
FIRST = "0" * 64
"""`previous` of the first line of a log file, and of a line that is in none."""

Moment = Literal["start", "end"]
MOMENTS: Sequence[Moment] = ("start", "end")

_SETTINGS = ("run", "engine", "suite", "matrix")
"""Sections without influence on what an experiment asks; of `[run]`, the protocol and the tasksets have it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Statement of a run.

    Attributes:
        event: `"start"` or `"end"`.
        suite: name of its suite.
        run: its name.
        experiment: digest of its configuration without its seed, name and speed: repetitions share it.
        commitment: commitment to its hidden cases.
        head: at its end, the head of its journal; "" at its start.
        events: at its end, number of lines of its journal.
        at: Unix time of the last recorded event that it covers.
    """

    event: Moment
    suite: str
    run: str
    experiment: str
    commitment: str
    head: str = ""
    events: int = 0
    at: float = 0.0

    def line(self, previous: str = FIRST) -> str:
        """Return the line of a log, without a newline."""
        given = {name: getattr(self, name) for name in self.__slots__ if getattr(self, name) not in ("", 0)}
        return canonical_json({"heredity": VERSION, "previous": previous, **given}).decode()

    @classmethod
    def parse(cls, line: str | bytes) -> tuple[Statement, str]:
        """Return the statement of a line, and its `previous`.

        Raises:
            ValueError: if it is none.
        """
        value = json_value(line)
        fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        version, previous = fields.pop("heredity", None), fields.pop("previous", None)
        if version != VERSION or not isinstance(previous, str) or fields.get("event") not in ("start", "end"):
            raise ValueError(f"it is not a statement of version {VERSION}")
        types = {"at": int | float, "events": int}
        if wrong := [name for name, value in fields.items() if not isinstance(value, types.get(name, str))]:
            raise ValueError(f"its field {wrong[0]} is of the wrong type")
        try:
            return cls(**fields), previous
        except TypeError as error:
            raise ValueError("it has unknown or missing fields") from error

    def __str__(self) -> str:
        return f"{self.event} of {self.run}"


def experiment_of(config: Mapping[str, Any]) -> str:
    """Return the digest of what a run's configuration asks: without seed, name, engine and the rest of the suite."""
    asked = {name: section for name, section in config.items() if name not in _SETTINGS}
    run = cast("Mapping[str, Any]", config.get("run", {}))
    return digest_json({**asked, "run": {name: run.get(name) for name in ("protocol", "tasksets", "data")}})


def statements_of(folder: Path, chain: Chain | None = None) -> list[Statement]:
    """Return the statements of a run: none before it has started, one until it has ended, then two.

    Args:
        folder: the run's folder.
        chain: its journal if it was read already.

    Raises:
        RecordError: if its journal or its configuration cannot be read.
    """
    chain = chain or read_chain(folder / "journal.jsonl")
    started = RUN_STARTED.first(chain.events[:1])
    if started is None:
        return []
    about = (started["suite_id"], started["run_id"], experiment_of(load_config(folder)), started["commitment"])
    made = [Statement("start", *about, at=chain.events[0].at)]
    if RUN_FINISHED.first(chain.events) is not None:
        made.append(Statement("end", *about, chain.head, len(chain.events), chain.events[-1].at))
    return made


def first_hidden_evaluation(events: Iterable[Event]) -> float | None:
    """Return the recorded time of the first result on hidden cases; None without any."""
    return next((event.at for event in events if {"view", "scores"} <= event.data.keys()), None)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A log's receipt for a line.

    Attributes:
        kind: `"git"`, `"timestamp"` or `"rekor"`.
        log: name of the log: an address, or the name of a repository.
        line: the line that it covers.
        proof: what the log gave, by kind.
    """

    kind: str
    log: str
    line: str
    proof: Mapping[str, Any]


def read_receipts(folder: Path) -> list[Receipt]:
    """Read the receipts of a run; an incomplete last line is left out.

    Raises:
        RecordError: if a line is damaged.
    """
    path = folder / RECEIPTS
    if not path.exists():
        return []
    receipts: list[Receipt] = []
    try:
        lines = read_bytes(path).split(b"\n")[:-1]
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}; restore it from a copy") from error
    for number, line in enumerate(lines, 1):
        try:
            fields = cast("dict[str, Any]", json_value(line))
            if [type(fields.get(name)) for name in ("kind", "log", "line", "proof")] != [str, str, str, dict]:
                raise ValueError("a field is of the wrong type")
            receipt = Receipt(**fields)
            Statement.parse(receipt.line)
        except (ValueError, TypeError, AttributeError) as error:
            remedy = "restore it from a copy, or remove it and use heredity log"
            raise RecordError(f"{path}, line {number}, is not a receipt: {error!s:.200}; {remedy}") from error
        receipts.append(receipt)
    return receipts


def add_receipt(folder: Path, receipt: Receipt) -> None:
    """Append a receipt durably; an incomplete line that a killed process left is cut.

    Raises:
        RecordError: if it cannot be written; the file is unchanged then.
    """
    fields = {"kind": receipt.kind, "log": receipt.log, "line": receipt.line, "proof": dict(receipt.proof)}
    append_line(folder / RECEIPTS, json.dumps(fields, ensure_ascii=False).encode() + b"\n")


def append_line(path: Path, line: bytes, end: int | None = None) -> None:
    """Append a line to a file and sync it; if that fails, the file keeps its content.

    Args:
        path: the file, which is created if it is missing.
        line: the line with its newline.
        end: length to cut the file to before; by default the end of its last complete line.

    Raises:
        RecordError: if it cannot be written.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
        try:
            if end is None:
                end = os.pread(fd, os.fstat(fd).st_size, 0).rfind(b"\n") + 1
            try:
                if os.pwrite(fd, line, end) != len(line):
                    raise OSError(28, "No space left on device")
                os.ftruncate(fd, end + len(line))
                os.fsync(fd)
            except OSError:
                os.ftruncate(fd, end)
                raise
        finally:
            os.close(fd)
    except OSError as error:
        raise RecordError(f"{path} could not be written: {error.strerror}") from error


def parse_log(data: bytes) -> Iterator[tuple[int, Statement, str]]:
    """Yield the statements of a log file: number from 1, the statement, and its line.

    Raises:
        ValueError: if a line is no statement, is incomplete, or does not follow the one before; names the line.
    """
    previous = FIRST
    lines = data.split(b"\n")
    if lines[-1]:
        raise ValueError(f"line {len(lines)} is incomplete")
    for number, line in enumerate(lines[:-1], 1):
        try:
            statement, named = Statement.parse(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        if named != previous:
            raise ValueError(f"line {number} does not follow line {number - 1}: a line was changed or removed")
        previous = digest_bytes(line)
        yield number, statement, line.decode()


def logs_of(folder: Path, chain: Chain) -> list[InLog]:
    """Return which statements of a run its receipts show in which log.

    Raises:
        RecordError: if the records or the receipts cannot be read.
    """
    receipts = read_receipts(folder)
    if not receipts:
        return []
    held = {(receipt.log, Statement.parse(receipt.line)[0]) for receipt in receipts}
    statements = statements_of(folder, chain)
    return [
        InLog(log=log, **{moment: any((log, s) in held for s in statements if s.event == moment) for moment in MOMENTS})
        for log in dict.fromkeys(receipt.log for receipt in receipts)
    ]
