"""Reading a folder that an agent may be modifying concurrently: links are never followed, at any depth."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from heredity._core.errors import CandidateError
from heredity._core.outside import json_value

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Folder:
    """An open folder: reads stay in it, even if its path changes meanwhile.

    Attributes:
        name: its name in messages.
        names: the entries it had when it was opened, sorted.
    """

    def __init__(self, descriptor: int, name: str) -> None:
        self._descriptor, self.name = descriptor, name
        # Names that are not UTF-8 can be shown like this, and are never opened.
        self.names = tuple(sorted(os.fsencode(entry).decode("utf-8", "replace") for entry in os.listdir(descriptor)))

    @contextmanager
    def file(self, name: str) -> Generator[IO[bytes]]:
        """Open a plain file of the folder.

        Raises:
            CandidateError: if it is missing, a link or not a plain file.
        """
        try:
            descriptor = os.open(name, _FILE, dir_fd=self._descriptor)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise CandidateError(
                    f"{name} in {self.name} is a link; copy the file itself into the folder"
                ) from error
            raise CandidateError(f"{name} in {self.name} cannot be read ({error.strerror}); save it again") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CandidateError(f"{name} in {self.name} is not a plain file; save it again")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                yield file
        finally:
            os.close(descriptor)

    def size(self, name: str) -> int:
        """Return a file's size in bytes. Raises as `file`."""
        with self.file(name) as file:
            return os.fstat(file.fileno()).st_size

    def content(self, name: str, limit: int) -> bytes:
        """Return the content of a small file.

        Raises:
            CandidateError: as `file`; also if it has more than `limit` bytes.
        """
        with self.file(name) as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise CandidateError(f"{name} in {self.name} is too large: more than {limit} bytes; save it again")
        return data


@contextmanager
def open_folder(folder: Path, inside: Path | None = None) -> Generator[Folder]:
    """Open a folder without following a link in its path.

    Args:
        folder: its path.
        inside: the folder that must contain it; None trusts the path.

    Raises:
        CandidateError: if it is outside, missing, not a folder, or behind a link.
    """
    start, steps = _way(folder, inside)
    descriptor = os.open(start, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for step in steps:
        descriptor = _enter(descriptor, step, folder)
    try:
        yield Folder(descriptor, folder.name)
    finally:
        os.close(descriptor)


def parsed(data: bytes, name: str) -> dict[str, Any]:
    """Return the JSON object in a file's content.

    Raises:
        CandidateError: if there is none.
    """
    try:
        value = json_value(data)
    except ValueError as error:
        raise CandidateError(f"{name} is no JSON ({error}); write it with save_pretrained") from error
    if not isinstance(value, dict):
        raise CandidateError(
            f"{name} holds a {type(value).__name__}; expected a JSON object, as save_pretrained writes it"
        )
    return value


def _way(folder: Path, inside: Path | None) -> tuple[Path, tuple[str, ...]]:
    """Return a trusted folder and the path components from there."""
    path = Path(os.path.normpath(folder.absolute()))
    if inside is None:
        return path.parent, (path.name,)
    for start in (inside.absolute(), inside.resolve()):
        if path.is_relative_to(start):
            return inside, path.relative_to(start).parts
    raise CandidateError(
        f"{folder.name} is outside of the workspace; save the checkpoint below it and submit that folder"
    )


def _enter(descriptor: int, step: str, folder: Path) -> int:
    """Open a folder in an open one, which is closed in any case."""
    try:
        return os.open(step, _FOLDER, dir_fd=descriptor)
    except FileNotFoundError as error:
        raise CandidateError(
            f"{folder.name} does not exist; submit the folder that the checkpoint was saved to"
        ) from error
    except OSError as error:
        link = error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(step, descriptor)
        what = "a link" if link else f"no folder ({error.strerror})"
        raise CandidateError(
            f"{step!r:.80} on the way to {folder.name:.80} is {what}; submit the folder itself, with the "
            "checkpoint's files in it"
        ) from error
    finally:
        os.close(descriptor)


def _is_link(step: str, descriptor: int) -> bool:
    return stat.S_ISLNK(os.lstat(step, dir_fd=descriptor).st_mode)
