"""The engine of a suite: one runner for each kind of task that its tasksets have, and the models they share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack
from typing import Self

from heredity.errors import ConfigError
from heredity.experiments.config import Config
from heredity.gateway import Model
from heredity.gateway.gateway import Gateway
from heredity.rollouts.contract import Job, Limits, Runner
from heredity.rollouts.episodes import EpisodeRunner
from heredity.rollouts.playing import WorldRunner
from heredity.rollouts.programs import SandboxedPrograms
from heredity.rollouts.solving import SolvingRunner
from heredity.rollouts.trajectory import Trajectory

KINDS = ("episode", "question", "world")


class Engine:
    """Attempts jobs of any kind, each with the runner for it; implements `heredity.rollouts.contract.Runner`.

    Attributes:
        isolation: the tier in which candidates run.
    """

    def __init__(self, config: Config, kinds: Iterable[str]) -> None:
        """Check that every kind of task can be attempted.

        Raises:
            ConfigError: if a kind is unknown, or needs a model and none is configured.
            IsolationError: if this machine cannot isolate candidates.
        """
        self._config = config
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
            if self._kinds & {"question", "world"}:
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
        if not settings.execution and "question" in self._kinds:
            raise ConfigError(
                "questions are answered by a language model: set gateway.execution, such as local/smollm2-135m or openai/gpt-5"
            )
        engine = self._config.engine
        programs = await self._stack.enter_async_context(SandboxedPrograms(engine.workers, unsafe=engine.unsafe))
        self.isolation = programs.isolation.tier
        for runners, gateway in ((self._runners, self._gateway), (self._hidden, self._judging)):
            if "question" in self._kinds:
                runners["question"] = self._solving(gateway, programs)
            if "world" in self._kinds:
                runners["world"] = self._playing(gateway, programs)

    def _solving(self, gateway: Gateway, programs: SandboxedPrograms) -> Runner:
        solver = self._config.solver
        return SolvingRunner(
            gateway.model("execution"),
            judge=gateway.model("judge") if self._config.gateway.judge else None,
            programs=programs,
            settings=solver.solving(),
            concurrent=solver.concurrent,
        )

    def _playing(self, gateway: Gateway, programs: SandboxedPrograms) -> Runner:
        solver = self._config.solver
        return WorldRunner(
            gateway.model("execution") if self._config.gateway.execution else None,
            programs=programs,
            settings=solver.solving(),
            concurrent=solver.concurrent,
        )
