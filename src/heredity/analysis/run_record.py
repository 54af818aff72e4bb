"""A run's journal in the form that the analysis needs (see `docs/file-formats.md` for the events)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

from heredity.analysis.usage import TokenUsage
from heredity.records.agent_starts import Start, follow
from heredity.records.events import (
    AGENT_USAGE,
    CANDIDATE,
    CANDIDATE_DECIDED,
    EVOLVER_FAILED,
    HEARTBEAT,
    JUDGING_SCORED,
    JUDGING_SELECTED,
    MODEL_CALLED,
    REFERENCE_SCORED,
    REPLY_UNUSED,
    RUN_FINISHED,
    RUN_RESUMED,
    RUN_STARTED,
    SESSION_CLOSED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    SUBMISSION_REJECTED,
    CandidateDecided,
    CandidateMade,
    EvolverFailed,
    FailureData,
    JudgingScored,
    JudgingSelected,
    ModelCalled,
    OutcomeData,
    ReferenceScored,
    ReplyUnused,
    RunStarted,
    SubmissionAdmitted,
    SubmissionCompleted,
)
from heredity.results.base import COVERAGE
from heredity.results.status import Status


@dataclass(slots=True)
class Submission:
    """One admitted submission.

    Attributes:
        id: its number in the run, from 1.
        candidate: digest of the submitted candidate.
        tasks: train task indices it was attempted on.
        charge: cost, in episodes.
        parents: digests of the candidates it was made from.
        note: purpose of the edit, one line.
        evidence: number of the submission with the latest feedback when this one was admitted; None for none.
        completion: the data of `submission.completed`; None while it runs.
    """

    id: int
    candidate: str
    tasks: Sequence[int]
    charge: int
    parents: Sequence[str] = ()
    note: str = ""
    evidence: int | None = None
    completion: SubmissionCompleted | None = None

    @property
    def status(self) -> str | None:
        """`"ok"`, the category of its failure, or None while it runs."""
        return None if self.completion is None else self.completion["status"]

    @property
    def failure(self) -> FailureData | None:
        """Failure that ended it as a whole; None when ok."""
        return None if self.completion is None else self.completion["failure"]

    @property
    def outcomes(self) -> Sequence[OutcomeData]:
        """One row per requested episode; empty while it runs."""
        return () if self.completion is None else self.completion["outcomes"]

    @property
    def scores(self) -> list[float | None]:
        """Train scores in the order of the request; None is missing."""
        return [finite(o["score"]) for o in self.outcomes]

    @property
    def mean(self) -> float | None:
        """Mean of the train scores that are not missing; None if a rollout failed and failures have no score."""
        return None if lost([o["status"] for o in self.outcomes], self.scores) else mean(self.scores)


@dataclass(slots=True)
class RunRecord:
    """Contents of a run's journal; fields of events that have not happened yet are empty.

    Attributes:
        started: the data of `run.started`.
        submissions: number to submission, in order.
        rejected: malformed requests.
        resumes: number of times the run was resumed.
        scored: (view, submission number or candidate digest) to the data of `judging.scored`; the latest wins.
        references: (name, view) to the data of `reference.scored`.
        selected: the data of `judging.selected`.
        evolver_failure: message and traceback of an evolver that failed; None if it did not.
        status: of `run.finished`, or `"unfinished"`.
        usage: by source, one entry for each `agent.usage`.
        dropped: fields of the agent's requests that its model's API has no place for.
        decisions: the data of each `candidate.decided`, in order.
        calls: the data of each `model.called`.
        unused: the data of each `reply.unused`.
        wall_seconds: run clock at the last event that has one; None if none has.
        starts: starts of a coding agent, in order.
        first_at: time of the first event, in seconds since 1970; None without events.
        ended_at: time of `run.finished`; None before.
    """

    started: RunStarted = field(default_factory=lambda: cast("RunStarted", {}))
    submissions: dict[int, Submission] = field(default_factory=dict[int, Submission])
    rejected: int = 0
    resumes: int = 0
    scored: dict[tuple[str, int | str], JudgingScored] = field(
        default_factory=dict["tuple[str, int | str]", JudgingScored]
    )
    references: dict[tuple[str, str], ReferenceScored] = field(default_factory=dict["tuple[str, str]", ReferenceScored])
    selected: JudgingSelected | None = None
    evolver_failure: EvolverFailed | None = None
    status: str = "unfinished"
    usage: dict[str, list[TokenUsage]] = field(default_factory=dict[str, list[TokenUsage]])
    dropped: set[str] = field(default_factory=set[str])
    decisions: list[CandidateDecided] = field(default_factory=list[CandidateDecided])
    calls: list[ModelCalled] = field(default_factory=list[ModelCalled])
    unused: list[ReplyUnused] = field(default_factory=list[ReplyUnused])
    wall_seconds: float | None = None
    starts: list[Start] = field(default_factory=list[Start])
    first_at: float | None = None
    ended_at: float | None = None

    @property
    def coverage(self) -> float:
        """Share of scores that selection and verdicts require."""
        return self.started.get("coverage", COVERAGE)

    def scores_of(self, view: str, submission: int | None, candidate: str | None) -> JudgingScored | None:
        """Return a view's score of a submission, or else of its candidate; None if it has none."""
        by_submission = self.scored.get((view, submission)) if submission is not None else None
        return by_submission or (self.scored.get((view, candidate)) if candidate is not None else None)


class _Reader:
    """Folds events, in their order, into a record."""

    def __init__(self) -> None:
        self.record = RunRecord()
        self.candidates: dict[str, CandidateMade] = {}
        self.latest: int | None = None
        self.clock: tuple[float, float] | None = None

    def read(self, event: Mapping[str, Any]) -> None:
        at: float | None = event.get("at")
        if self.record.first_at is None:
            self.record.first_at = at
        if data := RUN_STARTED.of(event):
            self.record.started = data
        elif data := CANDIDATE.of(event):
            self.candidates[data["digest"]] = data
        elif data := SUBMISSION_ADMITTED.of(event):
            self._admit(data)
            self._tick(data["at_s"], at)
        elif data := SUBMISSION_COMPLETED.of(event):
            self._complete(data)
        elif SUBMISSION_REJECTED.of(event):
            self.record.rejected += 1
        elif RUN_RESUMED.of(event):
            self.record.resumes += 1
            self.clock = None
        elif data := HEARTBEAT.of(event):
            self._tick(data["clock_s"], at)
        elif SESSION_CLOSED.of(event):
            self._close(at)
        elif data := RUN_FINISHED.of(event):
            self.record.status, self.record.ended_at = data["status"], at
        else:
            self._judge(event)

    def _judge(self, event: Mapping[str, Any]) -> None:
        record = self.record
        if data := JUDGING_SCORED.of(event):
            for key in (data["submit_id"], data["candidate"]):
                if key is not None:
                    record.scored[data["view"], key] = data
        elif data := JUDGING_SELECTED.of(event):
            record.selected = data
        elif data := REFERENCE_SCORED.of(event):
            record.references[data["name"], data["view"]] = data
        elif data := AGENT_USAGE.of(event):
            record.usage.setdefault(data["source"], []).append(TokenUsage.from_json(data))
            record.dropped.update(data.get("dropped", ()))
        elif data := CANDIDATE_DECIDED.of(event):
            record.decisions.append(data)
        elif data := MODEL_CALLED.of(event):
            record.calls.append(data)
        elif data := REPLY_UNUSED.of(event):
            record.unused.append(data)
        elif data := EVOLVER_FAILED.of(event):
            record.evolver_failure = data

    def _admit(self, data: SubmissionAdmitted) -> None:
        made = self.candidates.get(data["candidate"])
        self.record.submissions[data["submit_id"]] = Submission(
            id=data["submit_id"],
            candidate=data["candidate"],
            tasks=tuple(data["tasks"]),
            charge=data["charge"],
            parents=tuple(made["parents"]) if made else (),
            note=made["note"] if made else "",
            evidence=self.latest,
        )

    def _complete(self, data: SubmissionCompleted) -> None:
        submission = self.record.submissions.get(data["submit_id"])
        if submission is not None:
            submission.completion = data
            # Concurrent submissions end in any order; the latest by number does not depend on it.
            self.latest = max(self.latest or 0, submission.id)

    def _tick(self, clock: float | None, at: float | None) -> None:
        if clock is not None:
            self.record.wall_seconds = max(self.record.wall_seconds or 0.0, clock)
            self.clock = None if at is None else (clock, at)

    def _close(self, at: float | None) -> None:
        # The clock stops while a run is down, so time can be added only between interruptions.
        if self.clock is not None and at is not None:
            clock, then = self.clock
            self._tick(clock + max(at - then, 0.0), at)


def read_run(events: Iterable[Mapping[str, Any]]) -> RunRecord:
    """Read a journal's events, in order; unknown kinds are skipped."""
    reader = _Reader()
    for event in events:
        reader.read(event)
        follow(reader.record.starts, event)
    reader.record.submissions = dict(sorted(reader.record.submissions.items()))
    return reader.record


def lost(statuses: Sequence[str], scores: Sequence[Any]) -> bool:
    """Return True if a rollout failed without a score, so that the mean of the others would hide it."""
    return any(s is None and status != Status.MISSING for status, s in zip(statuses, scores, strict=False))


def finite(value: Any) -> float | None:
    """Return a number as a float; None for None, NaN and infinities, which JSON cannot hold."""
    return float(value) if value is not None and math.isfinite(value) else None


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None without any."""
    present = [v for v in values if v is not None]
    if not present:
        return None
    try:
        return math.fsum(present) / len(present)
    except OverflowError:
        # The sum of scores near the largest float overflows, their mean does not.
        return float(sum(map(Fraction, present)) / len(present))
