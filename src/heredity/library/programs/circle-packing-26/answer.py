"""26 circles in a unit square as a vector: all x, all y, all radii; for numerical search."""

from fractions import Fraction

import numpy as np

COUNT = 26
ONE, OTHER = np.triu_indices(COUNT, 1)
PAIRS, CIRCLES = np.arange(len(ONE)), np.arange(COUNT)
LOWER = np.zeros(3 * COUNT)
UPPER = np.concatenate([np.ones(2 * COUNT), np.full(COUNT, 0.5)])
GRADIENT = np.concatenate([np.zeros(2 * COUNT), np.ones(COUNT)])


def start(rng):
    """Return centres anywhere, with small radii."""
    return np.concatenate([rng.random(2 * COUNT), np.full(COUNT, 0.05)])


def value(z):
    """Return the sum of the radii and its gradient."""
    return z[2 * COUNT :].sum(), GRADIENT


def constraints(z):
    """Return squared distances less squared sums of radii, and distances to the four walls less radii."""
    x, y, r = z.reshape(3, COUNT)
    dx, dy, s = x[ONE] - x[OTHER], y[ONE] - y[OTHER], r[ONE] + r[OTHER]
    jacobian = np.zeros((len(ONE) + 4 * COUNT, 3 * COUNT))
    jacobian[PAIRS, ONE], jacobian[PAIRS, OTHER] = 2 * dx, -2 * dx
    jacobian[PAIRS, COUNT + ONE], jacobian[PAIRS, COUNT + OTHER] = 2 * dy, -2 * dy
    jacobian[PAIRS, 2 * COUNT + ONE] = jacobian[PAIRS, 2 * COUNT + OTHER] = -2 * s
    for wall in range(4):
        rows = len(ONE) + wall * COUNT + CIRCLES
        jacobian[rows, wall // 2 * COUNT + CIRCLES] = 1 - 2 * (wall % 2)
        jacobian[rows, 2 * COUNT + CIRCLES] = -1
    return np.concatenate([dx**2 + dy**2 - s**2, x - r, 1 - x - r, y - r, 1 - y - r]), jacobian


def vary(z, rng):
    """Return a copy with a few circles moved to gaps, or the centres of some neighbours shaken."""
    x, y, r = z.copy().reshape(3, COUNT)
    if rng.random() < 0.6:
        for i in rng.choice(COUNT, rng.integers(1, 4), replace=False):
            points = rng.random((200, 2))
            gaps = np.hypot(points[:, :1] - x, points[:, 1:] - y) - r
            gaps[:, i] = 1
            room = np.minimum(gaps.min(1), np.minimum(points, 1 - points).min(1))
            chosen = np.argsort(-room)[rng.integers(4)]
            x[i], y[i], r[i] = *points[chosen], max(room[chosen], 0.01)
    else:
        i = rng.integers(COUNT)
        near = np.argsort((x - x[i]) ** 2 + (y - y[i]) ** 2)[: rng.integers(2, 9)]
        x[near] += rng.normal(0, 0.08, len(near))
        y[near] += rng.normal(0, 0.08, len(near))
    return np.concatenate([x, y, 0.8 * r])


def vector(circles):
    """Return the vector of an answer."""
    return np.array(circles, dtype=float).T.ravel()


def answer(z):
    """Return the circles, all smaller by as little as makes them fit exactly; overlapping ones if that is much."""
    x, y, r = z.reshape(3, COUNT)
    less = 0.0
    while not fits(circles := [[float(v) for v in circle] for circle in zip(x, y, r - less)]) and less < 0.001:
        less = max(2 * less, 1e-17)
    return circles


def fits(circles):
    """Return whether circles are inside of the square and do not overlap, in exact arithmetic."""
    exact = [tuple(map(Fraction, circle)) for circle in circles]
    return all(x >= r and y >= r and x + r <= 1 and y + r <= 1 for x, y, r in exact) and not any(
        (x - u) ** 2 + (y - v) ** 2 < (r + s) ** 2 for i, (x, y, r) in enumerate(exact) for u, v, s in exact[:i]
    )
