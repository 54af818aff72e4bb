"""The taskset contract: a named, versioned source of tasks with disjoint splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

SPLITS = ("train", "validation", "heldout")
"""The splits every taskset can draw. Evolvers see `train` handles only; the other two belong to the judge."""

CLUSTER = "cluster"
"""The attribute that tasks which were drawn together share."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to attempt: an episode's seed and options, a level, a question.

    Attributes:
        id: unique inside its taskset, such as `"train/3"`.
        split: the split it was drawn for.
        index: the integer handle by which an evolver names it; counts from 0 in each split.
        spec: what a runner needs to attempt it (seed, options). Trusted and secret: it never enters an untrusted process.
        attributes: labels to aggregate by, such as `domain` and `source_benchmark`; no actor or evolver is told of them. Tasks with
            the same `cluster` were drawn together, such as the questions of one document: they rise and fall together, and errors
            take clusters, not tasks, for what chance drew.
    """

    id: str
    split: str
    index: int
    spec: Mapping[str, Any] = field(repr=False)
    attributes: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def cluster(self) -> str | None:
        """What it was drawn with; None for a task by itself."""
        return self.attributes.get(CLUSTER) or None


@dataclass(frozen=True, slots=True)
class TasksetInfo:
    """What a taskset is.

    Attributes:
        name: registry name, such as `"gymnasium/CartPole-v1"`.
        version: changes whenever the same task may score differently (package versions included).
        kind: which runner of the engine attempts its tasks: `"episode"` for policies in environments.
        spec: what that runner needs to build the place where tasks are attempted (JSON values).
        public: what evolvers may know, as JSON: spaces, horizon, units, reward components.
        description: the task in Markdown, for people and coding agents.
        failure_return: the return that a failed rollout counts as, at most; a lower bound of what a rollout can score.
            Minus infinity where scores have none: a candidate that fails once then ranks below every one that does not.
        group: `"synthesis"` or `"tuning"` (EvoPolicyGym, section 5.1), or another label to aggregate by.
        family: label of the simulator family, to aggregate by.
        labels: what else it may be told apart by, such as `{"observation": "partial"}`.
        notes: facts that readers of scores must know, one line each, such as rows left out or keys known to be wrong.
    """

    name: str
    version: str
    kind: str
    spec: Mapping[str, Any]
    public: Mapping[str, Any]
    description: str
    failure_return: float
    group: str = "tuning"
    family: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: Sequence[str] = ()


class Taskset(Protocol):
    """A named, versioned source of tasks. Scores are returns: higher is better."""

    @property
    def info(self) -> TasksetInfo:
        """What this taskset is."""
        ...

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` tasks of a split.

        The same arguments give the same tasks; a larger `count` extends a smaller one; tasks of different splits under
        the same entropy are disjoint. `entropy` is secret: hidden cases must not be computable without it.

        Raises:
            ConfigError: if the split is unknown or has fewer than `count` tasks.
        """
        ...
