"""A watch beside an agent: how much memory and disk it holds, and when that is more than it may.

A watch and no control group, because to make one takes rights that a user or a container seldom has (docs/isolation.md).
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from heredity.sandbox.disk import MOST_FILES, DiskUse, disk_use
from heredity.sandbox.memory import family, memory_files, memory_of, nameless_files

FAR = 1.25
"""An agent that is ending is killed at once when it goes beyond a bound by this factor."""

MEMORY_S = 0.5
"""Seconds between looks at memory."""

DISK_S = 2.0
"""Seconds between looks at disk. Where one takes long: four times as long as it takes, but no more than a minute."""

_STRETCH = 4.0
_MOST_S = 60.0
_MOST_MISSED = 20

T = TypeVar("T")
Reason = Literal["memory_limit", "disk_limit"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What an agent and all that it starts may hold.

    Attributes:
        memory_bytes: of memory, files on memory-backed file systems included.
        disk_bytes: of disk, allocated to its own files. More than `MOST_FILES` of them are too much as well.
    """

    memory_bytes: int
    disk_bytes: int


class Watch:
    """Looks at an agent's processes and workspace while its block lasts, in threads of its own.

    Attributes:
        memory_bytes: the most memory that it has seen.
        disk_bytes: the most disk that it has seen.
    """

    def __init__(
        self, bounds: Bounds, workspace: Path, host_files: Collection[str], root: int, first: int | None = None
    ) -> None:
        """Watch an agent.

        Args:
            bounds: what it may hold.
            workspace: the folder that it writes.
            host_files: names in it that the host writes; these do not count.
            root: the process that was started; all that descends from it is the agent's.
            first: the first process of its sandbox, if it has one.
        """
        self._bounds, self._workspace, self._host_files = bounds, workspace, frozenset(host_files)
        self._root, self._first = root, first
        self.memory_bytes = self.disk_bytes = 0
        self._nameless_memory = self._missed = 0
        self._over = threading.Event()
        self._threads = ThreadPoolExecutor(2, "watch")

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        # A look that is under way ends by itself, soon: nothing has to wait for it.
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def exceeded(self, factor: float = 1.0) -> Reason:
        """Return once a bound, multiplied by `factor`, is exceeded, and say which one."""
        looks = [asyncio.create_task(self._memory_exceeds(factor)), asyncio.create_task(self._disk_exceeds(factor))]
        try:
            done, _ = await asyncio.wait(looks, return_when=asyncio.FIRST_COMPLETED)
            return done.pop().result()
        finally:
            for look in looks:
                look.cancel()
            await asyncio.gather(*looks, return_exceptions=True)

    async def _memory_exceeds(self, factor: float) -> Reason:
        bound = int(self._bounds.memory_bytes * factor)
        while True:
            used = await self._looked(lambda: self._look_at_memory(bound))
            self.memory_bytes = max(self.memory_bytes, used or 0)
            if used is not None and used > bound:
                return "memory_limit"
            await asyncio.sleep(MEMORY_S)

    async def _disk_exceeds(self, factor: float) -> Reason:
        bound, files = int(self._bounds.disk_bytes * factor), int(MOST_FILES * factor)
        while True:
            began = time.monotonic()
            usage = await self._looked(lambda: self._look_at_disk(bound, files))
            if usage is not None:
                self.disk_bytes = max(self.disk_bytes, usage.bytes)
                if usage.bytes > bound or usage.files > files:
                    return "disk_limit"
            await asyncio.sleep(min(max(DISK_S, _STRETCH * (time.monotonic() - began)), _MOST_S))

    async def _looked(self, look: Callable[[], T]) -> T | None:
        """Look, in a thread; None where no descriptor or thread is free just now, for which one more look is taken.

        Raises:
            OSError, RuntimeError: if that is so for `_MOST_MISSED` looks in a row.
        """
        try:
            seen = await asyncio.get_running_loop().run_in_executor(self._threads, look)
        except (OSError, RuntimeError):
            self._missed += 1
            if self._missed >= _MOST_MISSED:
                raise
            return None
        self._missed = 0
        return seen

    def _look_at_memory(self, bound: int) -> int:
        files = memory_files(self._first) if self._first else 0
        return memory_of(self._root, bound, files + self._nameless_memory)

    def _look_at_disk(self, bound: int, most_files: int) -> DiskUse:
        nameless = nameless_files(family(self._root))
        # Learned here, where looks are further between, because there may be many descriptors.
        self._nameless_memory = nameless[_memory_device()]
        hidden = nameless[_device(self._workspace)]
        seen = disk_use(
            self._workspace,
            self._host_files,
            most_files,
            go_on=lambda so_far: hidden + so_far <= bound and not self._over.is_set(),
        )
        return DiskUse(hidden + seen.bytes, seen.files)


def _device(folder: Path) -> int:
    try:
        return os.stat(folder).st_dev
    except OSError:
        return -1


@cache
def _memory_device() -> int:
    """Return the device of files that are in memory alone (memfd_create)."""
    descriptor = os.memfd_create("device")
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)
