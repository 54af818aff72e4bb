"""Judges of two answers: a model, or a rule as a stand-in; and the score of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from heredity.engine.questions.judge import Comparison, pairwise
from heredity.models import Model, Sampling
from heredity.models.contract import NOTHING_USED

Rule = Callable[[Mapping[str, Any], str], float]
"""Maps a task's spec and an answer to its quality, 0 to 1; raises ConfigError for an unknown spec."""

MARGIN = 0.02
"""Answers whose quality differs by less are a tie."""

FREE = 1.5
"""Maximum length of a winning answer as a multiple of the reference's; a longer one scores proportionally less."""


class PreferenceJudge(Protocol):
    """Compares a candidate's answer, `a`, with a reference answer, `b`."""

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare an answer with the reference of a task's spec, in both orders; `seed` is the rollout's.

        Raises:
            ProviderError: if the judge gives no verdict; the comparison is then missing, not lost.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """A language model as the judge, called in both orders; contradictory verdicts are a tie."""

    model: Model

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`)."""
        greedy = Sampling(temperature=0.0)
        return await pairwise(self.model, spec["question"], answer, spec["reference"], seed=seed, sampling=greedy)


@dataclass(frozen=True, slots=True)
class RuleJudge:
    """A stand-in that applies a rule of the taskset: it runs anywhere, without any understanding."""

    rule: Rule

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`). Each answer is scored separately, so that the order cannot matter.

        Raises:
            ConfigError: if the rule does not know such instructions.
        """
        own, other = (self.rule(spec, text) for text in (answer, spec["reference"]))
        winner = "tie" if abs(own - other) < MARGIN else "a" if own > other else "b"
        why = f"quality {own:.2f} against {other:.2f}"
        return Comparison(winner, True, (why, why), NOTHING_USED)


def points(winner: str, length: int, reference: int) -> float:
    """Return the score of a comparison: 1 for a win, 0.5 for a tie, 0 for a loss; less if the answer is much longer.

    Args:
        winner: `"a"`, `"b"` or `"tie"`; the answer is `a`.
        length: of the answer, in characters.
        reference: that of the reference answer.
    """
    won = {"a": 1.0, "tie": 0.5, "b": 0.0}[winner]
    return won * min(1.0, FREE * max(1, reference) / max(1, length))
