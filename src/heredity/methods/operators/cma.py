"""Covariance matrix adaptation for small budgets: generations of any size, rank-based."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_DIAGONAL_FROM = 48


class CmaEs:
    """CMA-ES that maximises, after Hansen, "The CMA Evolution Strategy: A Tutorial" (arXiv:1604.00772), sections 2 to 4.

    Unlike the packaged implementations, `tell` accepts any number of points, also points that were not drawn from the
    distribution (an elite, an initial design), because a budget of some forty evaluations must use each one.
    Above 48 dimensions only the diagonal is adapted (Ros and Hansen 2008), which learns about that many times faster.

    Attributes:
        mean: centre of the distribution, shape (n,).
        sigma: overall step size, positive.
    """

    def __init__(self, mean: np.ndarray, sigma: float, rng: np.random.Generator) -> None:
        """Start at `mean` with step size `sigma`, drawing from `rng`."""
        self.mean = np.array(mean, dtype=np.float64)
        self.sigma = float(sigma)
        self._rng = rng
        n = self._n = self.mean.size
        self._diagonal = n > _DIAGONAL_FROM
        self._c = np.ones(n) if self._diagonal else np.eye(n)
        self._path_c, self._path_s = np.zeros(n), np.zeros(n)
        self._chi = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        self._generation = 0
        self._decompose()

    def ask(self, count: int) -> np.ndarray:
        """Draw points, shape (count, n); the second half mirrors the first through the mean, which halves its noise."""
        half = self._rng.standard_normal(((count + 1) // 2, self._n))
        z = np.concatenate([half, -half])[:count]
        return self.mean + self.sigma * self._times_root(z)

    def tell(self, points: np.ndarray, scores: Sequence[float] | np.ndarray) -> None:
        """Learn from evaluated points.

        Args:
            points: shape (k, n), k at least 2.
            scores: shape (k,), higher is better; only their order counts, and equal scores share their weight.
        """
        weights, mu_eff = _rank_weights(np.asarray(scores, dtype=np.float64))
        steps = (np.asarray(points, dtype=np.float64) - self.mean) / self.sigma
        # A far injected point must not blow up the distribution (Hansen, "Injecting external solutions", 2011).
        lengths = np.linalg.norm(self._times_inverse_root(steps), axis=1)
        reach = self._chi + 2 * math.sqrt(self._n) / (self._n + 2) + 1
        steps *= np.minimum(1.0, reach / np.maximum(lengths, 1e-12))[:, None]
        move = weights @ steps
        self.mean = self.mean + self.sigma * move
        self._adapt(steps, weights, move, mu_eff)
        self._generation += 1
        self._decompose()

    def _adapt(self, steps: np.ndarray, weights: np.ndarray, move: np.ndarray, mu_eff: float) -> None:
        n = self._n
        c_s = (mu_eff + 2) / (n + mu_eff + 5)
        damping = 1 + 2 * max(0.0, math.sqrt((mu_eff - 1) / (n + 1)) - 1) + c_s
        c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n)
        speed = (n + 2) / 3 if self._diagonal else 1.0
        c_1 = min(1.0, speed * 2 / ((n + 1.3) ** 2 + mu_eff))
        c_mu = min(1 - c_1, speed * 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff))
        self._path_s = (1 - c_s) * self._path_s + math.sqrt(c_s * (2 - c_s) * mu_eff) * self._times_inverse_root(move)
        norm = float(np.linalg.norm(self._path_s))
        steady = norm / math.sqrt(1 - (1 - c_s) ** (2 * (self._generation + 1))) < (1.4 + 2 / (n + 1)) * self._chi
        self._path_c = (1 - c_c) * self._path_c + steady * math.sqrt(c_c * (2 - c_c) * mu_eff) * move
        self.sigma *= math.exp(min(1.0, c_s / damping * (norm / self._chi - 1)))
        if self._diagonal:
            rank_one, rank_mu = self._path_c**2, weights @ steps**2
        else:
            rank_one, rank_mu = np.outer(self._path_c, self._path_c), (steps.T * weights) @ steps
        c_mu = max(c_mu, 0.0)
        self._c = (1 - c_1 - c_mu) * self._c + c_1 * rank_one + c_mu * rank_mu

    def _decompose(self) -> None:
        if self._diagonal:
            self._roots = np.sqrt(np.maximum(self._c, 1e-20))
            return
        values, self._basis = np.linalg.eigh((self._c + self._c.T) / 2)
        self._roots = np.sqrt(np.maximum(values, 1e-20))

    def _times_root(self, z: np.ndarray) -> np.ndarray:
        return z * self._roots if self._diagonal else (z * self._roots) @ self._basis.T

    def _times_inverse_root(self, y: np.ndarray) -> np.ndarray:
        return y / self._roots if self._diagonal else ((y @ self._basis) / self._roots) @ self._basis.T


def _rank_weights(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Return positive recombination weights of the better half (they sum to 1) and their effective number."""
    k = scores.size
    raw = np.maximum(math.log((k + 1) / 2) - np.log(np.arange(1, k + 1)), 0.0)
    order = np.argsort(-scores, kind="stable")
    weights = np.empty(k)
    weights[order] = raw
    for value in np.unique(scores):
        weights[scores == value] = weights[scores == value].mean()
    weights /= weights.sum()
    return weights, float(1 / np.sum(weights**2))
