"""What a run and a suite of harness evolution come to, beside what every run's results hold (`docs/harness-metrics.md`).

Names of views, snapshots, domains, sources and models are data: they are keys of mappings, everything else is a field.
"""

from __future__ import annotations

from typing import Literal

from heredity.results.base import Interval, Result
from heredity.results.run import ChangeStatus, RunResults, Verdict

Column = tuple[float | None, ...]
Of = Literal["final", "best_validation"]
Role = Literal["base", "final", "best_validation"]
"""Which snapshot: the one before any update, the one after the last, the best on update-validation."""

Names = tuple[str, ...]


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
    """What attempts or updates cost: tokens, calls, seconds, US dollars."""

    tokens: Cost
    input_tokens: Cost
    cache_tokens: Cost
    output_tokens: Cost
    tool_calls: Cost
    wall_time: Cost
    cost_usd: Cost


class RunCosts(Result):
    """What a run cost: attempts and updates apart, and attempts by view."""

    rollout: Costs
    update: Costs
    views: dict[str, Costs]


class Mean(Result):
    """A mean over tasks: `macro` weighs domains alike, `micro` tasks; `ci` is the interval of `macro`."""

    macro: float | None
    micro: float | None
    ci: Interval | None


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
    """A paired difference; `p_holm` is corrected over the differences that were asked for together."""

    difference: float
    ci: Interval | None
    p: float | None
    p_holm: float | None
    mde: float | None
    verdict: Verdict


class Gain(Result):
    """How much better the snapshot `after` does than `before`, on the tasks that both attempted."""

    before: str
    after: str
    tasks: int
    unpaired: int
    one_task: float | None
    macro: Difference | None
    micro: Difference | None


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


class Plan(Result):
    """The schedule of a run; `digest` says which runs were given the same tasks in the same batches."""

    digest: str
    seed: int | None
    batch_size: int | None
    epochs: int | None
    updates: int | None
    persistence: str | None
    assess: int | None
    gate: bool | None
    batches: int
    train_tasks: int
    domains: Names
    sources: Names
    execution: str | None


class FileChange(Result):
    """A file of a harness that was changed: its part, what became of it, and how many lines, None for what is no text."""

    part: str
    file: str
    status: ChangeStatus
    added: int | None
    removed: int | None


class Point(Result):
    """A frozen snapshot; `changed` is what differs from the point before, None for the first or if a record is gone."""

    name: str
    batch: int
    candidate: str
    role: str | None
    changed: tuple[FileChange, ...] | None


class GateReason(Result):
    """Why the contract gate refused harnesses, how often, and at which batches."""

    reason: str
    count: int
    batches: tuple[int, ...]


class Gate(Result):
    """What the contract gate did: its canaries, how many harnesses were put to it, how many it refused and why."""

    on: bool
    canaries: int
    proposed: int
    refused: int
    reasons: tuple[GateReason, ...]


class CollapsedView(Result):
    """A view on which nothing is solved any more, and how many tasks were solved before."""

    view: str
    lost: int


class Collapse(Result):
    """A snapshot at which execution success falls to 0; `reason` is the error that most attempts there end with."""

    snapshot: str
    train_batch_index: int | None
    views: tuple[CollapsedView, ...]
    every: bool
    recovered: bool
    reason: str | None


class Paired(Result):
    """The scores by task that runs are compared by, of up to three snapshots of a view."""

    kind: str
    tasks: Names
    snapshots: dict[Role, str]
    scores: dict[Role, Column]


class BeforeAfter(Result):
    """A mean score before any update and after the last."""

    A_0: float | None
    A_T: float | None


class UnderModel(BeforeAfter):
    """What the first and the last harness score on a view under another execution model (micro), and their gain."""

    tasks: int
    macro: BeforeAfter
    difference: float | None
    ci: Interval | None
    p: float | None
    mde: float | None
    verdict: Verdict | None


class HarnessRunResults(TaskMetrics):
    """What a run of harness evolution came to: its task results, its plan, points and gate, and other models."""

    plan: Plan
    points: tuple[Point, ...]
    gate: Gate
    collapses: tuple[Collapse, ...]
    paired: dict[str, Paired]
    cross_model: dict[str, dict[str, UnderModel]]


class RunGain(Result):
    """The mean gain of one run."""

    run_id: str | None
    seed: int | None
    gain: float


class Measured(Result):
    """A measure on one view, averaged over tasks, then runs.

    Attributes:
        measure: `"UVG"`, `"IDG"`, `"OODG"` or `"FR"`.
        unit: what the interval is about: new runs, or new tasks for these runs.
        forgetting: of FR alone.
    """

    measure: str
    view: str
    of: Of
    mean: float
    ci: Interval | None
    unit: Literal["run", "task"]
    forgetting: float | None
    tasks: int
    runs: tuple[RunGain, ...]


class Collapsed(Result):
    """Runs and snapshots that collapsed, those that did on every view, and runs that did not recover."""

    runs: int
    snapshots: int
    whole: int
    unrecovered: int


class GateCounts(Result):
    """How many harnesses were put to the contract gate, and refused."""

    proposed: int
    refused: int


class SpentPart(Result):
    """Means over runs; None where a run does not know all of it."""

    tokens: float | None
    wall_time: float | None
    cost_usd: float | None


class Spent(Result):
    """What one run spends on training and on updates; judging is not in it."""

    train: SpentPart
    update: SpentPart


class Method(Result):
    """One entry of a suite."""

    evolver: str
    runs: int
    settings: dict[str, str | int]
    measures: tuple[Measured, ...]
    collapsed: Collapsed
    gate: GateCounts
    spent: Spent


class MethodComparison(Result):
    """The gain of `a` minus that of `b`, paired by taskset, seed, batches and task."""

    a: str
    b: str
    measure: str
    view: str
    of: Of
    difference: float
    ci: Interval | None
    p: float | None
    mde: float | None
    unit: Literal["run", "task"]
    pairs: int
    tasks: int
    unpaired: int
    p_holm: float | None
    verdict: Verdict


class GateEffect(Result):
    """What the contract gate changes: the entry with it minus the one without."""

    on: str
    off: str
    gains: tuple[MethodComparison, ...]


class SweepEntry(Method):
    """The runs with one value of a setting."""

    value: str | int


class Sweep(Result):
    """A setting in which runs differ alone."""

    key: str
    evolver: str
    entries: tuple[SweepEntry, ...]


class ModelCell(BeforeAfter):
    """Harnesses under one execution model: means over runs."""

    model: str
    runs: int
    difference: float | None
    ci: Interval | None


class ModelRow(Result):
    """What the harnesses of an entry, evolved under one model, score on a view under each."""

    evolver: str
    evolved: str
    view: str
    cells: tuple[ModelCell, ...]


class HarnessSuiteResults(Result):
    """The comparison of a suite's runs: gains over the first snapshot, by task."""

    methods: tuple[Method, ...]
    comparisons: tuple[MethodComparison, ...]
    gate: tuple[GateEffect, ...]
    sweeps: tuple[Sweep, ...]
    cross_model: tuple[ModelRow, ...]


class MatrixCell(BeforeAfter):
    """Harnesses that were judged again under one model (`cross_model.json`); `p` is Holm-corrected over a view's cells."""

    model: str
    runs: int
    tasks: int
    difference: float | None
    ci: Interval | None
    p: float | None
    mde: float | None
    verdict: Verdict | None
    unit: Literal["run", "task"] | None


class MatrixRow(Result):
    """A row of the cross-model matrix: harnesses that evolved under one model."""

    view: str
    evolved: str
    cells: tuple[MatrixCell, ...]


def harness_of(run: RunResults) -> HarnessRunResults | None:
    """Return a run's part of harness evolution; None for a run without a schedule."""
    return run.part if isinstance(run.part, HarnessRunResults) else None
