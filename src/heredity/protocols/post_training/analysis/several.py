"""Runs of several tasks, task by task: what one checkpoint gains at each, on the graded view and on the held-out slice."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.analysis.samples import Clusters
from heredity.protocols.post_training.analysis.compare import described, paired
from heredity.protocols.post_training.analysis.record import GRADED, HELDOUT, PostTraining, Scores, Step
from heredity.protocols.post_training.results import TaskGain, ViewGain


def by_task(record: PostTraining, best: Step | None) -> list[TaskGain]:
    """Return how the best submission does on each of a run's tasks; nothing for a run of one."""
    after = dict(zip(best.tasks, best.scores, strict=False)) if best else {}
    chosen = record.judged.get(record.chosen, ())
    rows: list[TaskGain] = []
    for task in record.about.get("tasks") or ():
        graded = _compared(
            [after.get(task_index) for task_index in task["task_indices"]],
            record.baseline(GRADED),
            task["task_indices"],
            record.clusters_of(GRADED, task["task_indices"]),
            record.coverage,
        )
        places = task.get("heldout") or ()
        clusters = record.clusters_of(HELDOUT, places)
        hidden = _compared(_at(chosen, places), record.baseline(HELDOUT), places, clusters, record.coverage)
        rows.append(
            TaskGain(name=task["name"], baseline=graded.baseline, best=graded.best, gain=graded.gain, heldout=hidden)
        )
    return rows


def _compared(
    after: Scores, baseline: Scores, places: Sequence[int], clusters: Clusters | None, coverage: float
) -> ViewGain:
    before = _at(baseline, places)
    present = [score is not None for score in after]
    return ViewGain(
        baseline=described(before, clusters) if baseline else None,
        best=described(after, clusters) if any(present) else None,
        gain=paired(after, before, clusters, coverage),
    )


def _at(scores: Scores, places: Sequence[int]) -> list[float | None]:
    return [scores[index] if index < len(scores) else None for index in places]
