"""Result types of post-training: `part` in the metrics.json of a run.

`docs/post-training-diagnosis.md` defines each. Scores, means and rates range from 0 to 1, higher is better; gains are
differences of these. Times (`*_s`) are seconds of the run's clock, which stops while the run is down. Unknown or absent
values are None or empty.
"""

from __future__ import annotations

from enum import StrEnum

from heredity.results.base import Interval, MissingBounds, Result, Unknown
from heredity.results.run import Verdict


class Grade(StrEnum):
    """Severity of an audit finding: a breach breaks the mode; a look may be harmless."""

    BREACH = "breach"
    LOOK = "look"


class AuditVerdict(StrEnum):
    """Verdict of the audit; unknown if some of the code is unknown."""

    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class Excerpt(Result):
    """Lines of a file, from `line` on."""

    file: str
    line: int
    text: str


class Evidence(Result):
    """A line that is evidence of the code's behaviour.

    Attributes:
        component: `"SFT"`, `"GRPO"`, `"PPO"`, `"DPO"`, `"RL"` (another policy gradient), `"sampling"` (the model writes
            its training data), `"environment"` (steps through one), or `"training"` (a loss that is not recognised).
        file: path in the folder.
        line: counts from 1.
        text: the line.
        why: its meaning.
    """

    component: str
    file: str
    line: int
    text: str
    why: str


class Revision(Result):
    """A version of the agent's code.

    Attributes:
        revision: its number.
        at_s: when it was first seen, in seconds of the run's clock.
        blob: digest of its archive (None if it was not kept).
        reason: the files not kept, and why; None if all were.
        files: path to lines; None if the code is unknown, like route, samples and environment.
        route: its training route, from the code alone.
        components: its training objectives.
        samples: True if the model writes answers.
        environment: True if it steps through an environment.
        evidence: the lines that show these.
        unreadable: files that could not be parsed.
    """

    revision: int
    at_s: float | None
    blob: str | None
    reason: str | None
    files: dict[str, int] | None
    route: str | None
    components: list[str]
    samples: bool | None
    environment: bool | None
    evidence: list[Evidence]
    unreadable: list[str]


class Finding(Result):
    """An audit finding: its severity, description, and place in a revision."""

    grade: Grade
    what: str
    revision: int
    file: str = ""
    line: int | None = None
    text: str = ""


class Audit(Result):
    """Verdict on the operating mode; breaches come first among the findings."""

    mode: str
    verdict: AuditVerdict
    findings: list[Finding]


Scores = list[float | None]
"""A score per item, None where it is missing."""

Points = list[tuple[float, float]]
"""Spending and the best improvement so far, as steps."""


class FailureKind(StrEnum):
    """Class of a run's failure (Agent² RL-Bench, table 13), the last one over several runs; or that nothing was submitted."""

    ROLLOUT = "rollout construction failure"
    REWARD = "reward/data design failure"
    COLLAPSE = "training collapse / instability"
    EARLY = "early coding failure"
    UNGRADED = "nothing submitted"
    SHORTCUT = "static shortcut without transfer"


class ScoreSummary(Result):
    """Mean score over the items of a view; `n` were scored, `missing` were not, `if_missing` bounds the mean over these.

    `clusters` is the number of clusters, if items are clustered.
    """

    mean: float | None
    ci: Interval | None
    n: int
    missing: int
    if_missing: MissingBounds | None = None
    clusters: int | None = None


class Gain(Result):
    """A paired difference to the base model over `pairs` items, positive above it; `mde` is the minimum detectable effect.

    `if_missing` has its bounds over the items with a missing score; None if there are none. For clustered items, such as the
    questions of one document, the sample is the `clusters`. `because` is the reason if no verdict is possible yet.
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
    """The selected checkpoint on the items that no submission returned; `candidate` is None if the base model was kept."""

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
    """The submission with the highest graded score, with the scores by item behind its gain.

    `clusters` has the cluster of each item; None if no items are clustered.
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
    """A win rate over reference answers: at equal length (`rate`, `ci`), raw (`won`), with mean lengths in characters.

    For clustered instructions, such as those of one document, `ci` is over the `clusters`; None with fewer than six.
    """

    rate: float
    ci: Interval | None
    won: float
    length: float
    reference_length: float
    n: int
    clusters: int | None = None


class WinRateGain(Result):
    """Gain of the best checkpoint's win rate at equal length over the base model's, on the items that both answered."""

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
    """Variation of grading.

    Attributes:
        sd: standard deviation of the mean score over gradings of the same checkpoint, pooled over checkpoints.
        difference: maximum distance of two gradings of equal checkpoints (in 95% of cases).
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
    """Process metrics of a run.

    Attributes:
        requests: requested submissions, including refused ones.
        graded: scored submissions.
        copies: submissions of the unchanged base model, answered with the baseline.
        refused, failed: before and during grading.
        valid_rate: graded and copies, over settled requests.
        zero_rate: share of zeros among graded and failed submissions; a failure counts as 0.
        improvements: number of new best scores, starting from the base model's.
        first_improvement_s, best_s: request time of the first score above the base model's, and of the best one.
        best_at: position of the best one among graded submissions, from 1.
        monotonic_ratio: share of graded submissions that score at least as high as the previous one.
        budget_s: the agent's time limit in seconds; None without one.
        ended_s: when the agent ended.
        time_used_ratio: end time over the budget.
        last_submit_gap_s: seconds from the last request to the end.
        revisions, checkpoints_kept, checkpoints_dropped: numbers on record.
        tokens, cost_usd: its known usage.
        calls: model calls, if a broker counted them.
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
    """One request to grade a checkpoint, or work never submitted.

    Attributes:
        iteration: number of the iteration (1 is the first).
        timestamp: when it was settled, in ISO 8601.
        at_s: when it was requested.
        duration_s: seconds since the previous one was settled.
        status: `"ok"`, the category of its failure, `"running"`, or `"not submitted"`.
        exit_code: exit code of the agent, if it was not submitted.
        submit_id, candidate: the graded submission (None if it was refused).
        score: graded mean; that of a copy is the base model's.
        improvement: over the base model.
        best: the best graded mean so far.
        new_best: True if it set a new best.
        train_type: route of the code in force.
        failure_type: short description of the failure.
        problem: the original error message.
        errors, missing: items failed by the checkpoint, and items not scored.
        restarts: reasons for restarts of its process during grading.
        revision: number of the code revision in force.
        changed: files changed (since the previous iteration).
        note: the agent's note on the submission.
        tried, because: what was tried and why, according to the code.
        settings: key settings of the code.
        excerpt: excerpt of the code around the training.
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
    """Graded submissions by route; `run` is that of the best or else the last; `coding_success` if some revision trains."""

    submissions: dict[str, int]
    run: str | None
    coding_success: bool | None


class Failure(Result):
    """A failure of a run, found by a rule, with its evidence and iterations."""

    kind: FailureKind
    rule: str
    evidence: list[str]
    iterations: list[int]


class AgentEnd(Result):
    """The agent's end: exit code, reason, running time in seconds, and peak memory and disk use."""

    code: int | None
    reason: str | None
    seconds: float | None
    memory_bytes: int | None
    disk_bytes: int | None


class ItemsMet(Result):
    """Number of a view's hidden items in the agent's files."""

    view: str
    met: int
    of: int


class TextsMet(Result):
    """Hidden items found in the agent's files.

    Attributes:
        views: by view.
        files: the first files that hold any.
        texts, bytes: files and bytes read in the last search; `unread`: files not read.
        clean: the held-out gain over the items not found, if some were found.
    """

    views: list[ItemsMet]
    files: list[str]
    texts: int
    bytes: int
    unread: int
    clean: Gain | None


class TrainingRunResults(Result):
    """The part of post-training in a run's results.

    Attributes:
        level: `"L1"`, `"L2"` or `"L3"`.
        mode: the allowed routes.
        metric, structure, labels: properties of the task.
        base_model: name of the base model.
        driver: the agent's model (if configured).
        grading_counts: True if grading counts towards the agent's time.
        baseline: scores of the base model.
        best: the best graded submission.
        heldout: the result: the selected checkpoint on items that no submission returned.
        length_controlled: win rates, if answers were compared with reference answers.
        noise: noise of grading (if gradings were repeated).
        tasks: the tasks of a run of several.
        agent: the agent's end.
        texts: hidden items in its files; None if not searched.
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
