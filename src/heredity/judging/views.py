"""Views: frozen sets of hidden tasks, on which candidates are judged. Nothing of it is ever fed back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from heredity.errors import ConfigError
from heredity.evolution import Outcome
from heredity.gateway import Usage
from heredity.judging.rollouts import (
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
from heredity.judging.session_log import score_from_json, score_to_json
from heredity.records.events import Clustered, Scored
from heredity.resources import Candidate
from heredity.results.status import Status
from heredity.rollouts.contract import Job
from heredity.rollouts.kind import KINDS
from heredity.rollouts.trajectory import Trajectory
from heredity.tasks import Task, Taskset, TasksetInfo


def clusters_of(tasks: Sequence[Task]) -> Clustered:
    """Number the clusters of tasks in the order in which they occur; nothing where every task is by itself."""
    names = [task.cluster for task in tasks]
    shared = [name for name, count in Counter(names).items() if name is not None and count > 1]
    numbers: dict[str | None, int] = {name: i for i, name in enumerate(shared)}
    return {"clusters": [numbers.get(name) for name in names]} if shared else {}


JUDGE_SEED = 0
"""Seeds the policies' own generators on hidden tasks, the same for every run, so that runs are paired."""


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """A view that is still to be drawn.

    Attributes:
        name: what the view is called in the journal.
        split: what its tasks are drawn from.
        count: how many tasks, 1 or more.
        taskset: whose tasks they are, where it is not the run's own taskset.
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
        tasks: in a fixed order; scores are listed in the same order.
        taskset: what they belong to, where it is not the run's own taskset.
    """

    name: str
    tasks: tuple[Task, ...]
    taskset: TasksetInfo | None = None


@dataclass(frozen=True, slots=True)
class ViewScores:
    """How one candidate did on a view.

    Attributes:
        scores: one for each task, higher is better; NaN where the rollout is missing.
        lengths: steps of each rollout.
        statuses: `"ok"`, a failure category, or `"missing"`.
        seconds: wall time of the rollouts, added up.
        usage: what their model calls used; None where attempts make none.
        why: why the first missing rollout is; empty if none is, or nothing says it.
        restarts: why a model's process had to be started again on the way.
        comparisons: what a judge found of each answer, None where it found nothing; empty where answers are not compared.
        recalled: whether another run of the suite made these rollouts; seconds and usage are counted there.
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
        """Read what `to_json` gave."""
        scores = tuple(map(score_from_json, data["scores"], data["statuses"]))
        usage = Usage(**data["usage"]) if "usage" in data else None
        lengths, statuses = tuple(data["lengths"]), tuple(data["statuses"])
        restarts, compared = tuple(data.get("restarts", ())), comparisons_of(data)
        why, recalled = data.get("why", ""), data.get("recalled", False)
        return cls(scores, lengths, statuses, data["seconds"], usage, why, restarts, compared, recalled)


async def score_candidate(rollouts: Rollouts, taskset: TasksetInfo, view: View, candidate: Candidate) -> ViewScores:
    """Attempt every task of a view with one candidate. Trajectories are not kept.

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
