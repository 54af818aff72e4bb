"""A run's lineage as a store of resources: every candidate that was submitted, refused ones too, and what was committed.

It is derived from the journal, and can be deleted and made again. `heredity resources log TYPE/NAME --store RUN` reads it;
`export` and `import` carry versions over into another store.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from heredity.errors import RecordError
from heredity.records import BlobStore, Event, read_journal
from heredity.records.events import CANDIDATE_DECIDED, JUDGING_SELECTED
from heredity.resources import Candidate, Store, Version
from heredity.resources.assembly import record_candidate

LINEAGE = "resources.sqlite"


def write_lineage(folder: Path) -> Path:
    """Write a run's lineage and return its path; a candidate whose blob is damaged or gone is left out.

    Raises:
        DamagedRecordError: if the journal is damaged.
        RecordError: if a file cannot be read or written.
    """
    events = read_journal(folder / "journal.jsonl")
    path, partial = folder / LINEAGE, folder / (LINEAGE + ".partial")
    for old in folder.glob(partial.name + "*"):
        old.unlink()
    with Store(partial) as store, store.transaction():
        made = _record(store, BlobStore(folder / "blobs"), events)
        for digest in _accepted(events):
            for version in made.get(digest, {}).values():
                store.move(version.type, version.name, version.number)
    partial.replace(path)
    return path


def _record(store: Store, blobs: BlobStore, events: list[Event]) -> dict[str, dict[str, Version]]:
    made: dict[str, dict[str, Version]] = {}
    for event in events:
        data = event.data
        if event.kind != "candidate" or data["digest"] in made:
            continue
        try:
            candidate = Candidate.from_bytes(blobs.get(data["blob"]))
        except RecordError:
            continue
        parents = [made[parent] for parent in data["parents"] if parent in made]
        created = datetime.fromtimestamp(event.at, UTC).isoformat(timespec="microseconds")
        made[data["digest"]] = record_candidate(store, candidate, parents, data["note"], created)
    return made


def _accepted(events: list[Event]) -> list[str]:
    """Return the digests of committed candidates in order; of a run without commits, that of the selected one."""
    committed = [e.data["candidate"] for e in events if e.kind == CANDIDATE_DECIDED.name and e.data["accepted"]]
    selected = [e.data["candidate"] for e in events if e.kind == JUDGING_SELECTED.name and e.data["candidate"]]
    return committed or selected
