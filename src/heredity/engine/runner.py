"""The engine's contract: jobs in, trajectories out. It is unaware of budgets and methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from heredity.engine.trajectory import Trajectory
from heredity.resources import Candidate
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt to make: a candidate on a task.

    Attributes:
        taskset: the task's taskset; its `kind` names the runner.
        candidate: the candidate.
        task: the task.
        episode_index: passed to the policy's `reset`: the rollout's position in its submission, from 0.
        policy_seed: seeds the candidate's own generators; never derived from the task's secret seed.
        options: recording options: `{"frames": 10}` keeps every tenth frame, `{"video": true}` all of them.
    """

    taskset: TasksetInfo
    candidate: Candidate
    task: Task
    episode_index: int = 0
    policy_seed: int = 0
    options: Mapping[str, Any] | None = None


class Runner(Protocol):
    """Attempts the tasks of one kind."""

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position in `jobs`, trajectory) as each one ends."""
        ...

    async def close(self) -> None:
        """End every process the runner started."""
        ...
