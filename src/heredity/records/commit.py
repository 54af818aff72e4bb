"""Group commit: all pending commits share one write and one sync of the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from heredity.records.blobs import Blob, BlobStore
from heredity.records.journal import Event, Journal, Line


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
