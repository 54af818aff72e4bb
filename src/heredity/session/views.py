"""Views: frozen sets of hidden tasks for judging candidates. Their scores are never fed back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from heredity._core.errors import ConfigError
from heredity._core.ids import digest_json
from heredity.engine.kind import KINDS
from heredity.engine.runner import Job
from heredity.engine.trajectory import Trajectory
from heredity.methods import Outcome
from heredity.models import Usage
from heredity.records.events import Clustered, Scored
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.session.cases import HiddenCases
from heredity.session.rollouts import (
    Comparison,
    Rollouts,
    comparison_of,
    comparisons_of,
    encodable,
    listed_comparisons,
    outcome_of,
    policy_seed,
    restarts_of,
    total_usage,
)
from heredity.session.session_log import score_from_json, score_to_json
from heredity.tasks import Task, Taskset, TasksetInfo


class Cases:
    """The tasks of a run.

    Attributes:
        train: the train tasks, by task index.
        views: the views, by name.
        opening: opens the commitment to the views.
    """

    def __init__(
        self,
        hidden_cases: HiddenCases,
        taskset: Taskset,
        train: int,
        views: Sequence[ViewPlan],
        *,
        disjoint: bool = False,
        within: str = "",
    ) -> None:
        """Draw the tasks.

        Args:
            hidden_cases: the suite's secret.
            taskset: the run's taskset.
            train: number of train tasks.
            views: the views to draw.
            disjoint: if True, require that train tasks and views share no task.
            within: the view whose tasks replace the train tasks; empty for none.

        Raises:
            ConfigError: if a split has too few tasks, or `disjoint` is violated.
        """
        self.views = {
            plan.name: View(
                plan.name,
                hidden_cases.tasks(plan.taskset or taskset, plan.split, plan.count),
                plan.taskset.info if plan.taskset else None,
            )
            for plan in views
        }
        self.train = self.views[within].tasks if within else hidden_cases.tasks(taskset, "train", train)
        self.opening = hidden_cases.opening_of([(plan.taskset or taskset, plan.split, plan.count) for plan in views])
        if disjoint:
            check_disjoint(self.train, {name: view.tasks for name, view in self.views.items()})


def check_sizes(taskset: Taskset, wanted: Mapping[str, tuple[str, int]]) -> None:
    """Check that a taskset that declares its `sizes` has enough tasks in each split.

    Args:
        taskset: the taskset.
        wanted: configuration key to the split and the number of its tasks.

    Raises:
        ConfigError: if it has fewer; the message has each key with both numbers.
    """
    sizes: Mapping[str, int] | None = getattr(taskset, "sizes", None)
    if sizes is None:
        return
    short = [f"{key} = {count}" for key, (split, count) in wanted.items() if count > sizes.get(split, 0)]
    if short:
        counts = ", ".join(f"{count} {split}" for split, count in sizes.items())
        raise ConfigError(
            f"{taskset.info.name} has {counts} tasks, too few for {' and '.join(short)}; lower these values or add tasks"
        )


def check_disjoint(train: Sequence[Task], views: Mapping[str, Sequence[Task]]) -> None:
    """Check that no task occurs twice in training and the views.

    Raises:
        ConfigError: if one does; the message names the views.
    """
    seen: dict[str, str] = {}
    for name, tasks in (("train", train), *views.items()):
        for task in tasks:
            # A digest identifies a task regardless of its path.
            content = str(task.spec.get("digest") or digest_json(_plain(task.spec)))
            if content in seen:
                raise ConfigError(
                    f"{task.id} is both in {seen[content]} and in {name}; splits must be disjoint: choose other tasksets"
                )
            seen[content] = name


def _plain(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {name: repr(value) if isinstance(value, bytes) else value for name, value in spec.items()}


def clusters_of(tasks: Sequence[Task]) -> Clustered:
    """Number the clusters of tasks in order of occurrence; return an empty mapping if no tasks share a cluster."""
    names = [task.cluster for task in tasks]
    shared = [name for name, count in Counter(names).items() if name is not None and count > 1]
    numbers: dict[str | None, int] = {name: i for i, name in enumerate(shared)}
    return {"clusters": [numbers.get(name) for name in names]} if shared else {}


JUDGE_SEED = 0
"""Seed of the policies' random generators on hidden tasks, the same for every run, so that runs are paired."""


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """A view before it is drawn.

    Attributes:
        name: the view's name in the journal.
        split: the split its tasks are drawn from.
        count: number of tasks (at least 1).
        taskset: the taskset of its tasks; None for the run's taskset.
    """

    name: str
    split: str
    count: int
    taskset: Taskset | None = None

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ConfigError(f"views.{self.name} is {self.count}; expected 1 or more")


@dataclass(frozen=True, slots=True)
class View:
    """A named, frozen set of tasks.

    Attributes:
        name: such as `"validation"` or `"heldout"`.
        tasks: in a fixed order; scores use the same order.
        taskset: the taskset of its tasks; None for the run's taskset.
    """

    name: str
    tasks: tuple[Task, ...]
    taskset: TasksetInfo | None = None


@dataclass(frozen=True, slots=True)
class ViewScores:
    """The scores of one candidate on a view.

    Attributes:
        scores: one per task, higher is better; NaN where the rollout is missing.
        lengths: steps of each rollout.
        statuses: `"ok"`, a failure category, or `"missing"`.
        seconds: total wall time of the rollouts.
        usage: usage of their model calls (None if rollouts make none).
        why: why the first missing rollout is missing; empty if none is or no reason is recorded.
        restarts: reasons for restarting a model's process.
        comparisons: the judge's comparison of each answer (None without one); empty where answers are not compared.
        recalled: True if another run of the suite made these rollouts; seconds and usage are counted there.
    """

    scores: tuple[float, ...]
    lengths: tuple[int, ...]
    statuses: tuple[str, ...]
    seconds: float
    usage: Usage | None = None
    why: str = ""
    restarts: tuple[str, ...] = ()
    comparisons: tuple[Comparison | None, ...] = ()
    recalled: bool = False

    @property
    def mean(self) -> float:
        """Mean over the rollouts that are not missing; NaN if all are."""
        present = [s for s in self.scores if not math.isnan(s)]
        return math.fsum(present) / len(present) if present else math.nan

    def to_json(self) -> Scored:
        """Return the scores as JSON values; missing ones are null."""
        data: Scored = {
            "scores": [score_to_json(s) for s in self.scores],
            "lengths": list(self.lengths),
            "statuses": list(self.statuses),
            "seconds": round(self.seconds, 6),
            **listed_comparisons(self.comparisons),
        }
        if self.usage is not None:
            data["usage"] = self.usage.to_json()
        if self.why:
            data["why"] = self.why
        if self.restarts:
            data["restarts"] = list(self.restarts)
        if self.recalled:
            data["recalled"] = True
        return data

    @classmethod
    def from_json(cls, data: Scored) -> ViewScores:
        """Parse the output of `to_json`."""
        scores = tuple(map(score_from_json, data["scores"], data["statuses"]))
        usage = Usage(**data["usage"]) if "usage" in data else None
        lengths, statuses = tuple(data["lengths"]), tuple(data["statuses"])
        restarts, compared = tuple(data.get("restarts", ())), comparisons_of(data)
        why, recalled = data.get("why", ""), data.get("recalled", False)
        return cls(scores, lengths, statuses, data["seconds"], usage, why, restarts, compared, recalled)


async def score_candidate(rollouts: Rollouts, taskset: TasksetInfo, view: View, candidate: Candidate) -> ViewScores:
    """Run one candidate on every task of a view, without keeping trajectories.

    Raises:
        HostError: if the runner fails.
    """
    kind = KINDS.load(taskset.kind)
    refusal = kind.candidates.refusal(candidate)
    if refusal is not None:
        floor, count = float(taskset.failure_return), len(view.tasks)
        return ViewScores((floor,) * count, (0,) * count, (refusal.category,) * count, 0.0)
    outcomes: dict[int, Outcome] = {}
    seconds: list[float] = []
    used: list[Usage | None] = []
    restarts: list[str] = []
    compared: dict[int, Comparison | None] = {}

    def ended(position: int, trajectory: Trajectory) -> None:
        outcome = outcome_of(view.tasks[position], trajectory, taskset.failure_return)
        outcomes[position] = replace(outcome, trajectory=None)
        seconds.append(trajectory.seconds)
        used.append(kind.usage(trajectory))
        restarts.extend(restarts_of(taskset, [trajectory]))
        compared[position] = comparison_of(trajectory)

    jobs = [
        Job(taskset, candidate, task, episode_index=index, policy_seed=policy_seed(JUDGE_SEED, task))
        for index, task in enumerate(view.tasks)
    ]
    await rollouts.attempt(jobs, ended)
    rows = [outcomes[position] for position in range(len(jobs))]
    return ViewScores(
        scores=tuple(outcome.score for outcome in rows),
        lengths=tuple(outcome.length for outcome in rows),
        statuses=tuple(outcome.status for outcome in rows),
        seconds=math.fsum(seconds),
        usage=total_usage(used),
        restarts=tuple(dict.fromkeys(restarts)),
        comparisons=tuple(compared[position] for position in range(len(jobs))) if any(compared.values()) else (),
        why=next((encodable(o.failure.message) for o in rows if o.status == Status.MISSING and o.failure), ""),
    )
