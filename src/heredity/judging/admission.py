"""Admission: what a request must look like before it may cost anything."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from heredity.errors import BudgetError, RejectedError, SessionError
from heredity.evolution import Trial
from heredity.ids import digest_json
from heredity.judging.rollouts import encodable
from heredity.judging.session_log import SessionLog
from heredity.records import Blob
from heredity.records.events import CANDIDATE, SUBMISSION_ADMITTED, CandidateMade, SubmissionAdmitted
from heredity.records.journal import Line
from heredity.resources import Candidate

MAX_KEY = 200
MAX_NOTE = 1000
MAX_TRIALS = 1000


class MalformedError(RejectedError):
    """A malformed request, with the category under which it is recorded: EvoPolicyGym's name for it."""

    def __init__(self, category: str, message: str) -> None:
        self.category = category
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class CheckedTrial:
    """One checked trial: what it costs and what it needs.

    Attributes:
        candidate: what is attempted.
        blob: the encoded candidate.
        tasks: train task indices, one for each episode, repeats written out.
        parents: digests of the candidates it was made from.
        note: one line for people.
    """

    candidate: Candidate
    blob: Blob
    tasks: tuple[int, ...]
    parents: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True)
class EpisodeRange:
    """What one trial may ask for: `least` to `most` episodes on tasks with indices below `train_cases`."""

    least: int
    most: int
    train_cases: int

    def check(self, trials: Sequence[Trial], key: str) -> tuple[CheckedTrial, ...]:
        """Check a request.

        Raises:
            MalformedError: if it is malformed; the message says where and what was expected.
        """
        if not key or len(key) > MAX_KEY or not key.isprintable():
            raise MalformedError(
                "invalid_request", f"the key has {len(key)} characters; expected 1 to {MAX_KEY} printable ones"
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
                "budget_invalid", f"a submission asks for {episodes} episodes; expected {self.least} to {self.most}"
            )
        task_indices = tuple(self._check_task_index(task) for task in trial.tasks)
        blob = Blob.of(trial.candidate.to_bytes())
        note = encodable(" ".join(trial.note.split()))[:MAX_NOTE]
        return CheckedTrial(trial.candidate, blob, task_indices * repeats, tuple(trial.parents), note)

    def _check_task_index(self, task: object) -> int:
        task_index = _integer(task, "a task index", "invalid_env_instance")
        if not 0 <= task_index < self.train_cases:
            raise MalformedError(
                "invalid_env_instance", f"there is no train task {task_index}; expected 0 to {self.train_cases - 1}"
            )
        return task_index


def request_digest(checked: Sequence[CheckedTrial]) -> str:
    """Return the digest of what determines a request's answer: candidates and tasks, not parents or notes."""
    return digest_json([[trial.candidate.digest, list(trial.tasks)] for trial in checked])


def category_of(error: SessionError) -> str:
    """Return EvoPolicyGym's name for a refusal: the status that an agent is told."""
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
    """Return what is recorded when a request is admitted, and note in the log what it says of lineage.

    Args:
        log: what the journal says so far.
        checked: the trials.
        key: the request's key.
        request: its digest, and the numbers of its submissions.
        left: episodes that were left before it; None without a limit.
        at_s: what the run's clock shows.
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
