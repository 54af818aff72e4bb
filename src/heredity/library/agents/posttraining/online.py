"""Online rollouts: the policy answers questions of the train data, and the task's grading rule rewards it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from inspect import signature
from itertools import islice
from typing import Any, Protocol

from policy import Policy, Turn
from workspace import Workspace

_RARELY = 0.2
"""Weight of a problem at which all rollouts were last rewarded alike, against 1 of the others: it taught nothing."""

_NO_ANSWER = (ValueError, TypeError, LookupError, ArithmeticError, SyntaxError)
"""What a rule may raise on a text that is no answer at all."""


@dataclass
class Episode:
    """The policy's replies in one rollout, and the reward, higher is better."""

    turns: list[Turn] = field(default_factory=list)
    reward: float = 0.0


class Rollouts(Protocol):
    """A source of practice for the policy."""

    problems: int
    """How many to attempt at once."""

    def play(self, problems: int, group: int, temperature: float) -> list[list[Episode]]:
        """Return a group of rollouts at each of some problems."""
        ...


class Several:
    """Practice on several tasks: equally many problems of each.

    Args:
        parts: the practice of each task.
    """

    def __init__(self, parts: Sequence[Rollouts]) -> None:
        self._parts = parts
        self.problems = max(part.problems for part in parts)

    def play(self, problems: int, group: int, temperature: float) -> list[list[Episode]]:
        """Return a group of rollouts at each of some problems, `problems` in all, and at least one of each task."""
        share = max(1, problems // len(self._parts))
        return [episodes for part in self._parts for episodes in part.play(share, group, temperature)]


class Curriculum:
    """Draws problems, rarely those whose last rollouts all had the same reward and taught nothing.

    Args:
        count: number of problems.
        seed: seed of the draws.
    """

    def __init__(self, count: int, seed: int) -> None:
        self._weights = [1.0] * count
        self._draw = random.Random(seed)

    def choose(self, count: int) -> list[int]:
        """Return the numbers of different problems, drawn by weight (Efraimidis and Spirakis 2006)."""
        keys = [self._draw.random() ** (1 / weight) for weight in self._weights]
        return sorted(range(len(keys)), key=keys.__getitem__, reverse=True)[:count]

    def learned(self, problem: int, rewards: Sequence[float]) -> None:
        """Record the rewards of a problem's rollouts."""
        self._weights[problem] = 1.0 if len(set(rewards)) > 1 else _RARELY


class Questions:
    """Questions of the train data with the task's `eval.py`; a rollout is one answer.

    Args:
        space: the workspace.
        policy: the answering policy.
        limit: maximum tokens of an answer.
        seed: seed of the order of the questions.
    """

    problems = 32
    """How many to attempt at once."""

    def __init__(self, space: Workspace, policy: Policy, limit: int, seed: int) -> None:
        self._policy, self._limit = policy, limit
        self._rows, self._evaluate = space.rows(), space.evaluate()
        # Beyond question, answer and reference a rule may ask for other fields of the row.
        self._fields = list(signature(self._evaluate).parameters)[3:]
        self._curriculum = Curriculum(len(self._rows), seed)

    def play(self, problems: int, group: int, temperature: float) -> list[list[Episode]]:
        """Return a group of rollouts at each of some problems."""
        groups: list[list[Episode]] = []
        chosen = self._curriculum.choose(problems)
        prompts = [self._policy.encode(self._rows[i]["prompt"]) for i in chosen for _ in range(group)]
        answers = iter(self._policy.sample(prompts, temperature=temperature, limit=self._limit))
        for n, problem in enumerate(chosen):
            row, prompt = self._rows[problem], prompts[n * group]
            groups.append([Episode([(prompt, answer)], self._reward(row, answer)) for answer in islice(answers, group)])
            self._curriculum.learned(problem, [episode.reward for episode in groups[-1]])
        return groups

    def _reward(self, row: dict[str, Any], answer: Sequence[int]) -> float:
        question, reference = row.get("question", row["prompt"]), row.get("answer", row["completion"])
        more = {name: row[name] for name in self._fields if name in row}
        try:
            return float(self._evaluate(question, self._policy.text(answer), reference, **more))
        except _NO_ANSWER:
            return 0.0
