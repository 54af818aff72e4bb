"""The session's contract as an evolver sees it, and what a method is.

An evolver may learn only through a session. Everything it is told about a candidate comes back as `Feedback`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from heredity.gateway import Model
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.rollouts.trajectory import Failure, Trajectory
from heredity.tasks import TasksetInfo


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate on some train tasks.

    Attributes:
        candidate: what is attempted.
        tasks: train task indices in order; repeats are allowed and each entry costs one episode.
        repeats: how often the whole list is attempted.
        parents: digests of the candidates this one was made from, for the lineage.
        note: one line for people: what the edit was for.
    """

    candidate: Candidate
    tasks: Sequence[int]
    repeats: int = 1
    parents: Sequence[str] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attempt as the evolver sees it.

    Attributes:
        task: the train task index.
        score: the return; for a failed rollout, at most the taskset's `failure_return`.
        length: steps taken.
        status: `"ok"`, or a failure category such as `"act_error"`, `"rollout_timeout"`, `"oom"`, `"missing"`.
        failure: category, message, traceback and step of what went wrong; None when ok.
        trajectory: the whole record; None when it was not kept or belongs to an earlier process (then `load` finds it).
    """

    task: int
    score: float
    length: int
    status: str = Status.OK
    failure: Failure | None = None
    trajectory: Trajectory | None = None


@dataclass(frozen=True, slots=True)
class Feedback:
    """What the evolver may see of one trial.

    Attributes:
        submit_id: counts submissions from 1 over the run.
        candidate: digest of the candidate.
        status: `"ok"` or the category of the failure that ended the submission as a whole (EvoPolicyGym's names).
        outcomes: one per requested episode, in the order of the request.
        failure: what went wrong when `status` is not ok.
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
    """What is left of each bounded supply; None means unbounded."""

    episodes: int | None = None
    submissions: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None

    @property
    def exhausted(self) -> bool:
        """Whether any bounded supply is used up."""
        amounts = (self.episodes, self.submissions, self.tokens, self.cost_usd, self.seconds)
        return any(a is not None and a <= 0 for a in amounts)


@dataclass(frozen=True, slots=True)
class Decision:
    """A commit, or the refusal of one, with its evidence (Autogenesis, section 3.2: accept or roll back).

    Attributes:
        candidate: digest of the candidate that was considered.
        baseline: digest of the committed one that it was compared with; `""` for the first.
        accepted: whether it is the committed one from now on.
        reason: one line for people.
        submissions: numbers of the submissions that are the evidence.
        difference: mean of the paired differences, candidate minus baseline; None without a comparison.
        interval: 95% confidence interval of the difference; None where it cannot be given.
        pairs: how many tasks were compared.
        tolerance: how much the objective was allowed to fall.
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
    """Train tasks that a schedule pushes (SEAGym, section 3.2).

    Attributes:
        number: counts batches from 1 over the run.
        epoch: counts passes over the train tasks from 1.
        tasks: train task indices; until the next batch begins, only these can be attempted.
        updates: how many updates a method may make on it.
        reset: whether what was learned before is to be forgotten: the batch begins from the initial candidate.
    """

    number: int
    epoch: int
    tasks: tuple[int, ...]
    updates: int = 1
    reset: bool = False


class SessionContract(Protocol):
    """The only door to evidence."""

    async def submit(self, trials: Sequence[Trial], key: str) -> list[Feedback]:
        """Attempt trials and return their feedback in the order of the request.

        Admission is atomic: the whole request is charged, or none of it. The same `key` always gives the same answer and
        is charged once, so a lost reply costs nothing.

        Raises:
            RejectedError: if the request is malformed; nothing is charged.
            BudgetError: if the budget does not cover it; nothing is charged.
            ClosedError: if the session is closed.
        """
        ...

    def remaining(self) -> Budget:
        """Return what is left of the budget."""
        ...

    async def commit(self, decision: Decision, candidate: Candidate | None = None) -> Decision:
        """Put a decision on record; the last accepted candidate is what a run by commits ends with.

        The same decision at the same place of the run is recorded once, so a resumed method may repeat it.

        Args:
            decision: what the method decided.
            candidate: the candidate itself, where it was never submitted.

        Returns:
            What is on record: where the protocol has a contract gate, an accepted decision may come back refused.

        Raises:
            RejectedError: if the candidate was never submitted and is not given.
            ReplayDivergedError: if a resumed method decides otherwise than its journal records.
        """
        ...

    def batches(self) -> AsyncIterator[Batch]:
        """Return the batches of the run's schedule, one after the other; beginning one freezes what is committed.

        Raises:
            ConfigError: if the run has no schedule.
            RejectedError: if the next batch is started while submissions are in flight.
            ClosedError: if the session is closed.
        """
        ...


@dataclass(frozen=True, slots=True)
class EvolverContext:
    """What a method is told when it starts.

    Attributes:
        taskset: the public description of the tasks.
        initial: the candidate it starts from.
        seed: the run's seed; all random draws come from `heredity.ids.generator(seed, "method", name, …)`.
        train_tasks: how many train task indices there are (0 .. train_tasks - 1).
        options: the method's own options, from the configuration.
        model: the language model that proposes edits (`[gateway] optimisation`); None if none is configured. Its replies
            are recorded, and a resumed method is given the same ones again.
        scheduled: whether the run has a schedule: train tasks then come from `SessionContract.batches` alone.
    """

    taskset: TasksetInfo
    initial: Candidate
    seed: int
    train_tasks: int
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    model: Model | None = None
    scheduled: bool = False


class Method(Protocol):
    """A built-in way to evolve: proposes candidates and learns from feedback until the budget is spent.

    A method must be deterministic in its context and the feedback it gets: it is resumed by running it again, its
    earlier submissions answered from the journal. It draws no randomness but from named seed sequences, and gives each
    submission a key that depends on nothing else.
    """

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Spend the session's budget."""
        ...
