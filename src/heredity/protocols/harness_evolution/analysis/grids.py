"""Views as grids of tasks by snapshots, and the scores of each snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from heredity.analysis.samples import SHARE, Interval, share
from heredity.protocols.harness_evolution.analysis.coded import (
    BASE,
    BEST,
    FINAL,
    JUDGED,
    POINT,
    TRAIN,
    UPDATE,
    Bools,
    CodedRows,
    Floats,
    Ints,
    Snapshot,
)
from heredity.protocols.harness_evolution.analysis.paired import Pair, by_domain, estimate, parts_of
from heredity.protocols.harness_evolution.analysis.rows import COSTS
from heredity.protocols.harness_evolution.task_results import (
    Churn,
    ChurnSinceBase,
    Cost,
    Costs,
    FixAndForget,
    Level,
    Mean,
    Part,
    Replay,
    ReplayGrid,
    RunCosts,
    SinceBase,
)

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


@dataclass(frozen=True, slots=True)
class Grid:
    """The results of one view. Tables have shape (tasks, snapshots).

    Attributes:
        view: its name.
        kind: its kind (`results.view_kind`).
        tasks: names, sorted.
        domains: names of all domains; `domain` has one index per task, likewise `sources` and `source`.
        clusters: the cluster of each task; None for an unclustered task.
        snapshots: the snapshots judged on it, in order.
        score: NaN where missing (or where a replayed task had not been trained yet).
        solved: verified success; False where the score is NaN.
        errored: an execution error is recorded; False where the score is NaN.
        untrained: a replayed task had not been trained yet.
    """

    view: str
    kind: str
    tasks: tuple[str, ...]
    domains: tuple[str, ...]
    domain: Ints
    sources: tuple[str, ...]
    source: Ints
    clusters: tuple[str | None, ...]
    snapshots: tuple[Snapshot, ...]
    score: Floats
    solved: Bools
    errored: Bools
    untrained: Bools

    @property
    def base(self) -> int | None:
        """The snapshot before any update: `A_0` if it was judged here, else `E_0`."""
        return next((i for i, s in enumerate(self.snapshots) if s.rank == BASE), None)

    def chain(self) -> list[int]:
        """Return the consecutive snapshots: base, evaluation points, and the final one unless it is one of these points.

        `A_0` next to `E_0`, `A_T` next to the last point and a best snapshot judge a harness of the chain a second time: their
        differences are noise, not updates.
        """
        base = [] if self.base is None else [self.base]
        points = [i for i, s in enumerate(self.snapshots) if s.rank == POINT]
        last = self.snapshots[points[-1]].batch if points else None
        final = [i for i, s in enumerate(self.snapshots) if s.rank == FINAL]
        return base + points + [i for i in final[:1] if last is None or self.snapshots[i].batch != last]

    def final(self, batches: int | None) -> int | None:
        """Return the snapshot after the last update: `A_T`, else the point after all `batches`; None if neither was judged.

        Args:
            batches: number of train batches of the run; None if unknown, which selects the last point.
        """
        for i, snapshot in enumerate(self.snapshots):
            if snapshot.rank == FINAL:
                return i
        points = [i for i, s in enumerate(self.snapshots) if s.rank == POINT]
        whole = points and (batches is None or (self.snapshots[points[-1]].batch or 0) >= batches)
        return points[-1] if whole else None

    def index_of_best(self, best: Snapshot, batches: int | None) -> int | None:
        """Return the index of the harness that was best on validation, under any name."""
        for i, snapshot in enumerate(self.snapshots):
            if snapshot.name == best.name or snapshot.rank == BEST:
                return i
        if best.rank == BASE:
            return self.base
        return self.final(batches) if best.batch is not None and best.batch == batches else None

    def pair(self, before: int, after: int) -> Pair:
        """Return two snapshots for comparison, with names, scores, domains, and the tasks asked of both."""
        first, second = ((self.snapshots[i].name, self.score[:, i]) for i in (before, after))
        asked: Bools = np.logical_not(self.untrained[:, before] | self.untrained[:, after])
        return first, second, (self.domain, self.clusters), asked


def train_batches(results: CodedRows) -> int | None:
    """Return the number of the last train batch; None if the rows hold no training."""
    batches = results.steps["train_batch_index"][results.kind == TRAIN]
    last = int(batches.max(initial=-1))
    return last if last >= 0 else None


def grids(results: CodedRows, kinds: Mapping[str, str]) -> list[Grid]:
    """Return a grid per judged view, by name.

    Args:
        results: a run's results.
        kinds: kinds of views, by name.
    """
    first = _first_batches(results)
    judged = results.kind == JUDGED
    view_grids: list[Grid] = []
    for view, name in enumerate(results.views):
        rows = np.flatnonzero(judged & (results.view == view))
        if rows.size:
            view_grids.append(_grid(results, rows, name, kinds[name], first if kinds[name] == "replay" else None))
    return view_grids


def _first_batches(results: CodedRows) -> Floats | None:
    """Return the first batch that trained each task, infinity for never; None if the rows hold no training."""
    if train_batches(results) is None:
        return None
    first = np.full(len(results.tasks), np.inf)
    trained = np.flatnonzero((results.kind == TRAIN) & (results.steps["train_batch_index"] >= 0))
    batch = results.steps["train_batch_index"][trained]
    order = np.argsort(-batch, kind="stable")
    first[results.task[trained[order]]] = batch[order]
    return first


def _grid(results: CodedRows, rows: Ints, view: str, kind: str, first: Floats | None) -> Grid:
    tasks, row = np.unique(results.task[rows], return_inverse=True)
    columns, column = np.unique(results.snapshot[rows], return_inverse=True)
    snapshots = tuple(results.snapshots[i] for i in columns)
    shape = (len(tasks), len(columns))
    score = np.full(shape, np.nan)
    solved, errored = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    score[row, column] = results.score[rows]
    solved[row, column] = results.solved[rows]
    errored[row, column] = results.errored[rows]
    domain, source = np.zeros(len(tasks), dtype=np.int64), np.zeros(len(tasks), dtype=np.int64)
    domain[row], source[row] = results.domain[rows], results.source[rows]
    cluster = np.full(len(tasks), -1, dtype=np.int64)
    cluster[row] = results.cluster[rows]
    untrained = np.zeros(shape, dtype=bool) if first is None else _untrained(first[tasks], snapshots)
    score[untrained] = np.nan
    present = ~np.isnan(score)
    return Grid(
        view=view,
        kind=kind,
        tasks=tuple(results.tasks[i] for i in tasks),
        domains=results.domains,
        domain=domain,
        sources=results.sources,
        source=source,
        clusters=tuple(None if c < 0 else results.clusters[c] for c in cluster.tolist()),
        snapshots=snapshots,
        score=score,
        solved=solved & present,
        errored=errored & present,
        untrained=untrained,
    )


def _untrained(first: Floats, snapshots: tuple[Snapshot, ...]) -> Bools:
    """Return a mask of replayed tasks that a snapshot had not been trained on; for the base, those never trained."""
    seen = [np.inf if s.rank == BASE or s.batch is None else s.batch for s in snapshots]
    return (first[:, None] > np.array(seen)[None, :]) | np.isinf(first)[:, None]


def levels(grid: Grid, costs: Mapping[str, Costs]) -> dict[str, Level]:
    """Return the scores of each snapshot on a view, separately.

    Perf is the mean score and SR the rate of verified successes (SEAGym, equations 4 and 5); execution success also
    requires that no error is recorded (appendix F).

    Args:
        grid: the view.
        costs: cost of each snapshot on it.
    """
    return {snapshot.name: _level(grid, i, costs[snapshot.name]) for i, snapshot in enumerate(grid.snapshots)}


def macro_perf(grid: Grid, index: int) -> float | None:
    """Return the mean score of a snapshot, domains weighed equally; None without scores."""
    parts = by_domain(grid.score[:, index], grid.domain)
    return float(np.mean([part.mean() for part in parts])) if parts else None


def micro_perf(grid: Grid, index: int) -> float | None:
    """Return the mean score of a snapshot, tasks weighed equally; None without scores."""
    score = grid.score[:, index]
    scores = score[~np.isnan(score)]
    return float(scores.mean()) if scores.size else None


def _level(grid: Grid, index: int, costs: Costs) -> Level:
    score = grid.score[:, index]
    present = ~np.isnan(score)
    clean = grid.solved[:, index] & ~grid.errored[:, index]
    untrained = int(grid.untrained[:, index].sum())
    return Level(
        attempted=int(present.sum()),
        missing=int((~present).sum()) - untrained,
        untrained=untrained,
        errors=int(grid.errored[:, index].sum()),
        perf=_perf(grid, index),
        sr=_mean(np.where(present, grid.solved[:, index], np.nan), grid),
        execution_success=_mean(np.where(present, clean, np.nan), grid),
        domains=_parts(score, grid.domain, grid.domains),
        sources=_parts(score, grid.source, grid.sources),
        costs=costs,
    )


def _perf(grid: Grid, index: int) -> Mean:
    """Return the mean score, and its values with all missing scores at 0 and at 1."""
    score, shares = grid.score[:, index], share(grid.score)
    mean, missing = _mean(score, grid, SHARE if shares else None), np.isnan(score) & ~grid.untrained[:, index]
    if not shares or not missing.any():
        return mean
    low, high = (
        float(np.mean([part.mean() for part in by_domain(np.where(missing, worth, score), grid.domain)]))
        for worth in SHARE
    )
    return mean.model_copy(update={"bounds": (low, high)})


def _mean(values: Floats, grid: Grid, bounds: Interval | None = SHARE) -> Mean:
    parts, clusters = parts_of(values, (grid.domain, grid.clusters))
    macro = estimate(parts, bounds, clusters)
    present = values[~np.isnan(values)]
    return Mean(
        macro=None if macro is None else macro.mean,
        micro=float(present.mean()) if present.size else None,
        ci=None if macro is None else macro.interval,
        clusters=None if macro is None else macro.clusters,
    )


def _parts(score: Floats, part: Ints, names: tuple[str, ...]) -> dict[str, Part]:
    present = ~np.isnan(score)
    count = np.bincount(part[present], minlength=len(names))
    total = np.bincount(part[present], weights=score[present], minlength=len(names))
    return {name: Part(tasks=int(n), perf=float(t / n)) for name, n, t in zip(names, count, total, strict=True) if n}
