"""The taskset of a post-training task, and the data that grading reads back from it: how each part queries and scores a model."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from heredity._core.errors import ConfigError
from heredity.engine.actor import Solving
from heredity.kinds.checkpoint.tasks.contract import KIND, PREFIX, PostTrainingTask
from heredity.kinds.checkpoint.tasks.several import SeveralTasks
from heredity.resources import Candidate
from heredity.tasks import Task, TasksetInfo


@dataclass(frozen=True, slots=True)
class Inner:
    """A task's data for grading: `info` selects the runner by its kind, `solver` queries the model, `solving` has the settings."""

    info: TasksetInfo
    solver: Candidate
    solving: Solving


def inner_of(info: TasksetInfo) -> Mapping[str, Inner]:
    """Read the grading of a post-training taskset from its info, by the name of the part: one, or several.

    Raises:
        ConfigError: if it is not an info of the kind `"model"`.
    """
    parts: Mapping[str, Mapping[str, Any]] | None = info.spec.get("inner") if info.kind == KIND else None
    if parts is None:
        raise ConfigError(f"{info.name} is of the kind {info.kind!r}; expected a taskset named {PREFIX}NAME")
    return {name: _read(part) for name, part in parts.items()}


def part_of(parts: Mapping[str, Inner], task: Task) -> tuple[str, Task]:
    """Return the name of the part that grades a task, and that part's version of the task."""
    if len(parts) == 1:
        return next(iter(parts)), task
    return task.spec["part"], replace(task, spec=task.spec["item"])


class PostTrainingTaskset:
    """The taskset `"posttraining/NAME"`: its split `train` is the graded view, `heldout` the slice kept back.

    Items of several tasks alternate, so that any number of them is divided evenly.

    Args:
        task: the task, or several.
    """

    def __init__(self, task: PostTrainingTask | SeveralTasks) -> None:
        self.task = task

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset: of the kind `"model"`, with inner taskset and solver of each part in its spec."""
        task, parts = self.task, self.task.parts
        versions = [_version(part) for part in parts]
        return TasksetInfo(
            name=PREFIX + task.name,
            version="; ".join(versions),
            kind=KIND,
            spec={"inner": {part.name: _written(part) for part in parts}},
            public={
                "taskset": PREFIX + task.name,
                "metric": f"{task.metric}: mean score from 0 to 1, higher is better",
                "level": task.level,
                "base_models": list(task.base_models),
                "structure": dict(task.structure),
                "labels": list(task.labels),
            },
            description=task.description,
            failure_return=parts[0].inner.info.failure_return,
            group="posttraining",
            family=task.level,
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` tasks of `train` (graded) or `heldout`; there is no `validation`. See `Taskset.draw`."""
        inner = {"train": "validation", "heldout": "heldout"}.get(split)
        if inner is None:
            if split == "validation" and count == 0:
                return ()
            raise ConfigError(f"{PREFIX}{self.task.name} has no split {split!r}; it has train (graded) and heldout")
        parts = self.task.parts
        turns = [range(first, count, len(parts)) for first in range(len(parts))]
        drawn: dict[int, Task] = {}
        for part, turn in zip(parts, turns, strict=True):
            for position, t in zip(turn, part.inner.draw(inner, len(turn), entropy), strict=True):
                spec = t.spec if len(parts) == 1 else {"part": part.name, "item": t.spec}
                drawn[position] = Task(f"{split}/{position}", split, position, spec, t.attributes)
        return tuple(drawn[position] for position in range(count))

    def task_indices(self, count: int) -> Mapping[str, range]:
        """Return the indices of the tasks of each part among the first `count` of a split, by its name."""
        return {part.name: range(i, count, len(self.task.parts)) for i, part in enumerate(self.task.parts)}


def _version(part: PostTrainingTask) -> str:
    asked = part.solving
    limits = f"{asked.max_tokens} tokens, temperature {asked.temperature}, {asked.max_turns} turns"
    return f"{part.inner.info.version}, solver {part.solver.digest[:12]}, {limits}"


def _written(part: PostTrainingTask) -> dict[str, Any]:
    info, solver = part.inner.info, base64.b64encode(part.solver.to_bytes()).decode()
    taskset = {**asdict(info), "spec": dict(info.spec), "public": dict(info.public)}
    return {"kind": info.kind, "taskset": taskset, "solver": solver, "solving": asdict(part.solving)}


def _read(part: Mapping[str, Any]) -> Inner:
    solver = Candidate.from_bytes(base64.b64decode(part["solver"]))
    return Inner(TasksetInfo(**part["taskset"]), solver, Solving(**part["solving"]))
