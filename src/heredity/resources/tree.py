"""Source trees: immutable snapshots of a folder of files, identified by their content."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import msgpack

from heredity._core.errors import ConfigError, DamagedRecordError
from heredity._core.ids import digest_bytes

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


AnyPath = str | os.PathLike[str]
"""A path in the file system, as given by a user."""

_MAX_PATH = 2048


class SourceTree(Mapping[str, bytes]):
    """An immutable mapping from relative POSIX paths to file contents.

    Its digest covers every path and every byte, so weights and data files are part of its identity, and nothing else is
    (no times, owners or modes).
    """

    def __init__(self, files: Mapping[str, bytes | str]) -> None:
        """Build a tree.

        Raises:
            ConfigError: if a path is absolute, empty, not a valid file name, or leaves the tree; or if it is both a
                file and a folder.
        """
        checked = {_checked_path(p): c.encode() if isinstance(c, str) else bytes(c) for p, c in files.items()}
        both = checked.keys() & {str(parent) for path in checked for parent in PurePosixPath(path).parents}
        if both:
            raise ConfigError(
                f"{sorted(both)[0]!r} is a file, and other files are inside it; give one of them another name"
            )
        self._files: dict[str, bytes] = dict(sorted(checked.items()))

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SourceTree) and self._files == other._files

    def __repr__(self) -> str:
        return f"SourceTree({len(self)} files, {self.digest[:12]})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the tree's canonical encoding."""
        return digest_bytes(self.to_bytes())

    def text(self, path: str) -> str:
        """Return one file decoded as UTF-8, undecodable bytes replaced."""
        return self._files[path].decode("utf-8", "replace")

    def texts(self) -> dict[str, str]:
        """Return the files that are UTF-8, by their path."""
        decoded: dict[str, str] = {}
        for path, data in self._files.items():
            try:
                decoded[path] = data.decode()
            except UnicodeDecodeError:
                continue
        return decoded

    def with_file(self, path: str, content: bytes | str) -> SourceTree:
        """Return a new tree in which `path` has `content`."""
        return SourceTree({**self._files, path: content})

    def to_bytes(self) -> bytes:
        """Encode the tree; equal trees give equal bytes."""
        packed: Any = msgpack.packb(list(self._files.items()), use_bin_type=True)
        return bytes(packed)

    @classmethod
    def from_bytes(cls, data: bytes) -> SourceTree:
        """Decode the result of `to_bytes`.

        Raises:
            DamagedRecordError: if `data` is not an encoded tree.
        """
        try:
            return cls(dict(msgpack.unpackb(data, raw=False)))
        except (ValueError, TypeError, msgpack.UnpackException) as error:
            raise DamagedRecordError(
                f"{len(data)} bytes are not an encoded source tree: {error}; restore them from a copy"
            ) from error

    @classmethod
    def from_folder(
        cls, folder: AnyPath, *, max_bytes: int = 64 << 20, max_files: int = 2000, left_out: list[str] | None = None
    ) -> SourceTree:
        """Read a folder that an untrusted program may be writing to.

        Links and special files are refused rather than followed, so that nothing outside the folder can enter a tree. Where
        `left_out` is given, it gets the reasons, and such files are left out instead.

        Raises:
            ConfigError: if the folder is missing, holds a link or a special file, or exceeds a limit.
        """
        try:
            return cls(read_folder(Path(folder), max_bytes=max_bytes, max_files=max_files, left_out=left_out))
        except FileNotFoundError as error:
            raise ConfigError(f"{folder} does not exist; a program is a folder with policy.py in it") from error

    def write_to(self, folder: Path) -> None:
        """Write every file below `folder`, which is created if needed."""
        for path, content in self._files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def _checked_path(path: str) -> str:
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or "\\" in path or "\0" in path or str(pure) != path:
        raise ConfigError(f"{path!r} is not a plain relative path; use forward slashes and stay inside the tree")
    encoded = path.encode("utf-8", "surrogatepass")
    if (
        encoded.decode("utf-8", "replace") != path
        or len(encoded) > _MAX_PATH
        or max(map(len, encoded.split(b"/"))) > 255
    ):
        raise ConfigError(f"{path[:80]!r} cannot be stored as a path; use shorter names in UTF-8")
    return path
