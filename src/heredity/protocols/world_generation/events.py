"""What runs of world generation journal besides the events of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from heredity.records.events import EventKind, by_name

RECORD = "generation"
"""What else `run.started` says is under this key."""


class GatesExecuted(TypedDict):
    """All gates on the selected world, from one hidden seed; `reports` has `gate`, `passed`, `findings`, `figures` of each.

    `certificate` and `levels` are blobs, null where no world was built.
    """

    candidate: str
    task: str
    passed: bool
    status: str
    reports: Sequence[Mapping[str, Any]]
    certificate: str | None
    levels: str | None


class WorldAdmitted(TypedDict):
    """A world that nothing was found against; `digest` is that of its certificate."""

    candidate: str
    world: str
    digest: str


GATES_EXECUTED = EventKind("gates.executed", GatesExecuted)
WORLD_ADMITTED = EventKind("world.admitted", WorldAdmitted)

EVENTS = by_name(GATES_EXECUTED, WORLD_ADMITTED)
