"""Suites, runs that stand alone, and their indexes in a folder. Requests can only name entries listed here."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, RecordError, UnknownNameError
from heredity._core.outside import read_text, resolved, toml_table
from heredity.pages.live.index import Index, open_index
from heredity.pages.live.rows import size_of
from heredity.records import BlobStore
from heredity.records.run_folder import is_run, is_suite

MOST_BLOB = 256 << 20
"""Maximum size of a blob on a page, in bytes."""

_LISTED_S = 1.0


@dataclass
class Place:
    """Folder shown by the server.

    Attributes:
        folder: folder of suites, of a suite, or of a run.
    """

    folder: Path
    _suites: dict[str, Path] = field(default_factory=dict[str, Path])
    _listed: float = -_LISTED_S
    _indexes: dict[str, Index] = field(default_factory=dict[str, Index])

    @classmethod
    def of(cls, folder: Path) -> Place:
        """Return the place of a folder. A project stands for its folder of suites, a run within a suite for its suite.

        Raises:
            ConfigError: if it is not a folder.
        """
        if not folder.is_dir():
            raise ConfigError(
                f"{folder} is not a folder; give the folder of a run, a suite, or of suites, such as runs"
            )
        folder = resolved(folder)
        if is_run(folder) and folder.parent.name == "runs" and is_suite(folder.parent.parent):
            folder = folder.parent.parent
        elif not is_run(folder) and not is_suite(folder) and (folder / "runs").is_dir():
            folder = folder / "runs"
        return cls(folder)

    @property
    def single(self) -> bool:
        """True if the folder is a suite or a run, rather than a folder of them."""
        return is_run(self.folder) or is_suite(self.folder)

    def suites(self) -> dict[str, Path]:
        """Return suites, and runs that stand alone, by the names of their folders, latest first; links are left out."""
        now = time.monotonic()
        if now - self._listed > _LISTED_S:
            self._suites, self._listed = self._list(), now
        return self._suites

    def index(self, name: str) -> Index:
        """Return the index of one of them.

        Raises:
            UnknownNameError: if there is none of this name.
        """
        if name not in self.suites():
            self._listed = -_LISTED_S
        if name not in self.suites():
            raise UnknownNameError("suite", name, self._suites)
        return self._indexes.setdefault(name, open_index(self._suites[name]))

    def close(self) -> None:
        """Close all indexes."""
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

    def _list(self) -> dict[str, Path]:
        if self.single:
            return {self.folder.name: self.folder}
        with os.scandir(self.folder) as entries:
            paths = [
                (entry.stat().st_mtime, Path(entry.path)) for entry in entries if entry.is_dir(follow_symlinks=False)
            ]
        folders = [
            path
            for _, path in sorted(paths, reverse=True)
            if is_run(path) or is_suite(path) or (path / "suite.toml").is_file()
        ]
        return {path.name: path for path in folders}


def configuration(folder: Path) -> dict[str, Any]:
    """Return the configuration file of a suite or a run; empty if it is missing or unreadable."""
    for name in ("suite.toml", "run.toml"):
        if size_of(folder / name):
            try:
                return toml_table(read_text(folder / name))
            except (OSError, ValueError):
                return {}
    return {}


def blob(run: Path, digest: str) -> bytes:
    """Return a blob of a run, verified.

    Raises:
        RecordError: if it is missing, damaged, or too large for a page.
    """
    store = BlobStore(run / "blobs")
    if len(digest) == 64 and size_of(store.path(digest)) > MOST_BLOB:
        raise RecordError(f"the blob {digest[:12]} has more than {MOST_BLOB} bytes, too many for a page")
    return store.get(digest)
