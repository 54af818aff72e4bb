"""Transfer of files into and out of a container as tar archives, which works for folders in memory, unlike an engine's `cp`."""

from __future__ import annotations

import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

from heredity._core.errors import CandidateError

MOST_BYTES = 1 << 30
"""Size limit of an archive, and of its unpacked content, in bytes."""


def packed(source: Path, name: str, file: IO[bytes]) -> None:
    """Write an archive of a file, under a name, or of a folder's content; all of it belongs to root."""
    with tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(source, arcname="." if source.is_dir() else name, filter=_of_root)


def unpacked(file: IO[bytes], target: Path, what: str, *, folder: bool) -> None:
    """Unpack a container's archive: files and folders only, and only inside the target.

    Args:
        file: the archive, which programs in the container may have written.
        target: a folder, or the path of the only file.
        what: its source, for messages.
        folder: whether the target is a folder.

    Raises:
        CandidateError: if it is not an archive, is too large, lacks the file, or names a path outside the target.
    """
    try:
        with tarfile.open(fileobj=file, mode="r:") as tar:
            members = _files_and_folders(tar)
            if sum(member.size for member in members) > MOST_BYTES or any(member.issparse() for member in members):
                raise CandidateError(
                    f"{what} has more than {MOST_BYTES} bytes, or holes in its files; leave less there"
                )
            if folder:
                target.mkdir(parents=True, exist_ok=True)
                for member in members:
                    _put(tar, member, target)
                return
            inner = tar.extractfile(members[0]) if members and members[0].isreg() else None
            if inner is None:
                raise CandidateError(f"{what} is neither a file nor a folder")
            with target.open("wb") as copied:
                shutil.copyfileobj(inner, copied)
    except (tarfile.TarError, OSError, ValueError, OverflowError) as error:
        raise CandidateError(f"{what} cannot be fetched: {error}") from error


def _files_and_folders(tar: tarfile.TarFile) -> list[tarfile.TarInfo]:
    """Return the members to unpack; a hard link counts as a separate file."""
    members: list[tarfile.TarInfo] = []
    files: dict[str, tarfile.TarInfo] = {}
    for member in tar:
        linked = files.get(member.linkname) if member.islnk() else None
        entry = linked.replace(name=member.name, deep=False) if linked else member
        if entry.isreg() or entry.isdir():
            members.append(entry)
            files[entry.name] = entry
    return members


def _put(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    # Not `extractall(filter="data")`, which requires Python 3.11.4; only files and folders get here.
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"{member.name[:80]!r} leads out of it")
    path = target / name
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    inner = tar.extractfile(member)
    if inner is not None:
        with path.open("wb") as copied:
            shutil.copyfileobj(inner, copied)
        path.chmod(member.mode & 0o755 | 0o600)
        os.utime(path, (member.mtime, member.mtime))


def _of_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
