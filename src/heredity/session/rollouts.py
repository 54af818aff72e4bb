"""Rollouts: runs jobs, retries those that failed through no fault of the candidate, and scores them."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from heredity._core.errors import ConfigError, HostError, IsolationError, OutageError, ProviderError
from heredity._core.ids import seed_sequence
from heredity.engine.kind import KINDS
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import closing
from heredity.engine.trajectory import Failure, Trajectory, encode_many
from heredity.methods import Outcome
from heredity.models import Usage
from heredity.models.contract import NOTHING_USED
from heredity.records import Blob
from heredity.records.events import Compared, SubmissionCompleted
from heredity.resources import Candidate
from heredity.results.status import PROGRAM_FAILURES, Status
from heredity.sandbox.limits import Limits
from heredity.session.session_log import Submission, outcome_to_json
from heredity.tasks import Task, TasksetInfo

T = TypeVar("T")


async def gather(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Await all of `work`; if one fails or the caller is cancelled, cancel the others before returning."""
    tasks = [asyncio.create_task(w) for w in work]
    if not tasks:
        return []
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of one submission.

    Attributes:
        trajectories: in the order of the request; empty if the candidate was refused.
        blob: the encoded trajectories, if there are any.
        data: the data of the journal's `submission.completed`.
    """

    trajectories: list[Trajectory]
    blob: Blob | None
    data: SubmissionCompleted


class Evaluator:
    """Rollouts submissions on the train tasks of a run."""

    def __init__(self, rollouts: Rollouts, taskset: TasksetInfo, tasks: Sequence[Task], seed: int) -> None:
        """Check the tasks.

        Args:
            rollouts: runs and retries jobs.
            taskset: the taskset of the tasks.
            tasks: the train tasks (the index of each is its position).
            seed: the run's seed.

        Raises:
            ConfigError: if the index of a task is not its position.
        """
        if [t.index for t in tasks] != list(range(len(tasks))):
            raise ConfigError("the train tasks of a session must be the first tasks of their split, in order")
        self.tasks = tuple(tasks)
        self._rollouts = rollouts
        self._taskset = taskset
        self._seed = seed
        self._usage = KINDS.load(taskset.kind).usage

    async def evaluate(self, submission: Submission, candidate: Candidate) -> Evaluation:
        """Run every episode of a submission."""
        started = time.monotonic()
        tasks = [self.tasks[task_index] for task_index in submission.tasks]
        trajectories = await self._rollouts.tasks(self._taskset, tasks, candidate, self._seed)
        outcomes = outcomes_of(self._taskset, tasks, candidate, trajectories)
        blob = await asyncio.to_thread(_blob_of, trajectories) if trajectories else None
        status = submission_status(outcomes)
        failure = outcomes[0].failure if status != Status.OK else None
        data: SubmissionCompleted = {
            "submit_id": submission.submit_id,
            "key": submission.key,
            "candidate": submission.candidate,
            "status": status,
            "failure": failure.to_json() if failure else None,
            "outcomes": [outcome_to_json(o) for o in outcomes],
            "blob": blob.digest if blob else None,
            "seconds": round(time.monotonic() - started, 6),
            "invalid_steps": [invalid_steps(o.trajectory) if o.trajectory else 0 for o in outcomes],
        }
        usage = total_usage([self._usage(t) for t in trajectories])
        if usage is not None:
            data["costs"] = [dict(t.cost) for t in trajectories]
            data["rollout_seconds"] = [round(t.seconds, 6) for t in trajectories]
        if restarts := restarts_of(self._taskset, trajectories):
            data["restarts"] = restarts
        if usage is not None:
            data["usage"] = usage.to_json()
        return Evaluation(trajectories, blob, data)


def _blob_of(trajectories: Sequence[Trajectory]) -> Blob:
    return Blob.of(encode_many(trajectories))


_OF_SUBMISSIONS = (PROGRAM_FAILURES | {Status.MODEL_ERROR}) - {Status.ACT_ERROR}
"""Failures that, when they end every episode of a submission, are the submission's own status (EvoPolicyGym)."""

_WON = {"a": 1.0, "tie": 0.5, "b": 0.0}
Comparison = tuple[float, int, int]
"""1 for an answer preferred to its reference, 0.5 for a tie, 0 for a loss; its length and the reference's, in characters."""


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Runs jobs under one set of limits.

    Attributes:
        runner: runs the jobs.
        limits: limits of each rollout.
        retries: retries of a rollout that failed through no fault of the candidate.
    """

    runner: Runner
    limits: Limits
    retries: int = 2

    async def attempt(self, jobs: Sequence[Job], ended: Callable[[int, Trajectory], None]) -> None:
        """Run jobs and report the final trajectory of each, once, as it ends.

        Args:
            jobs: the jobs to run.
            ended: called with the position of a job and its trajectory, in any order.

        Raises:
            HostError: if the runner ends without a trajectory for every job.
            OutageError: if a provider answers no request, or every rollout fails: this says nothing about the candidates.
            IsolationError: if this machine keeps failing to confine policies: continuing would be pointless.
        """
        positions = list(range(len(jobs)))
        missing: dict[int, Trajectory] = {}
        for round_number in range(self.retries + 1):
            missing.clear()
            async with _trajectories(self.runner, [jobs[p] for p in positions], self.limits) as trajectories:
                async for local, trajectory in trajectories:
                    if trajectory.status == Status.ISOLATION_ERROR and round_number == self.retries:
                        reason = trajectory.failure.message if trajectory.failure else "no reason given"
                        raise IsolationError(f"{reason}; see `heredity doctor`, then resume the run")
                    if trajectory.failure_source.excused:
                        missing[positions[local]] = trajectory
                    else:
                        ended(positions[local], trajectory)
            last = round_number == self.retries or not missing
            _check_outage(list(missing.values()), len(jobs), last=last)
            if last:
                break
            positions = sorted(missing)
        for position, trajectory in missing.items():
            ended(position, trajectory)

    async def all(self, jobs: Sequence[Job]) -> list[Trajectory]:
        """Run jobs and return their trajectories in the order of the jobs.

        Raises:
            HostError: as `attempt`.
        """
        trajectories: dict[int, Trajectory] = {}
        await self.attempt(jobs, trajectories.__setitem__)
        return [trajectories[position] for position in range(len(jobs))]

    async def tasks(
        self, taskset: TasksetInfo, tasks: Sequence[Task], candidate: Candidate, seed: int
    ) -> list[Trajectory]:
        """Run one candidate on tasks (in order); return nothing if the kind of the tasks refuses the candidate.

        Args:
            taskset: the taskset of the tasks.
            tasks: the tasks to run.
            candidate: the candidate to run on them.
            seed: seeds the candidate's random generators (see `policy_seed`).

        Raises:
            HostError: as `attempt`.
        """
        if KINDS.load(taskset.kind).candidates.refusal(candidate) is not None:
            return []
        jobs = [
            Job(taskset, candidate, task, episode_index=index, policy_seed=policy_seed(seed, task))
            for index, task in enumerate(tasks)
        ]
        return [plain_text(trajectory) for trajectory in await self.all(jobs)]


def _check_outage(missing: Sequence[Trajectory], jobs: int, *, last: bool) -> None:
    """Raise OutageError if continuing would be pointless; see `Rollouts.attempt`."""
    errors = [t.failure.error for t in missing if t.failure is not None and t.failure.error is not None]
    providers = [error for error in errors if isinstance(error, ProviderError)]
    out = next((e for e in providers if e.unreachable and (last or not e.transient)), None)
    if out is not None:
        raise OutageError(str(out)) from out
    failing = [error for error in errors if not isinstance(error, ProviderError) or error.outage]
    if last and len(failing) == jobs > 1:
        raise OutageError(f"all {jobs} rollouts failed: {failing[-1]}") from failing[-1]


@asynccontextmanager
async def _trajectories(
    runner: Runner, jobs: Sequence[Job], limits: Limits
) -> AsyncGenerator[AsyncIterator[tuple[int, Trajectory]], None]:
    """Run jobs, stop the runner at once if the caller gives up, and check that every job was answered."""
    source = runner.run(jobs, limits)
    seen: set[int] = set()

    async def counted() -> AsyncIterator[tuple[int, Trajectory]]:
        async for position, trajectory in source:
            seen.add(position)
            yield position, trajectory

    async with closing(source):
        yield counted()
    if len(seen) != len(jobs):
        raise HostError(f"the runner answered {len(seen)} of {len(jobs)} rollouts; resume the run to repeat them")


def outcome_of(task: Task, trajectory: Trajectory, failure_return: float) -> Outcome:
    """Score one rollout.

    A failure of the candidate counts as the lower of its return so far and `failure_return`. A return that is not a
    finite number counts as `failure_return`: a candidate could otherwise erase its bad episodes. A rollout that failed
    through no fault of the candidate is missing: its score is NaN, never zero.
    """
    status, failure, score = trajectory.status, trajectory.failure, trajectory.total_reward
    if trajectory.failure_source.excused:
        return Outcome(task.index, math.nan, trajectory.length, Status.MISSING, failure, trajectory)
    if not math.isfinite(score):
        failure = failure or Failure(Status.NON_FINITE_RETURN, f"the return is {score}; expected a finite number")
        status = failure.category
        score = failure_return
    elif status != Status.OK:
        score = min(score, failure_return)
    return Outcome(task.index, float(score), trajectory.length, status, failure, trajectory)


def outcomes_of(
    taskset: TasksetInfo, tasks: Sequence[Task], candidate: Candidate, trajectories: Sequence[Trajectory]
) -> list[Outcome]:
    """Score the trajectories of `Rollouts.tasks`; a refused candidate fails every task."""
    floor, failure = taskset.failure_return, KINDS.load(taskset.kind).candidates.refusal(candidate)
    if failure is not None:
        return [Outcome(task.index, floor, 0, failure.category, failure) for task in tasks]
    return [outcome_of(task, trajectory, floor) for task, trajectory in zip(tasks, trajectories, strict=True)]


def submission_status(outcomes: Sequence[Outcome]) -> str:
    """Return "ok", or the program failure that ended every episode."""
    statuses = {o.status for o in outcomes}
    if len(statuses) == 1 and statuses <= _OF_SUBMISSIONS:
        return statuses.pop()
    return Status.OK


def policy_seed(run_seed: int, task: Task) -> int:
    """Return the seed of a candidate's random generators on a task: public, and unrelated to the task's secret seed."""
    path = ("policy", task.index) if task.split == "train" else ("policy", task.split, task.index)
    return int(seed_sequence(run_seed, *path).generate_state(1)[0])


def invalid_steps(trajectory: Trajectory) -> int:
    """Return the number of repaired actions, from the flag `invalid_action` that the engine sets in `info`."""
    flags = trajectory.columns.get("info/invalid_action")
    return 0 if flags is None else sum(bool(flag) for flag in flags)


def comparison_of(trajectory: Trajectory) -> Comparison | None:
    """Return a judge's comparison of an answer, from the runner's `info`; None if it was not compared or is missing.

    A rollout without an answer counts as a loss at equal length, so that length plays no part.
    """
    columns = trajectory.columns
    if "info/winner" not in columns or trajectory.failure_source.excused:
        return None
    winner, length, reference = (
        list(columns[f"info/{name}"])[-1:] for name in ("winner", "length", "reference_length")
    )
    return (_WON[winner[0]], int(length[0]), int(reference[0])) if any(winner) else (0.0, 0, 0)


def listed_comparisons(comparisons: Sequence[Comparison | None]) -> Compared:
    """Return the key `comparisons` of a journal event; an empty mapping where answers are not compared."""
    return {"comparisons": [comparison and list(comparison) for comparison in comparisons]} if comparisons else {}


def comparisons_of(data: Mapping[str, Any]) -> tuple[Comparison | None, ...]:
    """Parse the output of `listed_comparisons`."""
    return tuple(
        triple and (float(triple[0]), int(triple[1]), int(triple[2])) for triple in data.get("comparisons") or ()
    )


def restarts_of(taskset: TasksetInfo, trajectories: Iterable[Trajectory]) -> list[str]:
    """Return the reasons why a resource shared by rollouts was restarted, each once (see `Kind.restarts`)."""
    restarts = KINDS.load(taskset.kind).restarts
    return list(dict.fromkeys(encodable(reason) for t in trajectories for reason in restarts(t)))


def total_usage(used: Sequence[Usage | None]) -> Usage | None:
    """Add up the usage of rollouts; None if they make no model calls."""
    present = [usage for usage in used if usage is not None]
    return sum(present, NOTHING_USED) if present else None


def plain_text(trajectory: Trajectory) -> Trajectory:
    """Return the trajectory with encodable text: a program may print or raise lone surrogates."""
    failure = trajectory.failure
    if failure is not None:
        failure = replace(failure, message=encodable(failure.message), traceback=encodable(failure.traceback))
    return replace(
        trajectory, stdout=encodable(trajectory.stdout), stderr=encodable(trajectory.stderr), failure=failure
    )


def encodable(text: str) -> str:
    """Return `text` with characters replaced that UTF-8 cannot encode."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
