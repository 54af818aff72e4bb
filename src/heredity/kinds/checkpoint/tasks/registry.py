"""Post-training tasks by name: `posttraining/arithmetic`, `posttraining/reasoning/gcd`, `posttraining/smith:FOLDER`.

Several at once are `posttraining/multi:arithmetic+rewriting`.
A task is a function that creates it, registered in the entry point group `heredity.posttraining`; nothing is imported
before a task is requested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.plugins import Group, is_path, located
from heredity.kinds.checkpoint.tasks.contract import PREFIX, TRAIN_FILE, PostTrainingTask
from heredity.kinds.checkpoint.tasks.taskset import JOINT, MULTI, PostTrainingTaskset, SeveralTasks

TASKS = Group[Callable[..., PostTrainingTask]](
    "heredity.posttraining", "post-training task", "a function that returns a task", callable
)
"""The function has no parameters, or, if the entry's name ends with `/` or `:`, takes the rest of a name."""

FOLDER = "smith:"
"""Prefix of the names of a user's own tasks; the path of a folder follows."""

GRADED, HELDOUT = "graded", "heldout"
"""The views of a task: the one that scores every submission, and the hidden one."""

WORLD = "world:"
"""Prefix of the names of worlds as training tasks; a world's name or the path of a folder in rules follows."""

_OPEN = re.compile(r"([^/:]+[/:])(.+)", re.DOTALL)


def task_names() -> tuple[str, ...]:
    """Return the names of the tasks with a fixed name, such as `"arithmetic"`."""
    return tuple(name for name in TASKS.names() if name[-1] not in "/:")


def posttraining_task(name: str) -> PostTrainingTask | SeveralTasks:
    """Return a task by its name, with or without `posttraining/`; several for a name that begins with `multi:`.

    Raises:
        UnknownNameError: if it does not exist.
        MissingExtraError: if it needs a package that is not installed.
        ConfigError: if its data is missing or wrong.
    """
    own = name.removeprefix(PREFIX)
    if own.startswith(MULTI):
        return SeveralTasks(tuple(single_task(part) for part in own.removeprefix(MULTI).split(JOINT)))
    return single_task(own)


def single_task(name: str) -> PostTrainingTask:
    """Return one task by its name. Raises as `posttraining_task`."""
    own = name.removeprefix(PREFIX)
    opened = _OPEN.fullmatch(own)
    if opened and opened[1] in TASKS:
        return TASKS.load(opened[1])(opened[2])
    if own in task_names():
        return TASKS.load(own)()
    raise UnknownNameError("post-training task", own, [*TASKS.names(), MULTI])


def workspace_files(task: PostTrainingTask | SeveralTasks, entropy: int) -> dict[str, bytes]:
    """Return the files of a task's workspace, path to content, after checking that no item of a view is in the training rows.

    Args:
        task: the task.
        entropy: secret entropy of the suite, which also draws the views.

    Raises:
        ConfigError: if the materials share an item with the graded view or the held-out slice, or have no training
            rows.
    """
    files = dict(task.materials(entropy))
    rows = [row for path, data in files.items() if path.endswith(".jsonl") for row in _rows(path, data)]
    if not files.get(TRAIN_FILE):
        raise ConfigError(f"the materials of {task.name} have no {TRAIN_FILE}; add rows to train on")
    for part in task.parts:
        shown = {_identity(row[part.secret]) for row in rows if part.secret in row}
        taskset = PostTrainingTaskset(part)
        for split, count in (("train", part.graded), ("heldout", part.heldout)):
            for hidden in taskset.draw(split, count, entropy):
                if _identity(hidden.spec[part.secret]) in shown:
                    raise ConfigError(
                        f"{hidden.id} of {part.name} is among the rows to train on; they must be disjoint"
                    )
    return files


def view_texts(
    task: PostTrainingTask | SeveralTasks, entropy: int, counts: Mapping[str, int]
) -> Mapping[str, tuple[str, ...]]:
    """Return the texts that identify hidden items, by view and in the order of the view.

    Args:
        task: the task.
        entropy: seed of the views.
        counts: number of items of `GRADED` and of `HELDOUT`.
    """
    taskset, secrets = PostTrainingTaskset(task), {part.name: part.secret for part in task.parts}

    def text(spec: Mapping[str, Any]) -> str:
        name, item = (spec["part"], spec["item"]) if len(secrets) > 1 else (task.name, spec)
        return _identity(item[secrets[name]])

    splits = {GRADED: "train", HELDOUT: "heldout"}
    return {view: tuple(text(t.spec) for t in taskset.draw(splits[view], n, entropy)) for view, n in counts.items()}


class PostTrainingTasksets:
    """The tasksets named `"posttraining/…"`."""

    def names(self) -> tuple[str, ...]:
        """Return all names except those of generators and folders."""
        return tuple(PREFIX + name for name in task_names())

    def taskset(self, name: str) -> PostTrainingTaskset:
        """Return the taskset with a full name. Raises as `posttraining_task`."""
        return PostTrainingTaskset(posttraining_task(name))

    def located(self, name: str, base: Path) -> str:
        """Return a name with the paths of a user's own tasks made absolute relative to the folder `base`."""
        own = name.removeprefix(PREFIX)
        several = MULTI if own.startswith(MULTI) else ""
        parts = own.removeprefix(several).split(JOINT) if several else [own]
        return PREFIX + several + JOINT.join(_located(part, base) for part in parts)


SOURCE = PostTrainingTasksets()
"""What `heredity.tasks.registry` loads."""


def _located(name: str, base: Path) -> str:
    if name.startswith(WORLD) and is_path(name.removeprefix(WORLD)):
        return f"{WORLD}{located(name.removeprefix(WORLD), base)}"
    path = name.removeprefix(FOLDER)
    return f"{FOLDER}{located(path, base)}" if name.startswith(FOLDER) else name


def _rows(path: str, data: bytes) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path} has a line that is not a JSON object; write one object per line")
    return rows


def _identity(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return " ".join(text.split())
