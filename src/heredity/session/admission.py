"""Validates requests before anything is charged."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from heredity._core.errors import BudgetError, ConfigError, RejectedError, SessionError
from heredity._core.ids import digest_json
from heredity.methods import Batch, Trial
from heredity.records import Blob, Committer
from heredity.records.events import (
    BATCH_STARTED,
    CANDIDATE,
    SCHEDULE_PLANNED,
    SUBMISSION_ADMITTED,
    BatchStarted,
    CandidateMade,
    SubmissionAdmitted,
    TaskLabels,
)
from heredity.records.journal import Line
from heredity.resources import Candidate
from heredity.session.rollouts import encodable
from heredity.session.schedule import GATE_KEYS, BatchPlan, Record, frozen
from heredity.session.session_log import SessionLog
from heredity.tasks import Task


class OpenBatch:
    """Cursor over the batches of a plan; for a replaying method it starts again at the first batch."""

    def __init__(self, plan: BatchPlan | None, log: SessionLog, record: Record, *, replay: bool) -> None:
        """Restore the state from the log.

        Args:
            plan: the batches (None if the run has no schedule).
            log: the state of the session, read from the journal.
            record: writes to the journal.
            replay: True if the method starts again from the beginning.
        """
        self._plan, self._log, self._record = plan, log, record
        self._position = 0 if replay else len(log.batches)
        self.batch: Batch | None = None

    @property
    def plan(self) -> BatchPlan:
        """The batch plan.

        Raises:
            ConfigError: if the run has no schedule.
        """
        if self._plan is None:
            raise ConfigError("this run has no schedule and therefore no batches; choose tasks and submit them")
        return self._plan

    @property
    def repeating(self) -> bool:
        """True if the next batch was already started in an earlier process."""
        return self._position < len(self._log.batches)

    def remaining(self) -> Sequence[Batch]:
        """Return the remaining batches."""
        return self.plan.batches[self._position :]

    async def begin(self, batch: Batch) -> None:
        """Open a batch and journal it with the candidate committed so far."""
        if not self.repeating:
            since = self._log.batches[-1][1] if batch.reset and self._log.batches else 0
            committed = frozen(self._log.decisions[since:]) or frozen(self._log.decisions[:1])
            data: BatchStarted = {
                "number": batch.number,
                "epoch": batch.epoch,
                "tasks": list(batch.tasks),
                "candidate": committed,
                "reset": batch.reset,
            }
            await self._record([BATCH_STARTED.line(data)], [])
        self._position += 1
        self.batch = batch

    def check(self, checked: Sequence[CheckedTrial], key: str) -> None:
        """Check that a new request only uses tasks of the open batch.

        Raises:
            MalformedError: if it does not.
        """
        if key.startswith(GATE_KEYS):
            raise MalformedError(
                "invalid_request", f"the key {key!r} starts with {GATE_KEYS!r}, which is reserved for the contract gate"
            )
        if self._plan is None:
            return
        if self.batch is None:
            raise MalformedError(
                "invalid_env_instance", "no batch is open; this run has a schedule: take tasks from session.batches()"
            )
        outside = sorted({task for trial in checked for task in trial.tasks} - set(self.batch.tasks))
        if outside:
            raise MalformedError(
                "invalid_env_instance",
                f"train task {outside[0]} is not in batch {self.batch.number}; attempt its tasks: "
                f"{', '.join(map(str, self.batch.tasks))}",
            )


async def journal_plan(records: Committer, plan: BatchPlan, train: Sequence[Task]) -> None:
    """Journal a run's plan, once.

    Raises:
        ConfigError: if the journal holds a different plan.
    """
    planned = SCHEDULE_PLANNED.first(records.journal.events)
    if planned is None:
        await records.commit([SCHEDULE_PLANNED.line({**plan.to_json(), "tasks": [labelled(task) for task in train]})])
    elif planned["digest"] != plan.digest:
        raise ConfigError(
            f"the run was started with batch plan {planned['digest'][:12]}, but now has {plan.digest[:12]}; "
            "restore the original schedule or start a new run"
        )


def labelled(task: Task) -> TaskLabels:
    """Return a task's id and labels in their recorded form."""
    return cast("TaskLabels", {"id": task.id, "domain": "", "source_benchmark": "", **task.attributes})


MAX_KEY = 200
MAX_NOTE = 1000
MAX_TRIALS = 1000


class MalformedError(RejectedError):
    """A malformed request, with EvoPolicyGym's name for the category it is recorded under."""

    def __init__(self, category: str, message: str) -> None:
        self.category = category
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class CheckedTrial:
    """A trial that passed all checks.

    Attributes:
        candidate: the candidate to evaluate.
        blob: the encoded candidate.
        tasks: train task indices (one per episode, repeats written out).
        parents: digests of the candidates it was made from.
        note: a one-line note for readers.
    """

    candidate: Candidate
    blob: Blob
    tasks: tuple[int, ...]
    parents: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class EpisodeRange:
    """Limits of one trial: `least` to `most` episodes on tasks with indices below `train_cases`."""

    least: int
    most: int
    train_cases: int

    def check(self, trials: Sequence[Trial], key: str) -> tuple[CheckedTrial, ...]:
        """Check a request.

        Raises:
            MalformedError: if it is malformed; the message says where and the expected value.
        """
        if not key or len(key) > MAX_KEY or not key.isprintable():
            raise MalformedError(
                "invalid_request", f"the key has {len(key)} characters; expected 1 to {MAX_KEY} printable characters"
            )
        if not 0 < len(trials) <= MAX_TRIALS:
            raise MalformedError("invalid_request", f"the request has {len(trials)} trials; expected 1 to {MAX_TRIALS}")
        return tuple(self._check_trial(trial) for trial in trials)

    def _check_trial(self, trial: Trial) -> CheckedTrial:
        repeats = _integer(trial.repeats, "repeats")
        if repeats < 1:
            raise MalformedError("invalid_request", f"repeats is {repeats}; expected 1 or more")
        episodes = len(trial.tasks) * repeats
        if not self.least <= episodes <= self.most:
            raise MalformedError(
                "budget_invalid", f"the submission has {episodes} episodes; expected {self.least} to {self.most}"
            )
        task_indices = tuple(self._check_task_index(task) for task in trial.tasks)
        blob = Blob.of(trial.candidate.to_bytes())
        note = encodable(" ".join(trial.note.split()))[:MAX_NOTE]
        return CheckedTrial(trial.candidate, blob, task_indices * repeats, tuple(trial.parents), note)

    def _check_task_index(self, task: object) -> int:
        task_index = _integer(task, "a task index", "invalid_env_instance")
        if not 0 <= task_index < self.train_cases:
            raise MalformedError(
                "invalid_env_instance", f"train task {task_index} does not exist; expected 0 to {self.train_cases - 1}"
            )
        return task_index


def request_digest(checked: Sequence[CheckedTrial]) -> str:
    """Return a digest over a request's candidates and tasks, which determine its answer; parents and notes do not."""
    return digest_json([[trial.candidate.digest, list(trial.tasks)] for trial in checked])


def category_of(error: SessionError) -> str:
    """Return EvoPolicyGym's name for a rejection: the status reported to an agent."""
    if isinstance(error, MalformedError):
        return error.category
    return "budget_invalid" if isinstance(error, BudgetError) else "run_closed"


def admission_lines(
    log: SessionLog,
    checked: Sequence[CheckedTrial],
    key: str,
    request: tuple[str, Sequence[int]],
    left: int | None,
    at_s: float,
) -> list[Line]:
    """Return the journal lines of an admitted request, and update the lineage in the log.

    Args:
        log: the state of the session so far.
        checked: the trials.
        key: the request's key.
        request: its digest and its submission numbers.
        left: episodes left before it (None without a limit).
        at_s: reading of the run's clock, in seconds.
    """
    lines: list[Line] = []
    digest_of_request, ids = request
    for position, (submit_id, trial) in enumerate(zip(ids, checked, strict=True)):
        digest = trial.candidate.digest
        lineage = (trial.parents, trial.note)
        if log.lineage.get(digest) != lineage:
            log.lineage[digest] = lineage
            parents = list(trial.parents)
            made: CandidateMade = {"digest": digest, "blob": trial.blob.digest, "parents": parents, "note": trial.note}
            lines.append(CANDIDATE.line(made))
        left = None if left is None else left - len(trial.tasks)
        data: SubmissionAdmitted = {
            "submit_id": submit_id,
            "key": key,
            "request": digest_of_request,
            "position": [position, len(checked)],
            "candidate": digest,
            "tasks": list(trial.tasks),
            "charge": len(trial.tasks),
            "remaining": left,
            "at_s": at_s,
        }
        lines.append(SUBMISSION_ADMITTED.line(data))
    return lines


def _integer(value: object, what: str, category: str = "invalid_request") -> int:
    try:
        if isinstance(value, bool):
            raise TypeError("a truth value")
        return operator.index(value)  # pyright: ignore[reportArgumentType]
    except TypeError as error:
        raise MalformedError(category, f"{what} is {value!r}; expected an integer") from error
