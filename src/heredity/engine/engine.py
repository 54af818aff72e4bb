"""The engine: attempts tasks of any kind with the runner that the kind opens, and holds the resources runners share.

It relies on the declarations of kinds (`heredity.engine.kind`) and is unaware of budgets and methods.

    async with Engine(EngineSettings(gateway, solving), kinds=["question"]) as engine:
        async for position, trajectory in engine.run(jobs, limits):
            ...
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Self, TypeVar

from heredity._core.errors import ConfigError
from heredity.engine.actor import Programs, Solving
from heredity.engine.kind import KINDS, Kind, Opening, Shared, TaskTools, Workers, check_tools
from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.engine.runner import Job, Runner
from heredity.engine.streams import closing
from heredity.engine.trajectory import Trajectory
from heredity.models import Model
from heredity.models.gateway import Gateway
from heredity.models.settings import GatewaySettings
from heredity.resources import Candidate
from heredity.sandbox import isolation as isolations
from heredity.sandbox.containers import Backend
from heredity.sandbox.containers.contract import open_backend
from heredity.sandbox.limits import Limits

T = TypeVar("T")

_SLACK_S = 60.0


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of an engine.

    Attributes:
        gateway: the models.
        solving: settings of rollouts with a language model.
        concurrent: maximum concurrent rollouts per runner.
        workers: settings of worker processes.
        containers: backend for container tasks; a name in `heredity.sandbox.containers.contract.BACKENDS`.
        tools: opens the tools given to candidates in addition to those they bring, with the sandbox for programs; None for
            no tools.
    """

    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    solving: Solving = field(default_factory=Solving)
    concurrent: int = 8
    workers: Workers = field(default_factory=Workers)
    containers: str = "bubblewrap"
    tools: Callable[[Programs], AbstractAsyncContextManager[TaskTools]] | None = None


@dataclass(frozen=True, slots=True)
class Views:
    """The runners of one execution model, by kind; hidden tasks have separate runners. Implements `Runner`."""

    train: Mapping[str, Runner]
    hidden: Mapping[str, Runner]

    async def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs of a single kind (see `Runner.run`)."""
        if not jobs:
            return
        runners = self.train if jobs[0].task.split == "train" else self.hidden
        async with closing(runners[jobs[0].taskset.kind].run(jobs, limits)) as stream:
            async for item in stream:
                yield item

    async def close(self) -> None:
        """No-op; the engine owns the runners."""


class Engine:
    """Attempts jobs of any kind with the matching runner; implements `heredity.engine.runner.Runner`.

    Attributes:
        isolation: the isolation tier in which candidates run.
    """

    def __init__(self, settings: EngineSettings, kinds: Iterable[str]) -> None:
        """Check that every kind of task can be attempted.

        Args:
            settings: settings of the engine.
            kinds: names of the kinds of tasks to attempt.

        Raises:
            UnknownNameError: if a kind does not exist.
            ConfigError: if a kind needs a model and none is configured, or no kind gives the configured tools to
                candidates.
        """
        self._settings = settings
        self._kinds: dict[str, Kind] = {name: KINDS.load(name) for name in sorted(set(kinds))}
        for kind in self._kinds.values():
            kind.check(settings.gateway.execution)
        if settings.tools is not None:
            check_tools(self._kinds.values())
        self._gateway = Gateway(settings.gateway)
        # Judging has a separate cache: replies from the evolution must not be reused.
        self._judging = Gateway(settings.gateway, namespace="judging") if settings.gateway.cache else self._gateway
        self._programs: SandboxedPrograms | None = None
        self._backend: Backend | None = None
        self._tools: TaskTools | None = None
        self._shared = Shared()
        self._runners: dict[tuple[str, str, bool, Hashable], Runner] = {}
        self._views: dict[str, Views] = {}
        self._stack = AsyncExitStack()
        self.isolation = "none needed"

    async def __aenter__(self) -> Self:
        self._stack.push_async_callback(self._gateway.close)
        if self._judging is not self._gateway:
            self._stack.push_async_callback(self._judging.close)
        try:
            await self._open_shared()
            self.under()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def run(self, jobs: Sequence[Job], limits: Limits) -> AsyncGenerator[tuple[int, Trajectory]]:
        """Attempt jobs of a single kind (see `Runner.run`), with the configured execution model."""
        return self.under().run(jobs, limits)

    async def close(self) -> None:
        """End every process."""
        await self._stack.aclose()

    def under(self, execution: str = "") -> Views:
        """Return the runners for an execution model, by its name; by default the configured one.

        Raises:
            UnknownNameError: if the model does not exist.
            ConfigError: if it cannot be opened as configured.
        """
        name = execution or self._settings.gateway.execution
        if name not in self._views:
            if name:
                self.model(name)
            train, hidden = (
                {kind: self.runner(kind, name, judging=judging) for kind in self._kinds} for judging in (False, True)
            )
            self._views[name] = Views(train, hidden)
        return self._views[name]

    def runner(
        self, kind: str, execution: str = "", *, placement: Hashable | None = None, judging: bool = False
    ) -> Runner:
        """Return the runner for a kind of tasks, the same one each time; the engine closes it.

        Args:
            kind: a kind that the engine was created for.
            execution: name of the execution model; by default the configured one.
            placement: where rollouts run (an instance of the kind's placement class); None for the kind's default.
            judging: true for hidden tasks, whose runners do not share cached replies with the others.

        Raises:
            UnknownNameError: if the model does not exist.
            ConfigError: if it cannot be opened as configured, or placed there.
        """
        chosen, name = self._kinds[kind], execution or self._settings.gateway.execution
        if chosen.needs.model == "none":
            # A single runner serves all models, so it uses the judge of the judging.
            name, judging = "", True
        if placement is not None and not isinstance(placement, chosen.needs.placement or ()):
            raise ConfigError(
                f"tasks of the kind {kind!r} cannot be placed with {placement!r}; leave the placement out"
            )
        key = (kind, name, judging, placement)
        if key not in self._runners:
            self._runners[key] = chosen.open(self._opening(chosen, name, placement, judging=judging))
            self._stack.push_async_callback(self._runners[key].close)
        return self._runners[key]

    def probe(self, kind: str) -> Callable[[Candidate], Awaitable[str]] | None:
        """Return the kind's contract check for candidates; None if it has none."""
        programs, check = self._programs, self._kinds[kind].candidates.probe
        if check is None or programs is None:
            return None
        return lambda candidate: check(candidate, programs)

    def model(self, name_or_role: str) -> Model:
        """Return a model that shares its cache with the evolution (see `Gateway.model`)."""
        return self._gateway.model(name_or_role)

    def shared(self, cls: type[T]) -> T:
        """Return the shared object of a class (see `Shared`)."""
        return self._shared.of(cls)

    async def _open_shared(self) -> None:
        needs, settings = [kind.needs for kind in self._kinds.values()], self._settings
        workers = settings.workers
        if any(need.confined or need.programs for need in needs):
            self.isolation = isolations.resolve(unsafe=workers.unsafe).tier
        if any(need.programs for need in needs):
            # Rollouts have a timeout, so programs that drive a conversation need none.
            limits = ProgramLimits(wall_s=max(ProgramLimits().wall_s, settings.solving.seconds + _SLACK_S))
            programs = SandboxedPrograms(workers.count, limits, unsafe=workers.unsafe)
            self._programs = await self._stack.enter_async_context(programs)
        if settings.tools is not None and self._programs is not None:
            self._tools = await self._stack.enter_async_context(settings.tools(self._programs))
        if any(need.containers for need in needs):
            self._backend = await self._stack.enter_async_context(open_backend(settings.containers))

    def _opening(self, kind: Kind, execution: str, placement: Hashable | None, *, judging: bool) -> Opening:
        gateway, settings = self._judging if judging else self._gateway, self._settings
        return Opening(
            settings=settings.solving,
            concurrent=settings.concurrent,
            model=gateway.model(execution) if execution else None,
            judge=gateway.model("judge") if kind.needs.judge and settings.gateway.judge else None,
            programs=self._programs,
            backend=self._backend,
            provided=self._tools if kind.needs.tools else None,
            workers=settings.workers,
            placement=placement,
            shared=self._shared,
        )
