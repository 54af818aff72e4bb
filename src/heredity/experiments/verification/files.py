"""Files of a published folder: records, files derived from them, and nothing else.

Derived files are built again in an empty folder and compared byte by byte. Only numbers may differ, after nine digits, as
their last digits depend on the machine.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from heredity.experiments.measured import MEASURED
from heredity.experiments.results import METRICS, write_derived
from heredity.experiments.sealed import OPENED
from heredity.experiments.sequence import NAME as SEQUENCE
from heredity.experiments.transparency.statements import RECEIPTS
from heredity.experiments.verification.cards import CARD
from heredity.experiments.verification.published import PUBLISHED
from heredity.records.span_log import NAME as SPANS
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults

_SMALL = 16 << 20
RECORDS = {
    "journal.jsonl": 4 << 30,
    "run.toml": _SMALL,
    OPENED: 1 << 30,
    SPANS: 4 << 30,
    RECEIPTS: 256 << 20,
    "annotations.jsonl": 1 << 30,
    "site.json": _SMALL,
    PUBLISHED: 64 << 20,
    "lock": _SMALL,
}
"""Files of a run that others are derived from, or that nothing is derived from, each with its maximum size in bytes."""
RECORDS_OF_SUITE = {
    "suite.toml": _SMALL,
    "evolve.toml": _SMALL,
    MEASURED: _SMALL,
    SEQUENCE: _SMALL,
    PUBLISHED: 64 << 20,
    "judgements.jsonl": 4 << 30,
    "lock": _SMALL,
    "view.sqlite": 4 << 30,
    "view.sqlite-shm": 4 << 30,
    "view.sqlite-wal": 4 << 30,
}
WORKING = frozenset({"workspace", "logs", "models", "teams", "evolution", "code", "site"})
"""Folders of a run that agents, teams and trainers work in: nothing that is claimed is read from them."""
WORKING_OF_SUITE = frozenset({"plans", "library", "evaluations", "task"})
BLOBS = "blobs"
_MOST_BYTES = 4 << 30
_TRUSTED_BYTES = {METRICS: 256 << 20, CARD: 64 << 20}


def strange_files(folder: Path, *, suite: bool) -> Iterator[str]:
    """Yield problems with the files of a run or a suite: links, devices, pipes, excessive size.

    Files in working folders are not looked at.

    Raises:
        OSError: if a folder cannot be listed.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        yield f"{folder} is not a plain folder"
        return
    most = {**(RECORDS_OF_SUITE if suite else RECORDS), **_TRUSTED_BYTES}
    skipped = {*(WORKING_OF_SUITE if suite else WORKING), *({"runs"} if suite else ())}
    for path in sorted(folder.iterdir()):
        if path.name in skipped:
            if not stat.S_ISDIR(path.lstat().st_mode):
                yield f"{path} is not a plain folder"
        elif path.name in most and not stat.S_ISREG(path.lstat().st_mode):
            yield f"{path} is not a plain file"
        else:
            yield from _strange(path, most.get(path.name, _MOST_BYTES))


def _strange(path: Path, most: int) -> Iterator[str]:
    about = path.lstat()
    if stat.S_ISDIR(about.st_mode):
        for entry in sorted(os.scandir(path), key=lambda entry: entry.name):
            yield from _strange(Path(entry.path), _MOST_BYTES)
    elif not stat.S_ISREG(about.st_mode):
        yield f"{path} is not a plain file"
    elif about.st_size > most:
        yield f"{path} has {about.st_size} bytes; expected at most {most}"


def unnamed_blobs(folder: Path, named: frozenset[str]) -> Iterator[str]:
    """Yield the blobs of a run that its journal does not name, and other files among them.

    Args:
        folder: the run's folder.
        named: digests of the blobs that it names.
    """
    root = folder / BLOBS
    for inner in sorted(root.iterdir()) if root.is_dir() else ():
        for path in sorted(inner.iterdir()) if inner.is_dir() else (inner,):
            if path.name not in named or inner.name != path.name[:2]:
                yield f"{path.relative_to(folder)} is no blob of the journal"


def rebuilt_files(
    folder: Path, results: RunResults | SuiteResults, runs: Sequence[RunResults], scratch: Path
) -> Iterator[str]:
    """Build the derived files of a run or a suite again, and yield each file that differs, is missing, or is unknown.

    Args:
        folder: the folder to check.
        results: results computed from its journals.
        runs: for a suite, the results of its runs.
        scratch: folder to build in; for a suite, the one that its runs were built in.
    """
    suite = isinstance(results, SuiteResults)
    built = scratch if suite else scratch / "runs" / folder.name
    known = {*(RECORDS_OF_SUITE if suite else RECORDS), *(WORKING_OF_SUITE if suite else WORKING)}
    known |= {"runs"} if suite else {BLOBS}
    mirror(folder, built, known - {"runs", "lock"})
    write_derived(built, results, runs)
    ours = dict(_files(built, known))
    theirs = dict(_files(folder, known))
    if PUBLISHED in theirs:
        theirs.pop(PUBLISHED)
    for name in sorted({*ours, *theirs}):
        if name not in theirs:
            yield f"{name} is missing; create it with `heredity report`"
        elif name not in ours:
            yield f"{name} does not follow from the records"
        else:
            yield from _different(name, theirs[name], ours[name])


def mirror(folder: Path, target: Path, names: set[str]) -> None:
    """Make a folder with links to some entries of another."""
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (folder / name).exists() and not (target / name).exists():
            (target / name).symlink_to((folder / name).resolve())


def _files(folder: Path, known: set[str], inside: str = "") -> Iterator[tuple[str, Path]]:
    for path in folder.iterdir():
        if not inside and path.name in known:
            continue
        name = f"{inside}{path.name}"
        if path.is_dir():
            yield from _files(path, known, f"{name}/")
        else:
            yield name, path


def _different(name: str, given: Path, built: Path) -> Iterator[str]:
    if name.endswith(".sqlite"):
        if _dump(given) != _dump(built):
            yield f"{name} has other rows than the journal"
        return
    theirs, ours = given.read_bytes(), built.read_bytes()
    if theirs != ours and (place := _difference(theirs, ours)) is not None:
        yield f"{name} differs from the one that follows from the records, in byte {place}"


def _dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as database:
        return list(database.iterdump())


_NUMBER = re.compile(rb"(-?\d+\.\d+(?:[eE][-+]?\d+)?)")


def _difference(theirs: bytes, ours: bytes) -> int | None:
    """Return the place of the first difference beyond the ninth digit of numbers; None if there is none."""
    given, built = _NUMBER.split(theirs), _NUMBER.split(ours)
    place = 0
    for index, (one, other) in enumerate(zip(given, built, strict=False)):
        if one != other and not (index % 2 and math.isclose(float(one), float(other), rel_tol=1e-9)):
            return place
        place += len(one)
    return None if len(given) == len(built) else place
