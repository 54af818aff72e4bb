"""Results of harness-evolution runs and suites, in addition to those of every run (`docs/harness-metrics.md`).

Names of views, snapshots, domains, sources and models are data and therefore mapping keys; everything else is a field.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from heredity.protocols.harness_evolution.task_results import Names, Of, TaskMetrics
from heredity.results.base import Interval, MissingBounds, Result, Unknown
from heredity.results.run import ChangeStatus, RunResults, Verdict
from heredity.results.suite import Claim

Column = tuple[float | None, ...]
Role = Literal["base", "final", "best_validation"]
"""A snapshot: the one before any update, the one after the last, or the best on update-validation."""


class Plan(Result):
    """The schedule of a run; runs with equal `digest` had the same tasks in the same batches."""

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

    @property
    def settings(self) -> dict[str, str | int]:
        """Properties that tell runs of one method apart, where known."""
        named = {
            "batch_size": self.batch_size,
            "epochs": self.epochs,
            "updates": self.updates,
            "persistence": self.persistence,
            "gate": None if self.gate is None else "on" if self.gate else "off",
            "execution": self.execution,
        }
        return {name: value for name, value in named.items() if value is not None}


class FileChange(Result):
    """A changed file of a harness: its part, the kind of change, and the number of lines, None if it is not text."""

    part: str
    file: str
    status: ChangeStatus
    added: int | None
    removed: int | None


class Point(Result):
    """A frozen snapshot; `changed` lists the files that differ from the point before, None for the first or a lost record."""

    name: str
    batch: int
    candidate: str
    role: str | None
    changed: tuple[FileChange, ...] | None


class GateReason(Result):
    """A reason for refusals by the contract gate: how often, and at which batches."""

    reason: str
    count: int
    batches: tuple[int, ...]


class Gate(Result):
    """The contract gate's work: its canaries, the harnesses checked and refused, and the reasons."""

    on: bool
    canaries: int
    proposed: int
    refused: int
    reasons: tuple[GateReason, ...]


class CollapsedView(Result):
    """A view without solved tasks, and the number of tasks solved before."""

    view: str
    lost: int


class Collapse(Result):
    """A snapshot at which execution success falls to 0; `reason` is the most common final error of its rollouts."""

    snapshot: str
    train_batch_index: int | None
    views: tuple[CollapsedView, ...]
    every: bool
    recovered: bool
    reason: str | None


class Paired(Result):
    """The scores by task that runs are compared by, of up to three snapshots of a view.

    `clusters` has the cluster of each task, null for an unclustered task; None if no task is clustered. `unasked` lists the tasks
    of a replayed view that a snapshot had not been trained on; their scores do not count as missing.
    """

    kind: str
    tasks: Names
    snapshots: dict[Role, str]
    scores: dict[Role, Column]
    clusters: tuple[str | None, ...] | None = None
    unasked: dict[Role, Names] = Field(default_factory=dict[Role, Names])


class BeforeAfter(Result):
    """A mean score before any update and after the last."""

    A_0: float | None
    A_T: float | None


class UnderModel(BeforeAfter):
    """Scores of the first and last harness on a view under another execution model (micro), and their gain."""

    tasks: int
    macro: BeforeAfter
    difference: float | None
    ci: Interval | None
    p: float | None
    mde: float | None
    verdict: Verdict | None
    because: Unknown | None = None


class HarnessRunResults(TaskMetrics):
    """Results of a harness-evolution run: its task results, plan, points and gate, and other models."""

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
    """A gain over the first snapshot on one view, averaged over tasks and runs.

    Attributes:
        measure: `"UVG"`, `"IDG"`, `"OODG"` or `"FR"`.
        evolvers: the claim about the method (new runs on new tasks).
        candidates: the claim about these runs' final harnesses on new tasks. Both None if nothing is ranked.
        forgetting: for FR only.
        if_missing: bounds of the mean over all values of missing gains; None if none is missing or the bounds are unknown.
    """

    measure: str
    view: str
    of: Of
    mean: float
    evolvers: Claim | None
    candidates: Claim | None
    forgetting: float | None
    tasks: int
    runs: tuple[RunGain, ...]
    if_missing: MissingBounds | None = None


class Collapsed(Result):
    """Runs and snapshots that collapsed, collapses on every view, and runs that did not recover."""

    runs: int
    snapshots: int
    whole: int
    unrecovered: int


class GateCounts(Result):
    """Harnesses checked and refused by the contract gate."""

    proposed: int
    refused: int


class SpentPart(Result):
    """Means over runs; None if any run's value is partly unknown."""

    tokens: float | None
    wall_time: float | None
    cost_usd: float | None


class Spent(Result):
    """Cost of training and updates per run, without judging."""

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
    """The gain of `a` minus that of `b`, paired by taskset, seed, batches and task.

    Attributes:
        evolvers: what it says of the methods: of new runs, on new tasks.
        candidates: what it says of the harnesses that these runs ended with, on new tasks.
    """

    a: str
    b: str
    measure: str
    view: str
    of: Of
    difference: float
    evolvers: Claim
    candidates: Claim
    pairs: int
    tasks: int
    unpaired: int


class GateEffect(Result):
    """Effect of the contract gate: the entry with it minus the one without."""

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
    """Scores of an entry's harnesses, evolved under one model, on a view under each model."""

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
    """Harnesses that were judged again under one model (`cross_model.json`), corrected over a view's cells.

    Attributes:
        evolvers: the gain's claim about the method (new runs on new tasks).
        candidates: its claim about these harnesses (on new tasks). Both None where nothing is compared, or a model is a
            stand-in.
    """

    model: str
    runs: int
    tasks: int
    difference: float | None
    evolvers: Claim | None
    candidates: Claim | None


class MatrixRow(Result):
    """A row of the cross-model matrix: harnesses that evolved under one model."""

    view: str
    evolved: str
    cells: tuple[MatrixCell, ...]


def harness_of(run: RunResults) -> HarnessRunResults | None:
    """Return a run's part of harness evolution; None for a run without a schedule."""
    return run.part if isinstance(run.part, HarnessRunResults) else None
