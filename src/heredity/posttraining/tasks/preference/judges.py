"""Judges of two answers: a model, or a rule that stands in for one; and a win rate that length does not buy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from heredity.errors import ConfigError
from heredity.gateway import Model, Sampling
from heredity.gateway.contract import NOTHING_USED
from heredity.posttraining.tasks.preference.instructions import quality
from heredity.tasks.questions.judge import Comparison, pairwise

MARGIN = 0.02
"""Answers whose quality differs by less are a tie to the rule."""

FREE = 1.5
"""A winning answer may be so many times as long as the reference; beyond that its win pays in proportion."""

_STEPS = 50
_RIDGE = 1e-3


class PreferenceJudge(Protocol):
    """Compares a candidate's answer, `a`, with a reference answer, `b`."""

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare an answer with the reference of a task's spec, in both orders; `seed` is the attempt's.

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


class RuleJudge:
    """A stand-in that follows rules (`quality`), for stand-in instructions alone: it runs anywhere and understands nothing."""

    async def compare(self, spec: Mapping[str, Any], answer: str, seed: int) -> Comparison:
        """Compare (see `PreferenceJudge.compare`). It scores each answer by itself, so that the order cannot matter.

        Raises:
            ConfigError: if the instruction is none of the stand-ins.
        """
        if "form" not in spec:
            raise ConfigError("the rule judges stand-in instructions alone; for other ones set a judge that is a model")
        own, other = (quality(spec["form"], spec["topic"], text) for text in (answer, spec["reference"]))
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


def length_controlled(won: Sequence[float], lengths: Sequence[int], references: Sequence[int]) -> float:
    """Return the win rate at equal length, 0 to 1: what a logistic model expects of answers as long as their references.

    Length-controlled AlpacaEval (Dubois et al. 2024, arXiv:2404.04475, section 3) without its term for each instruction's
    difficulty: logit P(win) = quality + slope · tanh(difference in length / its standard deviation), fitted by Newton's method
    with a slight ridge, and read at a difference of 0.

    Args:
        won: 1 for a win, 0.5 for a tie, 0 for a loss; missing comparisons are left out by the caller.
        lengths: of the answers, in characters.
        references: of the reference answers.

    Raises:
        ConfigError: if there is nothing to compare, or the numbers of values differ.
    """
    if not won or not len(won) == len(lengths) == len(references):
        raise ConfigError(
            f"{len(won)} outcomes, {len(lengths)} and {len(references)} lengths; expected as many of each"
        )
    y = np.asarray(won, np.float64)
    difference = np.asarray(lengths, np.float64) - np.asarray(references, np.float64)
    x = np.stack([np.ones_like(y), np.tanh(difference / (difference.std() or 1.0))], axis=1)
    weights = np.zeros(2)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-(x @ weights)))
        gradient = x.T @ (y - p) - _RIDGE * weights
        curvature = (x.T * (p * (1 - p))) @ x + _RIDGE * np.eye(2)
        # Newton's step, shortened: where everything was won, the full one would overshoot.
        step = np.linalg.solve(curvature, gradient)
        weights += step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
    return 1 / (1 + math.exp(-float(weights[0])))
