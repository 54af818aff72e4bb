"""Snapshots of a folder that an agent may be changing meanwhile.

Every folder is opened relative to its parent and links are never followed, at any depth. Otherwise a folder exchanged
for a link between two system calls could bring a file of the host into a candidate, whose author could read it
through a policy's output.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from heredity._core.errors import ConfigError

_IGNORED = frozenset({"__pycache__", ".git", ".ipynb_checkpoints"})
_MAX_DEPTH = 32
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_folder(folder: Path, *, max_bytes: int, max_files: int, left_out: list[str] | None = None) -> dict[str, bytes]:
    """Read every file below a folder: relative POSIX path to content.

    Args:
        folder: the folder.
        max_bytes: size limit of all files together.
        max_files: limit on the number of files.
        left_out: if given, unreadable entries are left out with the reason appended, instead of an error.

    Raises:
        FileNotFoundError: if the folder does not exist.
        ConfigError: if it holds a link or a special file, or exceeds a limit; the message names the entry.
    """
    reader = _Reader(max_bytes, max_files, left_out)
    try:
        fd = os.open(folder, _FOLDER)
    except FileNotFoundError:
        raise
    except OSError as error:
        if folder.is_file():
            raise ConfigError(f"{folder} is a file; give a folder, such as the one it lies in") from error
        raise ConfigError(f"{folder.name}/ is not a plain folder ({error.strerror}); make it one again") from error
    try:
        reader.read_folder(fd, "", 0)
    finally:
        os.close(fd)
    return reader.files


class _Reader:
    def __init__(self, max_bytes: int, max_files: int, left_out: list[str] | None) -> None:
        self.files: dict[str, bytes] = {}
        self._left_out = left_out
        self._room = max_bytes
        self._max_files = max_files

    def read_folder(self, fd: int, prefix: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise ConfigError(f"{_printable(prefix)} is more than {_MAX_DEPTH} folders deep; flatten the program")
        for name in sorted(os.listdir(fd)):
            if name in _IGNORED or name.endswith(".pyc"):
                continue
            try:
                self._read_entry(fd, name, prefix + name, depth)
            except ConfigError as error:
                if self._left_out is None:
                    raise
                self._left_out.append(str(error))

    def _read_entry(self, parent: int, name: str, path: str, depth: int) -> None:
        try:
            fd = os.open(name, _FILE, dir_fd=parent)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ConfigError(
                f"{_printable(path)} is a link or cannot be read ({error.strerror}); copy the file instead"
            ) from error
        try:
            mode = os.fstat(fd).st_mode
            if stat.S_ISDIR(mode):
                self.read_folder(fd, path + "/", depth + 1)
            elif stat.S_ISREG(mode):
                self._read_file(fd, path)
            else:
                raise ConfigError(f"{_printable(path)} is not a plain file; remove it from the program's folder")
        finally:
            os.close(fd)

    def _read_file(self, fd: int, path: str) -> None:
        if "\\" in path or not path.isprintable():
            raise ConfigError(f"the name {path!a} holds characters that a program may not use; rename the file")
        if len(self.files) >= self._max_files:
            raise ConfigError(f"the program has more than {self._max_files} files; leave data it does not need outside")
        # Sparse files would take memory that they do not take on disk.
        data = b"" if (too_large := os.fstat(fd).st_size > self._room) else self._content(fd)
        if too_large or len(data) > self._room:
            raise ConfigError(f"the program exceeds its size limit at {path}; remove files it does not need")
        self._room -= len(data)
        self.files[path] = data

    def _content(self, fd: int) -> bytes:
        with os.fdopen(os.dup(fd), "rb") as file:
            return file.read(self._room + 1)


def _printable(path: str) -> str:
    return path if path.isprintable() else ascii(path)
