"""What runs of post-training journal besides the events of every protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from heredity.records.events import Clustered, Compared, EventKind, Scores, by_name

RECORD = "posttraining"
"""What else `run.started` says is under this key."""


def training_of(started: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what `run.started` says of post-training: what is trained, and what grades it."""
    return started.get(RECORD) or {}


class BaselineScored(Compared, Clustered):
    """How the base model does on a view."""

    candidate: str
    view: str
    scores: Scores


class GradingRepeated(TypedDict):
    """The best checkpoint graded once more; `repeat` counts from 1."""

    submit_id: int | None
    candidate: str
    repeat: int
    scores: Scores


class CodeRevised(TypedDict):
    """The agent's code differs from what was recorded last; `reason` names files that could not be kept, and why.

    `blob` is null where none could be. `bytes` is the size of the blob, `full` says that nothing is kept from then on.
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
    """Weights that are not kept any more."""

    digest: str
    candidate: str
    why: str


class SettingsOverridden(TypedDict):
    """A submitted checkpoint had settings of its own that bear on its answers; it was graded with its base's."""

    candidate: str
    settings: Sequence[str]


class TextsMet(TypedDict):
    """Hidden items that stand in the agent's own files: `views` has their positions, `sizes` how many each view has.

    `files` are the first that hold any; `texts` files with `bytes` were read, and `unread` were not: no text, or too much.
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
    BASELINE_SCORED, GRADING_REPEATED, CODE_REVISED, CHECKPOINT_KEPT, CHECKPOINT_DROPPED, SETTINGS_OVERRIDDEN, TEXTS_MET
)
