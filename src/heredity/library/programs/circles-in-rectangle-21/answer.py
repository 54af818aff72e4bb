"""A width and 21 circles in the rectangle as a vector: all x, all y, all radii, the width; for numerical search."""

from fractions import Fraction

import numpy as np

COUNT = 21
ONE, OTHER = np.triu_indices(COUNT, 1)
PAIRS, CIRCLES = np.arange(len(ONE)), np.arange(COUNT)
LOWER = np.concatenate([np.zeros(3 * COUNT), [0.5]])
UPPER = np.concatenate([np.full(2 * COUNT, 1.5), np.full(COUNT, 0.5), [1.0]])
GRADIENT = np.concatenate([np.zeros(2 * COUNT), np.ones(COUNT), [0.0]])


def start(rng):
    """Return a rectangle with centres anywhere in it, and small radii."""
    width = rng.uniform(0.6, 1.0)
    x, y = rng.random((2, COUNT)) * [[width], [2 - width]]
    return np.concatenate([x, y, np.full(COUNT, 0.05), [width]])


def value(z):
    """Return the sum of the radii and its gradient."""
    return z[2 * COUNT : -1].sum(), GRADIENT


def constraints(z):
    """Return squared distances less squared sums of radii, and distances to the four walls less radii."""
    (x, y, r), width = z[:-1].reshape(3, COUNT), z[-1]
    dx, dy, s = x[ONE] - x[OTHER], y[ONE] - y[OTHER], r[ONE] + r[OTHER]
    jacobian = np.zeros((len(ONE) + 4 * COUNT, 3 * COUNT + 1))
    jacobian[PAIRS, ONE], jacobian[PAIRS, OTHER] = 2 * dx, -2 * dx
    jacobian[PAIRS, COUNT + ONE], jacobian[PAIRS, COUNT + OTHER] = 2 * dy, -2 * dy
    jacobian[PAIRS, 2 * COUNT + ONE] = jacobian[PAIRS, 2 * COUNT + OTHER] = -2 * s
    for wall in range(4):
        rows = len(ONE) + wall * COUNT + CIRCLES
        jacobian[rows, wall // 2 * COUNT + CIRCLES] = 1 - 2 * (wall % 2)
        jacobian[rows, 2 * COUNT + CIRCLES] = -1
        jacobian[rows, -1] = (0, 1, 0, -1)[wall]
    return np.concatenate([dx**2 + dy**2 - s**2, x - r, width - x - r, y - r, 2 - width - y - r]), jacobian


def vary(z, rng):
    """Return a copy with a few circles moved to gaps, or the centres of some neighbours shaken."""
    (x, y, r), width = z[:-1].copy().reshape(3, COUNT), z[-1]
    size = np.array([width, 2 - width])
    if rng.random() < 0.6:
        for i in rng.choice(COUNT, rng.integers(1, 4), replace=False):
            points = rng.random((200, 2)) * size
            gaps = np.hypot(points[:, :1] - x, points[:, 1:] - y) - r
            gaps[:, i] = 1
            room = np.minimum(gaps.min(1), np.minimum(points, size - points).min(1))
            chosen = np.argsort(-room)[rng.integers(4)]
            x[i], y[i], r[i] = *points[chosen], max(room[chosen], 0.01)
    else:
        i = rng.integers(COUNT)
        near = np.argsort((x - x[i]) ** 2 + (y - y[i]) ** 2)[: rng.integers(2, 9)]
        x[near] += rng.normal(0, 0.08, len(near))
        y[near] += rng.normal(0, 0.08, len(near))
    return np.concatenate([x, y, 0.8 * r, [width]])


def vector(answer):
    """Return the vector of an answer, of its mirror image if it is wider than high."""
    width, circles = answer
    x, y, r = np.array(circles, dtype=float).T
    return np.concatenate([x, y, r, [width]] if width <= 1 else [y, x, r, [2 - width]])


def answer(z):
    """Return the circles, all smaller by as little as makes them fit exactly; overlapping ones if that is much."""
    (x, y, r), width = z[:-1].reshape(3, COUNT), float(z[-1])
    less = 0.0
    while not fits(width, circles := [[float(v) for v in circle] for circle in zip(x, y, r - less)]) and less < 0.001:
        less = max(2 * less, 1e-17)
    return [width, circles]


def fits(width, circles):
    """Return whether circles are inside of the rectangle and do not overlap, in exact arithmetic."""
    exact, width = [tuple(map(Fraction, circle)) for circle in circles], Fraction(width)
    return all(x >= r and y >= r and x + r <= width and y + r <= 2 - width for x, y, r in exact) and not any(
        (x - u) ** 2 + (y - v) ** 2 < (r + s) ** 2 for i, (x, y, r) in enumerate(exact) for u, v, s in exact[:i]
    )
