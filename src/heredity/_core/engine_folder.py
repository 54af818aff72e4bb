"""Temporary folders of this process: programs, mount points, sockets, images. Those of killed processes are removed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_PREFIX = "heredity-engine-"
_UNLOCKED = "heredity-new-"
_LOCK = "lock"
_MAKING_S = 600.0
"""Age in seconds from which a folder without a lock is abandoned."""


class EngineFolder:
    """Temporary folder that is locked while its process lives, however that ends.

    Attributes:
        path: the folder.
    """

    def __init__(self) -> None:
        root = Path(tempfile.gettempdir())
        _sweep(root)
        made = Path(tempfile.mkdtemp(prefix=_UNLOCKED, dir=root))
        self._fd = os.open(made / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The final name comes only now, so that no other process removes the folder before it is locked.
        self.path = made.rename(made.with_name(_PREFIX + made.name.removeprefix(_UNLOCKED)))

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder; removing twice is harmless."""
        if self._fd >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._fd)
            self._fd = -1


def _sweep(root: Path) -> None:
    """Remove the folders of dead processes: their locks are free, or were never created."""
    for folder in root.glob(f"{_UNLOCKED}*"):
        with suppress(OSError):
            if time.time() - folder.lstat().st_mtime > _MAKING_S:
                shutil.rmtree(folder, ignore_errors=True)
    for folder in root.glob(f"{_PREFIX}*"):
        try:
            fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:  # just being created, or another user's
            continue
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # its process lives
            continue
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(fd)
