"""Tasksets of post-training: one task, several in one run, and items dealt out anew for each suite.

They hold the data that grading reads back: how each part queries and scores a model.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import generator
from heredity._core.outside import jsonl
from heredity.engine.actor import Solving
from heredity.engine.questions import Question
from heredity.engine.questions.pools import attributes_of
from heredity.kinds.checkpoint.tasks.contract import (
    DIMENSIONS,
    KIND,
    PREFIX,
    SMOLLM2,
    TRAIN_FILE,
    BaseRecipe,
    Level,
    PostTrainingTask,
    folder_name,
)
from heredity.resources import Candidate
from heredity.tasks import SPLITS, Task, TasksetInfo

MULTI = "multi:"
"""Prefix of the name of several tasks: `multi:arithmetic+rewriting`."""

JOINT = "+"
FOLDER = "tasks"
"""Folder of the parts' materials in a workspace, each in a subfolder of its name, laid out as for a single task."""


@dataclass(frozen=True, slots=True)
class SeveralTasks:
    """Tasks that grade one checkpoint together. Its score is the mean over their items, which alternate.

    The attributes that it shares with `PostTrainingTask` mean the same.

    Attributes:
        parts: the tasks, two or more.
    """

    parts: tuple[PostTrainingTask, ...] = field(repr=False)

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        if len(set(map(folder_name, names))) < len(names) or len(names) < 2:
            raise ConfigError(
                f"several tasks are {', '.join(names)}; expected two or more different ones, such as "
                f"posttraining/{MULTI}arithmetic{JOINT}rewriting"
            )

    @property
    def name(self) -> str:
        """`multi:` and the names of the parts."""
        return MULTI + JOINT.join(part.name for part in self.parts)

    @property
    def title(self) -> str:
        """One line."""
        return f"{len(self.parts)} tasks at once"

    @property
    def level(self) -> Level:
        """The highest of the parts."""
        return max(part.level for part in self.parts)

    @property
    def metric(self) -> str:
        """Name of the mean score."""
        return f"mean score of {len(self.parts)} tasks"

    @property
    def description(self) -> str:
        """Common description, and the description of each."""
        listed = "\n".join(
            f"- **{part.name}**: {part.title}; `{FOLDER}/{folder_name(part.name)}/`" for part in self.parts
        )
        details = "\n\n".join(f"---\n\n# {part.name}\n\n{part.description.strip()}" for part in self.parts)
        return f"""# {self.title}

One model is to become better at all of these tasks:

{listed}

Each has a folder with its own materials, laid out as its description below says. `{TRAIN_FILE}` at the top holds the rows of all,
with the name of its folder under `task`. A checkpoint is graded on items of every task, as many of each. Its score is the mean
over all of them; the server's answer also has the score of each task.

{details}
"""

    @property
    def base_models(self) -> tuple[str, ...]:
        """A character model for all of them if each has a recipe, then their common ones, and SmolLM2."""
        first, *others = (part.base_models for part in self.parts)
        common = [name for name in first if all(name in other for other in others)]
        own = [f"characters/{self.name}"] if self.recipe else []
        return tuple(dict.fromkeys([*own, *common, SMOLLM2]))

    @property
    def recipe(self) -> BaseRecipe | None:
        """The recipe for a character model with the examples of each task's own base; None if one has no recipe."""
        recipes = [part.recipe for part in self.parts if part.recipe]
        if len(recipes) < len(self.parts):
            return None
        # Examples are drawn at random: repeat each task's so that they are drawn as often as for that task alone.
        wanted = [recipe.steps * recipe.batch / len(recipe.examples) for recipe in recipes]
        least = min(filter(None, wanted), default=1.0)
        times = [max(1, round(weight / least)) for weight in wanted]
        most = max(recipe.batch for recipe in recipes)
        return BaseRecipe(
            "".join(sorted({c for recipe in recipes for c in recipe.alphabet})),
            tuple(pair for recipe, n in zip(recipes, times, strict=True) for pair in recipe.examples * n),
            steps=round(sum(recipe.steps * recipe.batch for recipe in recipes) / most),
            batch=most,
            learning_rate=min(recipe.learning_rate for recipe in recipes),
        )

    @property
    def structure(self) -> Mapping[str, int]:
        """The highest score of the parts on each dimension."""
        return {name: max(part.structure[name] for part in self.parts) for name in DIMENSIONS}

    @property
    def private(self) -> tuple[str, ...]:
        """Private packages of any of them."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.private))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of any of them."""
        return tuple(dict.fromkeys(label for part in self.parts for label in part.labels))

    def materials(self, entropy: int) -> Mapping[str, bytes]:
        """Return the files of every part in a separate folder, and the combined training rows; see `PostTrainingTask`.

        The rows keep their order, and those of the parts are spread evenly: the first half has half of each.
        """
        files: dict[str, bytes] = {}
        placed: list[tuple[float, Mapping[str, object]]] = []
        for part in self.parts:
            folder, own = folder_name(part.name), part.materials(entropy)
            files |= {f"{FOLDER}/{folder}/{path}": content for path, content in own.items()}
            files[f"{FOLDER}/{folder}/description.md"] = part.description.encode()
            rows = [json.loads(line) for line in own.get(TRAIN_FILE, b"").decode().split("\n") if line.strip()]
            placed += [((i + 0.5) / len(rows), {"task": folder, **row}) for i, row in enumerate(rows)]
        return {**files, TRAIN_FILE: jsonl(row for _, row in sorted(placed, key=itemgetter(0)))}


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


Spec = Mapping[str, Any]
Deal = Callable[[int], Mapping[str, Sequence[Question | Spec]]]
"""Maps entropy to the ordered items of each split: questions, or specs. Deterministic."""


class DealtTaskset:
    """Tasks dealt out by entropy.

    Args:
        info: description of the taskset.
        deal: deals the items.
        **spec: further data for its runner, JSON values, such as the `scorer` of tasksets of the kind `"scored"`.
    """

    def __init__(self, info: TasksetInfo, deal: Deal, **spec: Any) -> None:
        self.info = replace(info, spec={**info.spec, **spec})
        self._deal = lru_cache(maxsize=4)(deal)

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` items of a split; see `Taskset.draw`."""
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        items = self._deal(entropy)[split]
        if not 0 <= count <= len(items):
            raise ConfigError(f"{count} tasks of split {split!r} of {self.info.name} asked for; it has {len(items)}")
        return tuple(_task(split, i, item) for i, item in enumerate(items[:count]))


def _task(split: str, index: int, item: Question | Spec) -> Task:
    if isinstance(item, Question):
        return Task(f"{split}/{index}", split, index, item.to_spec(), attributes_of(item))
    return Task(f"{split}/{index}", split, index, item)


def dealt_info(name: str, *, version: str, description: str, family: str, kind: str = "question") -> TasksetInfo:
    """Return the info of a dealt taskset: scores are from 0 to 1, a failed rollout counts as 0."""
    return TasksetInfo(
        name=f"dealt/{name}",
        version=version,
        kind=kind,
        spec={"taskset": f"dealt/{name}"},
        public={"hidden": "dealt out by secret entropy"},
        description=description,
        failure_return=0.0,
        group="questions",
        family=family,
    )


def draw_indices(
    entropy: int, name: str, space: int, count: int, avoid: Collection[int] = frozenset()
) -> tuple[int, ...]:
    """Return distinct indices from a space of items that is too large to shuffle, without those to avoid.

    Args:
        entropy: seed of the draw, together with the name.
        name: of the task, and the purpose of the draw.
        space: number of items.
        count: number of indices; with those to avoid at most `space`.
        avoid: indices.

    Raises:
        ConfigError: if there are too few.
    """
    if count + len(avoid) > space:
        raise ConfigError(f"{count} items of {name} asked for beside {len(avoid)}; it has {space}; ask for fewer")
    order = generator(entropy, "posttraining", name, "deal").choice(space, count + len(avoid), replace=False)
    kept = frozenset(avoid)
    return tuple(int(index) for index in order if int(index) not in kept)[:count]
