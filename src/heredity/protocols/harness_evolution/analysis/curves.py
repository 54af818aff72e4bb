"""Learning curves: by train batch, and by snapshot, over all tasks and by source group (SEAGym, appendix D)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity.protocols.harness_evolution.analysis.coded import TRAIN, Bools, CodedRows, Ints
from heredity.protocols.harness_evolution.analysis.grids import Grid
from heredity.protocols.harness_evolution.task_results import ALL, SnapshotCurves, TrainCurve

_RATES = ("perf", "sr", "execution_success")


def train_curve(results: CodedRows) -> TrainCurve:
    """Return the curve of training by source group, then batch, then update; rates are micro means.

    Rollouts of one batch before different updates are of different harnesses, and stay apart.
    """
    rows = np.flatnonzero((results.kind == TRAIN) & ~np.isnan(results.score))
    batch = results.steps["train_batch_index"][rows].astype(np.int64)
    update = results.steps["global_update_index"][rows]
    updates = int(update.max(initial=-1)) + 2
    points, point = np.unique((batch + 1) * updates + update + 1, return_inverse=True)
    source = results.source[rows]
    solved, errored = results.solved[rows], results.errored[rows]
    measures: list[NDArray[Any]] = [results.score[rows], solved, solved & ~errored, errored]
    columns: dict[str, list[Any]] = {name: [] for name in TrainCurve.model_fields}
    groups = [(ALL, np.ones(len(rows), dtype=bool)), *((n, source == i) for i, n in enumerate(results.sources))]
    for name, member in groups:
        count = np.bincount(point[member], minlength=len(points))
        sums = [np.bincount(point[member], weights=m[member], minlength=len(points)) for m in measures]
        there = np.flatnonzero(count)
        columns["source"] += [name] * len(there)
        columns["train_batch_index"] += _none_if_negative(points[there] // updates - 1)
        columns["global_update_index"] += _none_if_negative(points[there] % updates - 1)
        columns["tasks"] += count[there].tolist()
        for measure, total in zip(_RATES, sums[:-1], strict=True):
            columns[measure] += (total[there] / count[there]).tolist()
        columns["errors"] += sums[-1][there].astype(int).tolist()
    return TrainCurve.model_validate(columns)


def _none_if_negative(values: Ints) -> list[int | None]:
    return [None if v < 0 else v for v in values.tolist()]


def snapshot_curves(grids: Sequence[Grid]) -> SnapshotCurves:
    """Return the curves of all views, by view, source group, then snapshot."""
    rows: list[tuple[Any, ...]] = []
    for grid in grids:
        members = [(ALL, np.ones(len(grid.tasks), dtype=bool))]
        members += [(name, grid.source == i) for i, name in enumerate(grid.sources)]
        for source, member in members:
            rows += _curve(grid, source, member)
    names = tuple(SnapshotCurves.model_fields)
    return SnapshotCurves.model_validate({name: [row[i] for row in rows] for i, name in enumerate(names)})


def _curve(grid: Grid, source: str, member: Bools) -> list[tuple[Any, ...]]:
    score = grid.score[member]
    present = ~np.isnan(score)
    count = present.sum(axis=0)
    total, solved = np.where(present, score, 0.0).sum(axis=0), grid.solved[member].sum(axis=0)
    errors = grid.errored[member].sum(axis=0)
    return [
        (grid.view, source, s.name, s.batch, int(n), float(total[i] / n), float(solved[i] / n), int(errors[i]))
        for i, (s, n) in enumerate(zip(grid.snapshots, count, strict=True))
        if n
    ]
