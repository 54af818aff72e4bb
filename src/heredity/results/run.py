"""Results of one run, as its metrics.json holds them. Scores are higher-is-better; budgets count rollouts on train tasks."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import Field, SerializeAsAny

from heredity.results.agents import AgentAccounts, AgentStart, ModelUsage, Tokens
from heredity.results.base import SCHEMA_VERSION, Interval, MissingBounds, Result, Unknown
from heredity.results.coverage import COVERAGE
from heredity.results.selection import Selection


class RunStatus(StrEnum):
    """How a run stands; one has failed when its evolver has, and what that had submitted is judged all the same."""

    FINISHED = "finished"
    FAILED = "failed"
    UNFINISHED = "unfinished"


class Verdict(StrEnum):
    """What a difference means; nobody can tell yet where too few runs are paired for any test."""

    BETTER = "better"
    WORSE = "worse"
    WITHIN_NOISE = "within noise"
    CANNOT_TELL = "cannot tell yet"


class EditKind(StrEnum):
    """How a score-bearing submission differs from the one before (EvoPolicyGym, section 5)."""

    INITIAL = "initial"
    SYNTHESIS = "synthesis"
    PARAMETRIC = "parametric"
    ROLLBACK = "rollback"
    RETEST = "retest"


class ChangeStatus(StrEnum):
    """What became of a file."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Evolver(Result):
    """What proposed candidates: its `kind` is `"method"` or `"agent"`, `options` are those it was configured with."""

    name: str | None
    kind: str | None
    options: dict[str, Any]


class EvolverFailure(Result):
    """What an evolver that failed raised."""

    message: str
    traceback: str = ""


class Failure(Result):
    """What went wrong with a submission, for its author; `step_index` is None before the first step."""

    category: str
    message: str
    traceback: str = ""
    step_index: int | None = None


class Budget(Result):
    """What a run was allowed and what it used.

    Attributes:
        episodes: allowed; None if the budget is not counted in episodes.
        used: episodes charged.
        submissions: admitted.
        rejected: malformed requests.
        wall_seconds: the run's clock when the evolver was done, without interruptions.
        resumes: how often it was resumed.
    """

    episodes: int | None
    used: int
    submissions: int
    rejected: int
    wall_seconds: float | None
    resumes: int


class Edit(Result):
    """The edit that led to a submission; sizes in lines, `hit` says whether it raised the best validation mean."""

    kind: EditKind
    hit: bool | None
    lines_added: int
    lines_removed: int
    lines_total: int


class Features(Result):
    """Features of a program's code; None where a module cannot be parsed, or there is none."""

    functions: int | None
    branches: int | None
    loops: int | None
    state: int | None
    lines: int


class SubmissionRow(Result):
    """One submission.

    Attributes:
        index: counts from 1.
        candidate: digest of what was submitted; `parents` those it was made from.
        note: one line on what the edit was for.
        status: `"ok"`, the category of its failure, or None while it runs.
        episodes: what it cost; `budget_used` up to and including it.
        train_scores: in the order of the request; None is missing. `lengths` in steps.
        failures: rollouts that failed through the candidate; `missing`: through no fault of its own.
        invalid_steps: actions that had to be repaired; `invalid_rate` their share of all steps.
        best_so_far: greatest validation mean up to this one.
        edit: None unless the submission bears a score and its candidate can be read.
        features: None if the candidate's blob is gone.
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
    """The candidate that a run ended with; `index` is its submission's, None if it was never submitted."""

    index: int | None
    candidate: str
    validation_mean: float | None


class HeldOut(Result):
    """Held-out scores, one for each case; `n` counts those that are not missing.

    Attributes:
        ci: interval of the mean over cases; None where none covers, and `ci_unknown` says why.
        if_missing: bounds of the mean over what is missing; None where nothing is.
        clusters: what each case was drawn with, such as a document, as a number of it, null for a case by itself: the interval
            takes clusters for the sample. None where all cases are by themselves.
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
        """How many clusters of cases were drawn, cases by themselves counted as one each; None where all are."""
        if self.clusters is None:
            return None
        together = {cluster for cluster in self.clusters if cluster is not None}
        return len(together) + len(self.scores) - sum(cluster is not None for cluster in self.clusters)


class Reference(Result):
    """What a run is compared with on the same held-out cases, such as `"random"` or `"initial"`."""

    name: str
    heldout_mean: float | None
    heldout_scores: list[float | None]


class Gain(Result):
    """Held-out minus reference, paired by case; `mde` is the minimum detectable effect.

    Attributes:
        clusters: how many clusters of cases were the sample; None where every case is by itself.
        because: why the verdict is `"cannot tell yet"`, where it is.
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
    """What else a run is compared with, such as doing nothing; `gain` is the run's over it, None unless both were scored."""

    gain: Gain | None


class Decision(Result):
    """One commit or refusal.

    Attributes:
        baseline: digest of what the candidate was weighed against; "" where there was nothing.
        submissions: numbers of those that are its evidence.
        difference: train mean of the candidate less that of the baseline, with its `interval`, over `pairs`.
        tolerance: the loss that the rule puts up with.
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
    """What commits made of one file: lines added and removed, and a unified diff; None for what is no text."""

    part: str
    file: str
    status: ChangeStatus
    added: int | None
    removed: int | None
    diff: str | None


class Phase(Result):
    """Neighbouring edits of one kind, from `start` to `stop` episodes of budget, over submissions `first` to `last`."""

    kind: EditKind
    start: int
    stop: int
    first: int
    last: int


class Trace(Result):
    """How one submission used the feedback before it, in words."""

    submission: int
    evidence: str
    edit: str
    outcome: str


class EditHits(Result):
    """How many edits of a kind there were, and how many raised the best validation mean."""

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
    """How a run searched.

    Attributes:
        improvements: edits that raised the best validation mean; `first_improvement` the budget used at the first.
        score_drops: submissions with a lower validation mean than the one before.
        invalid_transition_rate: share of all steps whose action had to be repaired.
        complexity_growth: lines of the last program over those of the first.
        budget_per_submission: episodes.
        unreadable_candidates: candidates whose blob is gone.
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


class RunResults(Result):
    """Results of a run: the content of its metrics.json. What an unfinished run has not come to is None or empty.

    Attributes:
        protocol: the rules of the run, by name; `part` is what that protocol has of its own.
        labels: of the taskset, by what it may be told apart, such as `{"observation": "partial"}`.
        notes: facts that its taskset says readers of scores must know, such as rows left out or keys known to be wrong.
        isolation, taskset_version, packages, commitment, conditions, config_digest: as in the journal's `run.started`.
        coverage: the share of scores that selection and verdicts ask for.
        stand_ins: models it used that are programs or recordings in a language model's place: what it shows are mechanisms.
        gain: None unless held-out cases and reference were both scored.
        further: what else it is compared with on the same cases, such as doing nothing.
        changes: files that differ between the first and the last committed candidate; None without commits.
        model_usage: None where no model is called.
        selection: how many candidates validation chose among, and how far its score is above the held-out one; None without it.
        best_so_far: (budget used, validation mean) at each rise.
        best_corrected: (budget used, best so far when other cases pick it) at each validated submission.
        tokens: of a coding agent: as the broker counted them, or else as the agent says itself.
        agent_accounts: None unless both are known.
        starts: of a coding agent, in order.
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
    part: SerializeAsAny[Result] | None = None
