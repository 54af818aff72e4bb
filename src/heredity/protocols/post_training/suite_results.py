"""Result types that compare post-training runs: `part` in the metrics.json of a suite."""

from __future__ import annotations

from heredity.protocols.post_training.results import FailureKind
from heredity.protocols.post_training.tables import TrainingTables
from heredity.results.base import MissingBounds, Result
from heredity.results.suite import Claim


class GainOverRuns(Result):
    """A mean gain over runs and items.

    Attributes:
        evolvers: the claim about the agent: new runs on new items.
        candidates: the claim about these runs' final checkpoints on new items. Both None if nothing is ranked.
        if_missing: bounds of the mean over items without a score, of the runs that graded anything; None if there are none.
    """

    difference: float
    evolvers: Claim | None
    candidates: Claim | None
    runs: int
    cases: int
    if_missing: MissingBounds | None = None


class Success(Result):
    """Number of the `runs` that graded anything and improved, improved beyond noise, or have training code."""

    runs: int
    improved: int
    beyond_noise: int
    coding: int


class BestOfRuns(Result):
    """Expected improvement of the best of `k` runs, and the chance that one of them improves."""

    k: int
    improvement: float
    success: float


class ProcessMeans(Result):
    """Means over runs of the process metrics of the same names."""

    graded: float | None
    refused: float | None
    valid_rate: float | None
    zero_rate: float | None
    first_improvement_s: float | None
    best_s: float | None
    monotonic_ratio: float | None
    time_used_ratio: float | None
    last_submit_gap_s: float | None
    tokens: float | None
    cost_usd: float | None


class Entry(Result):
    """One agent on one task, over its runs.

    Attributes:
        evolver: the agent, told apart by its options and mode.
        baseline: mean graded score of the base model.
        improvement, best_improvement: mean and greatest graded improvement of the runs that graded anything.
        ungraded: runs in which nothing was graded, which say nothing about the agent's training.
        graded, heldout: gains on both views.
        noise: mean spread of repeated gradings.
        routes, failures: number of runs with each.
        broken: number of runs that broke their mode.
    """

    evolver: str
    taskset: str
    level: str | None
    mode: str
    runs: int
    baseline: float | None
    improvement: float | None
    best_improvement: float | None
    ungraded: int
    graded: GainOverRuns | None
    heldout: GainOverRuns | None
    success: Success
    pass_at_k: list[BestOfRuns]
    noise: float | None
    process: ProcessMeans
    routes: dict[str, int]
    failures: dict[str, int]
    broken: int


class HeatmapCell(Result):
    """Mean improvement of an agent on a task in a mode; `best` and `worst` tell modes of one agent and task apart."""

    agent: str
    mode: str
    task: str
    improvement: float
    runs: int
    best: bool
    worst: bool


class SuiteCurve(Result):
    """The best improvement so far against spending: (spent, mean, minimum, maximum) over runs, as steps."""

    evolver: str
    taskset: str
    points: list[tuple[float, float, float, float]]


class SuiteScaling(Result):
    """Curves of each agent on each task over seconds, graded submissions and tokens."""

    time: list[SuiteCurve]
    submissions: list[SuiteCurve]
    tokens: list[SuiteCurve]


class Shortcut(Result):
    """An agent that improves static tasks, but none of the interactive ones it tried."""

    evolver: str
    kind: FailureKind
    rule: str
    improved: list[str]
    failed: list[str]


class TrainingSuiteResults(Result):
    """Comparison of post-training runs: agents on tasks, modes by tasks, curves, missing transfer, and ways of working."""

    entries: list[Entry]
    heatmap: list[HeatmapCell]
    scaling: SuiteScaling
    shortcuts: list[Shortcut]
    tables: TrainingTables
