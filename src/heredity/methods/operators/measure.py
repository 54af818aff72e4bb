"""Measuring: rollouts of candidates on train tasks, bought once per candidate and task, then cached."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heredity._core.errors import BudgetError
from heredity.methods.contract import Feedback, Outcome, SessionContract, Trial
from heredity.methods.operators.evaluate import Proposal
from heredity.methods.operators.evidence import evidence_item
from heredity.resources import Candidate
from heredity.results.status import Status


@dataclass(frozen=True, slots=True)
class Rollout:
    """The cached result of one rollout.

    Attributes:
        score: higher is better; NaN if it is missing.
        status: as in `Outcome`.
        cost: resources used; unknown ones are absent.
        evidence: see `evidence_item`.
    """

    score: float
    status: str
    cost: Mapping[str, float]
    evidence: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Measured:
    """A candidate's rollouts on some tasks.

    Attributes:
        candidate: the candidate.
        rollouts: train task index to its rollouts; tasks without rollouts have no entry.
        submissions: numbers of the submissions they come from, sorted.
        failure: failure of a submission as a whole; `""` if there was none.
    """

    candidate: Candidate
    rollouts: Mapping[int, tuple[Rollout, ...]]
    submissions: tuple[int, ...] = ()
    failure: str = ""

    @property
    def scores(self) -> dict[int, float]:
        """Mean score of each task with at least one rollout that is not missing."""
        by_task = {
            task: [a.score for a in rollouts if math.isfinite(a.score)] for task, rollouts in self.rollouts.items()
        }
        return {task: sum(scores) / len(scores) for task, scores in by_task.items() if scores}

    @property
    def mean(self) -> float:
        """Mean over the tasks; minus infinity if every rollout is missing, so that it ranks last."""
        scores = self.scores.values()
        return sum(scores) / len(scores) if scores else float("-inf")

    def solved(self, threshold: float) -> set[int]:
        """Return the tasks whose rollouts all scored at least `threshold`, ignoring missing ones."""
        by_task = {
            task: [a.score for a in rollouts if math.isfinite(a.score)] for task, rollouts in self.rollouts.items()
        }
        return {task for task, scores in by_task.items() if scores and min(scores) >= threshold}

    def cost(self, *names: str) -> float | None:
        """Return the mean over the rollouts of the sum of some costs; None if any of them is unknown."""
        costs = [a.cost for rollouts in self.rollouts.values() for a in rollouts]
        if not costs or any(name not in cost for cost in costs for name in names):
            return None
        return sum(cost[name] for cost in costs for name in names) / len(costs)

    @property
    def evidence(self) -> list[dict[str, Any]]:
        """All evidence items, in the order of the tasks."""
        return [a.evidence for task in sorted(self.rollouts) for a in self.rollouts[task]]


@dataclass
class _Known:
    rollouts: dict[int, tuple[Rollout, ...]] = field(default_factory=dict[int, tuple[Rollout, ...]])
    submissions: dict[int, int] = field(default_factory=dict[int, int])
    failures: dict[int, str] = field(default_factory=dict[int, str])


class Measurements:
    """Spends a session's budget on missing measurements, and never requests more than remains.

    The remaining budget is read once and then counted here, so a resumed method makes the same decisions.
    """

    def __init__(self, session: SessionContract, name: str, repeats: int, chars: int) -> None:
        """Start to spend the remaining budget of `session`, with keys `name/0`, `name/1` and so on.

        Args:
            session: the session that sells rollouts.
            name: the method's name.
            repeats: rollouts per task.
            chars: maximum characters of each text of an evidence item.
        """
        budget = session.remaining()
        self._episodes, self._submissions = budget.episodes, budget.submissions
        self._session, self._name, self._repeats, self._chars = session, name, repeats, chars
        self._by_key: dict[str, _Known] = {}
        self._requests = 0

    async def measure(self, proposals: Sequence[Proposal], tasks: Iterable[int]) -> list[Measured]:
        """Measure the candidates on the tasks: as many of them, in order, as the budget covers in full.

        Raises:
            BudgetError: if the budget does not cover the first; nothing is charged. Errors of the session propagate.
        """
        tasks = list(dict.fromkeys(tasks))
        asked: list[tuple[Proposal, list[int]]] = []
        paid = 0
        for proposal in proposals:
            record = self._by_key.setdefault(proposal.candidate.digest, _Known())
            missing = [task for task in tasks if task not in record.rollouts]
            if not self._reserve(missing):
                break
            paid += 1
            if missing:
                asked.append((proposal, missing))
        if proposals and not paid:
            raise BudgetError(f"not enough of the budget is left for {len(tasks)} tasks, {self._repeats} times each")
        if asked:
            trials = [Trial(p.candidate, new, self._repeats, p.parents, p.note) for p, new in asked]
            key = f"{self._name}/{self._requests}"
            self._requests += 1
            for (proposal, new), answer in zip(asked, await self._session.submit(trials, key), strict=True):
                self._learn(self._by_key[proposal.candidate.digest], new, answer)
        return [self._measured(proposal.candidate, tasks) for proposal in proposals[:paid]]

    def forget(self) -> None:
        """Forget all rollouts: the next requests buy new ones."""
        self._by_key.clear()

    def payable(self, tasks: Sequence[int]) -> list[int]:
        """Return as many of the tasks, in order, as the budget covers for a candidate without rollouts on them."""
        if self._submissions is not None and self._submissions < 1:
            return []
        return [*tasks] if self._episodes is None else [*tasks[: self._episodes // self._repeats]]

    def _reserve(self, missing: Sequence[int]) -> bool:
        if not missing:
            return True
        charge = len(missing) * self._repeats
        if self._episodes is not None and charge > self._episodes:
            return False
        if self._submissions is not None and self._submissions < 1:
            return False
        self._episodes = None if self._episodes is None else self._episodes - charge
        self._submissions = None if self._submissions is None else self._submissions - 1
        return True

    def _learn(self, record: _Known, tasks: Sequence[int], feedback: Feedback) -> None:
        grouped: dict[int, list[Rollout]] = {task: [] for task in tasks}
        for outcome in feedback.outcomes:
            grouped.setdefault(outcome.task, []).append(self._attempt(outcome))
        for task, rollouts in grouped.items():
            record.rollouts[task] = tuple(rollouts)
            record.submissions[task] = feedback.submit_id
            if feedback.status != Status.OK:
                detail = f": {feedback.failure.message}" if feedback.failure else ""
                record.failures[task] = f"{feedback.status}{detail}"

    def _attempt(self, outcome: Outcome) -> Rollout:
        cost = dict(outcome.trajectory.cost) if outcome.trajectory else {}
        return Rollout(outcome.score, outcome.status, cost, evidence_item(outcome, self._chars))

    def _measured(self, candidate: Candidate, tasks: Sequence[int]) -> Measured:
        record = self._by_key[candidate.digest]
        rollouts = {task: record.rollouts[task] for task in tasks}
        submissions = tuple(sorted({record.submissions[task] for task in tasks}))
        failures = [record.failures[task] for task in tasks if task in record.failures]
        return Measured(candidate, rollouts, submissions, failures[0] if failures else "")
