"""Metrics of one run from task results alone, Heredity's or SEAGym's (`docs/harness-metrics.md`).

Names of views, snapshots, domains and sources are data and therefore mapping keys; everything else is a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from heredity.results.base import Interval, MissingBounds, Result, Unknown
from heredity.results.run import Verdict

Of = Literal["final", "best_validation"]
"""The compared snapshot: the one after the last update, or the best on update-validation."""

Names = tuple[str, ...]
ALL = "all"
"""The source group of every task."""


class Damage(Result):
    """A line that is not a task result: its number in the file, from 1, and the problem."""

    line: int
    reason: str


class RowCounts(Result):
    """Row counts of a run: valid rows, and rows that do not count because they are repeated, damaged, or of no snapshot."""

    read: int
    counted: int
    duplicates: int
    conflicting: int
    duplicate_tokens: float
    without_snapshot: int
    damaged: tuple[Damage, ...]


class Cost(Result):
    """One kind of cost: its `rows`, the number `known`, and total and mean of these; None if none is known."""

    rows: int
    known: int
    total: float | None
    mean: float | None

    @property
    def whole(self) -> float | None:
        """The total, if every row's cost is known."""
        return self.total if self.rows == self.known else None


class Costs(Result):
    """Cost of rollouts or updates: tokens, calls, seconds, US dollars."""

    tokens: Cost
    input_tokens: Cost
    cache_tokens: Cost
    output_tokens: Cost
    tool_calls: Cost
    wall_time: Cost
    cost_usd: Cost


class RunCosts(Result):
    """Cost of a run: rollouts and updates separately, and rollouts by view."""

    rollout: Costs
    update: Costs
    views: dict[str, Costs]


class Mean(Result):
    """A mean over tasks: `macro` weighs domains equally, `micro` tasks; `ci` is the interval of `macro`.

    `bounds` are the values of `macro` with all missing scores at 0 and at 1; null if none is missing or the bounds are unknown. For
    clustered tasks, the interval's sample is the `clusters`.
    """

    macro: float | None
    micro: float | None
    ci: Interval | None
    bounds: Interval | None = None
    clusters: int | None = None


class Part(Result):
    """The mean score on the tasks of one domain or source."""

    tasks: int
    perf: float


class Level(Result):
    """Scores of one snapshot on one view.

    Attributes:
        perf: mean score.
        sr: rate of verified successes.
        execution_success: rate of successes without a recorded error.
        untrained: replayed tasks it had not been trained on; these count nowhere else.
    """

    attempted: int
    missing: int
    untrained: int
    errors: int
    perf: Mean
    sr: Mean
    execution_success: Mean
    domains: dict[str, Part]
    sources: dict[str, Part]
    costs: Costs


class ViewLevels(Result):
    """One view: its purpose, its tasks, the weight of one task, and a level per snapshot."""

    kind: str
    tasks: int
    one_task: float
    snapshots: dict[str, Level]


class SnapshotRow(Result):
    """A frozen harness and the number of train batches before it."""

    name: str
    kind: Literal["base", "point", "final", "best"]
    train_batch_index: int | None
    checkpoints: Names


class Difference(Result):
    """A paired difference; `p_holm` is corrected over all differences requested together.

    For clustered tasks, the sample is the `clusters`. If no verdict is possible yet, `because` gives the reason.
    """

    difference: float
    ci: Interval | None
    p: float | None
    p_holm: float | None
    mde: float | None
    verdict: Verdict
    clusters: int | None = None
    because: Unknown | None = None


class Gain(Result):
    """Gain of the snapshot `after` over `before`, on the tasks for which both have a score.

    `if_missing` bounds `micro` over all values of missing scores; None if none is missing or the bounds are unknown.
    """

    before: str
    after: str
    tasks: int
    unpaired: int
    one_task: float | None
    macro: Difference | None
    micro: Difference | None
    if_missing: MissingBounds | None = None


class UpdateValidation(Result):
    """Gain on update-validation at each evaluation point: over the previous point, and over the base."""

    prev: tuple[Gain, ...]
    base: tuple[Gain, ...]


class Forgetting(Result):
    """Loss on replayed tasks since before training; 0 without a loss."""

    macro: float | None
    micro: float | None


class Transfer(Gain):
    """A gain over the base on a view: IDG, OODG, or FR (the only one with `forgetting`)."""

    view: str
    metric: str
    of: Of
    forgetting: Forgetting | None


class BestValidation(Result):
    """The snapshot with the highest macro Perf on a view of update-validation; that score selected it and is not a result."""

    view: str
    snapshot: str
    selection_perf: float


class Churn(Result):
    """Tasks fixed and forgotten between two consecutive snapshots."""

    before: str
    after: str
    tasks: int
    fixed: int
    forgotten: int


class ChurnSinceBase(Result):
    """Tasks fixed and forgotten since the base: counts, and rates among tasks the base failed and solved."""

    snapshot: str
    tasks: int
    fixed: int
    forgotten: int
    fix: float | None
    forget: float | None


class SinceBase(Result):
    """Tasks fixed and forgotten by each snapshot since the base, with the numbers the base failed and solved."""

    base: str
    failed: int
    solved: int
    snapshots: tuple[ChurnSinceBase, ...]


class FixAndForget(Result):
    """Tasks fixed and forgotten; `since_base` is None if the base was not judged."""

    delta: tuple[Churn, ...]
    since_base: SinceBase | None


class ReplayGrid(Result):
    """Outcome of each task: `cells` has a string per task with a letter per snapshot."""

    snapshots: Names
    tasks: Names
    sources: Names
    cells: Names


class Replay(FixAndForget):
    """Results of replay, over all sources and by source."""

    by_source: dict[str, FixAndForget]
    grid: ReplayGrid


Points = tuple[tuple[float, float], ...]
"""(Train batches before it, mean score), in order."""


def _points(rows: Iterable[tuple[int | None, float]]) -> Points:
    """Return one point per batch; of several harnesses on a batch, the one that started it."""
    scores: dict[float, float] = {}
    for batch, score in rows:
        if batch is not None:
            scores.setdefault(float(batch), score)
    return tuple(sorted(scores.items()))


class TrainCurve(Result):
    """The curve of training as columns of equal length: by source group (`"all"` first), batch and update."""

    source: Names
    train_batch_index: tuple[int | None, ...]
    global_update_index: tuple[int | None, ...]
    tasks: tuple[int, ...]
    perf: tuple[float, ...]
    sr: tuple[float, ...]
    execution_success: tuple[float, ...]
    errors: tuple[int, ...]

    def line(self, source: str = ALL) -> Points:
        """Return the scores of a source group."""
        rows = zip(self.source, self.train_batch_index, self.perf, strict=True)
        return _points((batch, perf) for of, batch, perf in rows if of == source)


class SnapshotCurves(Result):
    """The curves of all views as columns of equal length: by view, source group (`"all"` first) and snapshot."""

    view: Names
    source: Names
    snapshot: Names
    train_batch_index: tuple[int | None, ...]
    tasks: tuple[int, ...]
    perf: tuple[float, ...]
    sr: tuple[float, ...]
    errors: tuple[int, ...]

    def line(self, view: str, source: str = ALL) -> Points:
        """Return the scores of a source group on a view."""
        rows = zip(self.view, self.source, self.train_batch_index, self.perf, strict=True)
        return _points((batch, perf) for on, of, batch, perf in rows if (on, of) == (view, source))


class Curves(Result):
    """Scores over train batches: of training, and of the snapshots."""

    train: TrainCurve
    snapshots: SnapshotCurves


class TaskMetrics(Result):
    """All metrics of a run that task results alone give, Heredity's or SEAGym's."""

    schema_version: int
    run_id: str | None
    rows: RowCounts
    train_batches: int | None
    snapshots: tuple[SnapshotRow, ...]
    views: dict[str, ViewLevels]
    uvg: dict[str, UpdateValidation]
    best_validation: BestValidation | None
    transfer: tuple[Transfer, ...]
    replay: dict[str, Replay]
    costs: RunCosts
    curves: Curves
