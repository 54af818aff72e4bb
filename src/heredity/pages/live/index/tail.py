"""Read a growing file of lines from a byte offset, line by line."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from heredity._core.errors import RecordError

MOST_LINE = 256 << 20
"""Maximum length of a line, in bytes."""

_CHUNK = 1 << 20


def lines_from(path: Path, offset: int) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line without its newline) of each complete line from `offset` on; an incomplete last line is left out.

    Raises:
        RecordError: if the file cannot be read, is not a plain file, or has a line of more than `MOST_LINE` bytes.
    """
    descriptor = _opened(path)
    try:
        at, parts, held = offset, list[bytes](), 0
        while chunk := os.pread(descriptor, _CHUNK, at + held):
            *whole, rest = chunk.split(b"\n")
            for line in whole:
                joined = b"".join((*parts, line))
                yield at, joined
                at, held = at + len(joined) + 1, 0
                parts.clear()
            parts.append(rest)
            held += len(rest)
            if held > MOST_LINE:
                raise RecordError(f"{path} has a line of more than {MOST_LINE} bytes at byte {at}")
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def bytes_at(path: Path, offset: int, length: int) -> bytes:
    """Return part of a plain file; it is shorter at the end of the file.

    Raises:
        RecordError: if it cannot be read.
    """
    descriptor = _opened(path)
    try:
        return os.pread(descriptor, length, offset)
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def size_of(path: Path) -> int:
    """Return the size of a plain file, or 0 for anything else."""
    with suppress(OSError):
        about = path.stat(follow_symlinks=False)
        return about.st_size if stat.S_ISREG(about.st_mode) else 0
    return 0


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise RecordError(f"{path} cannot be read: it is not a plain file")
    return descriptor
