"""Journal events of world generation, in addition to those of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict

from heredity.records.events import EventKind, by_name

RECORD = "generation"
"""Key of the additional fields in `run.started`."""


class GatesExecuted(TypedDict):
    """All gates on the selected world, from one hidden seed; `reports` has `gate`, `passed`, `findings`, `figures` of each.

    `certificate` and `levels` are blobs, null if no world was built.
    """

    candidate: str
    task: str
    passed: bool
    status: str
    reports: Sequence[Mapping[str, Any]]
    certificate: str | None
    levels: str | None


class WorldAdmitted(TypedDict):
    """A world without findings; `digest` is that of its certificate."""

    candidate: str
    world: str
    digest: str


GATES_EXECUTED = EventKind("gates.executed", GatesExecuted)
WORLD_ADMITTED = EventKind("world.admitted", WorldAdmitted)

EVENTS = by_name(GATES_EXECUTED, WORLD_ADMITTED)
