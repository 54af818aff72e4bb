"""Sealed hidden cases of suites, opened once every run that is judged on them has ended.

A suite's sealed folder has its secret (`cases.json`) and the opened cases of each judged run (`opened/`). Suites that
adopt
another suite's cases share them. The sealed folder of the first suite, their *origin*, has `suites.json`, which
records
whether each suite has ended. When all have, the opened cases are copied into the folders of their runs, for anyone to
verify.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError
from heredity._core.ids import canonical_json
from heredity._core.outside import json_value, read_bytes, resolved
from heredity._core.refusals import reading
from heredity.records.run_folder import write_atomic
from heredity.session.cases import FILE_NAME, HiddenCases, Opening

OPENED = "opened.json"
"""File in a run's folder: the cases it was judged on, and the proof that they match its commitment."""
OPENED_VERSION = 2
_ORIGIN, _SUITES, _KEPT = "origin", "suites.json", "opened"


def sealed_folder(folder: Path) -> Path:
    """Return the folder of a suite's hidden cases: outside every run, next to the folder `runs` that holds the suite.

    A suite elsewhere has a folder `sealed` next to it.
    """
    folder = resolved(folder)
    above = folder.parent.parent if folder.parent.name == "runs" else folder.parent
    return above / "sealed" / folder.name


def adopt_cases(folder: Path, other: Path) -> None:
    """Judge a new suite on another suite's hidden cases, so that the two can be compared.

    Args:
        folder: the new suite's folder.
        other: the suite with the cases.

    Raises:
        ConfigError: if the new suite already has hidden cases.
        RecordError: if `other` has none, or they cannot be written.
    """
    source, target = sealed_folder(other) / FILE_NAME, sealed_folder(folder)
    theirs = HiddenCases.open(source.parent)
    if (target / FILE_NAME).exists():
        if HiddenCases.open(target) != theirs:
            raise ConfigError(f"{folder} already has other hidden cases than {other}; choose a new --out folder")
        return
    try:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        shared = SealedCases(other)
        write_atomic(target / _ORIGIN, os.path.relpath(shared.origin, target).encode())
        # Publication stays on record even if the origin is removed.
        write_atomic(target / _SUITES, canonical_json({"opened": shared.load().opened}) + b"\n")
        write_atomic(target / FILE_NAME, source.read_bytes())
        os.chmod(target / FILE_NAME, 0o600)
    except OSError as error:
        raise RecordError(f"the cases of {other} cannot be copied to {target}: {error.strerror}") from error


@dataclass(slots=True)
class Sharing:
    """Suites that share an origin's cases, named by their paths relative to it.

    Attributes:
        ended: suite to whether all its runs have been judged.
        opened: whether the cases were ever published.
    """

    ended: dict[str, bool] = field(default_factory=dict[str, bool])
    opened: bool = False


_SHARING = TypeAdapter(Sharing)


class SealedCases:
    """Hidden cases of a suite, until and after they are opened.

    Attributes:
        suite: the suite's folder.
        path: its sealed folder.
        origin: sealed folder of the suite that had the cases first.
    """

    def __init__(self, suite: Path) -> None:
        self.suite, self.path = resolved(suite), sealed_folder(suite)
        origin = self.path / _ORIGIN
        first = (self.path / origin.read_text()).resolve() if origin.exists() else self.path
        # A removed suite does not block publication.
        self.origin = first if (first / FILE_NAME).exists() else self.path

    def begin(self) -> bool:
        """Hold the cases back while this suite is open; return whether they have already been published.

        Raises:
            RecordError: if the sealed folder cannot be written.
        """
        with self._sharing() as sharing:
            sharing.ended[self._name_of(self.suite)] = False
            return sharing.opened

    def others(self) -> list[Path]:
        """Return the folders of the suites that share these cases."""
        return [path for path in map(self._path_of, self.load().ended) if path != self.suite]

    def keep(self, run_id: str, opening: Opening, views: Mapping[str, tuple[str, str, int]]) -> None:
        """Store the opening of a judged run's commitment, with the entropy of all its tasks, until it may be published.

        Args:
            run_id: the run.
            opening: opening of its commitment.
            views: the taskset, split and number of tasks of each view.
        """
        data = {
            "schema_version": OPENED_VERSION,
            "views": {k: list(v) for k, v in views.items()},
            "entropy": f"{HiddenCases.open(self.path).entropy:064x}",
            **asdict(opening),
        }
        folder = self.path / _KEPT
        folder.mkdir(mode=0o700, exist_ok=True)
        write_atomic(folder / f"{run_id}.json", canonical_json(data) + b"\n")

    def end(self) -> list[str]:
        """Publish the cases of every suite that shares them, unless one is open; return the folders of the open ones.

        Raises:
            RecordError: if they cannot be written.
        """
        with self._sharing() as sharing:
            sharing.ended[self._name_of(self.suite)] = True
            waiting = [name for name, ended in sharing.ended.items() if not ended]
            if not waiting:
                # Recorded first, so that a suite started after a crash in between knows.
                sharing.opened = True
                self._save(sharing)
                for name in sharing.ended:
                    _publish(self._path_of(name))
            return [str(self._path_of(name)) for name in waiting]

    @contextmanager
    def _sharing(self) -> Generator[Sharing]:
        """Read the origin's record and write it back, one process at a time."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        fd = os.open(self.origin / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            sharing = self.load()
            yield sharing
            self._save(sharing)
        finally:
            os.close(fd)

    def load(self) -> Sharing:
        """Return the origin's record.

        Raises:
            DamagedRecordError: if its file is damaged.
        """
        path = self.origin / _SUITES
        with reading(path, "JSON", "restore it from a copy", DamagedRecordError):
            sharing = _SHARING.validate_python(json_value(read_bytes(path)) if path.exists() else {})
        there = {name: ended for name, ended in sharing.ended.items() if self._is_there(name)}
        return Sharing(there, sharing.opened)

    def _save(self, sharing: Sharing) -> None:
        write_atomic(self.origin / _SUITES, canonical_json(asdict(sharing)) + b"\n")

    def _is_there(self, name: str) -> bool:
        suite = self._path_of(name)
        return suite.is_dir() and (sealed_folder(suite) / FILE_NAME).exists()

    def _name_of(self, suite: Path) -> str:
        return os.path.relpath(suite, self.origin)

    def _path_of(self, name: str) -> Path:
        return (self.origin / name).resolve()


def _publish(suite: Path) -> None:
    for kept in sorted((sealed_folder(suite) / _KEPT).glob("*.json")):
        run = suite / "runs" / kept.stem
        if run.is_dir():
            write_atomic(run / OPENED, kept.read_bytes())
