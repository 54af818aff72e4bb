"""The record of an agent's code: every version that there was when it submitted, and now and then between."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from heredity.records import Blob
from heredity.server.training.workspace import TrainingWorkspace, archive

INTERVAL_S = 15.0
"""How often the code is looked at between submissions."""

Note = Callable[[str, Mapping[str, Any], Sequence[Blob]], Awaitable[None]]
"""Journals an event with its blobs."""


class Revisions:
    """Journals the folder `code/` whenever it differs from what was journalled last."""

    def __init__(self, workspace: TrainingWorkspace, note: Note, known: Sequence[Mapping[str, Any]] = ()) -> None:
        """Watch a workspace.

        Args:
            workspace: whose code.
            note: journals.
            known: the data of the revisions that are journalled already.
        """
        self._workspace, self._note, self._number = workspace, note, len(known)
        self._last: str = known[-1]["blob"] if known else ""
        self._turn = asyncio.Lock()

    async def note(self, at_s: float) -> None:
        """Journal the code if it has changed; `at_s` is what the run's clock shows."""
        async with self._turn:
            files = await asyncio.to_thread(self._workspace.code)
            blob = Blob.of(archive(files))
            if not files or blob.digest == self._last:
                return
            self._last, self._number = blob.digest, self._number + 1
            line = {"revision": self._number, "blob": blob.digest, "files": sorted(files), "at_s": round(at_s, 3)}
            await self._note("code.revised", line, [blob])

    async def watch(self, clock: Callable[[], float], interval_s: float = INTERVAL_S) -> None:
        """Look at the code at every interval until cancelled."""
        while True:
            await asyncio.sleep(interval_s)
            await self.note(clock())
