"""Several tasks in one run: agents improve one base model at all of them (Agent² RL-Bench, section 3.4, multi-task mode)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from heredity._core.errors import ConfigError
from heredity._core.outside import jsonl
from heredity.kinds.checkpoint.tasks.contract import (
    DIMENSIONS,
    SMOLLM2,
    TRAIN_FILE,
    BaseRecipe,
    Level,
    PostTrainingTask,
    folder_name,
)

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
        """Return the files of every part in its own folder, and the combined training rows; see `PostTrainingTask`.

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
