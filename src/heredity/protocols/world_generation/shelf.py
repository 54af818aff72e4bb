"""A library of admitted worlds: a folder with a folder for each, complete with levels, certificate and what it was made from."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from heredity.errors import RecordError
from heredity.resources import SourceTree
from heredity.rollouts.world_build.runner import LEVELS
from heredity.worlds.gates.contract import CERTIFICATE


def shelve(folder: Path, files: SourceTree, levels: bytes, certificate: bytes) -> None:
    """Write an admitted world; it is left as it is where it is there already, and takes the place of another of its name.

    Args:
        folder: the world's own, of its name.
        files: what its author wrote.
        levels: its `levels.json`.
        certificate: its `certificate.json`.

    Raises:
        RecordError: if the disk is full or fails.
    """
    part = folder.with_name(f".part-{folder.name}")
    try:
        if (folder / CERTIFICATE).exists() and (folder / CERTIFICATE).read_bytes() == certificate:
            return
        shutil.rmtree(part, ignore_errors=True)
        files.write_to(part)
        (part / LEVELS).write_bytes(levels)
        (part / CERTIFICATE).write_bytes(certificate)
        shutil.rmtree(folder, ignore_errors=True)  # what a kill left without a certificate, or a theme that was another
        os.rename(part, folder)
    except OSError as error:
        raise RecordError(f"{folder} cannot be written: {error.strerror}; make room and resume") from error
