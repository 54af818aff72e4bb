"""Selection of parents and survivors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def tournament(rng: np.random.Generator, scores: Sequence[float], size: int = 2) -> int:
    """Return the position of the best of `size` members drawn with replacement; ties go to the earlier one.

    Args:
        rng: source of randomness.
        scores: one for each member, higher is better; at least one.
        size: number of members compared; 1 is uniform choice.
    """
    drawn = sorted(int(i) for i in rng.integers(len(scores), size=size))
    return max(drawn, key=lambda i: (scores[i], -i))


def survivors(members: Sequence[T], scores: Sequence[float], count: int) -> list[T]:
    """Return the `count` best members, best first; ties go to the later one, so that neutral changes survive."""
    order = sorted(range(len(members)), key=lambda i: (scores[i], i), reverse=True)
    return [members[i] for i in order[:count]]
