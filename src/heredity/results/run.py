"""Results of one run, as in its metrics.json. Scores are higher-is-better; budgets count rollouts on train tasks."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field, SerializeAsAny

from heredity.results.base import COVERAGE, SCHEMA_VERSION, Interval, MissingBounds, Result, Times, Unknown


class AgentStart(Result):
    """One start of a coding agent; None is unknown, as the run was interrupted meanwhile.

    Attributes:
        number: counts from 1.
        submissions: submissions admitted until the next start.
        code: exit code; 128 + N after signal N.
        reason: `"exited"`, `"session_ended"`, `"time_limit"`, `"memory_limit"` or `"disk_limit"`.
        output: last lines of its output.
    """

    number: int
    submissions: int
    code: int | None
    reason: str | None
    seconds: float | None
    output: str


class Tokens(Result):
    """Usage of a coding agent's model; `cache_tokens`, read from a cache, are not part of the input; writes to it are."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class TokenDifference(Result):
    """Usage that an agent reports, minus the broker's count; None if either is unknown."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None


class AgentAccounts(Result):
    """Usage that an agent reports next to the broker's count, by source."""

    by_source: dict[str, Tokens]
    difference: TokenDifference


class ModelTokens(Result):
    """Usage of model calls; `cached_tokens` are part of the input. None is unknown, as is any sum with an unknown part."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


class MethodTokens(ModelTokens):
    """Usage of a method's calls, with their number."""

    calls: int


class ModelUsage(Result):
    """Usage of model calls: of rollouts on train tasks, of the method, of judging.

    Attributes:
        failed_calls: calls of the method without a reply.
        unused_replies: unusable replies to the method; `unused_because` is the most common reason.
    """

    rollouts: ModelTokens
    method: MethodTokens
    judging: ModelTokens
    failed_calls: int
    unused_replies: int = 0
    unused_because: str | None = None

    @property
    def unused(self) -> str:
        """Return the number of unusable replies with the reason as text; `""` if all were used."""
        if not self.unused_replies:
            return ""
        replies = self.method.calls - self.failed_calls
        return f"{self.unused_replies} of {replies} model replies were unusable: {self.unused_because}"


class Selection(Result):
    """Selection of a result, and its effect on the validation score.

    Attributes:
        candidates: number of distinct candidates.
        validation_mean: of the selected one.
        corrected: validation score of the best when other cases select it (cross-validated); None if unknown.
        heldout_mean: of the same candidate, None before judging.
        gap: validation minus held-out mean, with the interval `ci` of their difference.
    """

    candidates: int
    validation_mean: float
    corrected: float | None
    heldout_mean: float | None
    gap: float | None
    ci: Interval | None


class SelectionRow(Result):
    """Selection of an evolver's results on a taskset: means over its `runs` with validation.

    Attributes:
        candidates: number of candidates in a run.
        validation_mean, corrected, heldout_mean: of the selected candidate; `corrected` for selection on the same
            cases.
        gap: validation minus held-out.
    """

    evolver: str
    taskset: str
    runs: int
    candidates: float
    validation_mean: float
    corrected: float | None
    heldout_mean: float | None
    gap: float | None


class RunStatus(StrEnum):
    """State of a run. A run whose evolver failed has failed; earlier submissions are still judged."""

    FINISHED = "finished"
    FAILED = "failed"
    UNFINISHED = "unfinished"


class Verdict(StrEnum):
    """Meaning of a difference; undecided if too few runs are paired for any test."""

    BETTER = "better"
    WORSE = "worse"
    WITHIN_NOISE = "within noise"
    CANNOT_TELL = "cannot tell yet"


class EditKind(StrEnum):
    """Difference between a scored submission and the one before (EvoPolicyGym, section 5)."""

    INITIAL = "initial"
    SYNTHESIS = "synthesis"
    PARAMETRIC = "parametric"
    ROLLBACK = "rollback"
    RETEST = "retest"


class ChangeStatus(StrEnum):
    """Change of a file."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Evolver(Result):
    """Source of candidates: its `kind` is `"method"` or `"agent"`, `options` are the configured ones."""

    name: str | None
    kind: str | None
    options: dict[str, Any]


class EvolverFailure(Result):
    """Exception of a failed evolver."""

    message: str
    traceback: str = ""


class Failure(Result):
    """Failure of a submission, for its author; `step_index` is None before the first step."""

    category: str
    message: str
    traceback: str = ""
    step_index: int | None = None


class Budget(Result):
    """Budget of a run, and its usage.

    Attributes:
        episodes: allowed (None if the budget is not counted in episodes).
        used: episodes charged.
        submissions: submissions admitted.
        rejected: malformed requests.
        wall_seconds: running time until the end of the evolver, without interruptions.
        resumes: number of resumptions.
    """

    episodes: int | None
    used: int
    submissions: int
    rejected: int
    wall_seconds: float | None
    resumes: int


class Edit(Result):
    """Edit that led to a submission; sizes in lines. `hit` says whether it raised the best validation mean."""

    kind: EditKind
    hit: bool | None
    lines_added: int
    lines_removed: int
    lines_total: int


class Features(Result):
    """Features of a program's code; None if a module cannot be parsed, or there is none."""

    functions: int | None
    branches: int | None
    loops: int | None
    state: int | None
    lines: int


class SubmissionRow(Result):
    """One submission.

    Attributes:
        index: counts from 1.
        candidate: digest of the submitted candidate; `parents` those it was made from.
        note: purpose of the edit, in one line.
        status: `"ok"`, the category of its failure, or None while it runs.
        episodes: its cost; `budget_used` up to and including it.
        train_scores: in the order of the request; None is missing. `lengths` in steps.
        failures: rollouts that the candidate failed; `missing`: those it did not cause to fail.
        invalid_steps: actions that had to be repaired; `invalid_rate` their share of all steps.
        best_so_far: greatest validation mean up to this one.
        edit: None unless the submission has a score and its candidate can be read.
        features: None if the candidate's blob is missing.
    """

    index: int
    candidate: str
    parents: list[str]
    note: str
    status: str | None
    episodes: int
    budget_used: int
    train_mean: float | None
    train_scores: list[float | None]
    lengths: list[int]
    failures: int
    missing: int
    failure: Failure | None
    invalid_steps: int | None
    invalid_rate: float | None
    seconds: float | None
    validation_mean: float | None
    best_so_far: float | None
    edit: Edit | None
    features: Features | None


class Selected(Result):
    """Final candidate of a run; `index` is its submission's, None if it was never submitted."""

    index: int | None
    candidate: str
    validation_mean: float | None


class HeldOut(Result):
    """Held-out scores, one for each case; `n` counts those that are not missing.

    Attributes:
        ci: interval of the mean over cases (None if none has its stated coverage, for the reason `ci_unknown`).
        if_missing: bounds of the mean over missing scores; None if none is missing.
        clusters: number of each case's cluster, such as its document; null for a single case. The interval samples
            clusters.
            None if all cases are single.
    """

    scores: list[float | None]
    mean: float | None
    ci: Interval | None
    ci_unknown: Unknown | None = None
    n: int
    failures: int
    missing: int
    if_missing: MissingBounds | None = None
    clusters: list[int | None] | None = None

    @property
    def drawn(self) -> int | None:
        """Number of clusters of cases, single cases counted as one each; None if all are single."""
        if self.clusters is None:
            return None
        together = {cluster for cluster in self.clusters if cluster is not None}
        return len(together) + len(self.scores) - sum(cluster is not None for cluster in self.clusters)


class Reference(Result):
    """Baseline of a run on the same held-out cases, such as `"random"` or `"initial"`."""

    name: str
    heldout_mean: float | None
    heldout_scores: list[float | None]


class Gain(Result):
    """Held-out minus reference, paired by case; `mde` is the minimum detectable effect.

    Attributes:
        clusters: number of clusters of cases in the sample; None if every case is single.
        because: reason for the verdict `"cannot tell yet"`, if it is that.
    """

    difference: float
    ci: Interval | None
    p: float | None
    mde: float | None
    pairs: int
    verdict: Verdict
    clusters: int | None = None
    because: Unknown | None = None


class FurtherReference(Reference):
    """Further baseline, such as the null action; `gain` is the run's over it, None unless both were scored."""

    gain: Gain | None


class Decision(Result):
    """One commit or refusal.

    Attributes:
        baseline: digest of the candidate it was compared with; "" if there was none.
        submissions: numbers of the submissions that are its evidence.
        difference: train mean of the candidate minus that of the baseline, with its `interval`, over `pairs`.
        tolerance: loss that the rule accepts.
    """

    candidate: str
    baseline: str
    accepted: bool
    reason: str
    submissions: list[int]
    difference: float | None
    interval: Interval | None
    pairs: int
    tolerance: float


class Change(Result):
    """Change of one file by all commits: lines added and removed, and a unified diff; None for a file that is not text."""

    part: str
    file: str
    status: ChangeStatus
    added: int | None
    removed: int | None
    diff: str | None


class Phase(Result):
    """Consecutive edits of one kind, from `start` to `stop` episodes of budget, over submissions `first` to `last`."""

    kind: EditKind
    start: int
    stop: int
    first: int
    last: int


class Trace(Result):
    """Use of earlier feedback by one submission, in words."""

    submission: int
    evidence: str
    edit: str
    outcome: str


class EditHits(Result):
    """Number of edits of a kind, and of those that raised the best validation mean."""

    n: int
    hits: int


class EditCounts(Result):
    """Edits by kind."""

    synthesis: EditHits
    parametric: EditHits


class EditSize(Result):
    """Lines that an edit added and removed, and whether it raised the best validation mean."""

    lines: int
    improved: bool


class Diagnostics(Result):
    """Search behaviour of a run.

    Attributes:
        improvements: edits that raised the best validation mean; `first_improvement` the budget used at the first.
        score_drops: submissions with a lower validation mean than the one before.
        invalid_transition_rate: share of all steps whose action had to be repaired.
        complexity_growth: lines of the last program divided by those of the first.
        budget_per_submission: episodes.
        unreadable_candidates: candidates whose blob is missing.
    """

    improvements: int
    first_improvement: int | None
    score_drops: int
    rollbacks: int
    retests: int
    invalid_transition_rate: float | None
    complexity_growth: float | None
    budget_per_submission: float | None
    failed_submissions: int
    unreadable_candidates: int
    edits: EditCounts
    edit_size: list[EditSize]


class InLog(Result):
    """Statements of a run that a log of the user's has taken (see docs/verify.md).

    Attributes:
        log: name of the log.
        start: whether it has the commitment, from the start of the run.
        end: whether it has the head of the journal, from its end.
    """

    log: str
    start: bool
    end: bool


class RunResults(Result):
    """Results of a run: the content of its metrics.json. Values that an unfinished run does not have yet are None or empty.

    Attributes:
        protocol: name of the protocol; `part` is its part of the results.
        labels: properties of the taskset, such as `{"observation": "partial"}`.
        notes: facts about its taskset that readers of scores need, such as rows left out or keys known to be wrong.
        logs: logs of the user's that have its start or its end, by their receipts.
        isolation, taskset_version, packages, commitment, conditions, config_digest: as in the journal's `run.started`.
        coverage: minimum share of scores for selection and verdicts.
        stand_ins: scripted or recorded models it used instead of language models (it only demonstrates mechanisms).
        gain: None unless held-out cases and reference were both scored.
        further: further baselines on the same cases, such as the null action.
        changes: files that differ between the first and the last committed candidate (None without commits).
        model_usage: None if no model is called.
        selection: number of candidates for validation, and the gap between its score and the held-out one; None
            without it.
        best_so_far: (budget used, validation mean) at each rise.
        best_corrected: (budget used, best so far when selected on other cases) at each validated submission.
        tokens: of a coding agent: the broker's count, or else the agent's.
        agent_accounts: None unless both counts are known.
        starts: of a coding agent, in order.
        times: start, end and duration; None for a run without events.
        organisation: who ran it (`run.organisation`); None if not configured.
        higher_is_better: direction of all scores. A task that minimizes a metric has the negative metric as its score.
    """

    schema_version: int = SCHEMA_VERSION
    run_id: str | None
    suite_id: str | None
    protocol: str | None
    taskset: str | None
    family: str | None
    group: str | None
    evolver: Evolver
    seed: int | None
    status: RunStatus
    isolation: str | None
    taskset_version: str | None
    packages: dict[str, str] | None
    commitment: str | None
    coverage: float = COVERAGE
    labels: dict[str, str] = Field(default_factory=dict[str, str])
    notes: list[str] = Field(default_factory=list[str])
    logs: list[InLog] = Field(default_factory=list[InLog])
    conditions: dict[str, Any] = Field(default_factory=dict[str, Any])
    config_digest: str | None
    stand_ins: list[str]
    evolver_failure: EvolverFailure | None
    budget: Budget
    submissions: list[SubmissionRow]
    selected: Selected | None
    selection: Selection | None
    heldout: HeldOut | None
    reference: Reference | None
    gain: Gain | None
    further: list[FurtherReference] = Field(default_factory=list[FurtherReference])
    decisions: list[Decision]
    changes: list[Change] | None
    model_usage: ModelUsage | None
    best_so_far: list[tuple[int, float]]
    best_corrected: list[tuple[int, float]]
    phases: list[Phase]
    traces: list[Trace]
    diagnostics: Diagnostics
    tokens: Tokens | None
    agent_accounts: AgentAccounts | None
    starts: list[AgentStart] = Field(default_factory=list[AgentStart])
    times: Times | None = None
    organisation: str | None = None
    higher_is_better: bool = True
    part: SerializeAsAny[Result] | None = None
