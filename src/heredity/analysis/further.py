"""What the best evolver of a taskset is compared with beside the reference: references that nobody ranks, such as doing nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from heredity.analysis.bounds import GAP, Floats
from heredity.analysis.claims import LEVEL, MARK_LEVEL
from heredity.analysis.paired import Comparison, compare_paired, holm, verdict
from heredity.analysis.statistics import mean_interval
from heredity.analysis.suite_table import Cell, TasksetScores, table_of
from heredity.results.suite import FurtherResults, Unit


@dataclass(frozen=True, slots=True)
class _Compared:
    name: str
    best: str
    scores: Floats
    comparison: Comparison


def further_results(tasksets: Sequence[TasksetScores]) -> dict[str, list[FurtherResults]]:
    """Compare the best evolver of each taskset with each further reference of its runs.

    Returns:
        Taskset to one row for each; tests are Holm-corrected for all of them together.
    """
    compared = [(t, row) for t in tasksets for row in _of_best(t)]
    corrected = holm([row.comparison.p for _, row in compared])
    rows: dict[str, list[FurtherResults]] = {t.name: [] for t in tasksets}
    for (taskset, row), p in zip(compared, corrected, strict=True):
        rows[taskset.name].append(_results(taskset, row, p))
    return rows


def _of_best(taskset: TasksetScores) -> list[_Compared]:
    best = max(taskset.cells, key=lambda label: taskset.cells[label].mean, default=None)
    if best is None:
        return []
    cell = taskset.cells[best]
    names = dict.fromkeys(reference.name for run, _ in cell.runs for reference in run.further)
    return [row for name in names if (row := _compared(taskset, best, cell, name)) is not None]


def _compared(taskset: TasksetScores, best: str, cell: Cell, name: str) -> _Compared | None:
    rows = [
        (scores, reference.heldout_scores)
        for (run, _), scores in zip(cell.runs, cell.scores, strict=True)
        for reference in run.further
        if reference.name == name
    ]
    marks = table_of([listed for _, listed in rows])
    width = min(marks.shape[1], cell.scores.shape[1])
    unscored = np.full((len(cell.unscored), width), np.nan)
    gaps = np.vstack([np.array([scores[:width] for scores, _ in rows]) - marks[:, :width], unscored])
    bounds = GAP if taskset.bounds else None
    comparison = compare_paired([gaps], bounds=bounds, clusters=[taskset.clusters], least=taskset.coverage)
    return None if comparison is None else _Compared(name, best, marks[0], comparison)


def _results(taskset: TasksetScores, row: _Compared, p: float | None) -> FurtherResults:
    comparison = row.comparison
    level = MARK_LEVEL if comparison.unit is Unit.RUN else LEVEL
    return FurtherResults(
        name=row.name,
        mean=float(np.nanmean(row.scores)),
        ci=mean_interval(row.scores, bounds=taskset.bounds),
        best=row.best,
        difference=comparison.difference,
        difference_ci=comparison.interval,
        unit=comparison.unit,
        p_holm=p,
        verdict=verdict(comparison.difference, p, level, untold=comparison.untold),
        because=comparison.untold,
    )
