"""Journal events of harness evolution, in addition to those of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired

from typing_extensions import TypedDict

from heredity.records.events import EventKind, Scores, TaskLabels, by_name


class PointData(TypedDict):
    """A snapshot: the number of batches before it, and its role (`A_0`, `A_T`, or null)."""

    name: str
    batch: int
    candidate: str
    role: str | None


class SnapshotsFrozen(TypedDict):
    """The judged snapshots; `trained` maps a task id to the first batch that had it."""

    points: Sequence[PointData]
    trained: Mapping[str, int]


class SnapshotAssessed(TypedDict):
    """The scores of a snapshot on a view; lists have one entry per task, `model` is null for the run's execution model.

    `recalled` is set if another run of the suite made, and paid for, these rollouts.
    """

    view: str
    candidate: str
    taskset: str
    model: str | None
    tasks: Sequence[TaskLabels]
    scores: Scores
    lengths: Sequence[int]
    statuses: Sequence[str]
    errors: Sequence[str | None]
    seconds: Sequence[float]
    costs: Sequence[Mapping[str, float]]
    blob: str | None
    recalled: NotRequired[bool]


class EvaluationPlanned(TypedDict):
    """Snapshots of a run that are judged again later, possibly under another execution model."""

    run: str
    suite: str
    config_digest: str
    evolved_under: str
    model: str
    snapshots: Sequence[PointData]
    views: Mapping[str, str]
    repeat: int
    settings: str
    commitment: str


SNAPSHOTS_FROZEN = EventKind("snapshots.frozen", SnapshotsFrozen)
SNAPSHOT_ASSESSED = EventKind("snapshot.assessed", SnapshotAssessed)
EVALUATION_PLANNED = EventKind("evaluation.planned", EvaluationPlanned)

EVENTS = by_name(SNAPSHOTS_FROZEN, SNAPSHOT_ASSESSED, EVALUATION_PLANNED)
