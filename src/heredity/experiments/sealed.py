"""Where the hidden cases of suites are sealed, and when they are opened: once no run that is judged on them is open.

A suite's sealed folder has its secret (`cases.json`) and, of each run that has been judged, the opened cases (`opened/`).
Suites that were given the cases of another one share them: the sealed folder of the first, their *origin*, has `suites.json`,
which says of each suite whether it has ended. When all have, the opened cases are copied into the folders of their runs, for
anybody to verify.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from heredity.errors import ConfigError, DamagedRecordError, RecordError
from heredity.ids import canonical_json
from heredity.judging.cases import FILE_NAME, HiddenCases, Opening
from heredity.outside import json_value, read_bytes, resolved
from heredity.records.run_folder import write_atomic
from heredity.refusals import reading

OPENED = "opened.json"
"""In a run's folder: the cases that it was judged on, and what shows that they are those it was committed to."""
OPENED_VERSION = 1
_ORIGIN, _SUITES, _KEPT = "origin", "suites.json", "opened"


def sealed_folder(folder: Path) -> Path:
    """Return where a suite's hidden cases are: outside every run, beside the folder `runs` that holds the suite.

    A suite elsewhere has them in a folder `sealed` beside itself.
    """
    folder = resolved(folder)
    above = folder.parent.parent if folder.parent.name == "runs" else folder.parent
    return above / "sealed" / folder.name


def adopt_cases(folder: Path, other: Path) -> None:
    """Judge a new suite on the hidden cases of another one, so that the two can be compared.

    Args:
        folder: the new suite's folder.
        other: the suite that has them.

    Raises:
        ConfigError: if the suite has hidden cases of its own already.
        RecordError: if there are none to adopt, or they cannot be written.
    """
    source, target = sealed_folder(other) / FILE_NAME, sealed_folder(folder)
    theirs = HiddenCases.open(source.parent)
    if (target / FILE_NAME).exists():
        if HiddenCases.open(target) != theirs:
            raise ConfigError(f"{folder} has hidden cases of its own, not those of {other}; choose a new --out folder")
        return
    try:
        target.mkdir(parents=True, exist_ok=True, mode=0o700)
        shared = SealedCases(other)
        write_atomic(target / _ORIGIN, os.path.relpath(shared.origin, target).encode())
        # Should the origin be removed, what was published stays known.
        write_atomic(target / _SUITES, canonical_json({"opened": shared.load().opened}) + b"\n")
        write_atomic(target / FILE_NAME, source.read_bytes())
        os.chmod(target / FILE_NAME, 0o600)
    except OSError as error:
        raise RecordError(f"the cases of {other} cannot be copied to {target}: {error.strerror}") from error


@dataclass(slots=True)
class Sharing:
    """What an origin knows of those that share its cases; suites are named by their paths as seen from it.

    Attributes:
        ended: suite to whether every run of it has been judged.
        opened: whether the cases were ever published.
    """

    ended: dict[str, bool] = field(default_factory=dict[str, bool])
    opened: bool = False


_SHARING = TypeAdapter(Sharing)


class SealedCases:
    """The hidden cases of a suite, as long as they are hidden, and when they no longer are.

    Attributes:
        suite: the suite's folder.
        path: its sealed folder.
        origin: the sealed folder of the suite that had the cases first.
    """

    def __init__(self, suite: Path) -> None:
        self.suite, self.path = resolved(suite), sealed_folder(suite)
        origin = self.path / _ORIGIN
        first = (self.path / origin.read_text()).resolve() if origin.exists() else self.path
        # What is left of a suite that was removed holds nobody back.
        self.origin = first if (first / FILE_NAME).exists() else self.path

    def begin(self) -> bool:
        """Hold the cases back as long as this suite is open, and return whether they have been published before.

        Raises:
            RecordError: if the sealed folder cannot be written.
        """
        with self._sharing() as sharing:
            sharing.ended[self._named(self.suite)] = False
            return sharing.opened

    def others(self) -> list[Path]:
        """Return the folders of the suites that share these cases."""
        return [path for path in map(self._located, self.load().ended) if path != self.suite]

    def keep(self, run_id: str, opening: Opening, views: Mapping[str, tuple[str, str, int]]) -> None:
        """Keep what opens the commitment of a run that has been judged, until it may be published.

        Args:
            run_id: the run.
            opening: of its commitment.
            views: the taskset, split and number of tasks of each view.
        """
        data = {"schema_version": OPENED_VERSION, "views": {k: list(v) for k, v in views.items()}, **asdict(opening)}
        folder = self.path / _KEPT
        folder.mkdir(mode=0o700, exist_ok=True)
        write_atomic(folder / f"{run_id}.json", canonical_json(data) + b"\n")

    def end(self) -> list[str]:
        """Publish the cases of every suite that shares them, unless one is still open; return the folders of those.

        Raises:
            RecordError: if they cannot be written.
        """
        with self._sharing() as sharing:
            sharing.ended[self._named(self.suite)] = True
            waiting = [name for name, ended in sharing.ended.items() if not ended]
            if not waiting:
                # Said first: whoever begins after a crash in between must know.
                sharing.opened = True
                self._save(sharing)
                for name in sharing.ended:
                    _publish(self._located(name))
            return [str(self._located(name)) for name in waiting]

    @contextmanager
    def _sharing(self) -> Generator[Sharing]:
        """Read what the origin knows, and write it back; one process at a time."""
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
        """Return what the origin knows.

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
        suite = self._located(name)
        return suite.is_dir() and (sealed_folder(suite) / FILE_NAME).exists()

    def _named(self, suite: Path) -> str:
        return os.path.relpath(suite, self.origin)

    def _located(self, name: str) -> Path:
        return (self.origin / name).resolve()


def _publish(suite: Path) -> None:
    for kept in sorted((sealed_folder(suite) / _KEPT).glob("*.json")):
        run = suite / "runs" / kept.stem
        if run.is_dir():
            write_atomic(run / OPENED, kept.read_bytes())
