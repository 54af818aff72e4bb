"""Watches an agent's memory and disk use, and detects when it exceeds its limits.

A control group is not used, because creating one needs rights that a user or a container rarely has
(docs/isolation.md).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from heredity.sandbox.memory import family, memory_files, memory_of, nameless_files

MOST_FILES = 1_000_000
"""A folder with more files and folders than this counts as full: disks limit their number too."""

_OPEN = 64
_ASK_EVERY = 1000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Disk use of a folder: allocated bytes (not apparent sizes), files and folders."""

    bytes: int
    files: int


def disk_use(
    root: Path,
    leave_out: Collection[str] = (),
    most_files: int = MOST_FILES,
    go_on: Callable[[int], bool] = lambda so_far: True,
) -> DiskUse:
    """Measure a folder's content. A file with several names counts once; folders closed to their owner are opened.

    Args:
        root: the folder. It may not exist.
        leave_out: names in it to ignore.
        most_files: number of files above which counting stops.
        go_on: called now and then with the bytes so far; counting stops when it returns False.

    Returns:
        The use counted so far.
    """
    walk = _Walk(most_files, go_on)
    walk.through(root, frozenset(leave_out))
    return DiskUse(walk.bytes, walk.files)


@dataclass(slots=True)
class _Level:
    """A folder on the way down, with its remaining subfolders; closed while deeper ones are visited."""

    fd: int | None
    identity: tuple[int, int]
    names: list[str]

    def close(self) -> None:
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None


class _Walk:
    def __init__(self, most_files: int, go_on: Callable[[int], bool]) -> None:
        self.bytes = self.files = 0
        self._most_files, self._go_on = most_files, go_on
        self._stopped = False
        self._seen: set[tuple[int, int]] = set()
        self._levels: list[_Level] = []

    def through(self, root: Path, leave_out: Collection[str]) -> None:
        try:
            self._enter(str(root), None, leave_out)
            while self._levels and not self._stopped:
                level = self._levels[-1]
                if level.names:
                    self._enter(level.names.pop(), level.fd)
                else:
                    self._leave()
        finally:
            for level in self._levels:
                level.close()

    def _enter(self, name: str, parent: int | None, leave_out: Collection[str] = ()) -> None:
        try:
            fd = _open(name, parent)
        except OSError:
            return
        status = os.fstat(fd)
        level = _Level(fd, (status.st_dev, status.st_ino), [])
        self._levels.append(level)
        if len(self._levels) > _OPEN:
            self._levels[-1 - _OPEN].close()
        with contextlib.suppress(OSError), os.scandir(fd) as entries:
            for entry in entries:
                if entry.name not in leave_out:
                    self._count(entry, level)
                if self._stopped:
                    return

    def _leave(self) -> None:
        left = self._levels.pop()
        above = self._levels[-1] if self._levels else None
        try:
            if above is not None and above.fd is None:
                above.fd = os.open("..", _FOLDER, dir_fd=left.fd)
                status = os.fstat(above.fd)
                # A folder was moved during the count, which ends here; the next count may succeed.
                self._stopped = (status.st_dev, status.st_ino) != above.identity
        except OSError:
            self._stopped = True
        finally:
            left.close()

    def _count(self, entry: os.DirEntry[str], level: _Level) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        self.files += 1
        if stat.S_ISDIR(status.st_mode):
            level.names.append(entry.name)
        elif status.st_nlink > 1:
            identity = status.st_dev, status.st_ino
            if identity in self._seen:
                return
            self._seen.add(identity)
        self.bytes += status.st_blocks * 512
        if self.files % _ASK_EVERY == 0:
            self._stopped = self.files > self._most_files or not self._go_on(self.bytes)


def _open(name: str, parent: int | None) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=parent)
    except PermissionError:
        # Its owner, the same user, has closed it; its content takes space all the same.
        descriptor = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)
        finally:
            os.close(descriptor)
        return os.open(name, _FOLDER, dir_fd=parent)


FAR = 1.25
"""Factor above a limit at which an agent that is ending is killed at once."""

MEMORY_S = 0.5
"""Seconds between measurements of memory."""

DISK_S = 2.0
"""Seconds between measurements of disk. For slow ones, four times their duration, up to a minute."""

_STRETCH = 4.0
_MOST_S = 60.0
_MOST_MISSED = 20

T = TypeVar("T")
Reason = Literal["memory_limit", "disk_limit"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of an agent and all of its processes.

    Attributes:
        memory_bytes: bytes of memory, including files on memory-backed file systems.
        disk_bytes: bytes of disk allocated to its files. More than `MOST_FILES` files also exceed it.
    """

    memory_bytes: int
    disk_bytes: int


class Watch:
    """Watches an agent's processes and workspace while its block lasts, in separate threads.

    Attributes:
        memory_bytes: peak memory measured.
        disk_bytes: peak disk use measured.
    """

    def __init__(
        self, bounds: Bounds, workspace: Path, host_files: Collection[str], root: int, first: int | None = None
    ) -> None:
        """Watch an agent.

        Args:
            bounds: its limits.
            workspace: the folder it writes to.
            host_files: names in it written by the host (they do not count).
            root: the started process; all of its descendants belong to the agent.
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
        # A measurement in progress ends soon, so it need not be awaited.
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def exceeded(self, factor: float = 1.0) -> Reason:
        """Wait until a limit, multiplied by `factor`, is exceeded, and return which one."""
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
        """Measure in a thread; None if no descriptor or thread is free, which skips one measurement.

        Raises:
            OSError, RuntimeError: after `_MOST_MISSED` such failures in a row.
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
        # Done here, between infrequent measurements, because there may be many descriptors.
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
    """Return the device of files that exist only in memory (memfd_create)."""
    descriptor = os.memfd_create("device")
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)
