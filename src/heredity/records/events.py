"""Events of a run's journal: the name of each kind, and the type of its data.

Writers and readers of an event share one `EventKind`, so renaming a key on one side only is a type error. A protocol
declares its events in the same way, in its folder:

    class CodeRevised(TypedDict):
        revision: int

    CODE_REVISED = EventKind("code.revised", CodeRevised)
    EVENTS = by_name(CODE_REVISED)

Scores of missing rollouts are null. Optional keys are `NotRequired`. Times are seconds, amounts of money US dollars.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, NotRequired, TypeVar, cast, get_args, get_type_hints

from typing_extensions import (
    TypedDict,
    is_typeddict,
)  # Pydantic requires typing_extensions.TypedDict before Python 3.12.

from heredity.records.journal import Event, Line


class AgentStarted(TypedDict):
    """An outside agent was started: `start` counts from 1, `at_s` is the run's clock, `wait_s` the wait before it."""

    start: int
    at_s: float
    wait_s: float


class AgentEnded(TypedDict):
    """End of an outside agent's start, with its peak memory and disk, and its last lines of output."""

    code: int
    reason: str
    seconds: float
    memory_bytes: int
    disk_bytes: int
    output: str


class AgentTool(TypedDict):
    """Tool call of an outside agent: arguments as JSON, cut; length of the result, null without one; wall seconds."""

    tool: str
    arguments: str
    characters: int | None
    seconds: float


class TokenUsageData(TypedDict):
    """Usage of agent sessions (see `heredity.analysis.usage.TokenUsage`); null is unknown."""

    input_tokens: int | None
    cache_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


class AgentUsage(TokenUsageData):
    """Usage of an outside agent, according to `source`; fields of its request that the model's API has no place for."""

    source: str
    dropped: NotRequired[Sequence[str]]


Data = TypeVar("Data", bound=Mapping[str, object])

Scores = Sequence[float | None]
"""One score for each task of a view or a submission; null if the rollout is missing."""


@dataclass(frozen=True)
class EventKind(Generic[Data]):
    """Kind of event.

    Attributes:
        name: its name in the journal, such as `"submission.admitted"`.
        data: type of its data.
    """

    name: str
    data: type[Data]

    def line(self, data: Data) -> Line:
        """Return the pair to append to the journal."""
        return self.name, data

    def of(self, event: Event | Mapping[str, Any]) -> Data | None:
        """Return the data of an event of this kind; None for another kind."""
        kind, data = (event.kind, event.data) if isinstance(event, Event) else (event["kind"], event["data"])
        return cast("Data", data) if kind == self.name else None

    def all(self, events: Iterable[Event | Mapping[str, Any]]) -> Iterator[Data]:
        """Yield the data of each event of this kind, in order."""
        return (data for data in map(self.of, events) if data is not None)

    def first(self, events: Iterable[Event | Mapping[str, Any]]) -> Data | None:
        """Return the data of the first event of this kind; None if there is none."""
        return next(self.all(events), None)


def by_name(*kinds: EventKind[Any]) -> dict[str, type]:
    """Return the type of the data of each kind of event, for `heredity schema journal`."""
    return {kind.name: kind.data for kind in kinds}


def closed(data: Any) -> Any:
    """Return a type of data with which Pydantic refuses unknown fields, at any depth; a type that allows some says so itself."""
    if is_typeddict(data):
        if not hasattr(data, "__pydantic_config__"):
            data.__pydantic_config__ = {"extra": "forbid"}
            for hint in get_type_hints(data).values():
                closed(hint)
    else:
        for part in get_args(data):
            closed(part)
    return data


class FailureData(TypedDict):
    """Failure of a rollout (see `heredity.engine.trajectory.Failure`)."""

    category: str
    message: str
    traceback: str
    step_index: int | None


class UsageData(TypedDict):
    """Usage of model calls; null is unknown."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


class OutcomeData(TypedDict):
    """One rollout of a submission."""

    task: int
    score: float | None
    length: int
    status: str
    failure: FailureData | None


class Compared(TypedDict, total=False):
    """For preferences: outcome, length of the answer and of its reference, for each answer or null."""

    comparisons: Sequence[Sequence[float] | None]


class Clustered(TypedDict):
    """For tasks drawn in clusters, such as questions of one document: a cluster number each, null for a single task."""

    clusters: NotRequired[Sequence[int | None]]


class Scored(Compared):
    """Result of a candidate on a view, one entry for each task."""

    scores: Scores
    lengths: Sequence[int]
    statuses: Sequence[str]
    seconds: float
    usage: NotRequired[UsageData]
    why: NotRequired[str]
    restarts: NotRequired[Sequence[str]]
    recalled: NotRequired[bool]


class RunStarted(TypedDict):
    """Description of a run and its conditions.

    `notes` are the taskset's. `cases_known` says that the hidden cases were already published. `coverage` is the
    minimum share of
    scores for selection and verdicts, if it is not `results.coverage.COVERAGE`. `organisation` says who ran it.
    """

    run_id: str
    suite_id: str
    protocol: str
    taskset: str
    taskset_version: str
    family: str
    group: str
    evolver: Mapping[str, Any]
    execution: str
    seed: int
    budget: Mapping[str, Any]
    views: Mapping[str, Any]
    failure_return: float | None
    isolation: str
    packages: Mapping[str, str]
    labels: NotRequired[Mapping[str, str]]
    notes: NotRequired[Sequence[str]]
    plugins: NotRequired[Sequence[Mapping[str, str]]]
    routes: NotRequired[Mapping[str, Sequence[str]]]
    commitment: str
    conditions: Mapping[str, Any]
    config_digest: str
    cases_known: NotRequired[bool]
    coverage: NotRequired[float]
    organisation: NotRequired[str]


class RunResumed(TypedDict):
    """A run was resumed in another process: `attempt` counts from 1."""

    attempt: int
    reason: str


class CandidateMade(TypedDict):
    """A new candidate, or one with other parents or another note than before."""

    digest: str
    blob: str
    parents: Sequence[str]
    note: str


class SubmissionAdmitted(TypedDict):
    """A submission was admitted and charged: `position` is the index of the trial in its request, and the number of trials."""

    submit_id: int
    key: str
    request: str
    position: Sequence[int]
    candidate: str
    tasks: Sequence[int]
    charge: int
    remaining: int | None
    at_s: float


class SubmissionCompleted(TypedDict):
    """Result of a submission; lists have one entry for each outcome, `blob` its trajectories."""

    submit_id: int
    key: str
    candidate: str
    status: str
    failure: FailureData | None
    outcomes: Sequence[OutcomeData]
    blob: str | None
    seconds: float
    invalid_steps: Sequence[int]
    costs: NotRequired[Sequence[Mapping[str, float]]]
    rollout_seconds: NotRequired[Sequence[float]]
    restarts: NotRequired[Sequence[str]]
    usage: NotRequired[UsageData]


class SubmissionRejected(TypedDict):
    """A request was refused; nothing was charged."""

    key: str
    category: str
    message: str


class CandidateDecided(TypedDict):
    """A commit or a refusal (see `heredity.methods.Decision`)."""

    candidate: str
    baseline: str
    accepted: bool
    reason: str
    submissions: Sequence[int]
    difference: float | None
    interval: Sequence[float] | None
    pairs: int
    tolerance: float


class CandidateProbed(TypedDict):
    """Result of the contract gate's probe: `""`, or one line on the defect."""

    candidate: str
    problem: str


class ModelCalled(TypedDict):
    """Call of the method's model: `place` counts earlier calls with the same request."""

    request: str
    place: int
    purpose: str
    model: str
    blob: str
    error: str | None
    usage: UsageData | None


class ReplyUnused(TypedDict):
    """Unusable reply of the method's model: its call (see `ModelCalled`), and the reason."""

    request: str
    place: int
    why: str


class TaskLabels(TypedDict):
    """A task's id and labels; a taskset may add further ones. Tasks with the same `cluster` were drawn together."""

    id: str
    domain: str
    source_benchmark: str
    cluster: NotRequired[str]


TaskLabels.__pydantic_config__ = {"extra": "allow"}  # type: ignore[attr-defined]


class PlannedBatch(TypedDict):
    """Batch of a plan."""

    number: int
    epoch: int
    tasks: Sequence[int]


class Plan(TypedDict):
    """Batches of a schedule, and the data they were drawn for."""

    schema_version: int
    digest: str
    batch_size: int
    epochs: int
    updates: int
    persistence: Literal["persistent", "reset"]
    assess: int
    canaries: int
    gate: bool
    seed: int
    train: int
    canary_tasks: Sequence[int]
    batches: Sequence[PlannedBatch]


class SchedulePlanned(Plan):
    """Plan of the run, and the labels of its train tasks."""

    tasks: Sequence[TaskLabels]


class BatchStarted(TypedDict):
    """A batch was started; `candidate` is the one committed until then."""

    number: int
    epoch: int
    tasks: Sequence[int]
    candidate: str | None
    reset: bool


class SessionClosed(TypedDict):
    """Admission ended: `budget`, `finished` or `evolver_failed`."""

    reason: str


class Heartbeat(TypedDict):
    """Time of the run's clock."""

    clock_s: float


class EvolverFailed(TypedDict):
    """Exception of the evolver."""

    message: str
    traceback: str


class JudgingSelected(TypedDict):
    """Candidate that the run is judged by; nulls if there was none to select."""

    submit_id: int | None
    candidate: str | None
    reason: str


class JudgingScored(Scored, Clustered):
    """Result of a candidate on a view."""

    view: str
    candidate: str
    submit_id: int | None


class ReferenceScored(Compared, Clustered):
    """Result of a reference on a view; `candidate_blob` holds it if no `candidate` event names it."""

    name: str
    view: str
    candidate: str
    candidate_blob: NotRequired[str]
    scores: Scores


class CasesJudged(TypedDict):
    """The run was judged on the cases of this commitment; its opening is published after every run judged on them has ended."""

    commitment: str


class GpuLeased(TypedDict):
    """GPUs reserved for the run."""

    names: Sequence[str]


class RunFinished(TypedDict):
    """The run was judged: `finished`, or `failed` if its evolver failed."""

    status: str


RUN_STARTED = EventKind("run.started", RunStarted)
RUN_RESUMED = EventKind("run.resumed", RunResumed)
RUN_FINISHED = EventKind("run.finished", RunFinished)
CANDIDATE = EventKind("candidate", CandidateMade)
CANDIDATE_DECIDED = EventKind("candidate.decided", CandidateDecided)
CANDIDATE_PROBED = EventKind("candidate.probed", CandidateProbed)
SUBMISSION_ADMITTED = EventKind("submission.admitted", SubmissionAdmitted)
SUBMISSION_COMPLETED = EventKind("submission.completed", SubmissionCompleted)
SUBMISSION_REJECTED = EventKind("submission.rejected", SubmissionRejected)
MODEL_CALLED = EventKind("model.called", ModelCalled)
REPLY_UNUSED = EventKind("reply.unused", ReplyUnused)
SCHEDULE_PLANNED = EventKind("schedule.planned", SchedulePlanned)
BATCH_STARTED = EventKind("batch.started", BatchStarted)
SESSION_CLOSED = EventKind("session.closed", SessionClosed)
HEARTBEAT = EventKind("heartbeat", Heartbeat)
EVOLVER_FAILED = EventKind("evolver.failed", EvolverFailed)
JUDGING_SELECTED = EventKind("judging.selected", JudgingSelected)
JUDGING_SCORED = EventKind("judging.scored", JudgingScored)
REFERENCE_SCORED = EventKind("reference.scored", ReferenceScored)
CASES_JUDGED = EventKind("cases.judged", CasesJudged)
AGENT_USAGE = EventKind("agent.usage", AgentUsage)
AGENT_STARTED = EventKind("agent.started", AgentStarted)
AGENT_ENDED = EventKind("agent.ended", AgentEnded)
AGENT_TOOL = EventKind("agent.tool", AgentTool)
GPU_LEASED = EventKind("gpu.leased", GpuLeased)

EVENTS = by_name(
    RUN_STARTED, RUN_RESUMED, RUN_FINISHED, CANDIDATE, CANDIDATE_DECIDED, CANDIDATE_PROBED, SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED, SUBMISSION_REJECTED, MODEL_CALLED, SCHEDULE_PLANNED, BATCH_STARTED, SESSION_CLOSED, HEARTBEAT,
    EVOLVER_FAILED, JUDGING_SELECTED, JUDGING_SCORED, REFERENCE_SCORED, CASES_JUDGED, AGENT_USAGE, AGENT_STARTED, AGENT_ENDED,
    AGENT_TOOL, GPU_LEASED, REPLY_UNUSED,
)  # fmt: skip
"""Events of every protocol; each protocol adds others."""
