"""Grading: a submitted checkpoint answers a task's questions as a language model, and the task's own runner scores it.

The runner of a post-training taskset (kind `"model"`). References stay on this side: the checkpoint's process sees prompts.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import numpy as np

from heredity.actors.contract import Solving
from heredity.errors import CandidateError, HostError, IsolationError
from heredity.gateway import Model
from heredity.posttraining.inference import Bounds, CheckpointModel, Inference, InferenceWorker, WarmSandbox
from heredity.posttraining.tasks.taskset import Inner, inner_of, part_of
from heredity.resources import Candidate
from heredity.results.status import FailureSource, Status
from heredity.rollouts.contract import Job, Runner
from heredity.rollouts.streams import closing
from heredity.rollouts.trajectory import Failure, Trajectory
from heredity.sandbox.limits import Limits


class GradingRunner:
    """Attempts the tasks of post-training tasksets with submitted checkpoints, one checkpoint at a time.

    Each checkpoint has a worker of its own, whose process ends with the grading. Greedy answers by transformers are exact: they
    do not depend on what else is asked. With a temperature each rollout has a seed of its own, from the job's `policy_seed`,
    its prompt and how often the task came before, so repeated rollouts measure the noise of sampling. Where the process dies on
    the way and another one goes on, the `stderr` of the rollouts that end after that says why.

    Args:
        resolve: gives the folder of a candidate's checkpoint, a private copy; raises `CandidateError` if there is none.
        inner: gives what attempts the inner tasks of a kind with a model, asked so; it is closed after the grading.
        bounds: what a checkpoint's process may use.
        inference: what answers for checkpoints, and where.
        sandbox: where the processes are forked from; its own one by default, which is closed with it.
    """

    def __init__(
        self,
        resolve: Callable[[Candidate], Path],
        inner: Callable[[str, Model, Solving], Runner],
        *,
        bounds: Bounds | None = None,
        inference: Inference | None = None,
        sandbox: WarmSandbox | None = None,
    ) -> None:
        self._resolve, self._inner, self._bounds = resolve, inner, bounds or Bounds()
        self._own, self._sandbox, self._turn = (
            sandbox is None,
            sandbox or WarmSandbox(inference or Inference()),
            asyncio.Lock(),
        )

    async def warm(self) -> None:
        """Import torch in the sandbox now, so that the first grading does not wait for it.

        Raises:
            IsolationError: if this machine cannot confine submitted models.
            MissingExtraError: if torch or transformers is not installed.
            HostError: if the sandbox does not start.
        """
        await self._sandbox.zygote()

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, yielding (position, trajectory); jobs of a checkpoint are attempted together, in the order of the first.

        A rollout may take the seconds of its task's `solving`; `limits.episode_s` does not bound it.

        Raises:
            ConfigError: if a taskset is no post-training taskset.
            UnknownNameError: if there is no such kind of inner tasks.
            MissingExtraError: if torch or transformers is not installed.
        """
        groups: dict[tuple[Candidate, str, str], list[int]] = {}
        for position, job in enumerate(jobs):
            groups.setdefault((job.candidate, job.taskset.name, job.taskset.version), []).append(position)
        for positions in groups.values():
            async with self._turn, aclosing(self._graded([jobs[p] for p in positions], limits)) as graded:
                async for at, trajectory in graded:
                    yield positions[at], trajectory

    async def close(self) -> None:
        """End every process."""
        if self._own:
            await self._sandbox.close()

    async def _graded(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs of one candidate on one taskset."""
        worker = None
        try:
            worker = InferenceWorker(self._resolve(jobs[0].candidate), bounds=self._bounds, sandbox=self._sandbox)
            await worker.start()
        except CandidateError as error:
            failure, failure_source = Failure(Status.MODEL_ERROR, str(error)), FailureSource.CANDIDATE
        except IsolationError as error:
            failure, failure_source = Failure(Status.ISOLATION_ERROR, str(error)), FailureSource.HOST
        except HostError as error:
            failure, failure_source = Failure(Status.HOST_ERROR, str(error)), FailureSource.HOST
        else:
            async with aclosing(self._attempted(jobs, worker, limits)) as attempted:
                async for attempt in attempted:
                    yield attempt
            return
        finally:
            if worker is not None:
                await worker.close()
        for at, job in enumerate(jobs):
            yield at, _failed(job, failure, failure_source)

    async def _attempted(
        self, jobs: Sequence[Job], worker: InferenceWorker, limits: Limits
    ) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs part by part, each with the solver of its part and the model of a worker."""
        parts, digest = inner_of(jobs[0].taskset), jobs[0].candidate.digest
        by_part: dict[str, dict[int, Job]] = {}
        for at, job in enumerate(jobs):
            name, task = part_of(parts, job.task)
            inner = parts[name]
            by_part.setdefault(name, {})[at] = replace(job, task=task, taskset=inner.info, candidate=inner.solver)
        for name, own in by_part.items():
            async with aclosing(self._part(parts[name], list(own.values()), worker, limits)) as attempted:
                places = list(own)
                async for at, trajectory in attempted:
                    named = replace(trajectory, candidate=digest, stderr="\n".join(worker.deaths))
                    yield places[at], _blamed(named, worker.fault) if worker.fault else named

    async def _part(
        self, inner: Inner, jobs: Sequence[Job], worker: InferenceWorker, limits: Limits
    ) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt the jobs of one part."""
        runner = self._inner(inner.info.kind, CheckpointModel(worker), inner.solving)
        # What one rollout waits for depends on all that are answered beside it, so the task says how long that may be: with a bound
        # for policies' episodes the score would be one of this machine's load.
        unhurried = replace(limits, episode_s=inner.solving.seconds)
        try:
            async with closing(runner.run(jobs, unhurried)) as stream:
                async for item in stream:
                    yield item
        finally:
            await runner.close()


def _blamed(trajectory: Trajectory, fault: str) -> Trajectory:
    """Put a failure down to the checkpoint whose process died of it."""
    if trajectory.failure_source not in (FailureSource.PROVIDER, FailureSource.HOST):
        return trajectory
    step = trajectory.failure.step_index if trajectory.failure else None
    failure = Failure(Status.MODEL_ERROR, fault, "", step)
    return replace(trajectory, status=failure.category, failure_source=FailureSource.CANDIDATE, failure=failure)


def _failed(job: Job, failure: Failure, failure_source: FailureSource) -> Trajectory:
    """Return the record of a rollout that did not begin."""
    return Trajectory(
        task_id=job.task.id,
        candidate=job.candidate.digest,
        status=failure.category,
        failure_source=failure_source,
        total_reward=0.0,
        length=0,
        terminated=False,
        columns={
            "obs": [failure.message],
            "action": [],
            "reward": np.zeros(0, np.float64),
            "terminated": np.zeros(0, np.bool_),
            "truncated": np.zeros(0, np.bool_),
        },
        failure=failure,
    )
