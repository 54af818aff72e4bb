"""The session's contract as an evolver sees it, and the method protocol.

An evolver learns only through a session. Everything it learns about a candidate is in `Feedback`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from heredity.engine.trajectory import Failure, Trajectory
from heredity.models import Model
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.tasks import TasksetInfo


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate on some train tasks.

    Attributes:
        candidate: the candidate to roll out.
        tasks: train task indices in order; repeats are allowed and each entry costs one episode.
        repeats: number of passes over the whole list.
        parents: digests of the candidates this one was made from, for the lineage.
        note: purpose of the edit, one line for people.
    """

    candidate: Candidate
    tasks: Sequence[int]
    repeats: int = 1
    parents: Sequence[str] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One rollout as the evolver sees it.

    Attributes:
        task: the train task index.
        score: the return; for a failed rollout, at most the taskset's `failure_return`.
        length: steps taken.
        status: `"ok"`, or a failure category such as `"act_error"`, `"rollout_timeout"`, `"oom"`, `"missing"`.
        failure: category, message, traceback and step of the failure; None when ok.
        trajectory: the full record; None if it was not kept or belongs to an earlier process (`load` then finds it).
    """

    task: int
    score: float
    length: int
    status: str = Status.OK
    failure: Failure | None = None
    trajectory: Trajectory | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """The evolver's view of one trial.

    Attributes:
        submit_id: number of the submission in the run, from 1.
        candidate: digest of the candidate.
        status: `"ok"` or the category of the failure that ended the submission as a whole (EvoPolicyGym's names).
        outcomes: one per requested episode, in the order of the request.
        failure: the failure when `status` is not ok.
    """

    submit_id: int
    candidate: str
    status: str
    outcomes: tuple[Outcome, ...]
    failure: Failure | None = None

    @property
    def scores(self) -> np.ndarray:
        """Scores of the outcomes, shape (episodes,), higher is better; missing rollouts are NaN."""
        return np.array([o.score for o in self.outcomes], dtype=np.float64)

    @property
    def mean(self) -> float:
        """Mean score over the rollouts that are not missing; NaN if there are none."""
        scores = self.scores[~np.isnan(self.scores)]
        return float(scores.mean()) if scores.size else float("nan")


@dataclass(frozen=True, slots=True)
class Budget:
    """Remaining budgets; None means unbounded."""

    episodes: int | None = None
    submissions: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None

    @property
    def exhausted(self) -> bool:
        """True if any bounded budget is exhausted."""
        amounts = (self.episodes, self.submissions, self.tokens, self.cost_usd, self.seconds)
        return any(a is not None and a <= 0 for a in amounts)


@dataclass(frozen=True, slots=True)
class Decision:
    """A commit, or the refusal of one, with its evidence (Autogenesis, section 3.2: accept or roll back).

    Attributes:
        candidate: digest of the candidate that was considered.
        baseline: digest of the committed candidate it was compared with; `""` for the first.
        accepted: whether the candidate is now the committed one.
        reason: one line for people.
        submissions: numbers of the submissions used as evidence.
        difference: mean of the paired differences, candidate minus baseline; None without a comparison.
        interval: 95% confidence interval of the difference; None if it cannot be computed.
        pairs: number of tasks compared.
        tolerance: largest allowed drop of the objective.
    """

    candidate: str
    baseline: str
    accepted: bool
    reason: str
    submissions: tuple[int, ...] = ()
    difference: float | None = None
    interval: tuple[float, float] | None = None
    pairs: int = 0
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of train tasks in a schedule (SEAGym, section 3.2).

    Attributes:
        number: number of the batch in the run, from 1.
        epoch: number of the pass over the train tasks, from 1.
        tasks: train task indices. Only these can be attempted until the next batch begins.
        updates: number of updates a method may make on the batch.
        reset: whether to discard earlier learning: the batch then begins from the initial candidate.
    """

    number: int
    epoch: int
    tasks: tuple[int, ...]
    updates: int = 1
    reset: bool = False


class SessionContract(Protocol):
    """The session: an evolver's only source of evidence."""

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        """Roll out trials and return their feedback in the order of the request.

        Admission is atomic: the whole request is charged, or none of it. The same `key` always returns the same answer
        and is charged once, so retrying after a lost reply is free.

        Raises:
            RejectedError: if the request is malformed; nothing is charged.
            BudgetError: if the budget does not cover it; nothing is charged.
            ClosedError: if the session is closed.
        """
        ...

    def remaining(self) -> Budget:
        """Return the remaining budget."""
        ...

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        """Record a decision; a run by commits ends with the last accepted candidate.

        The same decision at the same point of the run is recorded once, so a resumed method may repeat it.

        Args:
            decision: the method's decision.
            candidate: the candidate itself, if it was never submitted.

        Returns:
            The recorded decision. With a contract gate in the protocol, an accepted decision may come back refused.

        Raises:
            RejectedError: if the candidate was never submitted and is not given.
            ReplayDivergedError: if a resumed method's decision differs from its journal.
        """
        ...

    def batches(self) -> AsyncIterator[Batch]:
        """Yield the batches of the run's schedule; starting a batch freezes the committed candidate.

        Raises:
            ConfigError: if the run has no schedule.
            RejectedError: if the next batch is started while submissions are in flight.
            ClosedError: if the session is closed.
        """
        ...


@dataclass(frozen=True, slots=True)
class EvolverContext:
    """Input of a method when it starts.

    Attributes:
        taskset: the public description of the tasks.
        initial: the candidate it starts from.
        seed: the run's seed; all random draws come from `heredity._core.ids.generator(seed, "method", name, …)`.
        train_tasks: number of train task indices (0 .. train_tasks - 1).
        options: the method's own options, from the configuration.
        model: the language model that proposes edits (`[gateway] optimisation`); None if none is configured. Its
            replies are recorded and replayed to a resumed method.
        scheduled: whether the run has a schedule. Train tasks then come only from `SessionContract.batches`.
    """

    taskset: TasksetInfo
    initial: Candidate
    seed: int
    train_tasks: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    model: Model | None = None
    scheduled: bool = False


class Method(Protocol):
    """An in-process evolver: proposes candidates and learns from feedback until the budget is exhausted.

    A method must be deterministic given its context and feedback: resuming runs it again, with earlier submissions
    answered from the journal. It draws randomness only from named seed sequences and derives the key of each submission
    from nothing else.
    """

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Spend the session's budget."""
        ...
