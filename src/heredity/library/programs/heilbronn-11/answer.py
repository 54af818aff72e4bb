"""11 points in a triangle as a vector: all x, all y, and the smallest share of area; for numerical search."""

from itertools import combinations

import numpy as np

COUNT = 11
A, B, C = np.array(list(combinations(range(COUNT), 3))).T
TRIANGLES, POINTS = np.arange(len(A)), np.arange(COUNT)
LOWER, UPPER = np.zeros(2 * COUNT + 1), np.ones(2 * COUNT + 1)
GRADIENT = np.eye(2 * COUNT + 1)[-1]


def start(rng):
    """Return points anywhere in the triangle."""
    points = np.sort(rng.random((COUNT, 2)), axis=1)
    return np.concatenate([points[:, 0], 1 - points[:, 1], [0.0]])


def value(z):
    """Return the smallest share and its gradient."""
    return z[-1], GRADIENT


def constraints(z):
    """Return each triangle's share less the smallest, and distances to the long side."""
    x, y = z[:COUNT], z[COUNT:-1]
    areas = (x[B] - x[A]) * (y[C] - y[A]) - (x[C] - x[A]) * (y[B] - y[A])
    signs = np.where(areas < 0, -1.0, 1.0)
    jacobian = np.zeros((len(A) + COUNT, 2 * COUNT + 1))
    for i, j, k in ((A, B, C), (B, C, A), (C, A, B)):
        jacobian[TRIANGLES, i] = signs * (y[j] - y[k])
        jacobian[TRIANGLES, COUNT + i] = signs * (x[k] - x[j])
    jacobian[TRIANGLES, -1] = -1
    rows = len(A) + POINTS
    jacobian[rows, POINTS] = jacobian[rows, COUNT + POINTS] = -1
    return np.concatenate([signs * areas - z[-1], 1 - x - y]), jacobian


def vary(z, rng):
    """Return a copy with one to three points anywhere else."""
    x, y = z[:COUNT].copy(), z[COUNT:-1].copy()
    for i in rng.choice(COUNT, rng.integers(1, 4), replace=False):
        point = np.sort(rng.random(2))
        x[i], y[i] = point[0], 1 - point[1]
    return np.concatenate([x, y, [0.0]])


def vector(points):
    """Return the vector of an answer; its last number may be anything, as a search raises it."""
    return np.concatenate([np.array(points, dtype=float).T.ravel(), [0.0]])


def answer(z):
    """Return the points, moved into the triangle by as little as possible."""
    return [list(inside(float(x), float(y))) for x, y in zip(z[:COUNT], z[COUNT:-1])]


def inside(x, y):
    """Return a point of the triangle near another point."""
    x, y = max(x, 0.0), max(y, 0.0)
    while y > 1.0 - x:
        x, y = np.nextafter(x, 0), np.nextafter(y, 0)
    return float(x), float(y)
