"""Configuration sections of harness evolution: schedule, views and execution models."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar

from pydantic import AliasChoices, Field

from heredity._core.bounds import Cases, CasesOrZero, Count, CountOrZero
from heredity._core.plugins import located
from heredity.configuration.config import Config
from heredity.configuration.sections import Locate, RunSection, Section, SolverSection, ViewsSection
from heredity.protocols.harness_evolution.terms import Points
from heredity.session.schedule import Persistence, Schedule
from heredity.tasks.registry import located_taskset


class HarnessRunSection(RunSection):
    """`[run]` of harness evolution.

    Attributes:
        ood: tasksets whose held-out tasks are out of distribution; by default the taskset's split `ood`.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({**RunSection.paths, "ood": located_taskset})
    tasksets_in: ClassVar[tuple[str, ...]] = (*RunSection.tasksets_in, "ood")

    ood: list[str] = Field(default_factory=list[str])

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `ood` if no task of it is judged."""
        return {} if config.of(HarnessViewsSection).ood else {"ood": "views.ood is 0; set the number of tasks of each"}


class HarnessSolverSection(SolverSection):
    """`[solver]` of harness evolution, with the default number of turns of SEAGym's release."""

    max_turns: Count = 300


class HarnessViewsSection(ViewsSection):
    """`[views]` of harness evolution.

    Attributes:
        validation: number of tasks for comparing snapshots; alias `update_validation`.
        heldout: number of in-distribution tasks; alias `id`.
        ood: number of tasks of each out-of-distribution view.
        replay: number of train tasks run again.
        points: the snapshots judged on views other than update-validation: `ends` (the first, the best and the last) or
            `all`.
    """

    validation: Annotated[Cases, Field(validation_alias=AliasChoices("validation", "update_validation"))] = 16
    heldout: Annotated[Cases, Field(validation_alias=AliasChoices("heldout", "id"))] = 32
    ood: CasesOrZero = 0
    replay: CasesOrZero = 0
    points: Points = "ends"


class ScheduleSection(Section):
    """`[schedule]`: batches of train tasks; see `heredity.session.schedule.Schedule`.

    Attributes:
        batch_size: tasks per batch.
        epochs: passes over the train tasks (`budget.train_cases`).
        updates: updates a method may make per batch.
        persistence: `persistent`, or `reset` to start each batch from the initial candidate.
        assess: batches between judged snapshots; 0 for the ends of epochs.
        gate: True to check every commit with the contract gate.
        canaries: number of train tasks that the gate runs.
        plan: a saved batch plan to use instead of drawing one: a file from a suite's folder `plans`.
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
        """Return the settings in the judge's form."""
        return Schedule(**self.model_dump(exclude={"plan"}))

    def agree(self, config: Config) -> None:
        """Require a method: an outside agent cannot be given batches."""
        if config.evolver.outside:
            raise ValueError(
                "harness evolution pushes batches to a method; set evolver.method instead of an outside agent"
            )


class TransferSection(Section):
    """`[transfer]`: further execution models for judging snapshots.

    Attributes:
        models: names of the models; the first, the best and the last snapshot are judged under each, on ID and OOD.
    """

    models: list[str] = Field(default_factory=list[str])
