"""What rollouts and updates cost. A cost that no record holds stays missing: it is counted, never a zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from heredity.protocols.harness_evolution.analysis.results import UPDATE, Floats, Ints, Results
from heredity.protocols.harness_evolution.analysis.rows import COSTS

Stats = dict[str, dict[str, Any]]


def cost_metrics(results: Results) -> dict[str, Any]:
    """Return totals and means of tokens, tool calls, seconds and dollars.

    Returns:
        `rollout` and `update`, apart; `views`, of rollouts, by view, and `snapshots`, by view and snapshot. Each has
        for each cost its `rows`, those for which it is `known`, and of these the `total` and the `mean`, or None.
    """
    width = len(results.snapshots) + 1
    cells = (len(results.views), width)
    cell = results.view * width + results.snapshot + 1
    cell = np.where(results.kind == UPDATE, cells[0] * width, cell)
    rows = np.bincount(cell, minlength=cells[0] * width + 1)
    known = np.zeros((len(COSTS), rows.size), dtype=np.int64)
    total = np.zeros((len(COSTS), rows.size))
    for i, name in enumerate(COSTS):
        known[i], total[i] = _sums(cell, results.cost(name), rows.size)

    def stats(selected: slice | Ints) -> Stats:
        return {
            name: _stat(int(rows[selected].sum()), int(known[i][selected].sum()), float(total[i][selected].sum()))
            for i, name in enumerate(COSTS)
        }

    views = {name: slice(v * width, (v + 1) * width) for v, name in enumerate(results.views)}
    return {
        "rollout": stats(slice(0, cells[0] * width)),
        "update": stats(slice(cells[0] * width, None)),
        "views": {name: stats(part) for name, part in views.items() if rows[part].any()},
        "snapshots": {
            name: {
                snapshot.name: stats(np.array([part.start + s + 1]))
                for s, snapshot in enumerate(results.snapshots)
                if rows[part.start + s + 1]
            }
            for name, part in views.items()
            if rows[part][1:].any()
        },
    }


def _sums(cell: Ints, values: Floats, cells: int) -> tuple[Ints, Floats]:
    known = ~np.isnan(values)
    if not known.all():
        cell, values = cell[known], values[known]
    return np.bincount(cell, minlength=cells), np.bincount(cell, weights=values, minlength=cells).astype(float)


def _stat(rows: int, known: int, total: float) -> dict[str, Any]:
    return {
        "rows": rows,
        "known": known,
        "total": total if known else None,
        "mean": total / known if known else None,
    }
