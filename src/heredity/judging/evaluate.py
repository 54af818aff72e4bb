"""Evaluating a submission: its episodes attempted, scored, and put into the form in which they are recorded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from heredity.errors import ConfigError
from heredity.judging.rollouts import (
    Rollouts,
    invalid_steps,
    outcomes_of,
    restarts_of,
    submission_status,
    total_usage,
)
from heredity.judging.session_log import Submission, outcome_to_json
from heredity.records import Blob
from heredity.records.events import SubmissionCompleted
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.rollouts.kind import KINDS
from heredity.rollouts.trajectory import Trajectory, encode_many
from heredity.tasks import Task, TasksetInfo


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came of one submission.

    Attributes:
        trajectories: in the order of the request; empty if nothing could be attempted.
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
            rollouts: attempts and retries jobs.
            taskset: what the tasks belong to.
            tasks: the train tasks; the index of each is its position.
            seed: the run's seed.

        Raises:
            ConfigError: if the index of a task is not its position.
        """
        if [t.index for t in tasks] != list(range(len(tasks))):
            raise ConfigError("the train tasks of a session are to be the first ones of their split, in order")
        self.tasks = tuple(tasks)
        self._rollouts = rollouts
        self._taskset = taskset
        self._seed = seed
        self._usage = KINDS.load(taskset.kind).usage

    async def evaluate(self, submission: Submission, candidate: Candidate) -> Evaluation:
        """Attempt every episode of a submission."""
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
