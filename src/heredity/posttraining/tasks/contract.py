"""What a post-training task is: a weak base model, what the agent is given, and questions or games that grade its checkpoints.

A checkpoint is graded as a language model: a *solver* (prompts) puts it before the tasks of the *inner* taskset, whose own
runner and verifiers score it. The inner splits mean here: `train` feeds the materials, `validation` is the graded view,
`heldout` is never returned to anybody before the run has ended.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from heredity.actors.contract import Solving
from heredity.errors import ConfigError
from heredity.resources import Candidate, SourceTree
from heredity.tasks import Task, Taskset, TasksetInfo

KIND = "model"
"""The kind of every taskset here: what attempts its tasks is a checkpoint."""

PREFIX = "posttraining/"
TRAIN_FILE = "data/train.jsonl"
"""The rows to train on; each has at least `prompt` (as the graded model is asked) and `completion` (a good reply)."""

DIMENSIONS = ("capability", "interaction", "reward", "horizon")
"""The structural dimensions of a task, each scored from 1 to 5 (Agent² RL-Bench, appendix A.1)."""

Level = Literal["L1", "L2", "L3"]


@dataclass(frozen=True, slots=True)
class BaseRecipe:
    """How the deliberately weak base of a character-level task is pretrained. No graded or held-out item is among its examples.

    Attributes:
        alphabet: every character that prompts and completions consist of.
        examples: pairs of a prompt and its completion.
        steps: updates, each on `batch` examples drawn at random.
        batch: examples in an update.
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
    """A task on which a base model is to be made better.

    Attributes:
        name: such as `"arithmetic"`; the taskset is `"posttraining/arithmetic"`.
        level: `"L1"` static with a rule, `"L2"` static with a judge, `"L3"` interactive (Agent² RL-Bench, table 1).
        title: one line.
        description: the task in Markdown, for the agent.
        base_models: names of base models, the default first.
        inner: the tasks that grade a checkpoint; scores are from 0 to 1, higher is better.
        solver: the parts with which the graded model is asked.
        solving: how it is asked: most tokens of a reply, temperature, turns.
        metric: what the mean score is called, such as `"accuracy"`.
        materials: entropy to the files of the workspace, `data/train.jsonl` among them; see `workspace_files`.
        graded: how many tasks the graded view has by default.
        heldout: how many tasks the held-out slice has by default.
        structure: scores from 1 to 5 on the `DIMENSIONS`.
        secret: the field of a task's spec that identifies an item; no row of a `.jsonl` among the materials may share it.
        recipe: how the base `characters/NAME` is made; None where bases come from elsewhere.
        private: import names of installed packages that hold answers; an agent must not be able to read them.
        labels: what a report has to say of it, such as `"stand-in"` or `"failure fixture"`.
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

    def __post_init__(self) -> None:
        wrong = {name: self.structure.get(name) for name in DIMENSIONS if self.structure.get(name) not in range(1, 6)}
        if wrong or set(self.structure) != set(DIMENSIONS):
            raise ConfigError(
                f"structure is {dict(self.structure)}; expected 1 to 5 for each of {', '.join(DIMENSIONS)}"
            )
        if not self.base_models:
            raise ConfigError(f"the task {self.name} has no base model; name at least one")


@dataclass(frozen=True, slots=True)
class Inner:
    """What grading needs of a task: `info` names the runner by its kind, `solver` asks the model, `solving` says how."""

    info: TasksetInfo
    solver: Candidate
    solving: Solving


def inner_of(info: TasksetInfo) -> Inner:
    """Read what grades a checkpoint out of a post-training taskset's info.

    Raises:
        ConfigError: if it is no info of the kind `"model"`.
    """
    inner: Mapping[str, Any] | None = info.spec.get("inner") if info.kind == KIND else None
    if inner is None:
        raise ConfigError(f"{info.name} is of the kind {info.kind!r}; expected a taskset named {PREFIX}NAME")
    solver = Candidate.from_bytes(base64.b64decode(inner["solver"]))
    return Inner(TasksetInfo(**inner["taskset"]), solver, Solving(**inner["solving"]))


def plain_solver(prompt: str = "{{question}}", system: str = "") -> Candidate:
    """Return a solver that asks with a text, which has the place `{{question}}`, after a system message if one is given."""
    parts = {"prompt/question": prompt, **({"prompt/system": system} if system else {})}
    return Candidate({name: SourceTree({"prompt.md": text}) for name, text in parts.items()})


class PostTrainingTaskset:
    """The taskset `"posttraining/NAME"` of a task: its split `train` is the graded view, `heldout` the slice kept back.

    Args:
        task: the task.
    """

    def __init__(self, task: PostTrainingTask) -> None:
        self.task = task

    @property
    def info(self) -> TasksetInfo:
        """What this taskset is: of the kind `"model"`, with the inner taskset and the solver in its spec."""
        task, inner = self.task, self.task.inner.info
        solver = base64.b64encode(task.solver.to_bytes()).decode()
        solving = asdict(task.solving)
        return TasksetInfo(
            name=PREFIX + task.name,
            version=f"{inner.version}, solver {task.solver.digest[:12]}, {_told(solving)}",
            kind=KIND,
            spec={"inner": {"kind": inner.kind, "taskset": _as_json(inner), "solver": solver, "solving": solving}},
            public={
                "taskset": PREFIX + task.name,
                "metric": f"{task.metric}: mean score from 0 to 1, higher is better",
                "level": task.level,
                "base_models": list(task.base_models),
                "structure": dict(task.structure),
                "labels": list(task.labels),
            },
            description=task.description,
            failure_return=inner.failure_return,
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
        drawn = self.task.inner.draw(inner, count, entropy)
        return tuple(Task(f"{split}/{t.index}", split, t.index, t.spec, t.attributes) for t in drawn)


def _as_json(info: TasksetInfo) -> dict[str, Any]:
    return {**asdict(info), "spec": dict(info.spec), "public": dict(info.public)}


def _told(solving: Mapping[str, Any]) -> str:
    return f"{solving['max_tokens']} tokens, temperature {solving['temperature']}, {solving['max_turns']} turns"
