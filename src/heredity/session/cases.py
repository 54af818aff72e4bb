"""Hidden cases: the hidden tasks of a suite, drawn from secret entropy, committed to before a run and opened after it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError
from heredity._core.ids import canonical_json, digest_bytes, digest_json
from heredity._core.outside import json_value, read_bytes
from heredity.records.journal import sync_folder
from heredity.tasks import Task, Taskset

FILE_NAME = "cases.json"
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Opening:
    """The opening of a commitment: `commitment == sha256(salt + canonical JSON of the cases)`.

    Attributes:
        commitment: the digest recorded when the run started.
        salt: 64 hexadecimal characters; unique to these cases, so opening one commitment weakens no other.
        digest: SHA-256 of the cases' canonical JSON.
        cases: taskset, then split, then the tasks in order, each with its spec.
    """

    commitment: str
    salt: str
    digest: str
    cases: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @classmethod
    def of(cls, salt: str, cases: Mapping[str, Any]) -> Opening:
        """Return the opening of the commitment to `cases` with this salt."""
        return cls(_commit(salt, cases), salt, digest_json(cases), cases)

    def fits(self, cases: Mapping[str, Any]) -> bool:
        """Return True if `cases` are the ones committed to."""
        return self.digest == digest_json(cases) and self.commitment == _commit(self.salt, cases)


@dataclass(frozen=True, slots=True)
class HiddenCases:
    """The secret of a suite, drawn once so that all its runs are judged on the same cases.

    Attributes:
        entropy: 256 random bits (every case is drawn from them).
        salt: 256 random bits; the salts of the commitments are derived from them.
    """

    entropy: int = field(repr=False)
    salt: bytes = field(repr=False)
    _drawn: dict[tuple[int, str, int], tuple[Taskset, tuple[Task, ...]]] = field(
        default_factory=dict[tuple[int, str, int], tuple[Taskset, tuple[Task, ...]]], repr=False, compare=False
    )
    """Tasks drawn so far, shared by all runs: generated worlds take seconds to draw."""
    _drawing: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def create(cls, folder: Path) -> HiddenCases:
        """Draw a suite's secret and store it (readable by its owner only), or return the existing one.

        If several processes create it at once, one wins and all return its secret.

        Raises:
            RecordError: if the folder cannot be written.
        """
        hidden_cases = cls(
            int.from_bytes(secrets.token_bytes(_SECRET_BYTES), "big"), secrets.token_bytes(_SECRET_BYTES)
        )
        temporary = folder / f".{FILE_NAME}.{secrets.token_hex(8)}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(canonical_json(hidden_cases._to_json()))
                file.flush()
                os.fsync(file.fileno())
            try:
                # A link, unlike a rename, fails if the name is taken: the first one wins.
                os.link(temporary, folder / FILE_NAME)
            except FileExistsError:
                return cls.open(folder)
            finally:
                temporary.unlink()
            sync_folder(folder)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise RecordError(f"hidden cases cannot be written to {folder}: {error.strerror}") from error
        return hidden_cases

    @classmethod
    def open(cls, folder: Path) -> HiddenCases:
        """Read a suite's secret.

        Raises:
            RecordError: if there is none.
            DamagedRecordError: if the file is not what `create` wrote.
        """
        path = folder / FILE_NAME
        try:
            raw = read_bytes(path)
        except OSError as error:
            raise RecordError(f"{path} cannot be read: {error.strerror}; expected a suite's hidden cases") from error
        try:
            fields = json_value(raw)
            hidden_cases = cls(int(fields["entropy"], 16), bytes.fromhex(fields["salt"]))
            intact = fields["check"] == hidden_cases._to_json()["check"]
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedRecordError(f"{path} is damaged: {error}; restore it from a copy") from error
        if not intact:
            raise DamagedRecordError(f"{path} does not match its checksum; restore it from a copy")
        return hidden_cases

    def tasks(self, taskset: Taskset, split: str, count: int) -> tuple[Task, ...]:
        """Draw the first `count` tasks of a split; thread-safe.

        Raises:
            ConfigError: as `Taskset.draw`, or if the taskset returned fewer than `count` distinct tasks.
        """
        key = (id(taskset), split, count)
        with self._drawing:
            if key not in self._drawn:
                self._drawn[key] = taskset, self._draw(taskset, split, count)
            return self._drawn[key][1]

    def _draw(self, taskset: Taskset, split: str, count: int) -> tuple[Task, ...]:
        tasks = taskset.draw(split, count, self.entropy)
        if len({t.id for t in tasks}) != count:
            raise ConfigError(
                f"{taskset.info.name} drew {len(tasks)} tasks of {split!r}; expected {count} distinct ones"
            )
        return tasks

    def cases(self, tasksets: Sequence[Taskset], counts: Mapping[str, int]) -> dict[str, Any]:
        """Return the cases as JSON: taskset, then split, then the tasks in order, each with its spec."""
        return {
            taskset.info.name: {
                split: [{"id": t.id, "spec": dict(t.spec)} for t in self.tasks(taskset, split, count)]
                for split, count in counts.items()
            }
            for taskset in tasksets
        }

    def commitment(self, tasksets: Sequence[Taskset], counts: Mapping[str, int]) -> str:
        """Return a digest that binds the judge to these cases without revealing them.

        Args:
            tasksets: the tasksets of the cases.
            counts: number of cases per hidden split, such as `{"validation": 16, "heldout": 32}`.
        """
        return self.opening(tasksets, counts).commitment

    def opening(self, tasksets: Sequence[Taskset], counts: Mapping[str, int]) -> Opening:
        """Return the proof that the cases are the ones committed to."""
        return self.opening_of([(taskset, split, count) for taskset in tasksets for split, count in counts.items()])

    def opening_of(self, draws: Sequence[tuple[Taskset, str, int]]) -> Opening:
        """Return the proof for cases drawn from several splits of several tasksets.

        Args:
            draws: tasksets, each with a split and the number of its cases.
        """
        cases: dict[str, Any] = {}
        for taskset, split, count in draws:
            cases.setdefault(taskset.info.name, {}).update(self.cases([taskset], {split: count})[taskset.info.name])
        named = [[taskset.info.name, split, count] for taskset, split, count in draws]
        salt = digest_bytes(self.salt + canonical_json(named))
        return Opening.of(salt, cases)

    def _to_json(self) -> dict[str, Any]:
        secret = {"schema_version": 1, "entropy": f"{self.entropy:064x}", "salt": self.salt.hex()}
        return {**secret, "check": digest_json(secret)}


def _commit(salt: str, cases: Mapping[str, Any]) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + canonical_json(cases)).hexdigest()
