"""Terms of harness evolution: the batch plan, the views, and the judged snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal, NotRequired

from pydantic import AliasChoices, Field
from typing_extensions import TypedDict

from heredity._core.bounds import Cases, CasesOrZero, Count, CountOrZero
from heredity._core.errors import ConfigError
from heredity._core.plugins import located
from heredity.configuration.config import Config
from heredity.configuration.sections import Locate, RunSection, Section, SolverSection, ViewsSection
from heredity.records.events import EventKind, Scores, TaskLabels, by_name
from heredity.session.schedule import BatchPlan, Persistence, Schedule
from heredity.tasks import Taskset
from heredity.tasks.registry import located_taskset


class PointData(TypedDict):
    """A snapshot: the number of batches before it, and its role (`A_0`, `A_T`, or null)."""

    name: str
    batch: int
    candidate: str
    role: str | None


class SnapshotsFrozen(TypedDict):
    """The judged snapshots; `trained` maps a task id to the first batch that had it."""

    points: Sequence[PointData]
    trained: Mapping[str, int]


class SnapshotAssessed(TypedDict):
    """The scores of a snapshot on a view; lists have one entry per task, `model` is null for the run's execution model.

    `recalled` is set if another run of the suite made, and paid for, these rollouts.
    """

    view: str
    candidate: str
    taskset: str
    model: str | None
    tasks: Sequence[TaskLabels]
    scores: Scores
    lengths: Sequence[int]
    statuses: Sequence[str]
    errors: Sequence[str | None]
    seconds: Sequence[float]
    costs: Sequence[Mapping[str, float]]
    blob: str | None
    recalled: NotRequired[bool]


class EvaluationPlanned(TypedDict):
    """Snapshots of a run that are judged again later, possibly under another execution model."""

    run: str
    suite: str
    config_digest: str
    evolved_under: str
    model: str
    snapshots: Sequence[PointData]
    views: Mapping[str, str]
    repeat: int
    settings: str
    commitment: str


SNAPSHOTS_FROZEN = EventKind("snapshots.frozen", SnapshotsFrozen)
SNAPSHOT_ASSESSED = EventKind("snapshot.assessed", SnapshotAssessed)
EVALUATION_PLANNED = EventKind("evaluation.planned", EvaluationPlanned)

EVENTS = by_name(SNAPSHOTS_FROZEN, SNAPSHOT_ASSESSED, EVALUATION_PLANNED)


class HarnessRunSection(RunSection):
    """`[run]`.

    Attributes:
        ood: tasksets whose held-out tasks are out of distribution, one view each; by default the taskset's split `ood`.
    """

    paths: ClassVar[Mapping[str, Locate]] = MappingProxyType({**RunSection.paths, "ood": located_taskset})
    tasksets_in: ClassVar[tuple[str, ...]] = (*RunSection.tasksets_in, "ood")

    ood: list[str] = Field(default_factory=list[str])

    def idle(self, config: Config) -> Mapping[str, str]:
        """Return `ood` if no task of it is judged."""
        return {} if config.of(HarnessViewsSection).ood else {"ood": "views.ood is 0; set the number of tasks of each"}


class HarnessSolverSection(SolverSection):
    """`[solver]`, with the default number of turns of SEAGym's release."""

    max_turns: Count = 300


class HarnessViewsSection(ViewsSection):
    """`[views]`: the numbers of hidden tasks that judge snapshots.

    Attributes:
        validation: number of tasks on which every snapshot is judged; alias `update_validation`.
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
    """`[schedule]`: batches of train tasks.

    Attributes:
        batch_size: tasks per batch.
        epochs: passes over the train tasks (`budget.train_cases`), each in a new order.
        updates: updates a method may make per batch.
        persistence: `persistent`, or `reset` to start each batch from the initial candidate.
        assess: batches between judged snapshots; 0 for the ends of epochs. The first and the last are always judged.
        gate: true to check every commit with the contract gate.
        canaries: number of train tasks that the gate runs, charged to the budget; refused if no run has the gate.
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


NAME = "harness-evolution"

Points = Literal["ends", "all"]
"""Snapshots judged on views other than update-validation: the first, the best and the last, or all."""


@dataclass(frozen=True, slots=True)
class HarnessTerms:
    """Judging terms of a harness-evolution run, in addition to its validation and held-out (ID) counts.

    Attributes:
        plan: the batches.
        ood: number of tasks of each out-of-distribution view; 0 for none.
        replay: number of train tasks run again at the end; 0 for none.
        points: see `Points`.
        models: names of additional execution models; the first, the best and the last snapshot are judged under each.
    """

    plan: BatchPlan
    ood: int = 0
    replay: int = 0
    points: Points = "ends"
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("ood", "replay"):
            if getattr(self, name) < 0:
                raise ConfigError(f"views.{name} is {getattr(self, name)}; expected 0 or more")
        if self.replay > self.plan.train:
            raise ConfigError(
                f"views.replay is {self.replay}, but there are only {self.plan.train} train tasks; lower it"
            )


def ood_views(own: Taskset, others: Sequence[Taskset]) -> dict[str, tuple[Taskset, str]]:
    """Return the out-of-distribution views: name to a taskset and its split.

    Args:
        own: the run's taskset; its split `ood` is used without others.
        others: tasksets whose held-out tasks form one view each.
    """
    if not others:
        return {"ood": (own, "ood")}
    if len(others) == 1:
        return {"ood": (others[0], "heldout")}
    return {f"ood:{taskset.info.name}": (taskset, "heldout") for taskset in others}
