"""Safe reading of an untrusted folder: only plain files inside it, of plausible size."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heredity._core.errors import RecordError
from heredity._core.outside import json_value, read_bytes
from heredity._core.refusals import quoted, reading
from heredity.experiments.measured import MEASURED
from heredity.experiments.sealed import OPENED
from heredity.experiments.verification.cards import CARD

METRICS = "metrics.json"
MOST_BYTES = {
    "journal.jsonl": 4 << 30,
    "run.toml": 16 << 20,
    "suite.toml": 16 << 20,
    MEASURED: 16 << 20,
    METRICS: 256 << 20,
    OPENED: 1 << 30,
    CARD: 64 << 20,
}
"""Files that are read, in addition to blobs and runs' folders, each with its maximum size in bytes."""
MOST_BLOB_BYTES = 4 << 30


def strange_files(folder: Path) -> Iterator[str]:
    """Yield problems with the files of a run or a suite that are to be read: links, devices, pipes, excessive size.

    Raises:
        OSError: if a folder cannot be listed.
    """
    yield from _strange_folder(folder)
    for name, most in MOST_BYTES.items():
        path = folder / name
        if os.path.lexists(path):
            yield from _strange_file(path, most)
    for name in ("blobs", "runs"):
        if os.path.lexists(folder / name):
            yield from _strange_folder(folder / name)
    if (folder / "blobs").is_dir() and not (folder / "blobs").is_symlink():
        yield from _strange_blobs(folder / "blobs")


def _strange_blobs(folder: Path) -> Iterator[str]:
    for inner in sorted(folder.iterdir()):
        problems = list(_strange_folder(inner))
        yield from problems
        for path in () if problems else sorted(inner.iterdir()):
            yield from _strange_file(path, MOST_BLOB_BYTES)


def _strange_folder(path: Path) -> Iterator[str]:
    if not stat.S_ISDIR(path.lstat().st_mode):
        yield f"{path} is not a plain folder"


def _strange_file(path: Path, most: int) -> Iterator[str]:
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode):
        yield f"{path} is not a plain file"
    elif about.st_size > most:
        yield f"{path} has {about.st_size} bytes; expected at most {most}"


def read_json(path: Path) -> dict[str, Any]:
    """Read a file that is one JSON object.

    Raises:
        RecordError: if it is missing, or not a JSON object.
    """
    with reading(path, "JSON", "restore it from a copy", RecordError):
        value: Any = json_value(read_bytes(path))
    if not isinstance(value, dict):
        raise RecordError(f"{path} is {quoted(value)}; expected one JSON object")
    return value  # pyright: ignore[reportUnknownVariableType]


def differences(published: Any, computed: Any, path: str = "") -> Iterator[str]:
    """Yield each field in which two JSON values differ, with the published and the computed value.

    Numbers that agree to nine digits are equal, as the last digits depend on the machine.
    """
    if isinstance(published, dict) and isinstance(computed, dict):
        names: list[str] = sorted({*published, *computed})  # pyright: ignore[reportUnknownArgumentType]
        for name in names:
            inner = f"{path}.{name}" if path else name
            if name not in published or name not in computed:
                yield f"{inner} is {'missing' if name in computed else 'unknown'}"
            else:
                yield from differences(published[name], computed[name], inner)
    elif isinstance(published, list) and isinstance(computed, list):
        if len(published) != len(computed):  # pyright: ignore[reportUnknownArgumentType]
            yield f"{path} has {len(published)} entries, and {len(computed)} were computed"  # pyright: ignore[reportUnknownArgumentType]
        for index, pair in enumerate(zip(published, computed, strict=False)):  # pyright: ignore[reportUnknownArgumentType]
            yield from differences(*pair, f"{path}[{index}]")
    elif not _equal(published, computed):
        yield f"{path} is {_shorten(published)}, and {_shorten(computed)} was computed"


def _equal(one: Any, other: Any) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other)]
    if all(numbers):
        return one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other))
    return type(one) is type(other) and one == other


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
