"""Random draws of weights, shared by methods that start without a program to tune."""

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


def sparse_weights(rng: np.random.Generator, shape: tuple[int, ...], density: float = 0.35) -> np.ndarray:
    """Draw sparse weights: most are zero, the others spread over magnitudes.

    Usually a few features of unknown scale decide, and drawing every weight from one normal distribution almost never
    lets them. At least one weight is nonzero.

    Args:
        rng: source of randomness.
        shape: shape of the weights.
        density: probability that a weight is nonzero, in (0, 1].
    """
    weights = np.zeros(shape)
    flat = weights.reshape(-1)
    chosen = np.flatnonzero(rng.random(flat.size) < density)
    if not chosen.size:
        chosen = rng.integers(flat.size, size=1)
    signs = rng.choice([-1.0, 1.0], size=chosen.size)
    flat[chosen] = signs * 2.0 * np.exp(rng.standard_normal(chosen.size))
    return weights


def jitter(rng: np.random.Generator, values: np.ndarray, step: float, share: float = 0.5) -> np.ndarray:
    """Return `values` with about a `share` of them moved, relative to their own and the others' size.

    Args:
        rng: source of randomness.
        values: shape (n,).
        step: relative size of a move, positive.
        share: probability that each value moves; at least one does.
    """
    moved = rng.random(values.size) < share
    if not moved.any() and values.size:
        moved[rng.integers(values.size)] = True
    return values + moved * step * spread(values) * rng.standard_normal(values.size)


def spread(values: np.ndarray) -> np.ndarray:
    """Return a natural step for each constant, shape (n,): its size, or half the typical size if it is near zero."""
    typical = float(np.sqrt(np.mean(values**2))) if values.size else 0.0
    return np.maximum(np.abs(values), 0.5 * typical if typical > 0 else 1.0)
