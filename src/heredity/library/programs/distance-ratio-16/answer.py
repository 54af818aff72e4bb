"""16 points as a vector: all x, all y, and the smallest squared distance, where the largest is 1; for numerical search."""

import numpy as np

COUNT = 16
ONE, OTHER = np.triu_indices(COUNT, 1)
PAIRS = np.arange(len(ONE))
LOWER, UPPER = np.zeros(2 * COUNT + 1), np.ones(2 * COUNT + 1)
GRADIENT = np.eye(2 * COUNT + 1)[-1]


def start(rng):
    """Return points anywhere in a square."""
    return np.concatenate([rng.random(2 * COUNT), [0.0]])


def value(z):
    """Return the smallest squared distance and its gradient."""
    return z[-1], GRADIENT


def constraints(z):
    """Return the squared distances less the smallest, and 1 less the squared distances."""
    x, y = z[:COUNT], z[COUNT:-1]
    dx, dy = x[ONE] - x[OTHER], y[ONE] - y[OTHER]
    squares = dx**2 + dy**2
    jacobian = np.zeros((2 * len(ONE), 2 * COUNT + 1))
    for sign, rows in ((1, PAIRS), (-1, len(ONE) + PAIRS)):
        jacobian[rows, ONE], jacobian[rows, OTHER] = 2 * sign * dx, -2 * sign * dx
        jacobian[rows, COUNT + ONE], jacobian[rows, COUNT + OTHER] = 2 * sign * dy, -2 * sign * dy
    jacobian[PAIRS, -1] = -1
    return np.concatenate([squares - z[-1], 1 - squares]), jacobian


def vector(points):
    """Return the vector of an answer, made to fit into a square of side 1."""
    x, y = np.array(points, dtype=float).T
    size = max(np.ptp(x), np.ptp(y))
    return np.concatenate([(x - x.min()) / size, (y - y.min()) / size, [0.0]])


def answer(z):
    """Return the points; any are an answer."""
    return [[float(x), float(y)] for x, y in zip(z[:COUNT], z[COUNT:-1])]
