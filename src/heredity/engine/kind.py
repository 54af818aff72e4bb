"""Kinds of tasks: one object per kind describes how its tasks are attempted; packages offer kinds as entry points.

A taskset names its kind (`TasksetInfo.kind`). Only the kind's own folder depends on which kind it is: the engine
opens a runner from the kind's `Kind` with the resources it needs, and all other code calls only these functions.

    def _open(opening: Opening) -> Runner:
        return DebateRunner(opening.model, opening.settings, opening.concurrent)

    KIND = Kind("debate", _open, Needs(model="required", purpose="debates are held"))

    [project.entry-points."heredity.kinds"]
    debate = "my_package.debate:KIND"

Runners attribute failures where they occur: they raise `RolloutError` with the failure source, inside `attributed`,
which attributes failures of providers, of this host and timeouts itself (`heredity.engine.rollout`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from heredity._core.errors import ConfigError
from heredity._core.plugins import Group
from heredity.engine.actor import SYSTEM, Programs, ProvidedTools, Solving
from heredity.engine.player import KeepingPrograms
from heredity.engine.runner import Runner
from heredity.engine.trajectory import Failure, Trajectory
from heredity.models import Model, Usage
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.sandbox.check import Check
from heredity.sandbox.containers.contract import Backend
from heredity.tasks import Task, TasksetInfo

T = TypeVar("T")

TaskTools = Callable[[Task | None], Awaitable[ProvidedTools]]
"""Returns the tools for an attempt at a task, such as those that read its documents, or for work without a task; the caller closes
them."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Resources that a kind requires from the engine; those that several kinds need are opened once and shared.

    Attributes:
        model: tells if a language model attempts the tasks. With `"none"` one runner serves any configured model.
        purpose: completes the error about a missing model, such as `"questions are answered"`.
        offline: a model that works without a network, for trying the kind out.
        judge: a language model may judge attempts (if one is configured).
        programs: the sandbox for programs.
        containers: a backend of containers.
        confined: the runner confines candidates' processes itself.
        commands: the runner starts commands in bubblewrap sandboxes itself.
        tools: candidates get the tools that a configuration names (`solver.tools`).
        placement: class of the objects that say where rollouts run; None if they always run in one place.
        calls: assumed model calls of one attempt, the fewest and the most, for estimates of cost.
        reads: keys of `[limits]`, `[solver]` and `[engine]` that its runner reads, such as `"limits.episode_s"` or
            `"solver.*"`; None if not known.
    """

    model: Literal["none", "optional", "required"] = "none"
    purpose: str = "tasks are attempted"
    offline: str = ""
    judge: bool = False
    programs: bool = False
    containers: bool = False
    confined: bool = False
    commands: bool = False
    tools: bool = False
    placement: type | None = None
    calls: tuple[int, int] = (1, 30)
    reads: Sequence[str] | None = None


CONVERSING = ("limits.episode_s", "solver.*")
"""Keys that runners of conversations with a language model read (`Needs.reads`)."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Settings of worker processes; they do not change scores, except `lockstep` for programs that keep module state.

    Attributes:
        count: maximum concurrent processes; one per core by default.
        lockstep: episodes that share one process; 1 separates them.
        unsafe: run with the isolation available on this machine instead of refusing.
    """

    count: int | None = None
    lockstep: int = 1
    unsafe: bool = False


class Shared:
    """Objects shared by an engine's runners and its user: one per class."""

    def __init__(self) -> None:
        self._objects: dict[type, Any] = {}

    def of(self, cls: type[T]) -> T:
        """Return the object of a class; the first call creates it, without arguments."""
        if cls not in self._objects:
            self._objects[cls] = cls()
        return self._objects[cls]


@dataclass(frozen=True, slots=True)
class Opening:
    """Resources for opening a runner. Those that its kind does not need may be None.

    Attributes:
        settings: settings of rollouts with a language model.
        concurrent: maximum concurrent rollouts.
        model: attempts tasks.
        judge: judges attempts.
        programs: the sandbox for programs (closed, like the backend, by the caller).
        backend: creates containers.
        provided: returns the tools that a configuration names; None if it names none.
        workers: settings of worker processes.
        placement: an instance of `Needs.placement`, or None for the kind's default.
        shared: objects shared by runners.
    """

    settings: Solving = field(default_factory=Solving)
    concurrent: int = 8
    model: Model | None = None
    judge: Model | None = None
    programs: KeepingPrograms | None = None
    backend: Backend | None = None
    provided: TaskTools | None = None
    workers: Workers = field(default_factory=Workers)
    placement: Hashable | None = None
    shared: Shared = field(default_factory=Shared)


def plain_starter(info: TasksetInfo) -> Candidate:
    """Return a solver that simply answers the question."""
    return Candidate({SYSTEM: SourceTree({"prompt.md": "Answer the question.\n"})})


@dataclass(frozen=True, slots=True)
class Candidates:
    """Functions that read and check a kind's candidates.

    Attributes:
        starter: returns the default first candidate of a run, from the taskset's public description alone.
        read: reads a candidate from a folder; raises `ConfigError` if it holds none.
        refusal: returns the reason a candidate cannot be attempted at all; None if it can.
        probe: checks a candidate against the contract before it costs a rollout; returns the problem, or `""`.
        constant: candidates that ignore their input and always act alike, the least active first; empty where not
            applicable.
    """

    starter: Callable[[TasksetInfo], Candidate] = plain_starter
    read: Callable[[Path], Candidate] = candidate_from_folder
    refusal: Callable[[Candidate], Failure | None] = lambda candidate: None
    probe: Callable[[Candidate, Programs], Awaitable[str]] | None = None
    constant: Callable[[TasksetInfo], Sequence[Candidate]] = lambda info: ()


def model_usage(trajectory: Trajectory) -> Usage:
    """Return the model usage of a rollout from its costs; None if unknown."""
    cost = trajectory.cost
    tokens = [int(cost[name]) if name in cost else None for name in ("input_tokens", "output_tokens", "cached_tokens")]
    return Usage(*tokens, cost_usd=cost.get("cost_usd"))


@dataclass(frozen=True, slots=True)
class Kind:
    """Describes how tasks of a kind are attempted.

    Attributes:
        name: the name that tasksets use.
        open: returns a runner, which starts its processes with its first job and ends them in `close`.
        needs: resources to open it with.
        candidates: how candidates are read and checked.
        usage: returns the model usage of a rollout (None for kinds without model calls, whose costs are not recorded).
        restarts: the reason a resource shared by rollouts died in one of them and was restarted.
        shown: public data of a task in addition to its id.
        unrepeatable: given the folder of a run without a language model, returns why its candidates' scores cannot be
            reproduced (empty if they can).
        checks: the kind's checks for `heredity doctor`; the argument allows them to install packages as the user.
        schema: JSON schema of its task files; empty if it has none.
        summed: whether a rollout's return is the sum of its rewards, and its length their number.
    """

    name: str
    open: Callable[[Opening], Runner]
    needs: Needs = field(default_factory=Needs)
    candidates: Candidates = field(default_factory=Candidates)
    usage: Callable[[Trajectory], Usage | None] = model_usage
    restarts: Callable[[Trajectory], Sequence[str]] = lambda trajectory: ()
    shown: Callable[[Task], Mapping[str, Any]] = lambda task: {}
    unrepeatable: Callable[[Path], str] = lambda folder: ""
    checks: Callable[[bool], Iterable[Check]] = lambda install: ()
    schema: Callable[[], Mapping[str, Any]] = dict
    summed: bool = False

    def check(self, execution: str) -> None:
        """Check that a model is configured if the kind needs one.

        Raises:
            ConfigError: if none is configured.
        """
        if self.needs.model == "required" and not execution:
            tried = f"{self.needs.offline} to try it, or " if self.needs.offline else ""
            raise ConfigError(
                f"{self.needs.purpose} by a language model: set gateway.execution, such as {tried}openai/gpt-5"
            )


KINDS = Group[Kind](
    "heredity.kinds", "kind of task", "a heredity.engine.kind.Kind", lambda given: isinstance(given, Kind)
)
"""All kinds of tasks, by name."""


def check_tools(kinds: Iterable[Kind]) -> None:
    """Check that some kind gives configured tools to candidates.

    Raises:
        ConfigError: if none does.
    """
    kinds = list(kinds)
    if not any(kind.needs.tools for kind in kinds):
        names = ", ".join(repr(kind.name) for kind in kinds)
        raise ConfigError(
            f"solver.tools: tasks of the kind {names} do not use tools; remove the setting or choose another taskset"
        )
