"""What a run of a team on questions leaves as files: its answers, and the team as it has evolved across questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from heredity.protocols.team_questions.events import TEAM_ANSWERED
from heredity.records import Event
from heredity.resources import Store
from heredity.resources.assembly import part_of

EVOLUTION = Path("evolution", "team-versions.db")
"""The store, below the run's folder, of a team that evolves across questions."""


def winning_files(folder: Path, events: Sequence[Event]) -> Mapping[str, bytes]:
    """Return `answers.jsonl` (`id`, `answer`, in the order asked) and the team's resources as they stand, below TYPE/NAME.

    Args:
        folder: the run's folder.
        events: its journal.

    Raises:
        DamagedRecordError: if the store of the team's versions is damaged.
    """
    answered = [event.data for event in events if event.kind == TEAM_ANSWERED.name and event.data["status"] == "ok"]
    rows = [
        {"id": data["id"], "answer": data["answer"]} for data in sorted(answered, key=lambda data: int(data["place"]))
    ]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
    files = {"answers.jsonl": "".join(lines).encode("utf-8", "replace")} if rows else {}
    if (folder / EVOLUTION).exists():
        with Store(folder / EVOLUTION, create=False) as store:
            for version in store.list():
                part = part_of(store.tree(version), version.manifest)
                files |= {f"{version.type}/{version.name}/{path}": content for path, content in part.items()}
    return files
