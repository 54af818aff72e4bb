"""The mark of a published folder, `published.json`: the digest of its files, and starts that its owner declares."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity._core.errors import RecordError
from heredity.experiments.verification.cards import Finding, failed, passed
from heredity.results.text import plural

PUBLISHED = "published.json"
"""File at the top of a folder that `heredity publish` made."""


_OF_READERS = frozenset({PUBLISHED, "lock", "view.sqlite", "view.sqlite-shm", "view.sqlite-wal"})
"""Files that readers make in the folder, such as `heredity view`, and the mark itself."""


def digest_of_files(folder: Path) -> tuple[str, int, int]:
    """Return the digest over the names and contents of all published files, their number and their bytes."""
    whole, count, size = hashlib.sha256(), 0, 0
    for name in sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()):
        if name.rpartition("/")[2] in _OF_READERS:
            continue
        with (folder / name).open("rb") as file:
            whole.update(f"{hashlib.file_digest(file, 'sha256').hexdigest()}  {name}\n".encode())
        count, size = count + 1, size + (folder / name).stat().st_size
    return whole.hexdigest(), count, size


def unchanged(folder: Path, published: Mapping[str, Any]) -> Finding:
    """Check the files of a folder against the digest with which it was published."""
    digest, count, _ = digest_of_files(folder)
    if published.get("digest") != digest:
        return failed(f"its {plural(count, 'file')} have the digest {digest}; published was {published.get('digest')}")
    return passed(f"{plural(count, 'file')} as published, digest {digest}")


def declared_starts(published: Mapping[str, Any]) -> dict[str, str]:
    """Return the other suites that published.json declares, with the reasons.

    Raises:
        RecordError: if the field has another form.
    """
    given = published.get("other_starts", {})
    if not isinstance(given, dict) or not all(isinstance(text, str) for pair in given.items() for text in pair):
        raise RecordError("published.json: other_starts is not a table of suites and reasons; publish the folder again")
    return {str(name): str(why) for name, why in given.items()}
