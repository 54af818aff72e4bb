"""Tables of how agents worked (Agent² RL-Bench, appendix A): what a suite's metrics.json holds under `part.tables`.

Improvements are differences of graded scores from 0 to 1; they were fed back, so they flatter (`Entry.heldout` does not). Where no
interval covers, `ci` is None and `ci_unknown` says why; where a suite ranks nothing both are None.
"""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Interval, MissingBounds, Result, Unknown


class OverRuns(Result):
    """A mean over runs that graded anything, for new runs; `low` and `high` are the least and the greatest run's."""

    mean: float | None
    ci: Interval | None
    ci_unknown: Unknown | None
    low: float | None
    high: float | None
    runs: int


class Outcome(Result):
    """One agent on one task and base model (table 8).

    Attributes:
        runs: that ended, those that graded nothing among them.
        improvement: graded, the best checkpoint of each run over the base model.
        if_missing: bounds of its mean over runs that ended and graded nothing; None where there are none.
        sd: standard deviation of it over runs; None of fewer than two.
        improved: runs of which it is positive.
        executed: runs with a checkpoint of their own that was graded: trained, submitted and evaluated.
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
    """The best graded improvement by a time, never below 0: an agent that has nothing better has the base model."""

    seconds: float
    improvement: OverRuns


class AtBudgets(Result):
    """One agent on one task at fixed budgets (table 9); runs whose own budget is shorter are not in a mark."""

    evolver: str
    taskset: str
    marks: list[BudgetMark]


class Workspace(Result):
    """The best of an agent's workspaces at a task (table 14): one run, picked afterwards by its graded improvement.

    Attributes:
        mode: what the agent was allowed.
        graded: submissions that were scored.
        code_files: distinct Python files that it ever had.
        checkpoints: that it submitted, kept or not.
        zero_rate: share of scores of 0, a failed grading counting as 0.
        best_at: place of the best among graded ones, from 1.
        routes: of its graded submissions, in the order in which they first came.
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
        mean, low, high: of the graded scores; None where all failed.
        graded, failed: submissions with a score, and those that failed in grading.
        best: whether its mean is the greatest of the setting; of nothing where nothing is ranked.
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
    """How scores went with a setting of the code that an agent varied (table 15): an association, other settings varied too."""

    evolver: str
    taskset: str
    setting: str
    groups: list[SettingGroup]


class Stability(StrEnum):
    """Whether training by a method came through: all, some or none of its submissions were graded above 0."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"


class MethodTried(Result):
    """A method of reinforcement learning in the code of `submissions`, of which `sound` were graded above 0."""

    method: str
    runs: int
    submissions: int
    sound: int
    stable: Stability


class MethodAudit(Result):
    """The methods of reinforcement learning that an agent tried at a task (table 17), and by which route its best came about."""

    evolver: str
    taskset: str
    methods: list[MethodTried]
    best_route: str | None
    best_improvement: float | None


class Behaviour(Result):
    """How an agent went about a task and what it used (tables 21 and 22); sums over runs, None where a part is not known.

    Attributes:
        driver: the model that it asks.
        submissions: graded.
        rollbacks: revisions of its code that are an earlier one again.
        calls: of its model.
        cached: share of the input that was read from or written to a cache.
        best_improvement: of the best run.
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
    """What a task asks for, on scales from 1 to 5 (figure 4): metadata of the task, no result."""

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
