"""Results of replay: tasks fixed and forgotten, and the grid of tasks by snapshots (SEAGym, appendix D.2)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from heredity.protocols.harness_evolution.analysis.coded import Bools
from heredity.protocols.harness_evolution.analysis.grids import Grid
from heredity.protocols.harness_evolution.task_results import (
    Churn,
    ChurnSinceBase,
    FixAndForget,
    Replay,
    ReplayGrid,
    SinceBase,
)

SOLVED, FAILED, ERRORED, MISSING, UNTRAINED = b"SFE.u"
CELLS = {"S": "solved", "F": "failed", "E": "failed with an error", ".": "missing", "u": "not trained yet"}
"""The letters of a replay grid."""


def replay_metrics(grid: Grid) -> Replay:
    """Return tasks fixed and forgotten, over all sources and by source, and the replay grid.

    `delta` counts tasks between consecutive snapshots: ΔFix (newly solved) and ΔForget (no longer solved). `since_base` has
    rates against the base: Fix among the tasks that it failed, Forget among those it solved; their denominators are the same
    at every snapshot. Tasks missing on either side count in neither.
    """
    everything = np.ones(len(grid.tasks), dtype=bool)
    groups = [(name, grid.source == i) for i, name in enumerate(grid.sources)]
    return Replay(
        **dict(_fix_and_forget(grid, everything)),
        by_source={name: _fix_and_forget(grid, member) for name, member in groups if member.any()},
        grid=replay_grid(grid),
    )


def _fix_and_forget(grid: Grid, member: Bools) -> FixAndForget:
    delta = tuple(_churn(grid, member, before, after) for before, after in pairwise(grid.chain()))
    return FixAndForget(delta=delta, since_base=_since_base(grid, member))


def _churn(grid: Grid, member: Bools, before: int, after: int) -> Churn:
    both = member & ~np.isnan(grid.score[:, before]) & ~np.isnan(grid.score[:, after])
    was, now = grid.solved[:, before], grid.solved[:, after]
    return Churn(
        before=grid.snapshots[before].name,
        after=grid.snapshots[after].name,
        tasks=int(both.sum()),
        fixed=int((both & now & ~was).sum()),
        forgotten=int((both & was & ~now).sum()),
    )


def _since_base(grid: Grid, member: Bools) -> SinceBase | None:
    base = grid.base
    if base is None:
        return None
    attempted = member & ~np.isnan(grid.score[:, base])
    solved = int((attempted & grid.solved[:, base]).sum())
    failed = int(attempted.sum()) - solved
    churns = (_churn(grid, member, base, index) for index in range(len(grid.snapshots)) if index != base)
    rows = tuple(
        ChurnSinceBase(
            snapshot=churn.after,
            tasks=churn.tasks,
            fixed=churn.fixed,
            forgotten=churn.forgotten,
            fix=churn.fixed / failed if failed else None,
            forget=churn.forgotten / solved if solved else None,
        )
        for churn in churns
    )
    return SinceBase(base=grid.snapshots[base].name, failed=failed, solved=solved, snapshots=rows)


def replay_grid(grid: Grid) -> ReplayGrid:
    """Return the outcome of each task at each snapshot: one string per task, one letter (`CELLS`) per snapshot."""
    letters = np.where(grid.solved, SOLVED, np.where(grid.errored, ERRORED, FAILED))
    letters = np.where(np.isnan(grid.score), np.where(grid.untrained, UNTRAINED, MISSING), letters)
    return ReplayGrid(
        snapshots=tuple(s.name for s in grid.snapshots),
        tasks=grid.tasks,
        sources=tuple(grid.sources[i] for i in grid.source),
        cells=tuple(row.tobytes().decode("ascii") for row in letters.astype(np.uint8)),
    )
