"""The answers that a run ended with, as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from heredity.evolution.operators.evidence import last_info
from heredity.protocols.within_task.events import WITHIN_PROPOSED
from heredity.protocols.within_task.seen import last_answer
from heredity.records import BlobStore, Event
from heredity.records.events import SUBMISSION_COMPLETED
from heredity.rollouts.trajectory import decode_many


def answers(folder: Path, events: Sequence[Event]) -> Mapping[str, bytes]:
    """Return the answer that was committed last on each task: `answers/task-0.md`, and so on.

    Args:
        folder: the run's folder.
        events: its journal.

    Raises:
        RecordError: if an answer's record is damaged or gone.
    """
    blobs = BlobStore(folder / "blobs")
    records = {e.data["submit_id"]: e.data["blob"] for e in events if e.kind == SUBMISSION_COMPLETED.name}
    proposed = (e.data for e in events if e.kind == WITHIN_PROPOSED.name)
    committed = {data["task"]: data["submit_id"] for data in proposed if data["accepted"]}
    files: dict[str, bytes] = {}
    for task, submit_id in sorted(committed.items()):
        if submit_id in records:
            (trajectory, *_) = decode_many(blobs.get(records[submit_id]))
            reply = last_answer(trajectory) or str(last_info(trajectory, "extracted") or "")
            files[f"answers/task-{task}.md"] = reply.encode("utf-8", "replace") + b"\n"
    return files
