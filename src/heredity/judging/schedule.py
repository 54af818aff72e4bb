"""Schedules: how train tasks are pushed to a method in batches (SEAGym, section 3.2).

A plan is drawn once, from the schedule and the run's seed alone, so that methods that are compared see the same batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from heredity.errors import ConfigError
from heredity.evolution import Batch
from heredity.ids import digest_json, generator
from heredity.outside import json_value, read_bytes
from heredity.records.events import Plan, PlannedBatch
from heredity.refusals import reading

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
        gate: whether the contract gate stands before every commit.
        canaries: how many train tasks it attempts; 0 for none, as without a gate.
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


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """A schedule with its batches drawn.

    Attributes:
        schedule: what it was drawn for.
        seed: what it was drawn from.
        train: how many train tasks there are.
        batches: in order.
        canaries: train task indices that the contract gate attempts.
    """

    schedule: Schedule
    seed: int
    train: int
    batches: tuple[Batch, ...]
    canaries: tuple[int, ...] = ()

    @property
    def digest(self) -> str:
        """Identifies the batches and what they were drawn from; what is done with them may differ."""
        return digest_json([self.seed, self.train, self.schedule.batch_size, self.schedule.epochs, self._batches()])

    def assessed(self, started: int) -> list[int]:
        """Return after how many batches snapshots are judged, if `started` batches were started: 0 first, `started` last."""
        ends = [b.number for b, after in zip(self.batches, self.batches[1:], strict=False) if b.epoch != after.epoch]
        every = self.schedule.assess
        inner = range(every, started, every) if every else [n for n in ends if n < started]
        return sorted({0, *inner, started})

    def to_json(self) -> Plan:
        """Return the plan as JSON values, with its digest and the settings of its run."""
        return {
            "schema_version": 1,
            "digest": self.digest,
            "batch_size": self.schedule.batch_size,
            "epochs": self.schedule.epochs,
            "updates": self.schedule.updates,
            "persistence": self.schedule.persistence,
            "assess": self.schedule.assess,
            "canaries": self.schedule.canaries,
            "gate": self.schedule.gate,
            "seed": self.seed,
            "train": self.train,
            "canary_tasks": list(self.canaries),
            "batches": self._batches(),
        }

    def _batches(self) -> list[PlannedBatch]:
        return [{"number": b.number, "epoch": b.epoch, "tasks": list(b.tasks)} for b in self.batches]


def draw_plan(schedule: Schedule, train: int, seed: int) -> BatchPlan:
    """Draw the batches of a schedule over `train` tasks.

    Every task is in one batch of each epoch.

    Raises:
        ConfigError: if there are fewer train tasks than a batch or the canaries need.
    """
    for name, count in (("batch_size", schedule.batch_size), ("canaries", schedule.canaries)):
        if count > train:
            raise ConfigError(f"schedule.{name} is {count}, and there are {train} train tasks; ask for fewer")
    drawn: list[tuple[int, tuple[int, ...]]] = []
    for epoch in range(1, schedule.epochs + 1):
        order: list[int] = generator(seed, "schedule", "epoch", epoch).permutation(train).tolist()
        starts = range(0, train, schedule.batch_size)
        drawn += [(epoch, tuple(sorted(order[start : start + schedule.batch_size]))) for start in starts]
    return _made(schedule, seed, train, drawn)


def _made(schedule: Schedule, seed: int, train: int, drawn: Sequence[tuple[int, tuple[int, ...]]]) -> BatchPlan:
    reset = schedule.persistence == "reset"
    batches = [Batch(i, epoch, tasks, schedule.updates, reset) for i, (epoch, tasks) in enumerate(drawn, 1)]
    order = generator(seed, "schedule", "canaries").permutation(train)
    canaries = sorted(int(task) for task in order[: schedule.canaries]) if schedule.gate else []
    return BatchPlan(schedule, seed, train, tuple(batches), tuple(canaries))


def read_plan(path: Path, schedule: Schedule, train: int) -> BatchPlan:
    """Read a plan that was saved, so that runs of several suites see the same batches.

    Args:
        path: a JSON file that `BatchPlan.to_json` gave.
        schedule: what the run asks for; the plan must have been drawn for the same batch size and epochs.
        train: how many train tasks there are.

    Raises:
        ConfigError: if it cannot be read, is no plan, was changed, or was drawn for something else.
    """
    with reading(path, "JSON", "give the file of a saved plan"):
        data = json_value(read_bytes(path))
    try:
        seed, drawn_for = data["seed"], {name: data[name] for name in ("train", "batch_size", "epochs")}
        plan = _made(schedule, seed, train, [(b["epoch"], tuple(b["tasks"])) for b in data["batches"]])
        digest = data["digest"]
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{path} is no saved plan ({error!r:.200}); give a file of the folder plans/ of a suite"
        ) from error
    for name, here in (("train", train), ("batch_size", schedule.batch_size), ("epochs", schedule.epochs)):
        if drawn_for[name] != here:
            raise ConfigError(
                f"{path} was drawn for {name} = {drawn_for[name]!r:.80}, and this run has {here!r}; make them the same"
            )
    if plan.digest != digest:
        raise ConfigError(f"{path} was changed after it was drawn; restore it, or draw a new one")
    return plan
