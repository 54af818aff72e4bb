"""Rollouts: jobs put to a runner, retried when it was not the candidate's fault, and scored."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from heredity.errors import HostError, IsolationError, OutageError, ProviderError
from heredity.evolution import Outcome
from heredity.gateway import Usage
from heredity.gateway.contract import NOTHING_USED
from heredity.ids import seed_sequence
from heredity.records.events import Compared
from heredity.resources import Candidate
from heredity.results.status import PROGRAM_FAILURES, Status
from heredity.rollouts.contract import Job, Runner
from heredity.rollouts.kind import KINDS
from heredity.rollouts.streams import closing
from heredity.rollouts.trajectory import Failure, Trajectory
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo

_OF_SUBMISSIONS = (PROGRAM_FAILURES | {Status.MODEL_ERROR}) - {Status.ACT_ERROR}
"""Failures that, when they end every episode of a submission, are the submission's own status (EvoPolicyGym)."""

_WON = {"a": 1.0, "tie": 0.5, "b": 0.0}
Comparison = tuple[float, int, int]
"""1 for an answer preferred to its reference, 0.5 for a tie, 0 for a loss; its length and the reference's, in characters."""


@dataclass(frozen=True, slots=True)
class Rollouts:
    """Attempts jobs under one set of limits.

    Attributes:
        runner: what attempts them.
        limits: what each rollout may use.
        retries: how often a rollout is repeated that failed through no fault of the candidate.
    """

    runner: Runner
    limits: Limits
    retries: int = 2

    async def attempt(self, jobs: Sequence[Job], ended: Callable[[int, Trajectory], None]) -> None:
        """Attempt jobs and report each one's final trajectory, once, as it ends.

        Args:
            jobs: what to attempt.
            ended: called with the position of a job and its trajectory, in any order.

        Raises:
            HostError: if the runner ends without a trajectory for every job.
            OutageError: if a provider answers no request, or no rollout could be made: that says nothing of the candidates.
            IsolationError: if this machine keeps failing to confine policies: nothing would be learned by going on.
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
        """Attempt jobs and return their trajectories in the order of the jobs.

        Raises:
            HostError: as `attempt`.
        """
        trajectories: dict[int, Trajectory] = {}
        await self.attempt(jobs, trajectories.__setitem__)
        return [trajectories[position] for position in range(len(jobs))]

    async def tasks(
        self, taskset: TasksetInfo, tasks: Sequence[Task], candidate: Candidate, seed: int
    ) -> list[Trajectory]:
        """Attempt tasks with one candidate, in order; none if the kind of the tasks refuses it.

        Args:
            taskset: what the tasks belong to.
            tasks: what to attempt.
            candidate: with what.
            seed: seeds the candidate's own generators (see `policy_seed`).

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
    """Raise OutageError if nothing would be learned by going on; see `Rollouts.attempt`."""
    errors = [t.failure.error for t in missing if t.failure is not None and t.failure.error is not None]
    providers = [error for error in errors if isinstance(error, ProviderError)]
    out = next((e for e in providers if e.unreachable and (last or not e.transient)), None)
    if out is not None:
        raise OutageError(str(out)) from out
    failing = [error for error in errors if not isinstance(error, ProviderError) or error.outage]
    if last and len(failing) == jobs > 1:
        raise OutageError(f"none of {jobs} rollouts could be made: {failing[-1]}") from failing[-1]


@asynccontextmanager
async def _trajectories(
    runner: Runner, jobs: Sequence[Job], limits: Limits
) -> AsyncGenerator[AsyncIterator[tuple[int, Trajectory]], None]:
    """Run jobs; end the runner's work at once when the rollout is given up, and check that every job was answered."""
    source = runner.run(jobs, limits)
    seen: set[int] = set()

    async def counted() -> AsyncIterator[tuple[int, Trajectory]]:
        async for position, trajectory in source:
            seen.add(position)
            yield position, trajectory

    async with closing(source):
        yield counted()
    if len(seen) != len(jobs):
        raise HostError(
            f"the runner answered {len(seen)} of {len(jobs)} rollouts; resume the run to attempt them again"
        )


def outcome_of(task: Task, trajectory: Trajectory, failure_return: float) -> Outcome:
    """Score one rollout.

    The candidate's own failure counts as what it had collected or `failure_return`, whichever is lower. A return that
    is not a finite number counts as `failure_return`, since a candidate could otherwise erase its bad episodes. An
    attempt that failed through no fault of the candidate is missing: its score is NaN, never a zero.
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
    """Score what `Rollouts.tasks` gave; every task counts as failed by a candidate that it was not attempted with."""
    floor, failure = taskset.failure_return, KINDS.load(taskset.kind).candidates.refusal(candidate)
    if failure is not None:
        return [Outcome(task.index, floor, 0, failure.category, failure) for task in tasks]
    return [outcome_of(task, trajectory, floor) for task, trajectory in zip(tasks, trajectories, strict=True)]


def submission_status(outcomes: Sequence[Outcome]) -> str:
    """Return "ok", or the program failure that ended every one of the episodes."""
    statuses = {o.status for o in outcomes}
    if len(statuses) == 1 and statuses <= _OF_SUBMISSIONS:
        return statuses.pop()
    return Status.OK


def policy_seed(run_seed: int, task: Task) -> int:
    """Return what seeds a candidate's own generators on a task: public, and unrelated to the task's secret seed."""
    path = ("policy", task.index) if task.split == "train" else ("policy", task.split, task.index)
    return int(seed_sequence(run_seed, *path).generate_state(1)[0])


def invalid_steps(trajectory: Trajectory) -> int:
    """Return how many actions had to be repaired, from the flag `invalid_action` that the engine leaves in `info`."""
    flags = trajectory.columns.get("info/invalid_action")
    return 0 if flags is None else sum(bool(flag) for flag in flags)


def comparison_of(trajectory: Trajectory) -> Comparison | None:
    """Return what a judge found of an answer, from the `info` that a runner leaves; None if it was not compared, or is missing.

    A rollout without an answer is lost, at equal length: length has nothing to do with it.
    """
    columns = trajectory.columns
    if "info/winner" not in columns or trajectory.failure_source.excused:
        return None
    winner, length, reference = (
        list(columns[f"info/{name}"])[-1:] for name in ("winner", "length", "reference_length")
    )
    return (_WON[winner[0]], int(length[0]), int(reference[0])) if any(winner) else (0.0, 0, 0)


def listed_comparisons(comparisons: Sequence[Comparison | None]) -> Compared:
    """Return the key `comparisons` of a journal's event; nothing where answers are not compared."""
    return {"comparisons": [comparison and list(comparison) for comparison in comparisons]} if comparisons else {}


def comparisons_of(data: Mapping[str, Any]) -> tuple[Comparison | None, ...]:
    """Read what `listed_comparisons` gave."""
    return tuple(
        triple and (float(triple[0]), int(triple[1]), int(triple[2])) for triple in data.get("comparisons") or ()
    )


def restarts_of(taskset: TasksetInfo, trajectories: Iterable[Trajectory]) -> list[str]:
    """Return why something that rollouts share died and was started anew, each reason once (see `Kind.restarts`)."""
    restarts = KINDS.load(taskset.kind).restarts
    return list(dict.fromkeys(encodable(reason) for t in trajectories for reason in restarts(t)))


def total_usage(used: Sequence[Usage | None]) -> Usage | None:
    """Add up what rollouts used; None if they make no model calls."""
    present = [usage for usage in used if usage is not None]
    return sum(present, NOTHING_USED) if present else None


def plain_text(trajectory: Trajectory) -> Trajectory:
    """Return the trajectory with text that can be encoded: a program may print or raise lone surrogates."""
    failure = trajectory.failure
    if failure is not None:
        failure = replace(failure, message=encodable(failure.message), traceback=encodable(failure.traceback))
    return replace(
        trajectory, stdout=encodable(trajectory.stdout), stderr=encodable(trajectory.stderr), failure=failure
    )


def encodable(text: str) -> str:
    """Return `text` with what UTF-8 cannot encode replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
