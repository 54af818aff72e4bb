"""Result types that compare post-training runs: `part` in the metrics.json of a suite."""

from __future__ import annotations

from enum import StrEnum

from heredity.protocols.post_training.results import FailureKind
from heredity.results.base import Interval, MissingBounds, Result, Unknown
from heredity.results.suite import Claim


class OverRuns(Result):
    """A mean over runs that graded anything, for new runs; `low` and `high` are the minimum and maximum run."""

    mean: float | None
    ci: Interval | None
    ci_unknown: Unknown | None
    low: float | None
    high: float | None
    runs: int


class Outcome(Result):
    """One agent on one task and base model (table 8).

    Attributes:
        runs: ended runs, including those that graded nothing.
        improvement: graded gain of each run's best checkpoint over the base model.
        if_missing: bounds of its mean over ended runs that graded nothing; None if there are none.
        sd: its standard deviation over runs (None for fewer than two).
        improved: runs with a positive improvement.
        executed: runs with a trained checkpoint that was submitted and graded.
    """

    evolver: str
    taskset: str
    base_model: str | None
    runs: int
    improvement: OverRuns
    if_missing: MissingBounds | None
    sd: float | None
    improved: int
    executed: int


class BudgetMark(Result):
    """The best graded improvement by a time, never below 0: an agent can keep the base model."""

    seconds: float
    improvement: OverRuns


class AtBudgets(Result):
    """One agent on one task at fixed budgets (table 9); a mark excludes runs with a shorter budget."""

    evolver: str
    taskset: str
    marks: list[BudgetMark]


class Workspace(Result):
    """The best of an agent's workspaces at a task (table 14): one run, selected afterwards by its graded improvement.

    Attributes:
        mode: the allowed routes.
        graded: scored submissions.
        code_files: distinct Python files over the run.
        checkpoints: submitted checkpoints, kept or not.
        zero_rate: share of zero scores (a failed grading counts as 0).
        best_at: position of the best among graded ones, from 1.
        routes: routes of its graded submissions, in order of first occurrence.
    """

    evolver: str
    taskset: str
    run_id: str | None
    mode: str
    improvement: float
    of_runs: int
    graded: int
    code_files: int | None
    checkpoints: int
    zero_rate: float | None
    best_at: int | None
    routes: list[str]


class SettingGroup(Result):
    """Submissions with values of a setting from `least` to `greatest`, the same for one value.

    Attributes:
        mean, low, high: of the graded scores (None if all failed).
        graded, failed: scored submissions, and those that failed in grading.
        best: True if its mean is the setting's maximum; False if nothing is ranked.
    """

    least: float
    greatest: float
    mean: float | None
    low: float | None
    high: float | None
    graded: int
    failed: int
    best: bool


class SettingScores(Result):
    """Scores by the value of a code setting that an agent varied (table 15): an association, other settings varied too."""

    evolver: str
    taskset: str
    setting: str
    groups: list[SettingGroup]


class Stability(StrEnum):
    """Success of training by a method: all, some or none of its submissions were graded above 0."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


class MethodTried(Result):
    """A reinforcement learning method in the code of `submissions`; `sound` of them were graded above 0."""

    method: str
    runs: int
    submissions: int
    sound: int
    stable: Stability


class MethodAudit(Result):
    """The reinforcement learning methods an agent tried on a task (table 17), and the route to its best result."""

    evolver: str
    taskset: str
    methods: list[MethodTried]
    best_route: str | None
    best_improvement: float | None


class Behaviour(Result):
    """An agent's work on a task and its usage (tables 21 and 22); sums over runs, None if any part is unknown.

    Attributes:
        driver: its model.
        submissions: graded submissions.
        rollbacks: revisions that restore earlier code.
        calls: model calls.
        cached: share of the input read from or written to a cache (0 to 1).
        best_improvement: improvement of the best run.
    """

    evolver: str
    taskset: str
    driver: str | None
    runs: int
    submissions: int
    rollbacks: int | None
    calls: int | None
    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cached: float | None
    cost_usd: float | None
    best_improvement: float | None


class TaskStructure(Result):
    """Demands of a task, on scales from 1 to 5 (figure 4): metadata, not a result."""

    taskset: str
    level: str | None
    scores: dict[str, int]


class TrainingTables(Result):
    """Tables of a suite of post-training."""

    outcomes: list[Outcome]
    budgets: list[AtBudgets]
    workspaces: list[Workspace]
    settings: list[SettingScores]
    methods: list[MethodAudit]
    behaviour: list[Behaviour]
    structure: list[TaskStructure]


class GainOverRuns(Result):
    """A mean gain over runs and items.

    Attributes:
        evolvers: the claim about the agent (new runs on new items).
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
        ungraded: runs in which nothing was graded (they say nothing about the agent's training).
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
