"""What a configuration says of harness evolution: its schedule, its views and its execution models."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from heredity.bounds import Cases, CasesOrZero, Count, CountOrZero
from heredity.configuration.config import Config
from heredity.configuration.sections import Locate, RunSection, Section, ViewsSection
from heredity.configuration.solver import SolverSection
from heredity.judging.schedule import Persistence, Schedule
from heredity.plugins import located
from heredity.protocols.harness_evolution.terms import Points
from heredity.tasks.registry import located_taskset


class HarnessRunSection(RunSection):
    """`[run]` of harness evolution.

    Attributes:
        ood: tasksets whose held-out tasks are out of distribution; by default the taskset's own split `ood`.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({**RunSection.paths, "ood": located_taskset})
    tasksets_in: ClassVar[tuple[str, ...]] = (*RunSection.tasksets_in, "ood")

    ood: list[str] = Field(default_factory=list[str])


class HarnessSolverSection(SolverSection):
    """`[solver]` of harness evolution, with as many turns as SEAGym's release."""

    max_turns: Count = 300


class HarnessViewsSection(ViewsSection):
    """`[views]` of harness evolution.

    Attributes:
        validation: tasks that snapshots are compared on; `update_validation` is another name.
        heldout: the tasks in distribution; `id` is another name.
        ood: tasks of each view out of distribution.
        replay: trained tasks that are attempted again.
        points: the snapshots that views beside update-validation are judged at: `ends` (the first, the best and the last) or
            `all`.
    """

    validation: Annotated[Cases, Field(validation_alias=AliasChoices("validation", "update_validation"))] = 16
    heldout: Annotated[Cases, Field(validation_alias=AliasChoices("heldout", "id"))] = 32
    ood: CasesOrZero = 0
    replay: CasesOrZero = 0
    points: Points = "ends"


class ScheduleSection(Section):
    """`[schedule]`: how train tasks are pushed; see `heredity.judging.schedule.Schedule`.

    Attributes:
        batch_size: tasks of a batch.
        epochs: passes over the train tasks (`budget.train_cases`).
        updates: how many updates a method may make on one batch.
        persistence: `persistent`, or `reset`: each batch begins from the initial candidate.
        assess: a snapshot is judged after every so many batches; 0 for the ends of epochs.
        gate: whether the contract gate stands before every commit.
        canaries: how many train tasks the gate attempts.
        plan: a batch plan that was saved, to be followed instead of drawing one: a file of a suite's folder `plans`.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({"plan": located})
    varied: ClassVar[bool] = True
    labelled: ClassVar[bool] = True

    batch_size: Count = 8
    epochs: Count = 1
    updates: Count = 1
    persistence: Persistence = "persistent"
    assess: CountOrZero = 1
    gate: bool = False
    canaries: CountOrZero = 0
    plan: str | None = None

    def schedule(self) -> Schedule:
        """Return the settings as the judge takes them."""
        return Schedule(**self.model_dump(exclude={"plan"}))

    def agree(self, config: Config) -> None:
        """Ask for a method: nobody else can be given batches."""
        if config.evolver.outside:
            raise ValueError(
                "harness evolution pushes batches to a method; set evolver.method instead of an outside agent"
            )


class TransferSection(Section):
    """`[transfer]`: what else snapshots are judged under.

    Attributes:
        models: further execution models; the first, the best and the last snapshot are judged under each, on ID and OOD.
    """

    models: list[str] = Field(default_factory=list[str])
