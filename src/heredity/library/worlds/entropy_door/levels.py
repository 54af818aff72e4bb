"""Levels of `entropy_door`: gases, and the best work at the door, by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.entropy_door.dynamics import COST, DEEPEST, DYNAMICS, Particle, crossing

_NEVER = -(10**6)


class Gases(Levels):
    """Makes gases in which most particles are on the wrong side, energy is scarce, and a fixed action achieves little."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return five, six or seven particles, the energy, and how often the door leaks."""
        count = 4 + difficulty
        while True:
            wrong = {int(i) for i in rng.permutation(count)[: count - 1 - difficulty // 3]}
            particles = [self._particle(rng) for _ in range(count)]
            level = {
                "particles": particles,
                "right": [particle[0] ^ (number in wrong) for number, particle in enumerate(particles)],
                "energy": count - 1 + difficulty // 2,
                "leak": 8 - difficulty,
                "steps": 18 + 6 * difficulty,
            }
            if _repeated(level, "wait") <= 0 and 4 * max(_repeated(level, name) for name in COST) <= _best(level)[0]:
                return level

    @staticmethod
    def _particle(rng: np.random.Generator) -> list[int]:
        depth = int(rng.integers(3, DEEPEST + 1))
        return [int(rng.integers(2)), int(rng.integers(1, 4)), depth, int(rng.integers(1, 2 * depth))]

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the maximum growth of order, by dynamic programming over all states."""
        return UpperBound(
            float(_best(level)[0]),
            "exact",
            "dynamic programming over steps, sides and energy; when a particle is at the door does not depend on its side",
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions that lead there."""
        return [Action.of(name) for name in _best(level)[1]]


def _repeated(level: LevelData, name: str) -> float:
    """Return the reward of repeating one action, and waiting without energy: it should be small."""
    state, total = DYNAMICS.start(level), 0.0
    for _ in range(level["steps"]):
        total += DYNAMICS.act(state, Action.of(name if COST[name] <= state.energy else "wait")).reward
    return total


def _best(level: LevelData) -> tuple[int, list[str]]:
    """Return the greatest growth of order, and the work at the door that reaches it: backward induction.

    A state is the set of particles on the right, as bits, and the energy left. Both chambers are equally deep, so being
    at the door depends only on the step, which need not be part of the state.
    """
    particles = [Particle(*particle) for particle in level["particles"]]
    energy, steps = level["energy"], level["steps"]
    sides = np.arange(1 << len(particles))
    order = np.zeros(len(sides), np.int64)
    for number, particle in enumerate(particles):
        order += particle.weight * ((sides >> number & 1) == particle.hot)
    values: list[NDArray[np.int64]] = [np.repeat(order[:, None], energy + 1, axis=1)]
    ways: list[dict[str, NDArray[np.int64]]] = []
    for t in reversed(range(steps)):
        at_door = sum(1 << number for number, particle in enumerate(particles) if particle.distance(t) == 0)
        choices: list[NDArray[np.int64]] = []
        ways.append({name: _after(sides, at_door, crossing(name, t, level["leak"])) for name in COST})
        for name, cost in COST.items():
            value = np.full_like(values[-1], _NEVER)
            value[:, cost:] = values[-1][ways[-1][name], : energy + 1 - cost]
            choices.append(value)
        values.append(np.max(choices, axis=0))
    begin = side = sum(value << number for number, value in enumerate(level["right"]))
    plan: list[str] = []
    for t in range(steps):
        left, after, way = values[steps - t][side, energy], values[steps - t - 1], ways[steps - t - 1]
        plan.append(next(n for n, c in COST.items() if c <= energy and after[way[n][side], energy - c] == left))
        side, energy = int(way[plan[-1]][side]), energy - COST[plan[-1]]
    return int(values[-1][begin, level["energy"]] - order[begin]), plan


def _after(sides: NDArray[np.int64], at_door: int, allowed: tuple[bool, bool]) -> NDArray[np.int64]:
    """Return the sides after a step: at the door, those on the left pass if `allowed[0]`, those on the right if `allowed[1]`."""
    passing = (~sides & at_door if allowed[0] else 0) | (sides & at_door if allowed[1] else 0)
    return sides ^ passing


LEVELS = Gases()
