"""The engine of a suite: one runner for each kind of task that its tasksets have, and the models they share."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Self

from heredity.errors import ConfigError
from heredity.experiments.config import Config
from heredity.gateway import Model
from heredity.gateway.gateway import Gateway
from heredity.rollouts.containers import Backend
from heredity.rollouts.containers.check import open_backend
from heredity.rollouts.contract import Job, Limits, Runner
from heredity.rollouts.episodes import EpisodeRunner
from heredity.rollouts.playing import WorldRunner
from heredity.rollouts.programs import SandboxedPrograms
from heredity.rollouts.solving import SolvingRunner
from heredity.rollouts.trajectory import Trajectory
from heredity.rollouts.working import ContainerRunner

KINDS = ("container", "episode", "question", "world")
_MODELS = {"container": "container tasks are worked on", "question": "questions are answered"}


class Engine:
    """Attempts jobs of any kind, each with the runner for it; implements `heredity.rollouts.contract.Runner`.

    Attributes:
        isolation: the tier in which candidates run.
    """

    def __init__(self, config: Config, kinds: Iterable[str], containers: str = "bubblewrap") -> None:
        """Check that every kind of task can be attempted.

        Args:
            config: what the engine is to be like.
            kinds: of the tasks to attempt.
            containers: what makes the environments of container tasks, `"bubblewrap"` or `"docker"`.

        Raises:
            ConfigError: if a kind is unknown, or needs a model and none is configured.
            IsolationError: if this machine cannot isolate candidates.
        """
        self._config, self._containers = config, containers
        self._kinds = frozenset(kinds)
        for kind in self._kinds:
            if kind not in KINDS:
                raise ConfigError(f"there is no runner for tasks of kind {kind!r}; known kinds: {', '.join(KINDS)}")
        self._gateway = Gateway(config.gateway)
        # Judging shares no cache with the evolution: what was answered there must be answered anew.
        self._judging = Gateway(config.gateway, realm="judging") if config.gateway.cache else self._gateway
        self._runners: dict[str, Runner] = {}
        self._hidden: dict[str, Runner] = {}
        self._stack = AsyncExitStack()
        self.isolation = "none needed"

    async def __aenter__(self) -> Self:
        self._stack.push_async_callback(self._gateway.close)
        if self._judging is not self._gateway:
            self._stack.push_async_callback(self._judging.close)
        try:
            if "episode" in self._kinds:
                self._runners["episode"] = self._hidden["episode"] = await self._episodes()
            if self._kinds & {"container", "question", "world"}:
                await self._conversations()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncIterator[tuple[int, Trajectory]]:
        """Attempt jobs, which are all of one kind (see `Runner.run`)."""
        if not jobs:
            return
        runners = self._runners if jobs[0].task.split == "train" else self._hidden
        stream = runners[jobs[0].taskset.kind].run(jobs, limits)
        try:
            async for item in stream:
                yield item
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def close(self) -> None:
        """End every process."""
        await self._stack.aclose()

    def optimiser(self) -> Model | None:
        """Return the model that proposes edits, if one is configured."""
        return self._gateway.model("optimisation") if self._config.gateway.optimisation else None

    async def _episodes(self) -> Runner:
        engine = self._config.engine
        runner = EpisodeRunner(engine.workers, lockstep=engine.lockstep, unsafe=engine.unsafe)
        self.isolation = runner.isolation.tier
        return await self._stack.enter_async_context(runner)

    async def _conversations(self) -> None:
        settings = self._config.gateway
        for kind in self._kinds & _MODELS.keys() if not settings.execution else ():
            raise ConfigError(
                f"{_MODELS[kind]} by a language model: set gateway.execution, such as local/smollm2-135m or openai/gpt-5"
            )
        engine = self._config.engine
        programs = await self._stack.enter_async_context(SandboxedPrograms(engine.workers, unsafe=engine.unsafe))
        self.isolation = programs.isolation.tier
        backend = (
            await self._stack.enter_async_context(open_backend(self._containers))
            if "container" in self._kinds
            else None
        )
        for runners, gateway in ((self._runners, self._gateway), (self._hidden, self._judging)):
            if "question" in self._kinds:
                runners["question"] = self._solving(gateway, programs)
            if "world" in self._kinds:
                runners["world"] = self._playing(gateway, programs)
            if backend is not None:
                runners["container"] = self._working(gateway, programs, backend)

    def _solving(self, gateway: Gateway, programs: SandboxedPrograms) -> Runner:
        solver = self._config.solver
        return SolvingRunner(
            gateway.model("execution"),
            judge=gateway.model("judge") if self._config.gateway.judge else None,
            programs=programs,
            settings=solver.solving(),
            concurrent=solver.concurrent,
        )

    def _working(self, gateway: Gateway, programs: SandboxedPrograms, backend: Backend) -> Runner:
        solver = self._config.solver
        return ContainerRunner(
            gateway.model("execution"),
            backend=backend,
            programs=programs,
            settings=solver.solving(),
            concurrent=min(solver.concurrent, 2 * len(os.sched_getaffinity(0))),
        )

    def _playing(self, gateway: Gateway, programs: SandboxedPrograms) -> Runner:
        solver = self._config.solver
        return WorldRunner(
            gateway.model("execution") if self._config.gateway.execution else None,
            programs=programs,
            settings=solver.solving(),
            concurrent=solver.concurrent,
        )
