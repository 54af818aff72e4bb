"""The taskset contract: a named, versioned source of tasks with disjoint splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

SPLITS = ("train", "validation", "heldout")
"""Splits of every taskset. Evolvers see only the indices of `train`; the other two belong to the judge."""

CLUSTER = "cluster"
"""Attribute shared by tasks that were drawn together."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to attempt: an episode's seed and options, a level, a question.

    Attributes:
        id: unique inside its taskset, such as `"train/3"`.
        split: the split it was drawn for.
        index: the task index by which an evolver names it; counts from 0 in each split.
        spec: the runner's data for attempting it (seed, options). Trusted and secret: it never enters an untrusted
            process.
        attributes: labels to aggregate by, such as `domain` and `source_benchmark`; hidden from actors and evolvers.
            Tasks with the same `cluster` were drawn together, such as the questions of one document: their scores are
            correlated, so standard errors are computed over clusters instead of tasks.
    """

    id: str
    split: str
    index: int
    spec: Mapping[str, Any] = field(repr=False)
    attributes: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)

    @property
    def cluster(self) -> str | None:
        """Label shared by tasks drawn together; None for an independent task."""
        return self.attributes.get(CLUSTER) or None


@dataclass(frozen=True, slots=True)
class TasksetInfo:
    """Description of a taskset.

    Attributes:
        name: registry name, such as `"gymnasium/CartPole-v1"`.
        version: changes whenever the same task may score differently (package versions included).
        kind: kind of its tasks, which selects the runner: `"episode"` for policies in environments.
        spec: the runner's data for building the environment of the tasks (JSON values).
        public: information for evolvers, as JSON: spaces, horizon, units, reward components.
        description: the task in Markdown, for people and coding agents.
        failure_return: upper bound of a failed rollout's return, and lower bound of any rollout's score. Minus infinity
            for unbounded scores: a candidate that fails once then ranks below every one that does not.
        group: `"synthesis"` or `"tuning"` (EvoPolicyGym, section 5.1), or another label to aggregate by.
        family: label of the simulator family, to aggregate by.
        labels: further labels, such as `{"observation": "partial"}`.
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
        """Description of this taskset."""
        ...

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` tasks of a split.

        The same arguments give the same tasks; a larger `count` extends a smaller one; tasks of different splits under
        the same entropy are disjoint. `entropy` is secret: hidden cases must not be computable without it.

        Raises:
            ConfigError: if the split is unknown or has fewer than `count` tasks.
        """
        ...
