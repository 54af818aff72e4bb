"""Post-training tasks by name: `posttraining/arithmetic`, `posttraining/reasoning/gcd`, `posttraining/smith:FOLDER`.

Several at once are `posttraining/multi:arithmetic+rewriting`.
A task is one module with a function that makes it, and one line here; nothing is imported before a task is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.posttraining.tasks.contract import PREFIX, TRAIN_FILE, PostTrainingTask
from heredity.posttraining.tasks.several import JOINT, MULTI, SeveralTasks
from heredity.posttraining.tasks.taskset import PostTrainingTaskset

_HERE = "heredity.posttraining.tasks"

_TASKS: Mapping[str, str] = {
    "arithmetic": f"{_HERE}.arithmetic:arithmetic",
    "arithmetic-hard": f"{_HERE}.arithmetic:arithmetic_hard",
    "commands": f"{_HERE}.commands:commands",
    "gsm8k": f"{_HERE}.gsm8k:gsm8k",
    "humaneval": f"{_HERE}.humaneval:humaneval",
    "preference": f"{_HERE}.preference.task:preference",
    "preference-judged": f"{_HERE}.preference.task:preference_judged",
    "alpaca-eval": f"{_HERE}.preference.task:alpaca_eval",
    "alfworld": f"{_HERE}.alfworld.task:alfworld",
    "alfworld-official": f"{_HERE}.alfworld.task:alfworld_official",
    "shop": f"{_HERE}.shop.task:shop",
    "webshop": f"{_HERE}.webshop.task:webshop",
    "search": f"{_HERE}.search.task:search",
    "search-judged": f"{_HERE}.search.task:search_judged",
    "deepsearchqa": f"{_HERE}.deepsearchqa.task:deepsearchqa",
    "rewriting": f"{_HERE}.rewriting:rewriting",
    "text-game": f"{_HERE}.text_game:text_game",
}
"""Name to `module:function`; the function takes nothing and returns the task."""

_OPEN: Mapping[str, str] = {
    "reasoning/": f"{_HERE}.reasoning:reasoning",
    "smith:": f"{_HERE}.smith:smith",
}
"""What a name begins with to `module:function`; the function takes the rest of the name."""


def task_names() -> tuple[str, ...]:
    """Return the names of the tasks that have one of their own, such as `"arithmetic"`."""
    return tuple(_TASKS)


def posttraining_task(name: str) -> PostTrainingTask | SeveralTasks:
    """Return a task by its name, with or without `posttraining/`; several for a name that begins with `multi:`.

    Raises:
        UnknownNameError: if there is none of that name.
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
    if own in _TASKS:
        return _function(_TASKS[own])()
    for beginning, made_by in _OPEN.items():
        if own.startswith(beginning) and own != beginning:
            return _function(made_by)(own.removeprefix(beginning))
    raise UnknownNameError("post-training task", own, [*_TASKS, *_OPEN, MULTI])


def workspace_files(task: PostTrainingTask | SeveralTasks, entropy: int) -> dict[str, bytes]:
    """Return the files of a task's workspace, path to content, checked: no item of a view is among the rows to train on.

    Args:
        task: the task.
        entropy: secret entropy of the suite, with which the views are drawn as well.

    Raises:
        ConfigError: if the materials share an item with the graded view or the held-out slice, or have no rows to train on.
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


class PostTrainingTasksets:
    """The tasksets named `"posttraining/…"`."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all but those of generators and folders."""
        return tuple(PREFIX + name for name in _TASKS)

    def taskset(self, name: str) -> PostTrainingTaskset:
        """Return the taskset with a full name. Raises as `posttraining_task`."""
        return PostTrainingTaskset(posttraining_task(name))


SOURCE = PostTrainingTasksets()
"""What `heredity.tasks.registry` loads."""


def _function(path: str) -> Callable[..., PostTrainingTask]:
    module, _, function = path.partition(":")
    return getattr(import_module(module), function)


def _rows(path: str, data: bytes) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in data.decode().split("\n") if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ConfigError(f"{path} has a line that is no JSON object")
    return rows


def _identity(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return " ".join(text.split())
