"""Evaluation: the only place where built-in methods spend the budget."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from heredity._core.errors import BudgetError, ClosedError
from heredity.methods.contract import EvolverContext, Feedback, SessionContract, Trial
from heredity.resources import Candidate

UNBOUNDED_EPISODES = 128
"""Episodes that a method spends in a session without a budget (EvoPolicyGym's budget)."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A candidate to evaluate, its parents, and a one-line reason."""

    candidate: Candidate
    parents: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of one submission.

    Attributes:
        candidate: the evaluated candidate.
        tasks: train task indices, one per score.
        scores: shape (episodes,), higher is better; NaN if the rollout is missing.
    """

    candidate: Candidate
    tasks: tuple[int, ...]
    scores: np.ndarray

    @property
    def mean(self) -> float:
        """Mean score; minus infinity if every rollout is missing, so that it ranks last."""
        present = self.scores[~np.isnan(self.scores)]
        return float(present.mean()) if present.size else float("-inf")


@dataclass(frozen=True, slots=True)
class Request:
    """Proposals with reserved episodes and a key; see `Evaluator.reserve`."""

    key: str
    proposals: tuple[Proposal, ...]
    tasks: tuple[int, ...]


class Evaluator:
    """Spends a session's budget and never requests more than remains.

    The remaining budget is read once and then counted here, so concurrent requests and resumed runs make the same
    decisions.

    Attributes:
        left: episodes that may still be requested.
    """

    def __init__(self, session: SessionContract, context: EvolverContext, name: str) -> None:
        """Start to spend the remaining budget of `session`, with keys `name/0`, `name/1` and so on."""
        budget = session.remaining()
        self.left = UNBOUNDED_EPISODES if budget.episodes is None else budget.episodes
        self.total = self.left
        self._submissions = budget.submissions
        self._session, self._name, self._train = session, name, max(context.train_tasks, 1)
        self._requests = 0

    @property
    def exhausted(self) -> bool:
        """True if no episode can be requested."""
        return self.left < 1 or (self._submissions is not None and self._submissions < 1)

    def tasks(self, count: int, first: int = 0) -> tuple[int, ...]:
        """Return `count` train task indices from `first` on, wrapping around after the last one."""
        return tuple((first + i) % self._train for i in range(count))

    def reserve(self, proposals: Sequence[Proposal], tasks: Sequence[int]) -> Request | None:
        """Reserve episodes for as many of the proposals as the budget allows, in order.

        If the budget does not cover the first in full, it gets the remaining episodes. None if none remain.
        """
        if self.exhausted or not proposals or not tasks:
            return None
        tasks = tuple(tasks)[: self.left]
        count = min(len(proposals), self.left // len(tasks))
        if self._submissions is not None:
            count = min(count, self._submissions)
            self._submissions -= count
        self.left -= count * len(tasks)
        key = f"{self._name}/{self._requests}"
        self._requests += 1
        return Request(key, tuple(proposals[:count]), tasks)

    async def run(self, request: Request | None) -> list[Evaluation]:
        """Submit a reserved request and return one evaluation per proposal, in order."""
        if request is None:
            return []
        trials = [Trial(p.candidate, request.tasks, parents=p.parents, note=p.note) for p in request.proposals]
        answers = await self._session.submit(trials, request.key)
        return [_evaluation(p, request.tasks, f) for p, f in zip(request.proposals, answers, strict=True)]

    async def evaluate(self, proposals: Sequence[Proposal], tasks: Sequence[int]) -> list[Evaluation]:
        """Reserve and run: evaluate as many of the proposals as the budget allows."""
        return await self.run(self.reserve(proposals, tasks))


@contextmanager
def until_closed() -> Generator[None]:
    """End the enclosed search quietly when the session closes or exhausts its budget, at any moment."""
    try:
        yield
    except (ClosedError, BudgetError):
        return


def _evaluation(proposal: Proposal, tasks: tuple[int, ...], feedback: Feedback) -> Evaluation:
    scores = feedback.scores
    if scores.size != len(tasks):
        scores = np.full(len(tasks), np.nan)
    return Evaluation(proposal.candidate, tasks, scores)


def episodes_per_candidate(total: int, candidates: int) -> int:
    """Return the number of episodes for each of about `candidates` candidates, at least 1."""
    return max(1, total // max(candidates, 1))
