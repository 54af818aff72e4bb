"""Runs of several tasks, task by task: what one checkpoint gains at each, on the graded view and on the held-out slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heredity.protocols.post_training.analysis.compare import described, paired
from heredity.protocols.post_training.analysis.record import GRADED, HELDOUT, Json, PostTraining, Scores, Step


def by_task(record: PostTraining, best: Step | None) -> list[dict[str, Any]]:
    """Return how the best submission does on each of a run's tasks; nothing for a run of one.

    Returns:
        name, baseline, best and gain on the graded view, and the same under `heldout`; each None where it is not known.
    """
    after = dict(zip(best.tasks, best.scores, strict=False)) if best else {}
    chosen = record.judged.get(str((record.selected or {}).get("candidate") or ""), ())
    rows: list[dict[str, Any]] = []
    for task in record.about.get("tasks") or ():
        graded = _compared([after.get(handle) for handle in task["handles"]], record.baseline(GRADED), task["handles"])
        places = task.get("heldout") or ()
        hidden = _compared(_at(chosen, places), record.baseline(HELDOUT), places)
        rows.append({"name": task["name"], **graded, "heldout": hidden})
    return rows


def _compared(after: Scores, baseline: Scores, places: Sequence[int]) -> dict[str, Json | None]:
    before = _at(baseline, places)
    known = [score is not None for score in after]
    return {
        "baseline": described(before) if baseline else None,
        "best": described(after) if any(known) else None,
        "gain": paired(after, before),
    }


def _at(scores: Scores, places: Sequence[int]) -> list[float | None]:
    return [scores[place] if place < len(scores) else None for place in places]
