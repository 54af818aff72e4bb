"""Writing a derived file so that a reader never sees half of it."""

from __future__ import annotations

import os
from pathlib import Path

from heredity.errors import RecordError


def write_text(path: Path, content: str) -> None:
    """Write UTF-8 text under a temporary name beside `path`, then rename it.

    Raises:
        RecordError: if the folder is not there or cannot be written; an older file stays as it was.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        partial.write_text(content, encoding="utf-8", newline="\n")
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise RecordError(
            f"report {path} was not written ({error.strerror or error}): make sure that its folder exists, "
            "is writable and has room, then run `heredity report` again"
        ) from error
