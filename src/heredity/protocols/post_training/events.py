"""Journal events of post-training, in addition to those of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from heredity.records.events import RUN_STARTED, Clustered, Compared, EventKind, RunStarted, Scores, by_name

RECORD = "posttraining"
"""Key of the additional fields in `run.started`."""


def training_of(started: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the post-training part of `run.started`: the trained model, and the grading engine."""
    return started.get(RECORD) or {}


class TrainingStarted(RunStarted):
    """Description of a run, with the trained model and the grading engine."""

    posttraining: NotRequired[Mapping[str, Any]]


class BaselineScored(Compared, Clustered):
    """Scores of the base model on a view."""

    candidate: str
    view: str
    scores: Scores


class GradingRepeated(TypedDict):
    """Another grading of the best checkpoint; `repeat` counts from 1."""

    submit_id: int | None
    candidate: str
    repeat: int
    scores: Scores


class CodeRevised(TypedDict):
    """A change of the agent's code since the last record; `reason` lists files that could not be kept, and why.

    `blob` is null if none could be kept. `bytes` is the size of the blob, `full` says that nothing more is kept.
    """

    revision: int
    blob: str | None
    files: Sequence[str]
    at_s: float
    bytes: NotRequired[int]
    reason: NotRequired[str]
    full: NotRequired[bool]


class CheckpointKept(TypedDict):
    """The weights of the best checkpoint so far are kept; `bytes` is the size of its tensors."""

    digest: str
    candidate: str
    bytes: int


class CheckpointDropped(TypedDict):
    """Weights that are no longer kept."""

    digest: str
    candidate: str
    why: str


class SettingsOverridden(TypedDict):
    """A submitted checkpoint whose settings affect answers; it was graded with its base's settings."""

    candidate: str
    settings: Sequence[str]


class TextsMet(TypedDict):
    """Hidden items found in the agent's files: `views` has their positions, `sizes` the number of items per view.

    `files` are the first files that hold any; `texts` files with `bytes` were read, and `unread` were not (not text, or too large).
    """

    at_s: float
    views: Mapping[str, Sequence[int]]
    sizes: Mapping[str, int]
    files: Sequence[str]
    texts: int
    bytes: int
    unread: int


BASELINE_SCORED = EventKind("baseline.scored", BaselineScored)
GRADING_REPEATED = EventKind("grading.repeated", GradingRepeated)
CODE_REVISED = EventKind("code.revised", CodeRevised)
CHECKPOINT_KEPT = EventKind("checkpoint.kept", CheckpointKept)
CHECKPOINT_DROPPED = EventKind("checkpoint.dropped", CheckpointDropped)
SETTINGS_OVERRIDDEN = EventKind("settings.overridden", SettingsOverridden)
TEXTS_MET = EventKind("texts.met", TextsMet)

EVENTS = by_name(
    EventKind(RUN_STARTED.name, TrainingStarted), BASELINE_SCORED, GRADING_REPEATED, CODE_REVISED, CHECKPOINT_KEPT,
    CHECKPOINT_DROPPED, SETTINGS_OVERRIDDEN, TEXTS_MET,
)  # fmt: skip
