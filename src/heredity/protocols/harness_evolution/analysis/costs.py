"""Costs of rollouts and updates. An unrecorded cost stays missing: it is counted as unknown, never as zero."""

from __future__ import annotations

import numpy as np

from heredity.protocols.harness_evolution.analysis.coded import UPDATE, CodedRows, Floats, Ints
from heredity.protocols.harness_evolution.analysis.rows import COSTS
from heredity.protocols.harness_evolution.task_results import Cost, Costs, RunCosts

BySnapshot = dict[str, dict[str, Costs]]
"""Cost of judging, by view and snapshot."""


def cost_metrics(results: CodedRows) -> tuple[RunCosts, BySnapshot]:
    """Return the cost of a run, and of each snapshot on each view."""
    width = len(results.snapshots) + 1
    cells = (len(results.views), width)
    cell = results.view * width + results.snapshot + 1
    cell = np.where(results.kind == UPDATE, cells[0] * width, cell)
    rows = np.bincount(cell, minlength=cells[0] * width + 1)
    counts = np.zeros((len(COSTS), rows.size), dtype=np.int64)
    total = np.zeros((len(COSTS), rows.size))
    for i, name in enumerate(COSTS):
        counts[i], total[i] = _sums(cell, results.cost(name), rows.size)

    def costs(selected: slice | Ints) -> Costs:
        return Costs(
            **{
                name: _cost(int(rows[selected].sum()), int(counts[i][selected].sum()), float(total[i][selected].sum()))
                for i, name in enumerate(COSTS)
            }
        )

    views = {name: slice(v * width, (v + 1) * width) for v, name in enumerate(results.views)}
    whole = RunCosts(
        rollout=costs(slice(0, cells[0] * width)),
        update=costs(slice(cells[0] * width, None)),
        views={name: costs(part) for name, part in views.items() if rows[part].any()},
    )
    by_snapshot = {
        name: {
            snapshot.name: costs(np.array([part.start + s + 1]))
            for s, snapshot in enumerate(results.snapshots)
            if rows[part.start + s + 1]
        }
        for name, part in views.items()
        if rows[part][1:].any()
    }
    return whole, by_snapshot


def _sums(cell: Ints, values: Floats, cells: int) -> tuple[Ints, Floats]:
    present = ~np.isnan(values)
    if not present.all():
        cell, values = cell[present], values[present]
    return np.bincount(cell, minlength=cells), np.bincount(cell, weights=values, minlength=cells).astype(float)


def _cost(rows: int, count: int, total: float) -> Cost:
    return Cost(rows=rows, known=count, total=total if count else None, mean=total / count if count else None)
