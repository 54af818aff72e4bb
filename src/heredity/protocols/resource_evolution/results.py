"""Results of resource evolution over a suite: improvements of each method under each model (Autogenesis, table 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.samples import GAP, Floats
from heredity.analysis.statistics import evolver_mean
from heredity.analysis.suite_table import Cell, TasksetScores, differing_conditions
from heredity.results.base import Interval, Result, Unknown
from heredity.results.run import RunResults
from heredity.results.suite import Claim, Unit

MODEL = "gateway.execution"
"""The condition with the execution model."""


@dataclass(frozen=True, slots=True)
class _Scored:
    taskset: TasksetScores
    evolver: str
    cell: Cell
    start: Floats
    both: Both


def improvements(
    tasksets: Sequence[TasksetScores], runs: Sequence[RunResults], *, ranked: bool = True
) -> list[Improvement]:
    """Return a row per evolver and taskset with a known start, in the order of the suite.

    Args:
        tasksets: the scores of every evolver.
        runs: of the suite.
        ranked: True to compute intervals and test differences; otherwise means are shown as they are.
    """
    conditions = differing_conditions(runs)
    rows = [row for taskset in tasksets for evolver in taskset.cells if (row := _scored(taskset, evolver, tasksets))]
    pairs: Sequence[tuple[Claim | None, Claim | None]] = claims([row.both for row in rows])
    return [
        _improvement(row, pair if ranked else (None, None), conditions, ranked=ranked)
        for row, pair in zip(rows, pairs, strict=True)
    ]


def _scored(taskset: TasksetScores, evolver: str, tasksets: Sequence[TasksetScores]) -> _Scored | None:
    cell = taskset.cells[evolver]
    start = taskset.references.get(cell.reference)
    if start is None or start.size != cell.scores.shape[1]:
        return None
    tests = sum(len(other.cells) for other in tasksets)
    bounds, clusters = GAP if taskset.bounds else None, [taskset.clusters]
    both = compare([cell.asked - start], tests, bounds, clusters=clusters, least=taskset.coverage)
    return None if both is None else _Scored(taskset, evolver, cell, start, both)


def _improvement(
    row: _Scored, pair: tuple[Claim | None, Claim | None], conditions: Sequence[str], *, ranked: bool
) -> Improvement:
    first = row.cell.runs[0][0]
    estimate = evolver_mean([row.cell.scores], row.taskset.bounds, [row.taskset.clusters]) if ranked else None
    before, after = float(np.nanmean(row.start)), row.cell.mean
    return Improvement(
        evolver=row.evolver,
        method=_method(row.evolver, first.conditions, conditions),
        model=first.conditions.get(MODEL),
        taskset=row.taskset.name,
        before=before,
        after=after,
        ci=estimate[0].interval if estimate else None,
        ci_unit=estimate[1] if estimate else None,
        ci_unknown=estimate[0].unknown if estimate else None,
        percent=100.0 * (after - before) / before if before > 0.0 else None,
        difference=row.both.candidates.difference,
        evolvers=pair[0],
        candidates=pair[1],
        runs=len(row.cell.runs),
    )


def _method(label: str, values: Mapping[str, object], conditions: Sequence[str]) -> str:
    """Return a label without the conditions, which have their own column."""
    name, options, rest = label.partition(" (")
    if not options:
        return label
    shown = {f"{key}={values[key]}" for key in conditions if key in values}
    kept = [part for part in rest.removesuffix(")").split(", ") if part not in shown]
    return f"{name} ({', '.join(kept)})" if kept else name


class Improvement(Result):
    """One method under one model on one taskset, against its start.

    Attributes:
        evolver: its label in the suite.
        method: its name without the conditions.
        model: the execution model; None without one.
        before, after: held-out means of the start and of the last commit; `ci` is of `after`, over `ci_unit`.
        percent: improvement in per cent of `before`; None where that is 0 or less.
        difference: `after` minus `before`, paired by case.
        evolvers: the claim about the method: new runs on new tasks.
        candidates: the claim about these candidates on new tasks. Both None if nothing is ranked.
    """

    evolver: str
    method: str
    model: str | None
    taskset: str
    before: float
    after: float
    ci: Interval | None
    ci_unit: Unit | None
    ci_unknown: Unknown | None
    percent: float | None
    difference: float
    evolvers: Claim | None
    candidates: Claim | None
    runs: int


class ResourceSuite(Result):
    """The part of resource evolution in a suite's results: improvements by model, method and taskset."""

    improvements: list[Improvement]
