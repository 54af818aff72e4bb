"""Records of SEAGym as evaluations: the last harness of each run on each view, and the first one.

Tasks are paired by their id. A run's `task_results.jsonl` has one row for each task, view and snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from heredity._core.errors import RecordError, UnknownNameError
from heredity.analysis.evaluations import Evaluation
from heredity.experiments.imports.contract import Choice, Importer
from heredity.protocols.harness_evolution.analysis import read_rows, run_ids
from heredity.protocols.harness_evolution.analysis.coded import BEST, JUDGED, CodedRows, code_results

NAMES = ("task_results.jsonl", "metric_inputs.jsonl")
SCORERS = ("score", "success")


def recognises(path: Path) -> bool:
    """Report whether a path is a file of task results, or a folder with one."""
    return path.name in NAMES if path.is_file() else any((path / name).is_file() for name in NAMES)


def files(path: Path) -> Sequence[Path]:
    """Return the file of task results at a path."""
    return [path] if path.is_file() else [next(path / name for name in NAMES if (path / name).is_file())]


def read(path: Path, choice: Choice) -> list[Evaluation]:
    """Read task results: an evaluation for each run and view, of its last snapshot, and of its first as `A_0`.

    Raises:
        RecordError: if the file is damaged or has no judged rows.
        ConfigError: if the chosen scorer is neither `score` nor `success`.
    """
    if choice.scorer and choice.scorer not in SCORERS:
        raise UnknownNameError("scorer of task results", choice.scorer, SCORERS)
    rows = read_rows(path)
    evaluations = [e for run in run_ids(rows) or [None] for e in _of_run(path, code_results(rows, run), choice)]
    if not evaluations:
        raise RecordError(f"{path} has no judged rows")
    if rows.damaged:
        note = f"{path}: {len(rows.damaged)} damaged lines left out, the first is line {rows.damaged[0].line}"
        evaluations[0] = replace(evaluations[0], notes=[note])
    return evaluations


def _of_run(path: Path, rows: CodedRows, choice: Choice) -> list[Evaluation]:
    judged = rows.kind == JUDGED
    trained = [i for i, snapshot in enumerate(rows.snapshots) if snapshot.rank != BEST]
    if not judged.any() or not trained:
        return []
    name = rows.run_id or path.parent.name
    chosen = {name: trained[-1], **({f"A_0 of {name}": trained[0]} if len(trained) > 1 else {})}
    return [
        made
        for entry, snapshot in chosen.items()
        for view in range(len(rows.views))
        if (made := _of_view(path, rows, choice, (entry, snapshot, view))) is not None
    ]


def _of_view(path: Path, rows: CodedRows, choice: Choice, of: tuple[str, int, int]) -> Evaluation | None:
    entry, snapshot, view = of
    own = np.flatnonzero((rows.kind == JUDGED) & (rows.snapshot == snapshot) & (rows.view == view))
    if not own.size:
        return None
    values = rows.solved.astype(float) if choice.scorer == "success" else rows.score
    scores = {rows.tasks[rows.task[i]]: [None if np.isnan(rows.score[i]) else float(values[i])] for i in own}
    clusters = {rows.tasks[rows.task[i]]: rows.clusters[rows.cluster[i]] for i in own if rows.cluster[i] >= 0}
    return Evaluation(
        source=str(path),
        entry=entry,
        settings={},
        taskset=rows.views[view],
        version="",
        scorer=choice.scorer or "score",
        scores=scores,
        clusters=clusters,
    )


IMPORTER = Importer("task results of SEAGym (task_results.jsonl), or a folder with them", recognises, files, read)
