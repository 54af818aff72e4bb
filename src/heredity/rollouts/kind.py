"""Kinds of tasks: how tasks of a kind are attempted, as one object that an installed package offers by name.

A taskset names its kind (`TasksetInfo.kind`), and nobody but the kind's own folder asks which one it is: the engine opens a
runner from the kind's `Kind`, gives it what it needs, and everybody else calls what the kind declares.

    def _open(opening: Opening) -> Runner:
        return DebateRunner(opening.model, opening.settings, opening.concurrent)

    KIND = Kind("debate", _open, Needs(model="required", purpose="debates are held"))

    [project.entry-points."heredity.kinds"]
    debate = "my_package.debate:KIND"

Whose a failure is, the runner says where it meets it: it raises `RolloutError` with the side, within `attributed`, which puts
down providers, this host and overtime by itself (`heredity.rollouts.rollout`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from heredity.actors.contract import SYSTEM, Programs, ProvidedTools, Solving
from heredity.actors.player import KeepingPrograms
from heredity.errors import ConfigError
from heredity.gateway import Model, Usage
from heredity.plugins import Group
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import candidate_from_folder
from heredity.rollouts.contract import Runner
from heredity.rollouts.trajectory import Failure, Trajectory
from heredity.sandbox.containers.contract import Backend
from heredity.tasks import Task, TasksetInfo

T = TypeVar("T")

TaskTools = Callable[[Task | None], Awaitable[ProvidedTools]]
"""Gives the tools of an attempt at a task, such as those that read its documents, or of work on none; whoever asks for them closes
them."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What an engine has to have for tasks of a kind; what several kinds need is opened once and shared.

    Attributes:
        model: whether a language model attempts tasks. With `"none"` one runner serves whatever model is configured.
        purpose: what a required model is for, such as `"questions are answered"`.
        offline: a model that does it without a network, to try it.
        judge: whether a language model may judge attempts, where one is configured.
        programs: the sandbox for programs.
        containers: a backend of containers.
        confined: whether the runner confines processes of candidates by itself.
        commands: whether it starts commands in sandboxes of bubblewrap, by itself.
        tools: whether candidates are given the tools that a configuration names (`solver.tools`).
        placement: class of what says where rollouts are computed; None where there is no choice.
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


@dataclass(frozen=True, slots=True)
class Workers:
    """How processes are made; nothing here changes a score, except `lockstep` for programs that keep module state.

    Attributes:
        count: processes at the same time; one per core by default.
        lockstep: episodes that share one process; 1 separates them.
        unsafe: run with the isolation that works here instead of refusing.
    """

    count: int | None = None
    lockstep: int = 1
    unsafe: bool = False


class Shared:
    """What the runners of an engine have in common with each other and with its user: one object of each class."""

    def __init__(self) -> None:
        self._objects: dict[type, Any] = {}

    def of(self, cls: type[T]) -> T:
        """Return the object of a class; the first call makes it, without arguments."""
        if cls not in self._objects:
            self._objects[cls] = cls()
        return self._objects[cls]


@dataclass(frozen=True, slots=True)
class Opening:
    """What a runner is opened with. What its kind does not need may be None.

    Attributes:
        settings: how a rollout with a language model goes.
        concurrent: most rollouts at the same time.
        model: what attempts tasks.
        judge: what judges attempts.
        programs: the sandbox for programs; whoever opened it closes it, as the backend.
        backend: makes containers.
        provided: gives the tools that a configuration names; None if it names none.
        workers: how processes are made.
        placement: of the class `Needs.placement`, or None for the kind's own choice.
        shared: what runners have in common.
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
    """Return a solver that answers what it is asked."""
    return Candidate({SYSTEM: SourceTree({"prompt.md": "Answer the question.\n"})})


@dataclass(frozen=True, slots=True)
class Candidates:
    """What attempts tasks of a kind.

    Attributes:
        starter: what a run begins with that names nothing else, from the taskset's public description alone.
        read: reads one from a folder; raises `ConfigError` if it holds none.
        refusal: what keeps a candidate from being attempted with at all; None if nothing does.
        probe: checks one against the contract before it costs a rollout, and returns what is wrong, `""` if nothing is.
        constant: those that look at nothing and always do the same, what does least first; none where that means nothing.
    """

    starter: Callable[[TasksetInfo], Candidate] = plain_starter
    read: Callable[[Path], Candidate] = candidate_from_folder
    refusal: Callable[[Candidate], Failure | None] = lambda candidate: None
    probe: Callable[[Candidate, Programs], Awaitable[str]] | None = None
    constant: Callable[[TasksetInfo], Sequence[Candidate]] = lambda info: ()


def model_usage(trajectory: Trajectory) -> Usage:
    """Return what the model calls of a rollout used, as its costs say; what is unknown is None."""
    cost = trajectory.cost
    tokens = [int(cost[name]) if name in cost else None for name in ("input_tokens", "output_tokens", "cached_tokens")]
    return Usage(*tokens, cost_usd=cost.get("cost_usd"))


@dataclass(frozen=True, slots=True)
class Kind:
    """How tasks of a kind are attempted.

    Attributes:
        name: what tasksets call it.
        open: returns a runner, which starts its processes with its first job and ends them in `close`.
        needs: what it is to be opened with.
        candidates: what attempts its tasks.
        usage: what the model calls of a rollout used; None for kinds that make none, whose costs are not recorded.
        restarts: why something that rollouts share died in one of them and was started anew.
        shown: what may be shown of a task beside its id.
        unrepeatable: given the folder of a run without a language model, why its candidates cannot be made to score the same
            again; empty if they can.
    """

    name: str
    open: Callable[[Opening], Runner]
    needs: Needs = field(default_factory=Needs)
    candidates: Candidates = field(default_factory=Candidates)
    usage: Callable[[Trajectory], Usage | None] = model_usage
    restarts: Callable[[Trajectory], Sequence[str]] = lambda trajectory: ()
    shown: Callable[[Task], Mapping[str, Any]] = lambda task: {}
    unrepeatable: Callable[[Path], str] = lambda folder: ""

    def check(self, execution: str) -> None:
        """Check that a model is configured where one is needed.

        Raises:
            ConfigError: if there is none.
        """
        if self.needs.model == "required" and not execution:
            tried = f"{self.needs.offline} to try it, or " if self.needs.offline else ""
            raise ConfigError(
                f"{self.needs.purpose} by a language model: set gateway.execution, such as {tried}openai/gpt-5"
            )


KINDS = Group[Kind](
    "heredity.kinds", "kind of task", "a heredity.rollouts.kind.Kind", lambda given: isinstance(given, Kind)
)
"""All kinds of tasks, by name."""


def check_tools(kinds: Iterable[Kind]) -> None:
    """Check that tools which a configuration names would be given to somebody.

    Raises:
        ConfigError: if no kind gives them to candidates.
    """
    kinds = list(kinds)
    if not any(kind.needs.tools for kind in kinds):
        names = ", ".join(repr(kind.name) for kind in kinds)
        raise ConfigError(
            f"solver.tools: tasks of the kind {names} are attempted without them; leave them out, or ask questions"
        )
