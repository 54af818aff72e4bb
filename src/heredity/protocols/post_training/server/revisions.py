"""Record of an agent's code: every version at a submission, and samples in between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from heredity._core.errors import ConfigError
from heredity.protocols.post_training.events import CODE_REVISED, CodeRevised
from heredity.protocols.post_training.server.workspace import TrainingWorkspace, archive
from heredity.records import Blob
from heredity.records.journal import Line

INTERVAL_S = 15.0
"""Seconds between looks at the code outside submissions."""

MOST_BYTES = 512 << 20
"""Maximum total size of a run's versions: an agent could otherwise fill the host's disk."""

_LEAST_BYTES = 4096
_MOST_REASONS = 5
_FULL = "the versions of the code so far take all the room that there is for them; no later one is kept"

Note = Callable[[Line, Sequence[Blob]], Awaitable[None]]
"""Journals a revision with its blobs."""


class Revisions:
    """Journals the folder `code/` whenever it differs from the last record, while there is room.

    Files that cannot be kept are left out; the revision lists them with reasons. Without a blob, none could be kept.
    """

    def __init__(self, workspace: TrainingWorkspace, note: Note, recorded: Sequence[CodeRevised] = ()) -> None:
        """Watch a workspace.

        Args:
            workspace: the workspace of the code.
            note: journals a revision.
            recorded: the data of the recorded revisions.
        """
        self._workspace, self._note, self._number = workspace, note, len(recorded)
        self._last: tuple[str | None, str] = (
            (recorded[-1]["blob"], recorded[-1].get("reason", "")) if recorded else ("", "")
        )
        self._room = MOST_BYTES - sum(max(revision.get("bytes", 0), _LEAST_BYTES) for revision in recorded)
        self._full = any(revision.get("full", False) for revision in recorded)
        self._turn = asyncio.Lock()

    async def note(self, at_s: float) -> None:
        """Journal the code if it has changed; `at_s` is the run's clock in seconds."""
        async with self._turn:
            if self._full:
                return
            try:
                files, left_out = await asyncio.to_thread(self._workspace.code)
            except ConfigError as error:
                files, left_out = {}, [str(error)]
            if files or left_out:
                await self._journal(at_s, Blob.of(archive(files)) if files else None, sorted(files), _reason(left_out))

    async def watch(self, clock: Callable[[], float], interval_s: float = INTERVAL_S) -> None:
        """Check the code at every interval until cancelled."""
        while True:
            await asyncio.sleep(interval_s)
            await self.note(clock())

    async def _journal(self, at_s: float, blob: Blob | None, files: Sequence[str], reason: str = "") -> None:
        if (blob and blob.digest, reason) == self._last:
            return
        size = max(len(blob.data) if blob else 0, _LEAST_BYTES)
        self._full = size > self._room
        if self._full:
            blob, files, reason = None, [], _FULL
        self._room -= size
        self._last, self._number = (blob and blob.digest, reason), self._number + 1
        revised: CodeRevised = {
            "revision": self._number,
            "blob": blob and blob.digest,
            "files": files,
            "at_s": round(at_s, 3),
        }
        if blob:
            revised["bytes"] = len(blob.data)
        else:
            revised["full"] = self._full
        if reason:
            revised["reason"] = reason
        await self._note(CODE_REVISED.line(revised), [blob] if blob else [])


def _reason(left_out: Sequence[str]) -> str:
    more = [f"and {len(left_out) - _MOST_REASONS} more"] if len(left_out) > _MOST_REASONS else []
    return "; ".join([reason[:200] for reason in left_out[:_MOST_REASONS]] + more)
