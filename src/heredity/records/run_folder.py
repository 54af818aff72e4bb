"""Run folders, which hold a run's journal, blobs and resolved configuration."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import tomli_w

from heredity._core.errors import ConfigError, RecordError
from heredity._core.ids import digest_json
from heredity._core.outside import read_text, toml_table
from heredity._core.refusals import reading
from heredity.records.blobs import BlobStore
from heredity.records.journal import Journal, sync_folder
from heredity.records.lock import RunLock


class RunFolder:
    """Run folder held by one writer. Use it as a context manager.

    Attributes:
        path: the folder.
        journal: its journal.
        blobs: its blobs.
    """

    def __init__(self, path: Path, lock: RunLock, journal: Journal) -> None:
        self.path = path
        self.journal = journal
        self.blobs = BlobStore(path / "blobs")
        self._lock = lock

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunFolder:
        """Create a run folder, or open it: take its lock, recover its journal, remove unfinished files.

        Raises:
            RunLockedError: if another process writes to it.
            DamagedRecordError: if the journal is damaged.
            RecordError: if the folder cannot be created.
        """
        path = Path(path)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RecordError(f"the run folder {path} cannot be created: {error.strerror}") from error
        lock = RunLock.acquire(path / "lock")
        try:
            folder = cls(path, lock, Journal.open(path / "journal.jsonl"))
            folder.blobs.sweep()
        except BaseException:
            lock.release()
            raise
        return folder

    @property
    def workspace(self) -> Path:
        """Folder that an outside agent sees."""
        return self.path / "workspace"

    def write_atomic(self, name: str, data: bytes) -> Path:
        """Write a file of the folder durably; readers see either the old or the new content."""
        return write_atomic(self.path / name, data)

    def save_config(self, config: Mapping[str, Any]) -> Path:
        """Write `run.toml`, the resolved configuration. Keys whose value is None are left out: TOML has no null.

        Raises:
            ConfigError: if a value is not a TOML value.
        """
        try:
            text = tomli_w.dumps(_without_nulls(config))
        except TypeError as error:
            raise ConfigError(f"the configuration cannot be written as TOML: {error}") from error
        return self.write_atomic("run.toml", text.encode())

    def load_config(self) -> dict[str, Any]:
        """Read `run.toml`.

        Raises:
            RecordError: if it is missing or half-written.
        """
        return load_config(self.path)

    def close(self) -> None:
        """Close the journal and release the lock; closing twice is harmless."""
        self.journal.close()
        self._lock.release()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def load_config(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a run folder's `run.toml` without taking its lock.

    Raises:
        RecordError: if it is missing or is not TOML.
    """
    path = Path(folder) / "run.toml"
    with reading(path, "TOML", "give a run folder, restore the file, or start the run in a new folder", RecordError):
        return toml_table(read_text(path))


def is_run(folder: Path) -> bool:
    """Report whether a folder holds a run."""
    return (folder / "journal.jsonl").is_file()


def is_suite(folder: Path) -> bool:
    """Report whether a folder holds a suite; a project's folder also has a folder `runs`, of suites."""
    runs = folder / "runs"
    return runs.is_dir() and ((folder / "suite.toml").is_file() or any(map(is_run, runs.iterdir())))


def check_no_record(folder: Path) -> None:
    """Refuse the folder of a suite or a run where a candidate is expected.

    Raises:
        ConfigError: names the folder that holds its winner.
    """
    if (folder / "best").is_dir() and (is_suite(folder) or is_run(folder)):
        what = "suite" if is_suite(folder) else "run"
        raise ConfigError(f"{folder} is the folder of a {what}; give its winner: {folder / 'best'}")


def config_digest(config: Mapping[str, Any]) -> str:
    """Return the digest of a configuration; saving and loading does not change it."""
    return digest_json(_without_nulls(config))


def write_atomic(path: Path, data: bytes) -> Path:
    """Replace a file durably through a temporary one in the same folder.

    Raises:
        RecordError: if it cannot be written; the old file is kept.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise RecordError(f"{path} could not be written: {error.strerror}") from error
    return path


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_without_nulls(v) for v in value if v is not None]
    return value
