"""One writer for each run folder, ensured by an advisory lock that ends with its process."""

from __future__ import annotations

import contextlib
import fcntl
import os
import weakref
from pathlib import Path

from heredity._core.errors import RecordError, RunLockedError


class RunLock:
    """Exclusive `flock` on a file. The kernel releases it when the process ends, however it ends.

    Children forked from this process close their copy at once, so that a worker which outlives its parent does not
    keep the folder locked.
    """

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd

    @classmethod
    def acquire(cls, path: Path) -> RunLock:
        """Take the lock, without waiting.

        Raises:
            RunLockedError: if another writer holds it; the message names its process.
            RecordError: if the file cannot be created.
        """
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RecordError(f"{path} cannot be created: {error.strerror}") from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(fd)
            raise RunLockedError(
                f"{path.parent} is in use by process {holder}; wait for it to end, or end it, then try again"
            ) from error
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        lock = cls(path, fd)
        _held.add(lock)
        _watch_forks()
        return lock

    @staticmethod
    def is_held(path: Path) -> bool:
        """Return whether a writer of this machine holds the lock. It is not taken for this, which would get in a writer's way."""
        with contextlib.suppress(OSError):
            inode, locks = path.stat().st_ino, Path("/proc/locks").read_text(encoding="ascii")
            return any(" FLOCK " in line and f":{inode} " in line for line in locks.splitlines())
        return False

    def release(self) -> None:
        """Release the lock; releasing twice is harmless."""
        _held.discard(self)
        if self._fd >= 0:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    @staticmethod
    def forget_in_child() -> None:
        """Close this process's copies of the locks its parent holds."""
        # Closing keeps the parent's lock; unlocking would release it for the parent as well.
        for lock in list(_held):
            lock._close()
        _held.clear()


_held: weakref.WeakSet[RunLock] = weakref.WeakSet()
_watching: list[bool] = []


def _watch_forks() -> None:
    if not _watching:
        _watching.append(True)
        os.register_at_fork(after_in_child=RunLock.forget_in_child)
