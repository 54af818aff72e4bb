"""Packing of a sandbox's disk. Part of its first process: standard library only; imports nothing of Heredity."""

from __future__ import annotations

import contextlib
import os
import stat
import tarfile
from collections.abc import Generator

_MOST_LINKS, _MOST_STEPS = 40, 2_000_000
_MOST_LISTED, _SHOWN = 100, 300
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_SPECIAL = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}


class TooMuchError(Exception):
    """The files to pack exceed the limits."""


class Links:
    """Detects links to places that differ, or hold other files, where the verifier runs.

    Args:
        closed: such places; empty if every link may stay.
        own: links of the image, path to target, which may stay, with any target.
    """

    def __init__(self, closed: list[str], own: dict[str, str]) -> None:
        self.closed, self._own, self._steps = set(closed), own, 0

    def broken(self, path: str) -> str:
        """Return the target of a link that must not stay; empty for others."""
        if not self.closed:
            return ""
        target = os.readlink(path)
        return target if self._own.get(path) != target and self._leaves(path) else ""

    def _leaves(self, path: str) -> bool:
        """Follow a link as the kernel would, whether or not its target exists yet."""
        rest, reached, links = path.split("/")[::-1], "", 0
        while rest and links <= _MOST_LINKS:
            name = rest.pop()
            if name in ("", "."):
                continue
            if name == "..":
                reached = reached.rpartition("/")[0]
                continue
            reached = f"{reached}/{name}"
            if reached in self.closed or (reached.startswith("/dev/") and reached not in _DEVICES):
                return True
            self._steps += 1
            if self._steps > _MOST_STEPS:
                return True  # made to keep this process busy
            with contextlib.suppress(OSError):
                target = os.readlink(reached)
                links, reached = links + 1, "" if target.startswith("/") else reached.rpartition("/")[0]
                rest += target.split("/")[::-1]
        return reached == "/dev"


class Packing:
    """Puts a folder into an archive: one file system, links not followed, forbidden files left out and listed."""

    def __init__(self, root: str, left_out: list[str], most_files: int, paths: list[str], links: Links) -> None:
        self._root, self._left_out, self._most = root, {path.strip("/") for path in left_out}, most_files
        self._device, self._count, self.listed, self._links = os.lstat(root).st_dev, 0, paths, links

    def add_all(self, archive: tarfile.TarFile, *, folder: bool) -> None:
        """Add a folder's content, or a file."""
        if not folder:
            self._add(archive, self._root, os.path.basename(self._root))
            return
        self._enter(archive, self._root, "")

    def _enter(self, archive: tarfile.TarFile, folder: str, name: str) -> None:
        with _owner_may(folder, 0o700):
            names = sorted(os.listdir(folder))
        for entry in names:
            path, inner = os.path.join(folder, entry), f"{name}/{entry}" if name else entry
            status = os.lstat(path)
            if status.st_dev != self._device:
                continue
            folder_here = stat.S_ISDIR(status.st_mode)
            if inner in self._left_out:
                self._list(path, folder_here)
            elif folder_here:
                self._add(archive, path, inner)
                with _owner_may(path, 0o700):
                    self._enter(archive, path, inner)
            elif stat.S_ISLNK(status.st_mode) and (target := self._links.broken(path)):
                self._note(f"{path} -> {target}")
            elif stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                self._add(archive, path, inner)
            elif self._links.closed:
                self._note(f"{path} (a {_SPECIAL.get(stat.S_IFMT(status.st_mode), 'device')})")

    def _list(self, path: str, folder: bool) -> None:
        if not folder:
            self._note(path)
            return
        with _owner_may(path, 0o700):
            for name in sorted(os.listdir(path))[:20]:
                self._note(os.path.join(path, name))

    def _note(self, text: str) -> None:
        if len(self.listed) < _MOST_LISTED:
            self.listed.append(text[:_SHOWN].encode("utf-8", "replace").decode())

    def _add(self, archive: tarfile.TarFile, path: str, name: str) -> None:
        self._count += 1
        if self._count > self._most:
            raise TooMuchError(f"it has more than {self._most} files")
        member = archive.gettarinfo(path, name)
        if member.islnk() and self._root != "/":  # a hard link is fetched as a separate file
            member.type, member.linkname, member.size = tarfile.REGTYPE, "", os.lstat(path).st_size
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        if member.isreg():
            with _owner_may(path, 0o400), open(path, "rb") as file:
                archive.addfile(member, file)
        else:
            archive.addfile(member)


@contextlib.contextmanager
def _owner_may(path: str, bits: int) -> Generator[None]:
    """Grant the owner some permissions of a file for a while; without capabilities the owner needs them."""
    mode = stat.S_IMODE(os.lstat(path).st_mode)
    if mode & bits == bits or os.path.islink(path):
        yield
        return
    os.chmod(path, mode | bits)
    try:
        yield
    finally:
        os.chmod(path, mode)
