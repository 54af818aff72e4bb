"""Schedules: how train tasks are pushed to a method in batches (SEAGym, section 3.2).

A plan is drawn once, from the schedule and the run's seed alone, so that methods that are compared see the same batches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from heredity.errors import ConfigError, RecordError
from heredity.evolution import Batch
from heredity.ids import digest_json, generator

Persistence = Literal["persistent", "reset"]
"""Whether what was learned is kept from batch to batch, or each batch begins from the initial candidate."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The settings of a schedule.

    Single-task adaptation is `batch_size=1, persistence="reset"`; online transfer is one epoch of small batches; several
    epochs of batches are the epoch setting.

    Attributes:
        batch_size: tasks of a batch; the last of an epoch may have fewer.
        epochs: passes over the train tasks, each in an order of its own.
        updates: how many updates a method may make on one batch.
        persistence: see `Persistence`.
        assess: a snapshot is judged after every so many batches; 0 for the ends of epochs. The first and the last always are.
        canaries: how many train tasks the contract gate attempts; 0 for none.
        gate: whether the contract gate stands before every commit.
    """

    batch_size: int = 8
    epochs: int = 1
    updates: int = 1
    persistence: Persistence = "persistent"
    assess: int = 1
    canaries: int = 0
    gate: bool = False

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("epochs", 1), ("updates", 1), ("assess", 0), ("canaries", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"schedule.{name} is {getattr(self, name)}; expected {least} or more")
        if self.canaries and not self.gate:
            raise ConfigError(
                f"schedule.canaries is {self.canaries}, and canaries are the gate's; set schedule.gate = true"
            )


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A schedule with its batches drawn.

    Attributes:
        schedule: what it was drawn for.
        seed: what it was drawn from.
        train: how many train tasks there are.
        batches: in order.
        canaries: train handles that the contract gate attempts.
    """

    schedule: Schedule
    seed: int
    train: int
    batches: tuple[Batch, ...]
    canaries: tuple[int, ...] = ()

    @property
    def digest(self) -> str:
        """Identifies the plan."""
        return digest_json(self._fields())

    def assessed(self, begun: int) -> list[int]:
        """Return after how many batches snapshots are judged, if `begun` batches were begun: 0 first, `begun` last."""
        ends = [b.number for b, after in zip(self.batches, self.batches[1:], strict=False) if b.epoch != after.epoch]
        every = self.schedule.assess
        inner = range(every, begun, every) if every else [n for n in ends if n < begun]
        return sorted({0, *inner, begun})

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON values, with its digest."""
        return {"schema_version": 1, "digest": self.digest, **self._fields()}

    def _fields(self) -> dict[str, Any]:
        batches = [{"number": b.number, "epoch": b.epoch, "tasks": list(b.tasks)} for b in self.batches]
        canaries = list(self.canaries)
        return {
            **asdict(self.schedule),
            "seed": self.seed,
            "train": self.train,
            "batches": batches,
            "canary_tasks": canaries,
        }


def draw_plan(schedule: Schedule, train: int, seed: int) -> BatchPlan:
    """Draw the batches of a schedule over `train` tasks.

    Every task is in one batch of each epoch.

    Raises:
        ConfigError: if there are fewer train tasks than a batch or the canaries need.
    """
    for name, count in (("batch_size", schedule.batch_size), ("canaries", schedule.canaries)):
        if count > train:
            raise ConfigError(f"schedule.{name} is {count}, and there are {train} train tasks; ask for fewer")
    drawn: list[Batch] = []
    for epoch in range(1, schedule.epochs + 1):
        order = generator(seed, "schedule", "epoch", epoch).permutation(train).tolist()
        for start in range(0, train, schedule.batch_size):
            tasks = tuple(sorted(order[start : start + schedule.batch_size]))
            reset = schedule.persistence == "reset"
            drawn.append(Batch(len(drawn) + 1, epoch, tasks, schedule.updates, reset))
    chosen = generator(seed, "schedule", "canaries").permutation(train)[: schedule.canaries]
    return BatchPlan(schedule, seed, train, tuple(drawn), tuple(sorted(int(task) for task in chosen)))


def read_plan(path: Path, schedule: Schedule, train: int) -> BatchPlan:
    """Read a plan that was saved, so that runs of several suites see the same batches.

    Args:
        path: a JSON file that `BatchPlan.to_json` gave.
        schedule: what the run asks for; the plan must have been drawn for the same.
        train: how many train tasks there are.

    Raises:
        RecordError: if it cannot be read.
        ConfigError: if it is no plan, was changed, or was drawn for something else.
    """
    try:
        data = json.loads(path.read_bytes())
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}; give the file of a saved plan") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}; give the file of a saved plan") from error
    try:
        plan = _plan_of(data)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path} is no saved plan ({error!r}); give a file of the folder plans/ of a suite"
        ) from error
    if plan.digest != data["digest"]:
        raise ConfigError(f"{path} was changed after it was drawn; restore it, or draw a new one")
    for name, here in (("train", train), *asdict(schedule).items()):
        there = plan.train if name == "train" else getattr(plan.schedule, name)
        if there != here:
            raise ConfigError(f"{path} was drawn for {name} = {there!r}, and this run has {here!r}; make them the same")
    return plan


def _plan_of(data: Mapping[str, Any]) -> BatchPlan:
    schedule = Schedule(**{name: data[name] for name in Schedule.__dataclass_fields__})
    reset = schedule.persistence == "reset"
    given: Sequence[Mapping[str, Any]] = data["batches"]
    batches = tuple(Batch(b["number"], b["epoch"], tuple(b["tasks"]), schedule.updates, reset) for b in given)
    return BatchPlan(schedule, data["seed"], data["train"], batches, tuple(data["canary_tasks"]))
