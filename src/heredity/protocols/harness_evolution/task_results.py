"""What task results alone say of one run, Heredity's or SEAGym's own (`docs/harness-metrics.md`).

Names of views, snapshots, domains and sources are data: they are keys of mappings, everything else is a field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from heredity.results.base import Interval, MissingBounds, Result, Unknown
from heredity.results.run import Verdict

Of = Literal["final", "best_validation"]
"""Whose gain over the first snapshot: of the one after the last update, or of the best on update-validation."""

Names = tuple[str, ...]
ALL = "all"
"""The source group of every task."""


class Damage(Result):
    """A line that is not a task result: its number in the file, from 1, and what is wrong with it."""

    line: int
    reason: str


class RowCounts(Result):
    """Rows of a run, and those that do not count: the same result again, damaged, or of no snapshot."""

    read: int
    counted: int
    duplicates: int
    conflicting: int
    duplicate_tokens: float
    without_snapshot: int
    damaged: tuple[Damage, ...]


class Cost(Result):
    """One kind of cost: `rows`, those for which it is `known`, and of these total and mean; None if of none."""

    rows: int
    known: int
    total: float | None
    mean: float | None

    @property
    def whole(self) -> float | None:
        """The total, where all of it is known."""
        return self.total if self.rows == self.known else None


class Costs(Result):
    """What rollouts or updates cost: tokens, calls, seconds, US dollars."""

    tokens: Cost
    input_tokens: Cost
    cache_tokens: Cost
    output_tokens: Cost
    tool_calls: Cost
    wall_time: Cost
    cost_usd: Cost


class RunCosts(Result):
    """What a run cost: rollouts and updates apart, and rollouts by view."""

    rollout: Costs
    update: Costs
    views: dict[str, Costs]


class Mean(Result):
    """A mean over tasks: `macro` weighs domains alike, `micro` tasks; `ci` is the interval of `macro`.

    `bounds` are what `macro` would be with all that is missing at 0 and at 1; null where nothing is, or nobody can say. Where tasks
    were drawn together, `clusters` of them are the sample of the interval.
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
    """What one snapshot scores on one view.

    Attributes:
        perf: mean score.
        sr: rate of verified successes.
        execution_success: rate of successes without an error on record.
        untrained: replayed tasks that it had not been trained on, which count nowhere else.
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
    """One view: what it is for, its tasks, what one of them weighs, and a level for each snapshot."""

    kind: str
    tasks: int
    one_task: float
    snapshots: dict[str, Level]


class SnapshotRow(Result):
    """A frozen harness, and how many train batches came before it."""

    name: str
    kind: Literal["base", "point", "final", "best"]
    train_batch_index: int | None
    checkpoints: Names


class Difference(Result):
    """A paired difference; `p_holm` is corrected over the differences that were asked for together.

    Where tasks were drawn together, `clusters` of them are the sample. Where nobody can tell yet, `because` says why.
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
    """How much better the snapshot `after` does than `before`, on the tasks that both attempted.

    `if_missing` are bounds of `micro` over the tasks that were asked and that either lacks; None where none is, or nobody can say.
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
    """Gain on update-validation at each evaluation point: over the point before, and over the base."""

    prev: tuple[Gain, ...]
    base: tuple[Gain, ...]


class Forgetting(Result):
    """How much worse replayed tasks are done than before training; 0 if they are not."""

    macro: float | None
    micro: float | None


class Transfer(Gain):
    """A gain over the base on a view: IDG, OODG, or FR, which alone has `forgetting`."""

    view: str
    metric: str
    of: Of
    forgetting: Forgetting | None


class BestValidation(Result):
    """The snapshot with the highest macro Perf on a view of update-validation, which chose it and is no result."""

    view: str
    snapshot: str
    selection_perf: float


class Churn(Result):
    """Tasks fixed and forgotten between two neighbouring snapshots."""

    before: str
    after: str
    tasks: int
    fixed: int
    forgotten: int


class ChurnSinceBase(Result):
    """Tasks fixed and forgotten since the base: counts, and rates of what the base failed and solved."""

    snapshot: str
    tasks: int
    fixed: int
    forgotten: int
    fix: float | None
    forget: float | None


class SinceBase(Result):
    """What each snapshot fixed and forgot since the base, which failed and solved so many."""

    base: str
    failed: int
    solved: int
    snapshots: tuple[ChurnSinceBase, ...]


class FixAndForget(Result):
    """Tasks fixed and forgotten; `since_base` is None if the base was not judged."""

    delta: tuple[Churn, ...]
    since_base: SinceBase | None


class ReplayGrid(Result):
    """What became of each task: `cells` has a string for each task with a letter for each snapshot."""

    snapshots: Names
    tasks: Names
    sources: Names
    cells: Names


class Replay(FixAndForget):
    """What replay shows, over all sources and by source."""

    by_source: dict[str, FixAndForget]
    grid: ReplayGrid


Points = tuple[tuple[float, float], ...]
"""(Train batches before it, mean score), in order."""


def _points(rows: Iterable[tuple[int | None, float]]) -> Points:
    """Return one point for each batch; of several harnesses on one, the first, which began it."""
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
    """Everything that task results alone say of one run, Heredity's or SEAGym's own."""

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
