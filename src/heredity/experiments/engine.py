"""The engine of a suite: one runner for each kind of task that its tasksets have, and the models they share."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Self

from heredity.actors.contract import Solving
from heredity.configuration.config import Cell, Config
from heredity.errors import ConfigError
from heredity.experiments.outside_agents import agent_model
from heredity.gateway import Model
from heredity.gateway.gateway import Gateway
from heredity.posttraining.inference import Inference, WarmSandbox, choose
from heredity.posttraining.models.places import CheckpointPlaces
from heredity.posttraining.runner import GradingRunner
from heredity.posttraining.tasks.running import runners as grading_runners
from heredity.resources import Candidate
from heredity.rollouts.container.check import open_backend
from heredity.rollouts.container.probing import probe
from heredity.rollouts.container.runner import ContainerRunner
from heredity.rollouts.contract import Job, Runner
from heredity.rollouts.episode.runner import EpisodeRunner
from heredity.rollouts.programs import ProgramLimits, SandboxedPrograms
from heredity.rollouts.question.runner import SolvingRunner
from heredity.rollouts.trajectory import Trajectory
from heredity.rollouts.world.runner import WorldRunner
from heredity.sandbox.containers import Backend
from heredity.sandbox.limits import Limits

KINDS = ("container", "episode", "model", "question", "world")
_SLACK_S = 60.0
_MODELS = {
    "container": ("container tasks are worked on", "offline/shell-worker"),
    "question": ("questions are answered", "local/smollm2-135m"),
}
"""What a language model is needed for, and one that does it without a network: container tasks take one that calls tools."""


class Engine:
    """Attempts jobs of any kind, each with the runner for it; implements `heredity.rollouts.contract.Runner`.

    Attributes:
        isolation: the tier in which candidates run.
        places: where the weights of candidates lie that are checkpoints.
    """

    def __init__(self, config: Config, kinds: Iterable[str]) -> None:
        """Check that every kind of task can be attempted.

        Args:
            config: what the engine is to be like.
            kinds: of the tasks to attempt.

        Raises:
            ConfigError: if a kind is unknown, or needs a model and none is configured.
            IsolationError: if this machine cannot isolate candidates.
        """
        self._config = config
        self._kinds = frozenset(kinds)
        for kind in self._kinds:
            if kind not in KINDS:
                raise ConfigError(f"there is no runner for tasks of kind {kind!r}; known kinds: {', '.join(KINDS)}")
        # A matrix may vary how long an attempt may take; each run's own limits then bound its attempts.
        longest = max([config.limits.episode_s, *config.matrix.get("limits.episode_s", ())])
        self._settings = config.solver.solving(longest)
        self._gateway = Gateway(config.gateway)
        # Judging shares no cache with the evolution: what was answered there must be answered anew.
        self._judging = Gateway(config.gateway, realm="judging") if config.gateway.cache else self._gateway
        self._episode_runner: EpisodeRunner | None = None
        self._programs: SandboxedPrograms | None = None
        self._backend: Backend | None = None
        self._gradings: dict[Inference, GradingRunner] = {}
        self.places = CheckpointPlaces()
        self._under: dict[str, _Runners] = {}
        self._stack = AsyncExitStack()
        self.isolation = "none needed"

    async def __aenter__(self) -> Self:
        self._stack.push_async_callback(self._gateway.close)
        if self._judging is not self._gateway:
            self._stack.push_async_callback(self._judging.close)
        try:
            if "episode" in self._kinds:
                await self._open_episodes()
            if self._kinds & {"container", "model", "question", "world"}:
                await self._open_programs()
            self.under()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, which are all of one kind (see `Runner.run`), with the configured execution model."""
        stream = self.under().run(jobs, limits)
        try:
            async for item in stream:
                yield item
        finally:
            await stream.aclose()

    def under(self, execution: str = "") -> _Runners:
        """Return the runners that use an execution model, by its name; by default the configured one.

        Raises:
            UnknownNameError: if there is no such model.
            ConfigError: if it cannot be opened as configured.
        """
        name = execution or self._config.gateway.execution
        if name not in self._under:
            self._under[name] = _Runners(self._runners(self._gateway, name), self._runners(self._judging, name))
        return self._under[name]

    def probe(self, kind: str) -> Callable[[Candidate], Awaitable[str]] | None:
        """Return what checks a candidate against the contract of what attempts tasks of a kind; None if there is none."""
        programs = self._programs
        if kind != "container" or programs is None:
            return None
        return lambda candidate: probe(candidate, programs)

    async def close(self) -> None:
        """End every process."""
        await self._stack.aclose()

    def optimiser(self) -> Model | None:
        """Return the model that proposes edits, if one is configured."""
        return self._gateway.model("optimisation") if self._config.gateway.optimisation else None

    def asked_by(self, cell: Cell) -> Model | None:
        """Return the model that a run's evolver may ask, if there is one.

        Raises:
            UnknownNameError: if there is no such model.
            ConfigError: if it cannot be opened as configured.
        """
        if not cell.evolver.outside:
            return self.optimiser()
        name = agent_model(cell)
        return self._gateway.model(name) if name else None

    async def _open_episodes(self) -> None:
        engine = self._config.engine
        self._episode_runner = EpisodeRunner(engine.workers, lockstep=engine.lockstep, unsafe=engine.unsafe)
        self.isolation = self._episode_runner.isolation.tier
        await self._stack.enter_async_context(self._episode_runner)

    async def _open_programs(self) -> None:
        engine, settings = self._config.engine, self._config.gateway
        for kind in self._kinds & _MODELS.keys() if not settings.execution else ():
            done, offline = _MODELS[kind]
            raise ConfigError(
                f"{done} by a language model: set gateway.execution, such as {offline} to try it, or openai/gpt-5"
            )
        # A program that drives a conversation waits for as long as its attempt may take, which has a bound of its own.
        limits = ProgramLimits(wall_s=max(ProgramLimits().wall_s, self._settings.seconds + _SLACK_S))
        self._programs = SandboxedPrograms(engine.workers, limits, unsafe=engine.unsafe)
        self.isolation = self._programs.isolation.tier
        await self._stack.enter_async_context(self._programs)
        if "container" in self._kinds:
            self._backend = await self._stack.enter_async_context(open_backend(engine.containers))

    def grading(self, inference: Inference) -> GradingRunner:
        """Return what grades checkpoints with an engine in a place, the same one each time."""
        if inference not in self._gradings:
            judge = self._judging.model("judge") if self._config.gateway.judge else None

            def inner(model: Model, solving: Solving) -> Mapping[str, Runner]:
                assert self._programs is not None, "opened for tasks of this kind"
                return grading_runners(model, solving, programs=self._programs, judge=judge)

            sandbox = WarmSandbox(inference)
            self._stack.push_async_callback(sandbox.close)
            self._gradings[inference] = GradingRunner(self.places.resolve, inner, sandbox=sandbox)
        return self._gradings[inference]

    def _runners(self, gateway: Gateway, execution: str) -> dict[str, Runner]:
        model, programs = gateway.model(execution) if execution else None, self._programs
        found: dict[str, Runner] = {}
        if self._episode_runner is not None:
            found["episode"] = self._episode_runner
        if "model" in self._kinds:
            found["model"] = self.grading(choose("auto", "cpu"))
        if programs is not None and "world" in self._kinds:
            found["world"] = self._playing(model, programs)
        if programs is not None and model is not None and "question" in self._kinds:
            found["question"] = self._solving(gateway, model, programs)
        if programs is not None and model is not None and self._backend is not None:
            found["container"] = self._working(model, programs, self._backend)
        return found

    def _solving(self, gateway: Gateway, model: Model, programs: SandboxedPrograms) -> Runner:
        solver = self._config.solver
        return SolvingRunner(
            model,
            judge=gateway.model("judge") if self._config.gateway.judge else None,
            programs=programs,
            settings=self._settings,
            concurrent=solver.concurrent,
        )

    def _working(self, model: Model, programs: SandboxedPrograms, backend: Backend) -> Runner:
        solver = self._config.solver
        return ContainerRunner(
            model,
            backend=backend,
            programs=programs,
            settings=self._settings,
            concurrent=min(solver.concurrent, 2 * len(os.sched_getaffinity(0))),
        )

    def _playing(self, model: Model | None, programs: SandboxedPrograms) -> Runner:
        solver = self._config.solver
        return WorldRunner(
            model,
            programs=programs,
            settings=self._settings,
            concurrent=solver.concurrent,
        )


@dataclass(frozen=True, slots=True)
class _Runners:
    """The runners of one execution model, by kind; hidden tasks have their own."""

    train: Mapping[str, Runner]
    hidden: Mapping[str, Runner]

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs, which are all of one kind (see `Runner.run`)."""
        if not jobs:
            return
        runners = self.train if jobs[0].task.split == "train" else self.hidden
        stream = runners[jobs[0].taskset.kind].run(jobs, limits)
        try:
            async for item in stream:
                yield item
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def close(self) -> None:
        """Leave everything open: it is the engine's."""
