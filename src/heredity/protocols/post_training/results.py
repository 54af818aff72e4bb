"""The results of post-training: what a run's metrics.json holds under `part`.

`docs/post-training-diagnosis.md` says how each comes about. Scores, means and rates are from 0 to 1 and higher is better, gains
are differences of these, times (`*_s`) are seconds of the clock of the run, which stands still while it is down. What is not
known, or did not happen, is None or empty.
"""

from __future__ import annotations

from enum import StrEnum

from heredity.protocols.post_training.code_results import Audit, Excerpt, Revision
from heredity.results.base import Interval, MissingBounds, Result, Unknown
from heredity.results.run import Verdict

Scores = list[float | None]
"""A score for each item, None where it is missing."""

Points = list[tuple[float, float]]
"""How much was spent, and the best improvement by then, as steps."""


class FailureKind(StrEnum):
    """Why a run failed (Agent² RL-Bench, table 13), the last of several runs; or that it submitted nothing."""

    ROLLOUT = "rollout construction failure"
    REWARD = "reward/data design failure"
    COLLAPSE = "training collapse / instability"
    EARLY = "early coding failure"
    UNGRADED = "nothing submitted"
    SHORTCUT = "static shortcut without transfer"


class ScoreSummary(Result):
    """Mean score over the items of a view; `n` were scored, `missing` were not, `if_missing` bounds the mean over these.

    `clusters` were drawn, where items came together.
    """

    mean: float | None
    ci: Interval | None
    n: int
    missing: int
    if_missing: MissingBounds | None = None
    clusters: int | None = None


class Gain(Result):
    """A paired difference to the base model over `pairs` items, positive where it is beaten; `mde` is the least they could show.

    `if_missing` are its bounds over the items that either has no score of; None where there are none. Where items were drawn
    together, such as the questions of one document, `clusters` of them are the sample. `because` says why nobody can tell yet,
    where that is so.
    """

    difference: float
    ci: Interval | None
    p: float | None
    mde: float | None
    pairs: int
    verdict: Verdict
    if_missing: MissingBounds | None = None
    clusters: int | None = None
    because: Unknown | None = None


class ViewGain(Result):
    """The base model and the best checkpoint on the items of one view."""

    baseline: ScoreSummary | None
    best: ScoreSummary | None
    gain: Gain | None


class HeldoutGain(ViewGain):
    """The chosen checkpoint on the items that no submission returned; `candidate` is None where the base model was left."""

    candidate: str | None
    submit_id: int | None


class TaskGain(ViewGain):
    """One of several tasks of a run: the graded view, and under `heldout` the held-out slice."""

    name: str
    heldout: ViewGain


class Baseline(Result):
    """The base model on both views."""

    graded: ScoreSummary | None
    heldout: ScoreSummary | None


class BestCheckpoint(Result):
    """The submission with the highest graded score, with the scores by item that its gain is the difference of.

    `clusters` say what each item was drawn with; None where all are by themselves.
    """

    iteration: int
    submit_id: int | None
    candidate: str
    route: str | None
    score: ScoreSummary | None
    gain: Gain | None
    scores: Scores
    baseline_scores: Scores
    clusters: list[int | None] | None = None


class WinRate(Result):
    """A win rate over reference answers: at equal length (`rate`, `ci`), as it is (`won`), with mean lengths in characters.

    Where instructions were drawn together, such as those of one document, `ci` is over `clusters` of them; None of fewer than six.
    """

    rate: float
    ci: Interval | None
    won: float
    length: float
    reference_length: float
    n: int
    clusters: int | None = None


class WinRateGain(Result):
    """By how much the best checkpoint's win rate at equal length is above the base model's, on the items that both answered."""

    difference: float
    ci: Interval | None
    pairs: int
    clusters: int | None = None


class WinRates(Result):
    """Win rates of the base model and of the best checkpoint on one view."""

    baseline: WinRate | None
    best: WinRate | None
    gain: WinRateGain | None


class LengthControlled(Result):
    """Win rates at equal length on the views where answers were compared."""

    graded: WinRates | None
    heldout: WinRates | None


class RepeatedGrading(Result):
    """Mean scores of one checkpoint graded several times, the first grading first; `submit_id` None is the base model."""

    submit_id: int | None
    means: list[float]


class Noise(Result):
    """How much grading varies.

    Attributes:
        sd: of the mean score over gradings of the same checkpoint, pooled over checkpoints.
        difference: how far two gradings of equal checkpoints lie apart in 95 of 100 cases.
        flips: share of items whose score changes between gradings.
        repeats: gradings beyond the first of each checkpoint.
        submissions: each checkpoint that was graded again.
    """

    sd: float
    difference: float
    flips: float | None
    repeats: int
    submissions: list[RepeatedGrading]


class Process(Result):
    """How a run went.

    Attributes:
        requests: submissions asked for, refused ones among them.
        graded: those that were scored.
        copies: the untouched base model, answered with the baseline.
        refused, failed: before grading, and in it.
        valid_rate: graded and copies, over requests that are settled.
        zero_rate: share of 0 among what was graded or failed in grading, a failure counting as 0.
        improvements: how often the best score rose, from the base model's on.
        first_improvement_s, best_s: when the first score above the base model's, and the best one, was asked for.
        best_at: the best one's place among graded submissions, from 1.
        monotonic_ratio: share of graded submissions that score no less than the graded one before.
        budget_s: seconds that the agent had; None without a limit.
        ended_s: when it ended.
        time_used_ratio: when it ended, over its budget.
        last_submit_gap_s: from the last request to its end.
        revisions, checkpoints_kept, checkpoints_dropped: what is on record.
        tokens, cost_usd: what it is known to have used.
        calls: of its model, where a broker counted them.
    """

    requests: int
    graded: int
    copies: int
    refused: int
    failed: int
    valid_rate: float | None
    zero_rate: float | None
    improvements: int
    first_improvement_s: float | None
    best_s: float | None
    best_at: int | None
    monotonic_ratio: float | None
    budget_s: float | None
    ended_s: float
    time_used_ratio: float | None
    last_submit_gap_s: float | None
    revisions: int
    checkpoints_kept: int
    checkpoints_dropped: int
    tokens: int | None
    cost_usd: float | None
    calls: int | None = None


class Scaling(Result):
    """The best improvement so far, never below 0, over seconds, graded submissions and the agent's tokens."""

    time: Points
    submissions: Points
    tokens: Points


class Iteration(Result):
    """One request to grade a checkpoint, or what was never submitted.

    Attributes:
        iteration: counts from 1.
        timestamp: when it was settled, in ISO 8601.
        at_s: when it was asked for.
        duration_s: since the one before was settled.
        status: `"ok"`, the category of its failure, `"running"`, or `"not submitted"`.
        exit_code: of the agent, where it was not submitted.
        submit_id, candidate: what was graded; None if it was refused.
        score: graded mean; that of a copy is the base model's.
        improvement: over the base model.
        best: the best graded mean by then.
        new_best: whether it is that one.
        train_type: route of the code that was there.
        failure_type: what is wrong with it, in short.
        problem: the same in the words of whoever noticed.
        errors, missing: items that failed through the checkpoint, and that were not scored.
        restarts: why its process died while it was graded and another one went on.
        revision: number of the code revision in force.
        changed: files that differ from those of the iteration before.
        note: what the agent said of the submission.
        tried, because: what the code says that was tried, and why.
        settings: key settings of the code.
        excerpt: of the code, around what trains.
    """

    iteration: int
    timestamp: str | None
    at_s: float | None
    duration_s: float | None
    status: str
    exit_code: int | None
    submit_id: int | None
    candidate: str | None
    score: float | None
    improvement: float | None
    best: float | None
    new_best: bool
    train_type: str | None
    failure_type: str | None
    problem: str
    errors: int
    missing: int
    restarts: list[str]
    revision: int | None
    changed: list[str]
    note: str
    tried: str
    because: str
    settings: dict[str, bool | int | float | str]
    excerpt: Excerpt | None


class Routes(Result):
    """Graded submissions by route; `run` is that of the best or else of the last, `coding_success` whether some revision trains."""

    submissions: dict[str, int]
    run: str | None
    coding_success: bool | None


class Failure(Result):
    """A failure of a run by a rule, with what it rests on, and the iterations that show it."""

    kind: FailureKind
    rule: str
    evidence: list[str]
    iterations: list[int]


class AgentEnd(Result):
    """How the agent ended: exit code, why, seconds it ran, and the most memory and disk that it was seen to hold."""

    code: int | None
    reason: str | None
    seconds: float | None
    memory_bytes: int | None
    disk_bytes: int | None


class ItemsMet(Result):
    """How many hidden items of a view stand in the agent's files."""

    view: str
    met: int
    of: int


class TextsMet(Result):
    """Hidden items in the agent's own files.

    Attributes:
        views: by view.
        files: the first files that hold any.
        texts, bytes: what was read at the last look; `unread`: files that were not.
        clean: the held-out gain over the items that were not met, where some were.
    """

    views: list[ItemsMet]
    files: list[str]
    texts: int
    bytes: int
    unread: int
    clean: Gain | None


class TrainingRunResults(Result):
    """What is known of one run of post-training beside what every run's results hold.

    Attributes:
        level: `"L1"`, `"L2"` or `"L3"`.
        mode: what the agent was allowed.
        metric, structure, labels: of the task.
        base_model: name of the base model.
        driver: the model that the agent asks, where it was configured.
        grading_counts: whether grading takes of the agent's time.
        baseline: scores of the base model.
        best: the best graded submission.
        heldout: the result: the chosen checkpoint on items that no submission returned.
        length_controlled: where answers were compared with reference answers.
        noise: where gradings were repeated.
        tasks: of a run of several.
        agent: how the agent ended.
        texts: what its own files held of hidden items; None if nobody looked.
    """

    level: str | None
    mode: str
    metric: str | None
    base_model: str | None
    structure: dict[str, int] | None
    labels: list[str] | None
    grading_counts: bool | None
    baseline: Baseline
    best: BestCheckpoint | None
    heldout: HeldoutGain | None
    length_controlled: LengthControlled | None
    noise: Noise | None
    process: Process
    scaling: Scaling
    iterations: list[Iteration]
    revisions: list[Revision]
    routes: Routes
    failures: list[Failure]
    audit: Audit
    tasks: list[TaskGain]
    agent: AgentEnd | None
    driver: str | None = None
    texts: TextsMet | None
