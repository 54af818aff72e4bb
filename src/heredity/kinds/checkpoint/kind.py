"""The kind of checkpoints: a submitted model answers the questions, or plays the games, that grade it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import numpy as np

from heredity._core.errors import CandidateError, ConfigError, HostError, IsolationError
from heredity.engine.actor import Solving
from heredity.engine.kind import KINDS, Kind, Needs, Opening
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import closing
from heredity.engine.trajectory import Failure, Trajectory
from heredity.kinds.checkpoint.inference import Bounds, CheckpointModel, Inference, InferenceWorker, WarmSandbox
from heredity.kinds.checkpoint.models.checkpoint import CheckpointPlaces, checkpoint_of
from heredity.kinds.checkpoint.tasks.contract import KIND as NAME
from heredity.kinds.checkpoint.tasks.taskset import Inner, inner_of, part_of
from heredity.models import Model
from heredity.resources import Candidate
from heredity.results.status import FailureSource, Status
from heredity.sandbox.inference import ROOTS
from heredity.sandbox.limits import Limits


class GradingRunner:
    """Attempts the tasks of post-training tasksets with submitted checkpoints, one checkpoint at a time.

    Each checkpoint has a separate worker, whose process ends with the grading. Greedy answers by transformers are
    exact: they do not depend on other requests. With a temperature each rollout has a separate seed, from the job's
    `policy_seed`, its prompt and the number of earlier occurrences of the task, so repeated rollouts measure the noise
    of sampling. If the process dies and another one continues, the `stderr` of the later rollouts gives the reason.

    Args:
        resolve: returns the folder of a candidate's checkpoint, a private copy; raises `CandidateError` if there is
            none.
        inner: returns the runner for the inner tasks of a kind with a model and its settings; closed after the grading.
        bounds: limits of a checkpoint's process (by default by its size).
        inference: the engine for checkpoints, and its device.
        sandbox: the sandbox to fork processes from; by default a new one, which is closed with the runner.
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
        self._resolve, self._inner, self._bounds = resolve, inner, bounds
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
        """Attempt jobs, yielding (position, trajectory); a checkpoint's jobs run together, in the order of each one's first.

        A rollout may take the seconds of its task's `solving`; `limits.episode_s` is ignored.

        Raises:
            ConfigError: if a taskset is not a post-training taskset.
            UnknownNameError: if the kind of the inner tasks does not exist.
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
            candidate = jobs[0].candidate
            folder = self._resolve(candidate)
            bounds = self._bounds or Bounds.of(checkpoint_of(candidate).parameters, self._sandbox.inference)
            worker = InferenceWorker(folder, bounds=bounds, sandbox=self._sandbox)
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
        """Attempt jobs part by part, each with its part's solver and a worker's model."""
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
        # A rollout's wait depends on all concurrent ones, so the task sets the timeout: with a limit
        # made for policies' episodes, the score would depend on this machine's load.
        unhurried = replace(limits, episode_s=inner.solving.seconds)
        try:
            async with closing(runner.run(jobs, unhurried)) as stream:
                async for item in stream:
                    yield item
        finally:
            await runner.close()


def _blamed(trajectory: Trajectory, fault: str) -> Trajectory:
    """Attribute a failure to the checkpoint whose process died of it."""
    if trajectory.failure_source not in (FailureSource.PROVIDER, FailureSource.HOST):
        return trajectory
    step = trajectory.failure.step_index if trajectory.failure else None
    failure = Failure(Status.MODEL_ERROR, fault, "", step)
    return replace(trajectory, status=failure.category, failure_source=FailureSource.CANDIDATE, failure=failure)


def _failed(job: Job, failure: Failure, failure_source: FailureSource) -> Trajectory:
    """Return the record of a rollout that did not start."""
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


EXTRAS = {"posttrain": ROOTS}

CONCURRENT = 64
"""Concurrent rollouts: the batch of a worker on a CPU."""


def inner_runner(kind: str, opening: Opening) -> Runner:
    """Return the runner for the inner tasks of a kind with the graded model, up to `CONCURRENT` at the same time.

    Raises:
        UnknownNameError: if the kind does not exist.
        ConfigError: if its tasks are not attempted by a language model, or need containers.
    """
    chosen = KINDS.load(kind)
    if chosen.needs.model == "none" or chosen.needs.containers:
        raise ConfigError(f"tasks of the kind {kind!r} cannot grade a model; expected questions, games or worlds")
    return chosen.open(replace(opening, concurrent=CONCURRENT))


def _open(opening: Opening) -> Runner:
    def inner(kind: str, model: Model, solving: Solving) -> Runner:
        return inner_runner(kind, replace(opening, model=model, settings=solving))

    # Without a stated engine, answers of different engines are not compared.
    inference = opening.placement if isinstance(opening.placement, Inference) else Inference()
    return GradingRunner(opening.shared.of(CheckpointPlaces).resolve, inner, inference=inference)


def _restarts(trajectory: Trajectory) -> Sequence[str]:
    return trajectory.stderr.splitlines()


def _unrepeatable(folder: Path) -> str:
    if not any((folder / "models").glob("*/*")):
        return "weights were not kept"
    return "not comparable: what a model answers depends on the machine that computes it"


KIND = Kind(
    NAME,
    _open,
    Needs(judge=True, programs=True, placement=Inference, reads=()),
    restarts=_restarts,
    unrepeatable=_unrepeatable,
)
