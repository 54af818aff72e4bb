"""What the candidates of a run consist of, from its blobs, for its report."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

from heredity.errors import RecordError
from heredity.records import BlobStore, read_journal
from heredity.resources import Candidate
from heredity.results.report import Source, Sources

MOST_BYTES = 200_000
"""Of a file whose text is read; larger ones are data."""


def sources_of(folder: Path) -> Sources:
    """Return what looks up a run's candidates; its journal is read when the first is asked for."""
    blobs = BlobStore(folder / "blobs")

    @functools.cache
    def names() -> Mapping[str, str]:
        events = read_journal(folder / "journal.jsonl")
        return {event.data["digest"]: event.data["blob"] for event in events if event.kind == "candidate"}

    def load(digest: str) -> Source | None:
        try:
            blob = names()[digest]
            candidate = Candidate.from_bytes(blobs.get(blob))
        except (KeyError, RecordError):
            return None
        several = len(candidate.parts) > 1
        files = {
            f"{part}/{path}" if several else path: content.decode()
            for part, tree in candidate.parts.items()
            for path, content in tree.items()
            if len(content) <= MOST_BYTES and _is_text(content)
        }
        return Source(files, blob)

    return load


def _is_text(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return b"\x00" not in content
