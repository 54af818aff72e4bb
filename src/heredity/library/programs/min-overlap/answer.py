"""A step function as a vector: its values on all steps, and the largest overlap; for numerical search."""

import numpy as np

STEPS = 200
LOWER, UPPER = np.zeros(STEPS + 1), np.ones(STEPS + 1)
GRADIENT = -np.eye(STEPS + 1)[-1]
SHIFTS = np.arange(-STEPS + 1, STEPS)
AT = SHIFTS[:, None] + np.arange(STEPS)
"""For each shift, the step that each step is moved to."""
WITHIN = (AT >= 0) & (AT < STEPS)
AT = np.where(WITHIN, AT, 0)


def start(rng):
    """Return a hump in the middle with noise, of half the area."""
    position = np.linspace(-1, 1, STEPS)
    values = np.clip(0.9 * np.exp(-((position / rng.uniform(0.4, 0.9)) ** 2)) + 0.1 * rng.standard_normal(STEPS), 0, 1)
    values = np.clip(values * STEPS / 2 / values.sum(), 0, 1)
    return np.concatenate([values, [0.6]])


def value(z):
    """Return the negative of the largest overlap and its gradient."""
    return -z[-1], GRADIENT


def constraints(z):
    """Return the largest overlap less the overlap at each shift, and the difference of the area from a half, twice."""
    values = z[:-1]
    ahead = np.where(WITHIN, 1 - values[AT], 0)
    overlaps = 2 / STEPS * ahead @ values
    behind = np.where(WITHIN[::-1], values[AT[::-1]], 0)
    jacobian = np.ones((len(SHIFTS) + 2, STEPS + 1))
    jacobian[:-2, :-1] = -2 / STEPS * (ahead - behind)
    jacobian[-2, :-1], jacobian[-1, :-1] = 1, -1
    jacobian[-2:, -1] = 0
    area = values.sum() - STEPS / 2
    return np.concatenate([z[-1] - overlaps, [area, -area]]), jacobian


def vector(values):
    """Return the vector of an answer, drawn out or in to the number of steps."""
    values = np.asarray(values, dtype=float)
    drawn = np.interp((np.arange(STEPS) + 0.5) / STEPS, (np.arange(len(values)) + 0.5) / len(values), values)
    drawn = np.clip(drawn * STEPS / 2 / drawn.sum(), 0, 1)
    return np.concatenate([drawn, [0.6]])


def answer(z):
    """Return the values, cut where their scaled maximum would exceed 1."""
    values = np.clip(z[:-1], 0, 1)
    while values.max() * STEPS > 2 * values.sum():
        values = np.minimum(values, values.max() * (1 - 1e-15))
    return [float(v) for v in values]
