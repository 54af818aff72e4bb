"""Grading without a checkpoint: a function stands where the model would."""

from __future__ import annotations

from collections.abc import Callable

from heredity.engine.kind import Opening
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.kinds.checkpoint.kind import inner_runner
from heredity.kinds.checkpoint.tasks import PostTrainingTask, PostTrainingTaskset, inner_of
from heredity.models import Reply, Request, Usage
from heredity.sandbox.limits import Limits
from heredity.tasks import Task


class Says:
    """A language model that is a function of the last message."""

    name = "test/says"

    def __init__(self, say: Callable[[str], str]) -> None:
        self.say = say

    async def reply(self, request: Request) -> Reply:
        return Reply(self.say(request.messages[-1].content), usage=Usage(1, 1, 0, 0.0))


async def graded(
    task: PostTrainingTask, tasks: tuple[Task, ...], say: Callable[[str], str], *, repeats: int = 1
) -> list[Trajectory]:
    """Grade a function on tasks, and return the trajectories in their order."""
    (inner,) = inner_of(PostTrainingTaskset(task).info).values()
    jobs = [Job(inner.info, inner.solver, case) for case in tasks for _ in range(repeats)]
    async with SandboxedPrograms(2) as programs:
        runner = inner_runner(inner.info.kind, Opening(inner.solving, model=Says(say), programs=programs))
        trajectories = {position: trajectory async for position, trajectory in runner.run(jobs, Limits())}
        await runner.close()
    return [trajectories[i] for i in range(len(jobs))]
