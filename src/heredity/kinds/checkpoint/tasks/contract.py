"""The contract of a post-training task: a weak base model, the agent's materials, and questions or games that grade checkpoints.

A checkpoint is graded as a language model: a *solver* (prompts) attempts the tasks of the *inner* taskset with it,
whose own runner and verifiers score it. The inner splits mean here: `train` feeds the materials, `validation` is the
graded view, `heldout` stays hidden until the run has ended.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from heredity._core.errors import ConfigError
from heredity.engine.actor import Solving
from heredity.resources import Candidate, SourceTree
from heredity.tasks import Taskset

KIND = "model"
"""The kind of every taskset here: checkpoints attempt its tasks."""

PREFIX = "posttraining/"
SMOLLM2 = "smollm2-135m"
"""A base model that every task supports."""

TRAIN_FILE = "data/train.jsonl"
"""Training rows; each has at least `prompt` (as in grading) and `completion` (a good reply)."""

DIMENSIONS = ("capability", "interaction", "reward", "horizon")
"""The structural dimensions of a task, each scored from 1 to 5 (Agent² RL-Bench, appendix A.1)."""

ENUMERABLE = 1_000_000
"""Below this number of items, an agent can generate all of them, including graded and held-out ones, and train on them."""

Level = Literal["L1", "L2", "L3"]


@dataclass(frozen=True, slots=True)
class BaseRecipe:
    """The pretraining of the deliberately weak base of a character-level task. Its examples exclude graded and held-out items.

    Attributes:
        alphabet: all characters of prompts and completions.
        examples: pairs of a prompt and its completion.
        steps: updates, each on `batch` examples drawn at random.
        batch: examples per update.
        learning_rate: of AdamW, above 0.
        seed: of the weights and of the draws.
    """

    alphabet: str
    examples: tuple[tuple[str, str], ...] = field(repr=False)
    steps: int = 300
    batch: int = 64
    learning_rate: float = 2e-3
    seed: int = 0

    def __post_init__(self) -> None:
        strange = {c for pair in self.examples for text in pair for c in text} - set(self.alphabet)
        if strange:
            raise ConfigError(f"the examples hold {''.join(sorted(strange))!r}, which is not in the alphabet; add it")
        if self.steps < 0 or self.batch < 1 or not self.learning_rate > 0:
            raise ConfigError(
                f"steps {self.steps}, batch {self.batch}, learning rate {self.learning_rate}; "
                "expected at least 0, at least 1, above 0"
            )


@dataclass(frozen=True, slots=True)
class PostTrainingTask:
    """A task on which agents improve a base model.

    Attributes:
        name: such as `"arithmetic"`; the taskset is `"posttraining/arithmetic"`.
        level: `"L1"` static with a rule, `"L2"` static with a judge, `"L3"` interactive (Agent² RL-Bench, table 1).
        title: one line.
        description: the task in Markdown, for the agent.
        base_models: names of base models, the default first.
        inner: the tasks that grade a checkpoint; scores are from 0 to 1 (higher is better).
        solver: the parts that query the graded model.
        solving: settings of the queries: maximum tokens of a reply, temperature, turns.
        metric: name of the mean score, such as `"accuracy"`.
        materials: maps entropy to the files of the workspace, `data/train.jsonl` among them; see `workspace_files`.
        graded: default number of tasks in the graded view.
        heldout: default number of tasks in the held-out slice.
        structure: scores from 1 to 5 on the `DIMENSIONS`.
        secret: the field of a task's spec that identifies an item; no row of a `.jsonl` among the materials may share
            it.
        recipe: recipe of the base `characters/NAME`; None if bases have another source.
        private: import names of installed packages that hold answers; an agent must not be able to read them.
        labels: labels for reports, such as `"stand-in"` or `"failure fixture"`; `space` adds `"enumerable: …"`.
        space: number of different items that a generator can make; None if they cannot be enumerated, such as texts
            by people.
    """

    name: str
    level: Level
    title: str
    description: str
    base_models: tuple[str, ...]
    inner: Taskset = field(repr=False)
    solver: Candidate = field(repr=False)
    solving: Solving
    metric: str
    materials: Callable[[int], Mapping[str, bytes]] = field(repr=False)
    graded: int
    heldout: int
    structure: Mapping[str, int]
    secret: str = "question"
    recipe: BaseRecipe | None = field(default=None, repr=False)
    private: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    space: int | None = None

    def __post_init__(self) -> None:
        if self.space is not None and self.space < ENUMERABLE:
            label = f"enumerable: {self.space} items in all, so held-out scores may be memory"
            object.__setattr__(self, "labels", tuple(dict.fromkeys((*self.labels, label))))
        wrong = {name: self.structure.get(name) for name in DIMENSIONS if self.structure.get(name) not in range(1, 6)}
        if wrong or set(self.structure) != set(DIMENSIONS):
            raise ConfigError(
                f"structure is {dict(self.structure)}; expected 1 to 5 for each of {', '.join(DIMENSIONS)}"
            )
        if not self.base_models:
            raise ConfigError(f"the task {self.name} has no base model; name at least one")

    @property
    def parts(self) -> tuple[PostTrainingTask, ...]:
        """This task alone; see `SeveralTasks.parts`."""
        return (self,)


def plain_solver(prompt: str = "{{question}}", system: str = "") -> Candidate:
    """Return a solver that sends a text, which has the placeholder `{{question}}`, after an optional system message."""
    parts = {"prompt/question": prompt, **({"prompt/system": system} if system else {})}
    return Candidate({name: SourceTree({"prompt.md": text}) for name, text in parts.items()})


def folder_name(name: str) -> str:
    """Return the folder name of a task or a base model: only letters, digits, `.`, `_` and `-`."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
