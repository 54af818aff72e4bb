"""Selection: who may have offspring, and who stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def tournament(rng: np.random.Generator, scores: Sequence[float], size: int = 2) -> int:
    """Return the position of the best of `size` members drawn with replacement; earlier ones win ties.

    Args:
        rng: where to draw from.
        scores: one for each member, higher is better; at least one.
        size: how many are compared; 1 is uniform choice.
    """
    drawn = sorted(int(i) for i in rng.integers(len(scores), size=size))
    return max(drawn, key=lambda i: (scores[i], -i))


def survivors(members: Sequence[T], scores: Sequence[float], count: int) -> list[T]:
    """Return the `count` best members, best first; among equals the later one, so that neutral change is kept."""
    order = sorted(range(len(members)), key=lambda i: (scores[i], i), reverse=True)
    return [members[i] for i in order[:count]]
