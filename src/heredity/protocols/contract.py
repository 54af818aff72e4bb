"""Protocols: the rules of a run, as one object found by name.

    PROTOCOL = Protocol(
        name="coin-flipping",
        summary="one submission, judged on held-out",
        setting=CoinFlipping(),
        sections={"coin": CoinSection},
    )

    [project.entry-points."heredity.protocols"]
    coin-flipping = "my_package.protocol:PROTOCOL"

A configuration selects it with `run.protocol`. `heredity.protocols.policy_evolution` is the shortest built-in protocol.
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
from heredity.engine.engine import Engine
from heredity.engine.runner import Runner
from heredity.engine.trajectory import Trajectory
from heredity.methods import Feedback
from heredity.models import Model
from heredity.models.settings import Role
from heredity.records import Event
from heredity.results.report import PlainReport, Report
from heredity.sandbox.gpus import Lease
from heredity.session.bench import Evolved, Judge, Judgements, Reference
from heredity.session.cases import HiddenCases
from heredity.session.run import EvolverFailure
from heredity.session.schedule import BatchPlan
from heredity.session.session import Session
from heredity.session.views import ViewPlan
from heredity.tasks import Taskset

Selection = Callable[[Evolved, Sequence[Event]], str | None]
"""Returns the digest of a run's final candidate, given the closed session and the journal; None if there is none."""

Publish = Callable[[Feedback, Sequence[Trajectory]], Awaitable[None]]
"""Delivers the feedback of a submission to its reader."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of a configuration's runs beyond their taskset and execution model.

    Attributes:
        tasksets: names of additional tasksets.
        models: names of additional execution models.
        gpus: GPUs reserved for each run.
        episodes: train episodes a run may spend (0 if something else limits it). Used for progress only.
        attempts: attempts of candidates at tasks, judging included: the fewest and the most, for estimates of cost.
        proposals: calls of `gateway.optimisation` likewise; None if they follow from the method's options.
        asks: names of models called in addition to those of `[gateway]`, such as those of a team's agents.
        roles: whether the protocol calls the model of a role. A missing role depends on the kind of task and the evolver.
    """

    tasksets: Sequence[str] = ()
    models: Sequence[str] = ()
    gpus: int = 0
    episodes: int = 0
    attempts: tuple[float, float] = (0, 0)
    proposals: tuple[float, float] | None = None
    asks: Sequence[str] = ()
    roles: Mapping[Role, bool] = field(default_factory=dict[Role, bool])


@dataclass(frozen=True, slots=True)
class SuiteContext:
    """The suite of a run, before anything is opened.

    Attributes:
        folder: folder of the suite.
        cells: its runs.
        tasksets: all required tasksets, by name.
        secrets: folders to hide from the evolver.
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
    """Inputs for setting up a run.

    Attributes:
        cell: the run.
        suite: its suite.
        engine: runs tasks.
        hidden_cases: the suite's secret (hidden tasks are drawn from it).
        judgements: the suite's judgements under this run's conditions, for the scores of its reference.
        lease: the GPUs of this run.
        model: the evolver's model; None if it uses none.
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
        """The run's taskset."""
        return self.suite.tasksets[self.cell.taskset]

    @property
    def folder(self) -> Path:
        """The run's folder."""
        return self.suite.run_folder(self.cell)


@dataclass(frozen=True, slots=True)
class Evolver:
    """An evolver: spends a session's budget.

    Attributes:
        evolve: spends the budget.
        replay: True if it is deterministic and resumed by running it again.
        description: name, kind and options, for the record.
        publisher: makes the hook that receives feedback (None if only the evolver reads it).
        failure: finds its failure in the journal of the closed session, for an evolver that does not raise.
    """

    evolve: Callable[[Session], Awaitable[None]]
    replay: bool
    description: Mapping[str, Any]
    publisher: Callable[[Session], Publish] | None = None
    failure: EvolverFailure | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """A run, ready to start.

    Attributes:
        evolver: the evolver, with its inputs.
        judge: judges the run.
        views: the hidden tasks to judge on; none may be empty.
        reference: its baseline (None leaves it to the judge).
        runner: runs its tasks; by default the engine with the execution model.
        judgements: judgements of that runner; by default the context's.
        batches: the batches of train tasks (None lets the evolver choose tasks).
        disjoint: if True, views must not share tasks with each other or with training.
        record: further fields of `run.started`, with keys of the protocol.
        within: the view whose tasks the session runs instead of train tasks; empty for none.
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
    """Sets up runs from a configuration."""

    def needs(self, config: Config) -> Needs:
        """Return the requirements of a configuration's runs."""
        ...

    def check(self, cell: Cell, suite: SuiteContext) -> None:
        """Check a run's configuration before any run starts.

        Raises:
            ConfigError: if something is missing or wrong; the message names the key.
        """
        ...

    async def open(self, context: RunContext) -> Setup:
        """Return a run that is ready to start or resume. Raises as `check`."""
        ...


@dataclass(frozen=True)
class Protocol:
    """A protocol.

    Attributes:
        name: its name in configurations, equal to its entry point's.
        summary: a one-line description.
        setting: sets up runs and their judges.
        sections: its configuration sections by name, including general sections that it extends with keys.
        baselines: methods added to every suite with the same budget (simple methods are competitive).
        metrics: its typed part of the results, and the score properties that the shared analysis needs.
        report: its sections of report pages.
        events: its journal events beyond those of all runs: kind to data type.
        measured: kinds of events that the judge writes from measurements, which verification takes as given; it derives the
            others again.
        selection: repeats the judge's selection of the final candidate from the record, for later verification.
        best: returns the files to add to a run's `best/` next to the final candidate, such as answers, given the run's folder and
            its events; a path is copied.
    """

    name: str
    summary: str
    setting: Setting
    sections: Mapping[str, type[ConfigSection]] = field(default_factory=lambda: MappingProxyType({}))
    baselines: Sequence[str] = ()
    metrics: Metrics = field(default_factory=CommonMetrics)
    report: Report = field(default_factory=PlainReport)
    events: Mapping[str, type] = field(default_factory=lambda: MappingProxyType({}))
    measured: frozenset[str] = frozenset()
    selection: Selection | None = None
    best: Callable[[Path, Sequence[Event]], Mapping[str, bytes | Path]] | None = None
