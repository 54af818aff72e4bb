"""Admission: what a request must look like before it may cost anything."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass

from heredity.errors import BudgetError, RejectedError, SessionError
from heredity.evolution import Trial
from heredity.ids import digest_json
from heredity.judging.attempts import encodable
from heredity.judging.session_log import SessionLog
from heredity.records import Blob
from heredity.records.events import CANDIDATE, SUBMISSION_ADMITTED, CandidateMade, SubmissionAdmitted
from heredity.records.journal import Line
from heredity.resources import Candidate

MAX_KEY = 200
MAX_NOTE = 1000
MAX_TRIALS = 1000


class MalformedError(RejectedError):
    """A malformed request, with the category under which it is journalled: EvoPolicyGym's name for it."""

    def __init__(self, category: str, message: str) -> None:
        self.category = category
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Order:
    """One checked trial: what it costs and what it needs.

    Attributes:
        candidate: what is attempted.
        blob: the encoded candidate.
        tasks: train handles, one for each episode, repeats written out.
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
    """What one trial may ask for: `least` to `most` episodes on handles below `handles`."""

    least: int
    most: int
    handles: int

    def check(self, trials: Sequence[Trial], key: str) -> tuple[Order, ...]:
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

    def _check_trial(self, trial: Trial) -> Order:
        repeats = _integer(trial.repeats, "repeats")
        if repeats < 1:
            raise MalformedError("invalid_request", f"repeats is {repeats}; expected 1 or more")
        episodes = len(trial.tasks) * repeats
        if not self.least <= episodes <= self.most:
            raise MalformedError(
                "budget_invalid", f"a submission asks for {episodes} episodes; expected {self.least} to {self.most}"
            )
        handles = tuple(self._check_handle(task) for task in trial.tasks)
        blob = Blob.of(trial.candidate.to_bytes())
        note = encodable(" ".join(trial.note.split()))[:MAX_NOTE]
        return Order(trial.candidate, blob, handles * repeats, tuple(trial.parents), note)

    def _check_handle(self, task: object) -> int:
        handle = _integer(task, "a task's handle", "invalid_env_instance")
        if not 0 <= handle < self.handles:
            raise MalformedError(
                "invalid_env_instance", f"there is no train task {handle}; expected 0 to {self.handles - 1}"
            )
        return handle


def request_digest(orders: Sequence[Order]) -> str:
    """Return the digest of what determines a request's answer: candidates and tasks, not parents or notes."""
    return digest_json([[order.candidate.digest, list(order.tasks)] for order in orders])


def category_of(error: SessionError) -> str:
    """Return EvoPolicyGym's name for a refusal: the status that an agent is told."""
    if isinstance(error, MalformedError):
        return error.category
    return "budget_invalid" if isinstance(error, BudgetError) else "run_closed"


def admission_lines(
    log: SessionLog,
    orders: Sequence[Order],
    key: str,
    request: tuple[str, Sequence[int]],
    left: int | None,
    at_s: float,
) -> list[Line]:
    """Return what is journalled when a request is admitted, and note in the log what it says of lineage.

    Args:
        log: what the journal says so far.
        orders: the checked trials.
        key: the request's key.
        request: its digest, and the numbers of its submissions.
        left: episodes that were left before it; None without a limit.
        at_s: what the run's clock shows.
    """
    lines: list[Line] = []
    digest_of_request, ids = request
    for position, (submit_id, order) in enumerate(zip(ids, orders, strict=True)):
        digest = order.candidate.digest
        lineage = (order.parents, order.note)
        if log.lineage.get(digest) != lineage:
            log.lineage[digest] = lineage
            parents = list(order.parents)
            made: CandidateMade = {"digest": digest, "blob": order.blob.digest, "parents": parents, "note": order.note}
            lines.append(CANDIDATE.line(made))
        left = None if left is None else left - len(order.tasks)
        data: SubmissionAdmitted = {
            "submit_id": submit_id,
            "key": key,
            "request": digest_of_request,
            "position": [position, len(orders)],
            "candidate": digest,
            "tasks": list(order.tasks),
            "charge": len(order.tasks),
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
