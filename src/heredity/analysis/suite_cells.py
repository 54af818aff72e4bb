"""The cells of a suite: what each evolver, and what it is compared with, scored on one taskset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from heredity.analysis.bounds import missing_bounds
from heredity.analysis.ranking import competition_ranks, normalised_score, rank_scores, score_table
from heredity.analysis.statistics import case_mean, evolver_mean
from heredity.analysis.suite_table import Cell, Named, TasksetScores
from heredity.results.suite import CellResults, CellSeed, FurtherResults, TasksetResults, Unit


def taskset_results(
    taskset: TasksetScores, evolvers: Sequence[str], name: Named, further: list[FurtherResults]
) -> TasksetResults:
    """Return all cells of a taskset, best first.

    Args:
        taskset: its scores.
        evolvers: everybody's labels, those without a score here too.
        name: what an entry is called.
        further: what the best evolver is compared with beside.
    """
    means = taskset.means
    row = score_table({taskset.name: means}, list(means))[0]
    ranks, points = competition_ranks(row), rank_scores(row)
    cells = [
        _cell(taskset, entry, name, int(ranks[i]), None if np.isnan(points[i]) else float(points[i]))
        for i, entry in enumerate(means)
    ]
    failed = [_evolver_cell(taskset, entry, cell, name) for entry, cell in taskset.failed.items()]
    return TasksetResults(
        taskset=taskset.name,
        family=taskset.family,
        group=taskset.group,
        reference_mean=_only(taskset.reference_mean(entry) for entry in taskset.references),
        best_mean=max((cell.mean for cell in taskset.cells.values()), default=None),
        entries=len(means),
        cells=[*sorted(cells, key=lambda cell: cell.rank or 0), *failed],
        further=further,
        absent=[e for e in evolvers if e not in taskset.cells and e not in taskset.failed],
    )


def _only(means: Iterable[float | None]) -> float | None:
    listed = list(means)
    return listed[0] if len(listed) == 1 else None


def _cell(taskset: TasksetScores, entry: str, name: Named, rank: int, rank_score: float | None) -> CellResults:
    if entry in taskset.references:
        return _reference_cell(taskset, entry, name(entry), rank, rank_score)
    cell = taskset.cells[entry]
    placed = normalised_score(cell.mean, taskset.reference_mean(entry), taskset.best_mean(entry))
    return _evolver_cell(taskset, entry, cell, name).model_copy(
        update={"rank": rank, "rank_score": rank_score, "normalised": placed, "failed": False}
    )


def _evolver_cell(taskset: TasksetScores, entry: str, cell: Cell, name: Named) -> CellResults:
    """Return the cell of an evolver as one that failed, which has no rank."""
    estimate, unit = evolver_mean([cell.scores], taskset.bounds, [taskset.clusters]) or (None, Unit.CASE)
    heldout = [scores for _, scores in cell.runs]
    return CellResults(
        evolver=name(entry),
        reference=False,
        against=name(cell.reference) if cell.reference in taskset.references else None,
        reference_mean=taskset.reference_mean(entry),
        mean=cell.mean,
        ci=None if estimate is None else estimate.interval,
        ci_unit=unit,
        ci_unknown=estimate and estimate.unknown,
        rank=None,
        rank_score=None,
        normalised=None,
        failed=True,
        seeds=[
            CellSeed(seed=run.seed, run_id=run.run_id, mean=mean)
            for (run, _), mean in zip(cell.runs, cell.run_means, strict=True)
        ],
        cases=sum(scores.n for scores in heldout),
        missing=sum(scores.missing for scores in heldout),
        failures=sum(scores.failures for scores in heldout),
        if_missing=missing_bounds(cell.scores, taskset.bounds),
        clusters=estimate and estimate.clusters,
    )


def _reference_cell(taskset: TasksetScores, entry: str, name: str, rank: int, rank_score: float | None) -> CellResults:
    scores = taskset.references[entry]
    missing = int(np.isnan(scores).sum())
    estimate = case_mean([scores], bounds=taskset.bounds, clusters=[taskset.clusters])
    return CellResults(
        evolver=name,
        reference=True,
        against=None,
        reference_mean=None,
        mean=taskset.means[entry],
        ci=estimate and estimate.interval,
        ci_unit=Unit.CASE,
        ci_unknown=estimate and estimate.unknown,
        rank=rank,
        rank_score=rank_score,
        normalised=None,
        seeds=[],
        cases=scores.size - missing,
        missing=missing,
        failures=0,
        if_missing=missing_bounds(scores, taskset.bounds),
        clusters=estimate and estimate.clusters,
    )
