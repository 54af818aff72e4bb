"""What an agent's own files hold of hidden items, and what the gain is without these."""

from __future__ import annotations

from heredity.protocols.post_training.analysis.compare import paired
from heredity.protocols.post_training.analysis.record import HELDOUT, PostTraining
from heredity.protocols.post_training.results import Gain, ItemsMet, TextsMet

MET = "held-out items met"
"""What the label begins with of a run whose agent had held-out items among its texts."""


def texts_met(record: PostTraining) -> TextsMet | None:
    """Return what was met; None if nobody looked."""
    data = record.texts
    if data is None:
        return None
    return TextsMet(
        views=[ItemsMet(view=view, met=len(met), of=data["sizes"][view]) for view, met in data["views"].items()],
        files=list(data["files"]),
        texts=data["texts"],
        bytes=data["bytes"],
        unread=data["unread"],
        clean=_clean(record),
    )


def labels_of(record: PostTraining) -> list[str] | None:
    """Return the labels of the task, and one more if held-out items were met."""
    labels, met = record.about.get("labels"), _heldout(record)
    if not met or record.texts is None:
        return labels
    return [*(labels or ()), f"{MET} in the agent's files: {len(met)} of {record.texts['sizes'][HELDOUT]}"]


def _heldout(record: PostTraining) -> set[int]:
    return set((record.texts or {}).get("views", {}).get(HELDOUT, ()))


def _clean(record: PostTraining) -> Gain | None:
    """Return the held-out gain over the items that were not met; None if all or none were, or before judging."""
    met = _heldout(record)
    after = record.judged.get(record.chosen, ())
    before = record.baseline(HELDOUT) or record.judged.get(record.base, ())
    kept = [position for position in range(min(len(after), len(before))) if position not in met]
    if not met or not kept:
        return None
    clusters = record.clusters_of(HELDOUT, kept)
    return paired([after[i] for i in kept], [before[i] for i in kept], clusters, record.coverage)
