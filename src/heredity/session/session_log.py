"""The state of a session, as a fold over the events of its journal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from heredity.engine.trajectory import Failure, Trajectory
from heredity.methods import Decision, Feedback, Outcome
from heredity.models import Usage
from heredity.records import Event, Journal
from heredity.records.events import (
    BATCH_STARTED,
    CANDIDATE,
    CANDIDATE_DECIDED,
    CANDIDATE_PROBED,
    HEARTBEAT,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    SUBMISSION_REJECTED,
    BatchStarted,
    CandidateDecided,
    FailureData,
    OutcomeData,
    SubmissionAdmitted,
    SubmissionCompleted,
)
from heredity.results.status import Status


@dataclass(frozen=True, slots=True)
class Submission:
    """One admitted submission and its progress.

    Attributes:
        submit_id: number in the run, from 1.
        key: the request's key (one request may hold several submissions).
        request: digest of the request.
        position: index of its trial in the request, and the number of trials.
        candidate: digest of the candidate.
        tasks: train task indices, one per episode.
        first_episode: episodes charged to the run before this submission.
        remaining: episodes left after the charge (None without a limit).
        admitted_at: Unix time in seconds.
        at_s: the run's clock at admission, in seconds.
        status: `"ok"` or the program failure that ended all episodes; None while in flight.
        failure: the failure if `status` is not ok.
        outcomes: one per episode, without trajectories.
        blob: digest of the encoded trajectories; None if the candidate was refused.
        seconds: wall time of the rollouts.
        completed_at: Unix time (s).
        usage: usage of its model calls; None if rollouts make none.
    """

    submit_id: int
    key: str
    request: str
    position: tuple[int, int]
    candidate: str
    tasks: tuple[int, ...]
    first_episode: int
    remaining: int | None
    admitted_at: float
    at_s: float
    status: str | None = None
    failure: Failure | None = None
    outcomes: tuple[Outcome, ...] = ()
    blob: str | None = None
    seconds: float = 0.0
    completed_at: float | None = None
    usage: Usage | None = None

    @property
    def charge(self) -> int:
        """Cost in episodes."""
        return len(self.tasks)

    def feedback(self, trajectories: list[Trajectory] | None = None) -> Feedback:
        """Return the feedback that the evolver receives."""
        outcomes = self.outcomes
        if trajectories:
            pairs = zip(outcomes, trajectories, strict=True)
            outcomes = tuple(replace(outcome, trajectory=trajectory) for outcome, trajectory in pairs)
        return Feedback(self.submit_id, self.candidate, self.status or "", outcomes, self.failure)


@dataclass(slots=True)
class SessionLog:
    """The state of a session, accumulated from its journal.

    Attributes:
        submissions: by number, in order.
        requests: key to the numbers of the request's submissions.
        candidates: digest to the blob that holds the candidate.
        lineage: digest to the parents and note last recorded for it.
        rejections: key, category and message of rejected requests.
        closed: the reason (once the session is closed).
        clock_s: last reading of the run's clock, in seconds.
        episodes: number of episodes charged.
        decisions: commits and refusals (in order).
        probed: digest to the result of the contract gate's probe.
        batches: the data of each started batch, in order, with the number of decisions made before it.
    """

    submissions: dict[int, Submission] = field(default_factory=dict[int, Submission])
    requests: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    candidates: dict[str, str] = field(default_factory=dict[str, str])
    lineage: dict[str, tuple[tuple[str, ...], str]] = field(default_factory=dict[str, tuple[tuple[str, ...], str]])
    rejections: set[tuple[str, str, str]] = field(default_factory=set[tuple[str, str, str]])
    closed: str | None = None
    clock_s: float = 0.0
    episodes: int = 0
    decisions: list[Decision] = field(default_factory=list[Decision])
    probed: dict[str, str] = field(default_factory=dict[str, str])
    batches: list[tuple[BatchStarted, int]] = field(default_factory=list[tuple[BatchStarted, int]])

    def apply(self, events: Iterable[Event]) -> None:
        """Apply events in the order of the journal; events of other parts of a run are ignored."""
        for event in events:
            if data := CANDIDATE.of(event):
                self.candidates[data["digest"]] = data["blob"]
                self.lineage[data["digest"]] = (tuple(data["parents"]), data["note"])
            elif data := SUBMISSION_ADMITTED.of(event):
                self._admit(data, event.at)
            elif data := SUBMISSION_COMPLETED.of(event):
                self._complete(data, event.at)
            elif data := SUBMISSION_REJECTED.of(event):
                self.rejections.add((data["key"], data["category"], data["message"]))
            elif data := CANDIDATE_DECIDED.of(event):
                self.decisions.append(decision_from_json(data))
            elif data := CANDIDATE_PROBED.of(event):
                self.probed[data["candidate"]] = data["problem"]
            elif data := BATCH_STARTED.of(event):
                self.batches.append((data, len(self.decisions)))
            elif data := SESSION_CLOSED.of(event):
                self.closed = data["reason"]
            elif data := HEARTBEAT.of(event):
                self.clock_s = max(self.clock_s, data["clock_s"])

    def _admit(self, data: SubmissionAdmitted, at: float) -> None:
        submission = Submission(
            submit_id=data["submit_id"],
            key=data["key"],
            request=data["request"],
            position=(data["position"][0], data["position"][1]),
            candidate=data["candidate"],
            tasks=tuple(data["tasks"]),
            first_episode=self.episodes,
            remaining=data["remaining"],
            admitted_at=at,
            at_s=data["at_s"],
        )
        self.submissions[submission.submit_id] = submission
        self.requests.setdefault(submission.key, []).append(submission.submit_id)
        self.episodes += submission.charge
        self.clock_s = max(self.clock_s, submission.at_s)

    def _complete(self, data: SubmissionCompleted, at: float) -> None:
        self.submissions[data["submit_id"]] = replace(
            self.submissions[data["submit_id"]],
            status=data["status"],
            failure=_failure(data["failure"]),
            outcomes=tuple(_outcome(o) for o in data["outcomes"]),
            blob=data["blob"],
            seconds=data["seconds"],
            completed_at=at,
            usage=Usage(**data["usage"]) if "usage" in data else None,
        )


def decision_to_json(decision: Decision) -> CandidateDecided:
    """Return a decision as JSON values."""
    return {
        "candidate": decision.candidate,
        "baseline": decision.baseline,
        "accepted": decision.accepted,
        "reason": decision.reason,
        "submissions": list(decision.submissions),
        "difference": decision.difference,
        "interval": None if decision.interval is None else list(decision.interval),
        "pairs": decision.pairs,
        "tolerance": decision.tolerance,
    }


def decision_from_json(data: CandidateDecided) -> Decision:
    """Parse the output of `decision_to_json`."""
    interval = data["interval"]
    return Decision(
        candidate=data["candidate"],
        baseline=data["baseline"],
        accepted=data["accepted"],
        reason=data["reason"],
        submissions=tuple(data["submissions"]),
        difference=data["difference"],
        interval=None if interval is None else (interval[0], interval[1]),
        pairs=data["pairs"],
        tolerance=data["tolerance"],
    )


def outcome_to_json(outcome: Outcome) -> OutcomeData:
    """Return an outcome as JSON values (see `score_to_json`)."""
    return {
        "task": outcome.task,
        "score": score_to_json(outcome.score),
        "length": outcome.length,
        "status": outcome.status,
        "failure": outcome.failure.to_json() if outcome.failure else None,
    }


def score_to_json(score: float) -> float | None:
    """Return a score as a JSON value; null if it is missing (NaN) or negative infinity (a failure below any score)."""
    return score if math.isfinite(score) else None


def score_from_json(score: float | None, status: str) -> float:
    """Invert `score_to_json`."""
    if score is not None:
        return float(score)
    return math.nan if status == Status.MISSING else -math.inf


def cut_torn_request(journal: Journal) -> int:
    """Remove a partially written request from the journal and return the number of removed events.

    A request is charged as a whole (or not at all). Its lines are written and synced together before any rollout starts,
    so if some are absent, no rollout has started and they are the last lines of the journal.

    Raises:
        RecordError: if the journal cannot be truncated.
    """
    events = journal.events
    last = next((SUBMISSION_ADMITTED.of(e) for e in reversed(events) if not CANDIDATE.of(e)), None)
    if last is None:
        return 0
    position, count = last["position"]
    if position == count - 1:
        return 0
    start = next(e.seq for e in events if (data := SUBMISSION_ADMITTED.of(e)) and data["key"] == last["key"])
    while start > 0 and CANDIDATE.of(events[start - 1]):
        start -= 1
    cut = len(events) - start
    journal.cut_from(start)
    return cut


def _outcome(data: OutcomeData) -> Outcome:
    score = score_from_json(data["score"], data["status"])
    return Outcome(data["task"], score, data["length"], data["status"], _failure(data["failure"]))


def _failure(data: FailureData | None) -> Failure | None:
    return None if data is None else Failure(**data)
