"""Blobs: immutable byte strings, each stored once under its digest; commits of blobs with the events that name them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.errors import DamagedRecordError, RecordError
from heredity._core.ids import digest_bytes
from heredity.records.journal import Event, Journal, Line, sync_folder

_TEMPORARY = ".tmp-"
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes with their digest, which is computed once."""

    digest: str
    data: bytes = field(repr=False)

    @classmethod
    def of(cls, data: bytes) -> Blob:
        """Return `data` with its digest."""
        return cls(digest_bytes(data), data)


class BlobStore:
    """Folder of blobs, `ab/abcdef…`. A blob under its final name is complete."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)
        self._durable: set[str] = set()
        self._numbers = itertools.count()

    def put(self, data: bytes) -> str:
        """Store `data` durably and return its digest.

        Raises:
            RecordError: if the disk is full or fails; no partial blob is left behind.
        """
        blob = Blob.of(data)
        self.put_many([blob])
        return blob.digest

    def put_many(self, blobs: Sequence[Blob]) -> None:
        """Store several blobs durably, syncing each folder once; stored blobs are not written again.

        Raises:
            RecordError: as `put`.
        """
        new = {b.digest: b for b in blobs if b.digest not in self._durable}
        if not new:
            return
        try:
            folders = {self.path(digest).parent for digest in new}
            made = [folder for folder in folders if _make_folder(folder)]
            for blob in new.values():
                self._write(blob)
            for folder in sorted(folders):
                sync_folder(folder)
            if made:
                sync_folder(self.root)
                sync_folder(self.root.parent)
        except OSError as error:
            raise RecordError(
                f"{self.root} could not be written: {error.strerror}; free some space, then resume the run"
            ) from error
        self._durable.update(new)

    def get(self, digest: str) -> bytes:
        """Read a blob and verify it.

        Raises:
            DamagedRecordError: if it is missing or does not match its digest.
        """
        # An untrusted journal may name anything, such as a path.
        if not _DIGEST.fullmatch(digest):
            raise DamagedRecordError(f"{digest[:80]!r} is not the digest of a blob; restore the journal from a copy")
        path = self.path(digest)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DamagedRecordError(
                f"the blob {path} cannot be read: {error.strerror}; restore it from a copy"
            ) from error
        if digest_bytes(data) != digest:
            raise DamagedRecordError(f"the blob {path} does not match its digest; restore it from a copy")
        return data

    def has(self, digest: str) -> bool:
        """Report whether the blob is stored."""
        return self.path(digest).exists()

    def path(self, digest: str) -> Path:
        """Return the path of a blob, stored or not."""
        return self.root / digest[:2] / digest

    def sweep(self) -> int:
        """Remove files of an interrupted writer and return their number; needs the run's lock."""
        left = list(self.root.glob(f"*/{_TEMPORARY}*"))
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _write(self, blob: Blob) -> None:
        path = self.path(blob.digest)
        if path.exists():
            return
        temporary = path.parent / f"{_TEMPORARY}{os.getpid()}-{next(self._numbers)}"
        try:
            with temporary.open("xb") as file:
                file.write(blob.data)
                file.flush()
                os.fsync(file.fileno())
            temporary.rename(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def _make_folder(folder: Path) -> bool:
    if folder.is_dir():
        return False
    folder.mkdir(parents=True, exist_ok=True)
    return True


# Group commit: all pending commits share one write and one sync of the journal.


@dataclass(slots=True, eq=False)
class _Entry:
    events: Sequence[Line]
    blobs: Sequence[Blob]
    written: list[Event] = field(default_factory=list[Event])
    done: bool = False
    error: BaseException | None = None


class Committer:
    """Writes blobs and journal events in order: blobs durable first, then the lines that name them, then the reply.

    Commits that arrive while the disk is busy are written together. Their order in the journal is the order in which
    `commit` was called.
    """

    def __init__(self, journal: Journal, blobs: BlobStore) -> None:
        self.journal = journal
        self.blobs = blobs
        self._waiting: list[_Entry] = []
        self._turn = asyncio.Lock()

    async def commit(self, events: Sequence[Line], blobs: Sequence[Blob] = ()) -> list[Event]:
        """Make blobs and events durable, the events as one unit; return the events as recorded.

        A cancelled caller still waits for a write that has started, so that the files are not closed during the write.

        Raises:
            RecordError: if the disk is full or fails. Then nothing of this commit is in the journal.
        """
        entry = _Entry(events, blobs)
        self._waiting.append(entry)
        try:
            async with self._turn:
                if not entry.done:
                    await self._write_waiting()
        except asyncio.CancelledError:
            if not entry.done and entry in self._waiting:
                self._waiting.remove(entry)
            raise
        if entry.error is not None:
            raise entry.error
        return entry.written

    async def _write_waiting(self) -> None:
        batch, self._waiting = self._waiting, []
        future = asyncio.get_running_loop().run_in_executor(None, self._write, batch)
        cancelled: asyncio.CancelledError | None = None
        while not future.done():
            try:
                await asyncio.wait({future})
            except asyncio.CancelledError as error:
                cancelled = error
        failure = future.exception()
        for entry in batch:
            entry.done = True
            entry.error = failure
        if cancelled is not None:
            raise cancelled

    def _write(self, batch: Sequence[_Entry]) -> None:
        self.blobs.put_many([blob for entry in batch for blob in entry.blobs])
        events = self.journal.append_many([item for entry in batch for item in entry.events])
        self.journal.sync()
        for entry in batch:
            entry.written = events[: len(entry.events)]
            events = events[len(entry.events) :]
