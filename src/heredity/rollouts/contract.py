"""The engine's contract: jobs in, trajectories out. It knows nothing of budgets or methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from heredity.resources import Candidate
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.limits import Limits
from heredity.tasks import Task, TasksetInfo


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt to make: a candidate on a task.

    Attributes:
        taskset: where the task belongs; its `kind` names the runner.
        candidate: what attempts it.
        task: what is attempted.
        episode_index: what the policy's `reset` is told: the rollout's place in its submission, from 0.
        policy_seed: seeds the candidate's own generators; never derived from the task's secret seed.
        options: how to record it: `{"frames": 10}` keeps every tenth frame, `{"video": true}` all of them.
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
