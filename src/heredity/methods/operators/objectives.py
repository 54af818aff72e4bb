"""Objectives of Reinforce++ and GRPO on rewards and texts, which report the value of its last candidates to a writer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

_WORD = re.compile(r"\w+|[^\w\s]")


def similarity(a: str, b: str) -> float:
    """Return the similarity of two texts, in (0, 1]: 1 for the same words in the same order.

    The Dice coefficient over words and pairs of neighbouring words, with one added on both sides so that it never
    reaches 0: the function η of Autogenesis (sections E.3.6 and E.3.7), which leaves its choice open. It takes linear
    time and is symmetric; `difflib`'s ratio is neither, and is useless on whole programs.
    """
    mine, theirs = _pieces(a), _pieces(b)
    common = (mine & theirs).total()
    return (2 * common + 1) / (mine.total() + theirs.total() + 1)


def _pieces(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter([*((word,) for word in words), *pairwise(words)])


@dataclass(frozen=True, slots=True)
class Signal:
    """Value of a candidate to an optimizer.

    Attributes:
        reward: r, the mean score; higher is better.
        ratio: π, similarity of its text to the committed candidate's, in (0, 1].
        advantage: A.
        objective: J; between equal rewards, the candidate with the larger J is considered first.
        penalty: deduction from the reward in the advantage, for the distance from the initial candidate.
    """

    reward: float
    ratio: float
    advantage: float
    objective: float
    penalty: float = 0.0

    def to_json(self) -> dict[str, float]:
        """Return it as a JSON object."""
        return {name: round(value, 6) for name, value in asdict(self).items()}


def reinforce_signal(
    reward: float, ratio: float, reference: float, *, beta: float, clip: float, floor: float
) -> Signal:
    """Return the signal of Reinforce++ (Autogenesis, section E.3.6).

    A = r − β |log max(η(y_sft, y), ε0)| and J = min(π A, clip(π, 1 − ε, 1 + ε) A).

    Args:
        reward: r.
        ratio: π.
        reference: η between the initial candidate's text and this one's, in (0, 1].
        beta: β, the weight of the penalty.
        clip: ε.
        floor: ε0.
    """
    penalty = beta * abs(math.log(max(reference, floor)))
    advantage = reward - penalty
    clipped = min(max(ratio, 1 - clip), 1 + clip)
    return Signal(reward, ratio, advantage, min(ratio * advantage, clipped * advantage), penalty)


def group_signals(rewards: Sequence[float], ratios: Sequence[float], *, low: float, high: float) -> list[Signal]:
    """Return the GRPO signals of a group (Autogenesis, section E.3.7).

    A_i = (r_i − mean) / std over the group, 0 where all rewards are equal, and J_i = min(π_i A_i, π̄_i A_i), where π̄_i
    is at most 1 + ε_high for a positive advantage and at least 1 − ε_low for a negative one.

    Args:
        rewards: r_i.
        ratios: π_i.
        low: ε_low.
        high: ε_high.
    """
    mean = sum(rewards) / len(rewards) if rewards else 0.0
    std = math.sqrt(sum((r - mean) ** 2 for r in rewards) / len(rewards)) if rewards else 0.0
    signals: list[Signal] = []
    for reward, ratio in zip(rewards, ratios, strict=True):
        advantage = (reward - mean) / std if std > 1e-12 else 0.0
        clipped = min(ratio, 1 + high) if advantage >= 0 else max(ratio, 1 - low)
        signals.append(Signal(reward, ratio, advantage, min(ratio * advantage, clipped * advantage)))
    return signals
