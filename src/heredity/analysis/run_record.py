"""A run's journal, read into what the analysis asks of it (see `docs/file-formats.md` for the events)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from heredity.analysis.usage import TokenUsage


@dataclass(slots=True)
class Submission:
    """One admitted submission.

    Attributes:
        id: its number in the run, from 1.
        candidate: digest of what was submitted.
        tasks: train handles it was attempted on.
        charge: episodes it cost.
        parents: digests of the candidates it was made from.
        note: one line on what the edit was for.
        evidence: number of the submission whose feedback was the latest when this one was admitted; None for none.
        completion: the data of `submission.completed`; None while it runs.
    """

    id: int
    candidate: str
    tasks: Sequence[int]
    charge: int
    parents: Sequence[str] = ()
    note: str = ""
    evidence: int | None = None
    completion: Mapping[str, Any] | None = None

    @property
    def status(self) -> str | None:
        """`"ok"`, the category of its failure, or None while it runs."""
        return None if self.completion is None else str(self.completion["status"])

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """What ended it as a whole; None when ok."""
        return None if self.completion is None else self.completion.get("failure")

    @property
    def outcomes(self) -> Sequence[Mapping[str, Any]]:
        """One row for each requested episode; empty while it runs."""
        return () if self.completion is None else self.completion.get("outcomes") or ()

    @property
    def scores(self) -> list[float | None]:
        """Train scores in the order of the request; None is missing."""
        return [finite(o.get("score")) for o in self.outcomes]

    @property
    def mean(self) -> float | None:
        """Mean of the train scores that are not missing."""
        return mean(self.scores)


@dataclass(slots=True)
class RunRecord:
    """What a journal says of its run; fields of events that did not happen yet are empty.

    Attributes:
        started: the data of `run.started`.
        submissions: number to submission, in order.
        rejected: malformed requests.
        resumes: how often the run was resumed.
        scored: (view, submission number or candidate digest) to the data of `judging.scored`; the latest wins.
        references: (name, view) to the data of `reference.scored`.
        selected: the data of `judging.selected`.
        evolver_failure: message and traceback of an evolver that failed; None if it did not.
        status: of `run.finished`, or `"unfinished"`.
        usage: by source, one entry for each `agent.usage`.
        decisions: the data of each `candidate.decided`, in order.
        calls: the data of each `model.called`.
        wall_seconds: run clock at the last thing that says it; None if nothing does.
    """

    started: Mapping[str, Any] = field(default_factory=dict[str, Any])
    submissions: dict[int, Submission] = field(default_factory=dict[int, Submission])
    rejected: int = 0
    resumes: int = 0
    scored: dict[tuple[str, int | str], Mapping[str, Any]] = field(
        default_factory=dict["tuple[str, int | str]", "Mapping[str, Any]"]
    )
    references: dict[tuple[str, str], Mapping[str, Any]] = field(
        default_factory=dict["tuple[str, str]", "Mapping[str, Any]"]
    )
    selected: Mapping[str, Any] | None = None
    evolver_failure: Mapping[str, Any] | None = None
    status: str = "unfinished"
    usage: dict[str, list[TokenUsage]] = field(default_factory=dict[str, list[TokenUsage]])
    decisions: list[Mapping[str, Any]] = field(default_factory=list["Mapping[str, Any]"])
    calls: list[Mapping[str, Any]] = field(default_factory=list["Mapping[str, Any]"])
    wall_seconds: float | None = None

    def scores_of(self, view: str, submission: int | None, candidate: str | None) -> Mapping[str, Any] | None:
        """Return how a view scored a submission, or else its candidate; None if it did not."""
        by_submission = self.scored.get((view, submission)) if submission is not None else None
        return by_submission or (self.scored.get((view, candidate)) if candidate is not None else None)


class _Reader:
    """Folds events, in their order, into a record."""

    def __init__(self) -> None:
        self.record = RunRecord()
        self.candidates: dict[str, Mapping[str, Any]] = {}
        self.latest: int | None = None
        self.clock: tuple[float, float] | None = None

    def read(self, event: Mapping[str, Any]) -> None:
        data: Mapping[str, Any] = event["data"]
        match event["kind"]:
            case "run.started":
                self.record.started = data
            case "candidate":
                self.candidates[data["digest"]] = data
            case "submission.admitted":
                self._admit(data)
                self._tick(data.get("at_s"), event.get("at"))
            case "submission.completed":
                self._complete(data)
            case "submission.rejected":
                self.record.rejected += 1
            case "run.resumed":
                self.record.resumes += 1
                self.clock = None
            case "heartbeat":
                self._tick(data.get("clock_s"), event.get("at"))
            case "session.closed":
                self._close(event.get("at"))
            case kind:
                self._judge(kind, data)

    def _judge(self, kind: str, data: Mapping[str, Any]) -> None:
        record = self.record
        match kind:
            case "judging.scored":
                for key in (data.get("submit_id"), data.get("candidate")):
                    if key is not None:
                        record.scored[data["view"], key] = data
            case "judging.selected":
                record.selected = data
            case "reference.scored":
                record.references[data["name"], data["view"]] = data
            case "agent.usage":
                names = ("input_tokens", "cache_tokens", "output_tokens", "cost_usd")
                entries = record.usage.setdefault(str(data.get("source")), [])
                entries.append(TokenUsage(*(data.get(name) for name in names)))
            case "candidate.decided":
                record.decisions.append(data)
            case "model.called":
                record.calls.append(data)
            case "evolver.failed":
                record.evolver_failure = data
            case "run.finished":
                record.status = data["status"]
            case _:
                pass

    def _admit(self, data: Mapping[str, Any]) -> None:
        made = self.candidates.get(data["candidate"], {})
        self.record.submissions[data["submit_id"]] = Submission(
            id=data["submit_id"],
            candidate=data["candidate"],
            tasks=tuple(data.get("tasks") or ()),
            charge=data["charge"],
            parents=tuple(made.get("parents") or ()),
            note=made.get("note") or "",
            evidence=self.latest,
        )

    def _complete(self, data: Mapping[str, Any]) -> None:
        submission = self.record.submissions.get(data["submit_id"])
        if submission is not None:
            submission.completion = data
            # Submissions that run side by side end in any order; the latest by number does not depend on it.
            self.latest = max(self.latest or 0, submission.id)

    def _tick(self, clock: float | None, at: float | None) -> None:
        if clock is not None:
            self.record.wall_seconds = max(self.record.wall_seconds or 0.0, clock)
            self.clock = None if at is None else (clock, at)

    def _close(self, at: float | None) -> None:
        # The clock stands still while a run is down, so time may be added only where no interruption lies between.
        if self.clock is not None and at is not None:
            clock, then = self.clock
            self._tick(clock + max(at - then, 0.0), at)


def read_run(events: Iterable[Mapping[str, Any]]) -> RunRecord:
    """Read a journal's events, in order; kinds that are not known here are passed over."""
    reader = _Reader()
    for event in events:
        reader.read(event)
    reader.record.submissions = dict(sorted(reader.record.submissions.items()))
    return reader.record


def finite(value: Any) -> float | None:
    """Return a number as a float; None for None, NaN and infinities, which JSON cannot hold."""
    return float(value) if value is not None and math.isfinite(value) else None


def mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are not None; None if there are none."""
    known = [v for v in values if v is not None]
    if not known:
        return None
    try:
        return math.fsum(known) / len(known)
    except OverflowError:
        # The sum of scores near the largest float has no value, their mean has.
        return float(sum(map(Fraction, known)) / len(known))
