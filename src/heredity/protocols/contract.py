"""A protocol: the rules of a run, as one object that is found by its name.

    PROTOCOL = Protocol(
        name="coin-flipping",
        summary="one submission, judged on held-out",
        setting=CoinFlipping(),
        sections={"coin": CoinSection},
    )

    [project.entry-points."heredity.protocols"]
    coin-flipping = "my_package.protocol:PROTOCOL"

A configuration names it (`run.protocol`); nothing else of Heredity knows it. `heredity.protocols.policy_evolution` is the shortest.
"""

from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from heredity.analysis.contract import CommonMetrics, Metrics
from heredity.configuration.config import Cell, Config
from heredity.configuration.sections import Section as ConfigSection
from heredity.evolution import Feedback
from heredity.gateway import Model
from heredity.judging.bench import Evolved, Judge, Reference
from heredity.judging.cases import HiddenCases
from heredity.judging.judgements import Judgements
from heredity.judging.run import EvolverFailure
from heredity.judging.schedule import BatchPlan
from heredity.judging.session import Session
from heredity.judging.views import ViewPlan
from heredity.records import Event
from heredity.results.report import PlainReport, Report
from heredity.rollouts.contract import Runner
from heredity.rollouts.engine import Engine
from heredity.rollouts.trajectory import Trajectory
from heredity.sandbox.gpus import Lease
from heredity.tasks import Taskset

Selection = Callable[[Evolved, Sequence[Event]], str | None]
"""Returns the digest of the candidate that a run ends with, given the closed session and the journal; None if there is none."""

Publish = Callable[[Feedback, Sequence[Trajectory]], Awaitable[None]]
"""Takes the feedback of a submission to whoever is to read it."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What runs of a configuration need beside their own taskset and execution model.

    Attributes:
        tasksets: names of further tasksets.
        models: names of further execution models.
        gpus: how many GPUs a run has to itself.
        episodes: how many train episodes a run may buy; 0 where something else bounds it. For progress alone.
    """

    tasksets: Sequence[str] = ()
    models: Sequence[str] = ()
    gpus: int = 0
    episodes: int = 0


@dataclass(frozen=True, slots=True)
class SuiteContext:
    """The suite of a run, before anything is opened.

    Attributes:
        folder: the suite's folder.
        cells: all its runs.
        tasksets: theirs and those that are needed besides, by name.
        secrets: folders that must stay hidden from what evolves.
    """

    folder: Path
    cells: Sequence[Cell]
    tasksets: Mapping[str, Taskset]
    secrets: Sequence[Path]

    def run_folder(self, cell: Cell) -> Path:
        """Return the folder of a run."""
        return self.folder / "runs" / cell.id


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run is set up with.

    Attributes:
        cell: the run.
        suite: its suite.
        engine: what attempts tasks.
        hidden_cases: the suite's secret, from which hidden tasks are drawn.
        judgements: what was judged in the suite under this run's conditions, for the scores of what it is compared with.
        lease: the GPUs of this run.
        model: what the evolver may ask; None if it asks none.
    """

    cell: Cell
    suite: SuiteContext
    engine: Engine
    hidden_cases: HiddenCases
    judgements: Judgements
    lease: Lease
    model: Model | None

    @property
    def taskset(self) -> Taskset:
        """The run's own taskset."""
        return self.suite.tasksets[self.cell.taskset]

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.suite.run_folder(self.cell)


@dataclass(frozen=True, slots=True)
class Evolver:
    """What spends a session's budget.

    Attributes:
        evolve: does it.
        replay: whether it is deterministic, and resumed by running it again.
        description: name, kind and options, for the record.
        publisher: makes the hook to which feedback is published; None if nobody but the evolver reads it.
        failure: how it failed, from the journal of the closed session, where it does not raise that itself; None if it did not.
    """

    evolve: Callable[[Session], Awaitable[None]]
    replay: bool
    description: Mapping[str, Any]
    publisher: Callable[[Session], Publish] | None = None
    failure: EvolverFailure | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """A run, ready to begin.

    Attributes:
        evolver: what evolves, with all that it is told.
        judge: how the run is judged.
        views: the hidden tasks that it is judged on; none may be empty.
        reference: what it is compared with; None leaves that to the judge.
        runner: what attempts its tasks; the engine under the execution model by default.
        judgements: those of that runner; the context's by default.
        batches: how train tasks are pushed; None lets the evolver choose them.
        disjoint: whether no task may be in two views, or in one and in training.
        record: what else `run.started` says, by keys of the protocol's own.
        within: the view whose own tasks the session attempts instead of train tasks; empty for none.
    """

    evolver: Evolver
    judge: Judge
    views: Sequence[ViewPlan]
    reference: Reference | None = None
    runner: Runner | None = None
    judgements: Judgements | None = None
    batches: BatchPlan | None = None
    disjoint: bool = False
    record: Mapping[str, Any] = field(default_factory=dict[str, Any])
    within: str = ""


class Setting(typing.Protocol):
    """How a run is set up from its configuration."""

    def needs(self, config: Config) -> Needs:
        """Return what runs of a configuration need."""
        ...

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check what can be known to be wrong with a run before any is started.

        Raises:
            ConfigError: if something is missing or wrong; the message names the key.
        """
        ...

    async def open(self, context: RunContext) -> Setup:
        """Return a run that is ready to begin, or to go on. Raises as `check`."""
        ...


@dataclass(frozen=True)
class Protocol:
    """A protocol.

    Attributes:
        name: what a configuration calls it; that of its entry point.
        summary: what it is, in a line.
        setting: how a run is set up, and by whom it is judged.
        sections: its own sections of the configuration, by name, or general ones with keys of its own.
        baselines: methods that are added to every suite, each with the same budget, since simple methods are competitive.
        metrics: its typed part of the results, and what the shared analysis asks about its scores.
        report: what it has to say on pages.
        events: what it journals beside the events of all runs: kind to the type of the data.
        selection: which candidate a run ends with, as its judge selects it, from what is recorded: for who checks it afterwards.
        best: the files that `best/` of a run holds beside the candidate it ended with, such as answers, from the run's folder and
            its events.
    """

    name: str
    summary: str
    setting: Setting
    sections: Mapping[str, type[ConfigSection]] = field(default_factory=lambda: MappingProxyType({}))
    baselines: Sequence[str] = ()
    metrics: Metrics = field(default_factory=CommonMetrics)
    report: Report = field(default_factory=PlainReport)
    events: Mapping[str, type] = field(default_factory=lambda: MappingProxyType({}))
    selection: Selection | None = None
    best: Callable[[Path, Sequence[Event]], Mapping[str, bytes]] | None = None
