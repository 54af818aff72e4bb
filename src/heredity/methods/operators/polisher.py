"""Local searches over vectors, from random starts and from changed copies of the best vector so far.

The program that `heredity.methods.polish` submits carries this file, so it runs inside the sandbox and imports
nothing of Heredity. It needs scipy.

A problem is a module or object with:

    LOWER, UPPER     bounds of the vector, shape (n,)
    start(rng)       a random vector
    value(x)         the value to maximize, and its gradient, shape (n,)
    constraints(x)   numbers that must not be negative, shape (m,), and their Jacobian, (m, n), dense or sparse
    vary(x, rng)     optional: a changed copy of a vector, by moves that suit the problem
"""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

_FEASIBLE = 1e-9
_DENSE = 160
"""Vectors with at most so many numbers are searched by SLSQP, whose steps cost the cube of it."""
_PATIENCE = 120
"""Failed changes in a row after which the search leaves a vector for a random start."""
_STEPS = (0.01, 0.03, 0.1)
"""Standard deviations of random changes, in parts of the range between the bounds."""


@dataclass
class _Point:
    """A vector, its value, and its largest violation of a constraint."""

    x: np.ndarray
    value: float
    violation: float

    def beats(self, other: _Point | None) -> bool:
        if self.violation > _FEASIBLE:
            return False
        return other is None or other.violation > _FEASIBLE or self.value > other.value + 1e-12


def polish(problem: Any, start: Any, seed: int, searches: int, seconds: float) -> np.ndarray:
    """Return the best vector that local searches find.

    The result depends on nothing but the arguments, unless the time is up before the searches are made.

    Args:
        problem: the problem, see the module.
        start: the vector to begin from, shape (n,); None for a random one.
        seed: seed of all random draws.
        searches: number of local searches, at least 1.
        seconds: CPU seconds after which no further search begins.
    """
    rng, until = np.random.default_rng(seed), time.process_time() + seconds
    best = current = _local(problem, np.asarray(problem.start(rng) if start is None else start, dtype=float))
    failures = 0
    for _ in range(searches - 1):
        if time.process_time() > until:
            break
        fresh = failures > _PATIENCE
        found = _local(problem, np.asarray(problem.start(rng) if fresh else _changed(problem, current.x, rng)))
        failures += 1
        if fresh or found.beats(current):
            current, failures = found, 0
        if found.beats(best):
            best = found
    return _refined(problem, best, until + seconds / 10).x


def _changed(problem: Any, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    vary = getattr(problem, "vary", None)
    if vary is not None and rng.random() < 0.7:
        return np.clip(vary(x, rng), problem.LOWER, problem.UPPER)
    moved = rng.random(x.size) < rng.choice([0.1, 0.3, 1.0])
    step = rng.choice(_STEPS) * (np.asarray(problem.UPPER) - np.asarray(problem.LOWER))
    return np.clip(x + moved * step * rng.standard_normal(x.size), problem.LOWER, problem.UPPER)


def _local(problem: Any, x: np.ndarray) -> _Point:
    """Return a local maximum near a vector."""
    if x.size > _DENSE:
        return _refined(problem, _measured(problem, x), time.process_time() + 1e9, radius=0.1)
    return _sequential_quadratic(problem, x)


def _measured(problem: Any, x: np.ndarray) -> _Point:
    value, _ = problem.value(x)
    numbers, _ = problem.constraints(x)
    return _Point(x, float(value), max(0.0, -float(np.min(numbers, initial=0.0))))


def _sequential_quadratic(problem: Any, x: np.ndarray) -> _Point:
    optimize = importlib.import_module("scipy.optimize")

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.value(x)
        return -float(value), -np.asarray(gradient)

    def dense(x: np.ndarray) -> np.ndarray:
        jacobian = problem.constraints(x)[1]
        return jacobian.toarray() if hasattr(jacobian, "toarray") else np.asarray(jacobian)

    def numbers(x: np.ndarray) -> np.ndarray:
        return np.asarray(problem.constraints(x)[0])

    inside = {"type": "ineq", "fun": numbers, "jac": dense}
    bounds = list(zip(problem.LOWER, problem.UPPER, strict=True))
    options = {"maxiter": 200, "ftol": 1e-12}
    with np.errstate(all="ignore"):
        found = optimize.minimize(
            loss, x, jac=True, constraints=[inside], bounds=bounds, method="SLSQP", options=options
        )
    moved = np.clip(found.x, problem.LOWER, problem.UPPER)
    return _measured(problem, moved) if np.isfinite(moved).all() else _Point(x, -np.inf, np.inf)


def _refined(problem: Any, point: _Point, until: float, radius: float = 1e-3) -> _Point:
    """Return the limit of sequential linear programs in a shrinking region of trust around a vector.

    Where as many constraints bind as there are numbers, as in rigid packings, it converges quadratically to the last
    digit.
    """
    span = np.asarray(problem.UPPER) - np.asarray(problem.LOWER)
    penalty = 10.0
    while radius > 1e-15 and time.process_time() < until:
        step, dual = _linear_step(problem, point.x, radius * span, penalty)
        if step is None:
            radius /= 4
            continue
        penalty = max(penalty, 2 * dual)
        moved = _measured(problem, np.clip(point.x + step, problem.LOWER, problem.UPPER))
        if _merit(problem, moved, penalty) > _merit(problem, point, penalty):
            point = moved
            radius = min(2 * radius, 0.1) if np.any(np.abs(step) > 0.99 * radius * span) else radius
        else:
            radius /= 4
    return point


def _merit(problem: Any, point: _Point, penalty: float) -> float:
    numbers, _ = problem.constraints(point.x)
    return point.value - penalty * float(np.maximum(0.0, -np.asarray(numbers)).sum())


def _linear_step(problem: Any, x: np.ndarray, reach: np.ndarray, penalty: float) -> tuple[np.ndarray | None, float]:
    """Return the step to the maximum of the linearized problem within `reach`, and the largest price of a constraint."""
    optimize, sparse = importlib.import_module("scipy.optimize"), importlib.import_module("scipy.sparse")
    _, gradient = problem.value(x)
    numbers, jacobian = problem.constraints(x)
    numbers, jacobian = np.asarray(numbers), sparse.csr_matrix(jacobian)
    # Constraints that no step within reach can violate are left out.
    near = numbers <= abs(jacobian) @ reach
    numbers, jacobian = numbers[near], jacobian[near]
    count = len(numbers)
    rows = sparse.hstack([-jacobian, -sparse.identity(count)], format="csr")
    cost = np.concatenate([-np.asarray(gradient), np.full(count, penalty)])
    low = np.concatenate([np.maximum(-reach, np.asarray(problem.LOWER) - x), np.zeros(count)])
    high = np.concatenate([np.minimum(reach, np.asarray(problem.UPPER) - x), np.full(count, np.inf)])
    found = optimize.linprog(cost, A_ub=rows, b_ub=numbers, bounds=np.c_[low, high], method="highs")
    if found.status != 0:
        return None, 0.0
    dual = -float(np.min(found.ineqlin.marginals, initial=0.0))
    return found.x[: x.size], 0.0 if dual >= penalty else dual
