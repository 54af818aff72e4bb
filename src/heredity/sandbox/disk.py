"""How much disk a folder takes that a stranger writes to, perhaps at this very moment.

Every folder is opened relative to the one above it and links are never followed. The work is bounded: by the number of files,
by descriptors however deep folders are nested, and by a question whether to go on.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

MOST_FILES = 1_000_000
"""A folder with more files and folders than these is as good as full: the disk has a limit of them too."""

_OPEN = 64
_ASK_EVERY = 1000
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class DiskUse:
    """What a folder takes: bytes that are allocated to it (not how long files claim to be), files and folders in it."""

    bytes: int
    files: int


def disk_use(
    root: Path,
    leave_out: Collection[str] = (),
    most_files: int = MOST_FILES,
    go_on: Callable[[int], bool] = lambda so_far: True,
) -> DiskUse:
    """Count what is in a folder. A file with several names counts once; folders that were shut to their owner are opened.

    Args:
        root: the folder. There may be nothing there.
        leave_out: names in it that do not count.
        most_files: at more of them than these the count ends.
        go_on: asked now and then with the bytes so far; where it says no the count ends.

    Returns:
        What was counted.
    """
    walk = _Walk(most_files, go_on)
    walk.through(root, frozenset(leave_out))
    return DiskUse(walk.bytes, walk.files)


@dataclass(slots=True)
class _Level:
    """A folder on the way down, with the folders in it still to be seen; closed while those far below it are looked at."""

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
                # Whoever moved a folder while it was counted has led the count astray: it ends here, and the next one may not.
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
        # Its owner has shut it, and that is the user we are; what is in it takes room all the same.
        descriptor = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)
        finally:
            os.close(descriptor)
        return os.open(name, _FOLDER, dir_fd=parent)
