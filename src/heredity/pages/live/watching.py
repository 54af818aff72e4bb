"""Index updates while pages are open, and notifications of changes."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from heredity._core.errors import HeredityError, RecordError
from heredity.pages.live.actions import holder
from heredity.pages.live.index import Index
from heredity.pages.live.place import Place

EVERY_S = 1.0
"""Seconds between two scans of an open folder."""

PATIENCE_S = 0.4
"""Seconds that a page waits for an index that is being built before it shows the progress."""


STILL_S = 5.0
"""Seconds without new records after which a run without a process on this machine counts as stopped."""


@dataclass
class Watched:
    """Index that pages query.

    Attributes:
        index: the index.
        version: number of changes so far.
        made_s: duration of the first update (0 if pages did not wait for it).
        alive: whether a process works on the folder.
        problem: why it cannot be updated; "" if it can.
    """

    index: Index
    version: int = 0
    made_s: float = 0.0
    alive: bool = False
    problem: str = ""
    began: float = 0.0
    _moved: float = 0.0
    _still: bool = False
    _task: asyncio.Task[None] | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the current or last update."""
        return time.monotonic() - self.began if self.began else 0.0

    async def refresh(self, patience: float = PATIENCE_S) -> bool:
        """Update the index, one update at a time; report whether it was done within `patience` seconds.

        Raises:
            RecordError: if the index cannot be updated.
        """
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(asyncio.to_thread(self._update))
        done, _ = await asyncio.wait([self._task], timeout=patience)
        if self.problem:
            raise RecordError(self.problem)
        return bool(done)

    def stop(self) -> None:
        """Stop a running update soon."""
        self._stop.set()

    def _update(self) -> None:
        self.began = time.monotonic()
        try:
            changed, alive = self.index.update(self._stop.is_set), holder(self.index.folder) is not None
            self.problem = ""
        except (OSError, sqlite3.Error, HeredityError) as error:
            changed, alive = not self.problem, self.alive
            self.problem = f"the index {self.index.path} cannot be updated: {error}"
        if changed and not self.version and self.elapsed > PATIENCE_S:
            self.made_s = self.elapsed
        self._moved = self.began if changed or alive else self._moved
        still = self.began - self._moved > STILL_S
        self.version += changed or alive != self.alive or still != self._still
        self.alive, self._still = alive, still


class Watcher:
    """Indexes of a place that pages have requested."""

    def __init__(self, served: Place) -> None:
        self._served = served
        self._watched: dict[str, Watched] = {}

    def watched(self, name: str) -> Watched:
        """Return the watched index of a suite.

        Raises:
            UnknownNameError: if the suite does not exist.
        """
        index = self._served.index(name)
        if name not in self._watched:
            self._watched[name] = Watched(index)
        return self._watched[name]

    async def changes(self, name: str) -> AsyncIterator[bytes]:
        """Yield an event for each change of a suite, the first at once, and a comment while nothing changes."""
        watched, version, ready, quiet = self.watched(name), -1, False, 0
        while True:
            try:
                done = await watched.refresh(EVERY_S)
            except RecordError:
                done = True
            if (watched.version != version and done) or (done and not ready) or not done:
                version, ready, quiet = watched.version, done, 0
                yield f"event: change\ndata: {json.dumps({'version': version, 'share': watched.index.progress.share})}\n\n".encode()
            quiet += 1
            if quiet % 15 == 0:
                yield b": nothing new\n\n"
            if done:
                await asyncio.sleep(EVERY_S)

    async def folder_changes(self) -> AsyncIterator[bytes]:
        """Yield an event for each change of the folder's listing."""
        state: object = None
        while True:
            now = await asyncio.to_thread(self._state)
            yield f"event: change\ndata: {len(str(now))}\n\n".encode() if now != state else b": nothing new\n\n"
            state = now
            await asyncio.sleep(2 * EVERY_S)

    def close(self) -> None:
        """Stop all updates."""
        for watched in self._watched.values():
            watched.stop()

    def _state(self) -> list[object]:
        paths: list[Path] = list(self._served.suites().values())
        return [(path.name, holder(path), len(self._served.index(path.name).run_folders())) for path in paths]
