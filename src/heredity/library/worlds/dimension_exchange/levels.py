"""Levels of `dimension_exchange`: markets with tides, and the best way to sell a hold, by dynamic programming."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.dimension_exchange.dynamics import DIMENSIONS, GLUT, GOODS, payment, true_prices

Place = tuple[int, int, tuple[int, ...]]
"""Dimension, sales since arriving, hold: all that matters besides the step."""


class Markets(Levels):
    """Makes markets in which each dimension values another good."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return three markets, their tides, their barters, and a hold."""
        orders = [rng.permutation(3) for _ in DIMENSIONS]
        worths = [[(2, 6, 12)[int(rank)] + int(rng.integers(-1, 2)) for rank in order] for order in orders]
        blur = difficulty * 2 - 1
        stock = [1, 1, 1]
        for _ in range(1 + difficulty):
            stock[int(rng.integers(3))] += 1
        return {
            "worths": worths,
            "tides": [self._tide(rng, 2 + difficulty + int(rng.integers(2))) for _ in DIMENSIONS],
            "rings": [[(good + 1 + int(rng.integers(2))) % 3 for good in range(3)] for _ in DIMENSIONS],
            "blur": [[int(b) for b in rng.integers(-blur, blur + 1, 3)] for _ in range(11)],
            "slope": 1 + difficulty,
            "stock": stock,
            "dimension": int(rng.integers(3)),
            "steps": 16 + 4 * difficulty,
        }

    @staticmethod
    def _tide(rng: np.random.Generator, period: int) -> list[int]:
        """Return quarters of the usual price: a low, a high, and something between them."""
        tide = [1, 8, *(int(v) for v in rng.integers(2, 7, period - 2))]
        return [tide[int(i)] for i in rng.permutation(period)]

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the maximum reward, by dynamic programming over all states."""
        total, _ = _best(level)
        return UpperBound(float(total), "exact", "dynamic programming over every step, dimension, glut and hold")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions that earn it."""
        return _best(level)[1]


def _moves(state: Place, rings: Sequence[Sequence[int]]) -> Iterator[tuple[Action, Place, int]]:
    """Yield possible actions, the next states, and the prices paid: 1 + 3 * dimension + good, 0 for none."""
    dimension, sold, stock = state
    yield Action.of("wait"), state, 0
    for target, name in enumerate(DIMENSIONS):
        if target != dimension:
            yield Action.of("cross", dimension=name), (target, 0, stock), 0
    for kind, good in enumerate(GOODS):
        if stock[kind]:
            left = tuple(count - (g == kind) for g, count in enumerate(stock))
            yield Action.of("sell", good=good), (dimension, min(sold + 1, GLUT), left), 1 + 3 * dimension + kind
            taken = rings[dimension][kind]
            swapped = tuple(count + (g == taken) for g, count in enumerate(left))
            yield Action.of("barter", good=good), (dimension, sold, swapped), 0


def _best(level: LevelData) -> tuple[int, list[Action]]:
    """Return the maximum earnings and a plan: backward induction over the reachable states."""
    start: Place = (level["dimension"], 0, tuple(level["stock"]))
    numbers: dict[Place, int] = {start: 0}
    order: list[Place] = [start]
    edges: list[list[tuple[Action, int, int]]] = []
    for state in order:
        edges.append([])
        for action, after, column in _moves(state, level["rings"]):
            if after not in numbers:
                numbers[after] = len(order)
                order.append(after)
            edges[-1].append((action, numbers[after], column))
    width, slope, steps = max(map(len, edges)), level["slope"], level["steps"]
    padded = np.array([[edge[1:] for edge in (outgoing * width)[:width]] for outgoing in edges], np.int64)
    glut = slope * np.array([state[1] for state in order], np.int64)[:, None]
    prices = [[0, *(p for row in at for p in row)] for at in true_prices(level)]
    values: list[NDArray[np.int64]] = [np.zeros(len(order), np.int64)]
    for t in reversed(range(steps)):
        paid = np.maximum(np.array(prices[t], np.int64)[padded[:, :, 1]] - glut, 0)
        values.append((paid + values[-1][padded[:, :, 0]]).max(axis=1))
    values.reverse()
    at, plan = 0, list[Action]()
    for t in range(steps):
        for action, after, column in edges[at]:
            if values[t][at] == payment(prices[t][column], order[at][1], slope) + values[t + 1][after]:
                plan.append(action)
                at = after
                break
    return int(values[0][0]), plan


LEVELS = Markets()
