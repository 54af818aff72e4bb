"""SEAGym's task indexes and split manifests: read, checked, summarised.

A task index lists tasks by reference (`{version, tasks: [{task_id, source, attributes, scoring, visibility}]}`); a split
manifest divides them into train, val and test (`{split_id, split_version, seed, splits}`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value, read_bytes
from heredity._core.refusals import quoted, reading

SPLITS = ("train", "val", "test")
TRANSFORMS = ("identity", "binary_threshold")


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scoring rule: turns a task's rewards into its score.

    Attributes:
        main_reward_key: the reward that counts.
        success_threshold: minimum reward of a solved task.
        score_transform: `"identity"`, or `"binary_threshold"` for 1 from the threshold on and 0 below.
    """

    main_reward_key: str = "reward"
    success_threshold: float = 1.0
    score_transform: str = "identity"

    def apply(self, rewards: Mapping[str, float]) -> tuple[float, bool] | None:
        """Return score and success; None if the main reward is missing."""
        reward = rewards.get(self.main_reward_key)
        if reward is None:
            return None
        success = reward >= self.success_threshold
        return (float(success) if self.score_transform == "binary_threshold" else float(reward)), success


@dataclass(frozen=True, slots=True)
class IndexedTask:
    """A task of an index: source, attributes and scoring.

    Attributes:
        task_id: unique in its index.
        source: reference to the benchmark's task; free.
        attributes: such as `domain` and `source_benchmark`; free.
        scoring: the scoring rule.
        visibility: the parts an agent may see; free.
    """

    task_id: str
    source: Mapping[str, Any]
    attributes: Mapping[str, Any]
    scoring: Scoring = Scoring()
    visibility: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def domain(self) -> str:
        """Its domain, or `"unknown"`."""
        return str(self.attributes.get("domain", "unknown"))

    @property
    def source_group(self) -> str:
        """Its source benchmark, or else its domain."""
        return str(self.attributes.get("source_benchmark", self.domain))


@dataclass(frozen=True, slots=True)
class TaskIndex:
    """Tasks by id, in the order of the file."""

    version: str
    tasks: Mapping[str, IndexedTask]


@dataclass(frozen=True, slots=True)
class Split:
    """A split manifest.

    Attributes:
        split_id: its name.
        split_version: its version.
        seed: the seed it was drawn with.
        splits: task ids of `"train"`, `"val"` and `"test"`: disjoint, without duplicates.
    """

    split_id: str
    split_version: str
    seed: int
    splits: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Inspection:
    """Number of tasks in each split.

    Attributes:
        tasks: number by split.
        domains: by split, then domain.
        sources: by split, then source group.
        unused: number of the index's tasks in no split.
    """

    tasks: Mapping[str, int]
    domains: Mapping[str, Mapping[str, int]]
    sources: Mapping[str, Mapping[str, int]]
    unused: int


def read_task_index(path: Path) -> TaskIndex:
    """Read a task index.

    Raises:
        ConfigError: if it cannot be read or is malformed; the message names the task and the field.
    """
    data = _read(path)
    entries = data.get("tasks")
    if not isinstance(entries, list):
        raise ConfigError(f"{path}: tasks is {_format(entries)}; give a list of tasks")
    tasks = [_task(entry, f"{path}: task {i}") for i, entry in enumerate(cast("list[Any]", entries), 1)]
    _refuse_repeated(f"{path}: tasks", (task.task_id for task in tasks))
    return TaskIndex(str(data.get("version", "unknown")), {task.task_id: task for task in tasks})


def read_split(path: Path) -> Split:
    """Read a split manifest; its splits must be disjoint and without duplicates.

    Raises:
        ConfigError: if it cannot be read, or is malformed; the message names the split and the tasks.
    """
    data = _read(path)
    table = _mapping(data.get("splits"), f"{path}: splits")
    if sorted(table) != sorted(SPLITS):
        raise ConfigError(f"{path}: splits are {_some(list(table)) if table else 'none'}; give {', '.join(SPLITS)}")
    splits = {name: _ids(table[name], f"{path}: splits.{name}") for name in SPLITS}
    for i, left in enumerate(SPLITS):
        for right in SPLITS[i + 1 :]:
            if shared := sorted(set(splits[left]) & set(splits[right])):
                raise ConfigError(f"{path}: {left} and {right} share {_some(shared)}; splits must be disjoint")
    seed = data.get("seed", 0)
    if not isinstance(seed, int):
        raise ConfigError(f"{path}: seed is {_format(seed)}; give a whole number")
    return Split(str(data.get("split_id", "unknown")), str(data.get("split_version", "unknown")), seed, splits)


def inspect_split(index: TaskIndex, split: Split) -> Inspection:
    """Count the tasks of a split by domain and source.

    Raises:
        ConfigError: if a task is not in the index.
    """
    for name, ids in split.splits.items():
        if missing := [task_id for task_id in ids if task_id not in index.tasks]:
            raise ConfigError(
                f"split {_format(split.split_id)}: splits.{name} has {_some(missing)}, which the task index (version "
                f"{index.version!r}, {len(index.tasks)} tasks) does not have; use the index it was drawn from"
            )
    members = {name: [index.tasks[task_id] for task_id in ids] for name, ids in split.splits.items()}
    return Inspection(
        tasks={name: len(tasks) for name, tasks in members.items()},
        domains={name: _counts(task.domain for task in tasks) for name, tasks in members.items()},
        sources={name: _counts(task.source_group for task in tasks) for name, tasks in members.items()},
        unused=len(index.tasks) - sum(len(tasks) for tasks in members.values()),
    )


def _counts(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _read(path: Path) -> Mapping[str, Any]:
    with reading(path, "JSON", "pass a file in SEAGym's format"):
        return _mapping(json_value(read_bytes(path)), str(path))


def _task(data: Any, where: str) -> IndexedTask:
    task = _mapping(data, where)
    task_id = task.get("task_id")
    if not isinstance(task_id, str) or not task_id:
        raise ConfigError(f"{where}: task_id is {_format(task_id)}; give a name")
    where = f"{where} ({task_id})"
    return IndexedTask(
        task_id=task_id,
        source=_mapping(task.get("source"), f"{where}: source"),
        attributes=_mapping(task.get("attributes"), f"{where}: attributes"),
        scoring=_scoring(_mapping(task.get("scoring") or {}, f"{where}: scoring"), where),
        visibility=_mapping(task.get("visibility") or {}, f"{where}: visibility"),
    )


def _scoring(data: Mapping[str, Any], where: str) -> Scoring:
    transform, threshold = data.get("score_transform", "identity"), data.get("success_threshold", 1.0)
    if transform not in TRANSFORMS:
        raise ConfigError(f"{where}: score_transform is {_format(transform)}; give {' or '.join(TRANSFORMS)}")
    if not isinstance(threshold, int | float) or isinstance(threshold, bool):
        raise ConfigError(f"{where}: success_threshold is {_format(threshold)}; give a number")
    # SEAGym's documentation says reward_key, but its code reads main_reward_key.
    key = data.get("main_reward_key", data.get("reward_key", "reward"))
    return Scoring(str(key), float(threshold), transform)


def _ids(data: Any, where: str) -> tuple[str, ...]:
    if not isinstance(data, list):
        raise ConfigError(f"{where} is {_format(data)}; give a list of task ids")
    ids = tuple(map(str, cast("list[Any]", data)))
    _refuse_repeated(where, ids)
    return ids


def _refuse_repeated(where: str, ids: Iterable[str]) -> None:
    if repeated := sorted(name for name, count in Counter(ids).items() if count > 1):
        raise ConfigError(f"{where} has {_some(repeated)} more than once; keep each task once")


def _mapping(data: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise ConfigError(f"{where} is {_format(data)}; give an object")
    return cast("dict[str, Any]", data)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return ", ".join(map(quoted, names[:5])) + more


def _format(value: Any) -> str:
    return "missing" if value is None else quoted(value)
