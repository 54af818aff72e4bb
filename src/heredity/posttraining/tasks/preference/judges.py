"""Judges of two answers: a model, or a rule that stands in for one; and what a comparison pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from heredity.gateway import Model, Sampling
from heredity.gateway.contract import NOTHING_USED
from heredity.tasks.questions.judge import Comparison, pairwise

Rule = Callable[[Mapping[str, Any], str], float]
"""Task's spec and answer to how good the answer is, 0 to 1; ConfigError for a spec that it does not know."""

MARGIN = 0.02
"""Answers whose quality differs by less are a tie to the rule."""

FREE = 1.5
"""A winning answer may be so many times as long as the reference; beyond that its win pays in proportion."""


class PreferenceJudge(Protocol):
    """Compares a candidate's answer, `a`, with a reference answer, `b`."""

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare an answer with the reference of a task's spec, in both orders; `seed` is the rollout's.

        Raises:
            ProviderError: if the judge gives no verdict: the comparison is missing then, and no loss.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A language model as the judge, asked in both orders; verdicts that contradict each other are a tie."""

    model: Model

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`)."""
        greedy = Sampling(temperature=0.0)
        return await pairwise(self.model, spec["question"], answer, spec["reference"], seed=seed, sampling=greedy)


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """A stand-in that follows a rule of the taskset's: it runs anywhere and understands nothing."""

    rule: Rule

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`). It scores each answer by itself, so that the order cannot matter.

        Raises:
            ConfigError: if the rule does not know such instructions.
        """
        own, other = (self.rule(spec, text) for text in (answer, spec["reference"]))
        winner = "tie" if abs(own - other) < MARGIN else "a" if own > other else "b"
        why = f"quality {own:.2f} against {other:.2f}"
        return Comparison(winner, True, (why, why), NOTHING_USED)


def points(winner: str, length: int, reference: int) -> float:
    """Return what a comparison pays: 1 for a win, 0.5 for a tie, 0 for a loss; less if the answer is much longer.

    Args:
        winner: `"a"`, `"b"` or `"tie"`; the answer is `a`.
        length: of the answer, in characters.
        reference: that of the reference answer.
    """
    won = {"a": 1.0, "tie": 0.5, "b": 0.0}[winner]
    return won * min(1.0, FREE * max(1, reference) / max(1, length))
