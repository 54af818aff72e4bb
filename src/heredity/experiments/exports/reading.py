"""A finished or unfinished run as exporters read it: results, attempts at train tasks, judged candidates.

Hidden material stays hidden. Scores of hidden cases are read only once the run has ended, and expected answers and
attempts at hidden tasks only once the cases are opened (`opened.json`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity.analysis.run_record import finite
from heredity.engine.question_runner import conversation_of
from heredity.engine.trajectory import Trajectory, decode_many
from heredity.experiments.results import read_run, run_folders
from heredity.experiments.sealed import OPENED
from heredity.models import Message
from heredity.records import BlobStore, Event, read_journal
from heredity.records.events import (
    CANDIDATE,
    JUDGING_SCORED,
    MODEL_CALLED,
    REFERENCE_SCORED,
    RUN_STARTED,
    SUBMISSION_ADMITTED,
    SUBMISSION_COMPLETED,
    FailureData,
    OutcomeData,
    RunStarted,
    SubmissionCompleted,
)
from heredity.records.run_folder import is_run, is_suite
from heredity.results.run import RunResults, RunStatus

TRAIN = "train"


def timestamp(at: float) -> str:
    """Return seconds since 1970 as ISO 8601 in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt of a candidate at a train task.

    Attributes:
        submission: number of the submission, from 1; `position` in it, from 0.
        task: id of the task, such as `"train/3"`.
        repeat: number of this attempt at the task in the run, from 1.
        candidate: digest of the candidate.
        score: higher is better; None is missing.
        started: start of the submission, in seconds since 1970; `ended` likewise.
        seconds: wall time of the attempt; None if unknown.
        trajectory: its record; None if none was kept.
        opened: whether expected answers may be shown.
    """

    submission: int
    position: int
    task: str
    repeat: int
    candidate: str
    score: float | None
    status: str
    failure: FailureData | None
    length: int
    started: float
    ended: float
    seconds: float | None
    trajectory: Trajectory | None
    opened: bool

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation; empty without one."""
        return () if self.trajectory is None else conversation_of(self.trajectory)

    def info(self, key: str) -> Any:
        """Return the last known value of a column `info/KEY`; None if there is none, or if it is still hidden."""
        if self.trajectory is None or (key in ("expected", "reason") and not self.opened):
            return None
        column = self.trajectory.columns.get(f"info/{key}")
        return column[-1] if column is not None and len(column) else None

    @property
    def used(self) -> Mapping[str, float]:
        """Resources used, such as `input_tokens` and `cost_usd`; unknown ones are absent."""
        return self.trajectory.cost if self.trajectory else {}


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate's scores on the cases of a hidden view.

    Attributes:
        view: name of the view, such as `"heldout"`.
        reference: name of the reference; None for a candidate of the run.
        selected: whether it is the run's final candidate.
        submission: number of its submission; None if it has none.
        scores: one for each case, higher is better; None is missing.
        lengths: steps for each case; empty if not recorded.
        statuses: status for each case; empty if not recorded.
        clusters: number of the cluster of each case, None for a single one; empty if all are single.
        seconds: wall time of judging, summed over rollouts; None if unknown.
        usage: usage of model calls; empty if unknown.
        ended: in seconds since 1970.
    """

    view: str
    candidate: str
    reference: str | None
    selected: bool
    submission: int | None
    scores: Sequence[float | None]
    lengths: Sequence[int]
    statuses: Sequence[str]
    clusters: Sequence[int | None]
    seconds: float | None
    usage: Mapping[str, Any]
    ended: float

    @property
    def name(self) -> str:
        """Name that is unique in its view."""
        return self.reference or self.candidate[:12]


@dataclass(frozen=True, slots=True)
class Call:
    """One model call of the method."""

    purpose: str
    model: str
    error: str | None
    usage: Mapping[str, Any]
    ended: float


@dataclass(frozen=True)
class RunReading:
    """A run, read once.

    Attributes:
        folder: its folder.
        results: its results, as in metrics.json.
        events: its journal.
    """

    folder: Path
    results: RunResults
    events: Sequence[Event]

    @classmethod
    def of(cls, folder: Path) -> RunReading:
        """Read a run.

        Raises:
            DamagedRecordError: if its journal is damaged.
            RecordError: if it cannot be read.
        """
        return cls(folder, read_run(folder).metrics, read_journal(folder / "journal.jsonl"))

    @property
    def id(self) -> str:
        """The run's id, or the name of its folder before it started."""
        return self.results.run_id or self.folder.name

    @cached_property
    def started(self) -> RunStarted:
        """Data of `run.started`; empty before."""
        return RUN_STARTED.first(self.events) or cast("RunStarted", {})

    @property
    def finished(self) -> bool:
        """Whether the run was judged."""
        return self.results.status is not RunStatus.UNFINISHED

    @cached_property
    def opened(self) -> bool:
        """Whether its hidden cases were published."""
        return (self.folder / OPENED).is_file()

    @property
    def model(self) -> str | None:
        """Name of the execution model; None without one."""
        return self.started.get("execution") or None

    @property
    def entry(self) -> str:
        """Name of what was evaluated: the execution model, else `heredity/EVOLVER`."""
        return self.model or f"heredity/{self.results.evolver.name or 'unknown'}"

    @property
    def hidden(self) -> list[str]:
        """What is left out because it is still hidden."""
        reasons: list[str] = []
        if not self.finished:
            reasons.append("scores on hidden cases: the run has not finished")
        if not self.opened:
            reasons.append("expected answers and attempts at hidden tasks: the hidden cases are not opened")
        return reasons

    def attempts(self) -> Iterator[Attempt]:
        """Yield the attempts at train tasks in the order of the journal, one submission in memory at a time.

        Raises:
            RecordError: if the blob of a submission is damaged or missing.
        """
        blobs, repeats = BlobStore(self.folder / "blobs"), Counter[str]()
        admitted: dict[int, float] = {}
        for event in self.events:
            if data := SUBMISSION_ADMITTED.of(event):
                admitted[data["submit_id"]] = event.at
            elif data := SUBMISSION_COMPLETED.of(event):
                trajectories: Sequence[Trajectory | None] = (
                    decode_many(blobs.get(data["blob"])) if data["blob"] else [None] * len(data["outcomes"])
                )
                times = admitted.get(data["submit_id"], event.at), event.at
                for position, (outcome, trajectory) in enumerate(zip(data["outcomes"], trajectories, strict=True)):
                    attempt = self._attempt(data, outcome, (position, trajectory), times, repeats)
                    if self.opened or attempt.task.startswith(f"{TRAIN}/"):
                        yield attempt

    def _attempt(
        self,
        data: SubmissionCompleted,
        outcome: OutcomeData,
        at: tuple[int, Trajectory | None],
        times: tuple[float, float],
        repeats: Counter[str],
    ) -> Attempt:
        position, trajectory = at
        task = trajectory.task_id if trajectory else f"{TRAIN}/{outcome['task']}"
        repeats[task] += 1
        seconds = data.get("rollout_seconds")
        return Attempt(
            submission=data["submit_id"],
            position=position,
            task=task,
            repeat=repeats[task],
            candidate=data["candidate"],
            score=finite(outcome["score"]),
            status=outcome["status"],
            failure=outcome["failure"],
            length=outcome["length"],
            started=times[0],
            ended=times[1],
            seconds=seconds[position] if seconds else (trajectory.seconds if trajectory else None),
            trajectory=trajectory,
            opened=self.opened,
        )

    def judged(self) -> Iterator[Judged]:
        """Yield the judged candidates and references in order; none before the run has finished."""
        selected = self.results.selected.candidate if self.results.selected else None
        for event in self.events if self.finished else ():
            if data := JUDGING_SCORED.of(event):
                yield Judged(
                    view=data["view"],
                    candidate=data["candidate"],
                    reference=None,
                    selected=data["candidate"] == selected,
                    submission=data["submit_id"],
                    scores=[finite(score) for score in data["scores"]],
                    lengths=data["lengths"],
                    statuses=data["statuses"],
                    clusters=data.get("clusters", ()),
                    seconds=data["seconds"],
                    usage=data.get("usage", {}),
                    ended=event.at,
                )
            elif data := REFERENCE_SCORED.of(event):
                scores = [finite(score) for score in data["scores"]]
                of = data["view"], data["candidate"], data["name"], False, None
                yield Judged(*of, scores, (), (), data.get("clusters", ()), None, {}, event.at)

    def calls(self) -> Iterator[Call]:
        """Yield the method's model calls, in order."""
        for event in self.events:
            if data := MODEL_CALLED.of(event):
                yield Call(data["purpose"], data["model"], data["error"], data["usage"] or {}, event.at)

    def lineage(self) -> Mapping[str, tuple[Sequence[str], str]]:
        """Return the parents and the note of each candidate, by digest."""
        return {data["digest"]: (data["parents"], data["note"]) for data in CANDIDATE.all(self.events)}


def folders_of(folder: Path) -> list[Path]:
    """Return the folders of the runs in a folder: of a suite, or of a run.

    Raises:
        ConfigError: if it holds neither.
    """
    if is_suite(folder):
        return run_folders(folder)
    if is_run(folder):
        return [folder]
    raise ConfigError(f"{folder} holds neither a run nor a suite; give a folder below runs/")
