"""Selection of the next candidate from a pool of all so far (AutoEnv, section 4 and appendix D.3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from heredity.methods.operators.measure import Measured

Selection = Literal["best", "pareto", "pareto-tasks", "random", "mixed", "lineage"]


@dataclass(slots=True)
class Member:
    """A candidate in the pool.

    Attributes:
        measured: its rollouts.
        value: selection criterion: the mean reward, or a judge's rating; higher is better.
        parent: position of the member it was made from; None for the first.
        children: number of members made from it.
    """

    measured: Measured
    value: float
    parent: int | None = None
    children: int = 0

    @property
    def cost(self) -> float:
        """Cost of a rollout: US dollars if known and not zero, else tokens, else 0."""
        for names in (("cost_usd",), ("input_tokens", "output_tokens")):
            cost = self.measured.cost(*names)
            if cost:
                return cost
        return 0.0


def best(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Return the member with the greatest value; ties go to the latest (SPO)."""
    return max(range(len(pool)), key=lambda i: (pool[i].value, i))


def pareto(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw uniformly from the members that no other beats in both value and cost (AutoEnv, section 4.2)."""
    return _draw_one(pareto_front([(m.value, -m.cost) for m in pool]), rng)


def pareto_tasks(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw from the members that are best on some task, weighted by the number of such tasks (GEPA)."""
    tasks = sorted({task for member in pool for task in member.measured.scores})
    wins = np.zeros(len(pool))
    for task in tasks:
        scores = [member.measured.scores.get(task, -math.inf) for member in pool]
        top = [i for i, score in enumerate(scores) if score == max(scores)]
        wins[top] += 1.0 / len(top)
    return int(rng.choice(len(pool), p=wins / wins.sum())) if wins.sum() > 0 else best(pool, rng)


def uniform(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw uniformly from all members."""
    return int(rng.integers(len(pool)))


def mixed(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw from a mixture of a uniform distribution (weight one fifth) and one that favours high values (AFlow)."""
    values = np.array([m.value for m in pool])
    finite = np.where(np.isfinite(values), values, -np.inf)
    weights = np.exp(5.0 * (finite - finite.max())) if np.isfinite(finite).any() else np.ones(len(pool))
    return int(rng.choice(len(pool), p=0.2 / len(pool) + 0.8 * weights / weights.sum()))


def lineage(pool: Sequence[Member], rng: np.random.Generator) -> int:
    """Draw by value and lineage: fewer children make a member likelier (Darwin Gödel Machine)."""
    values = np.array([m.value if math.isfinite(m.value) else -1e3 for m in pool])
    worth = 1.0 / (1.0 + np.exp(np.clip(-10.0 * (values - values.mean()), -500, 500)))
    weights = worth / (1.0 + np.array([m.children for m in pool]))
    return int(rng.choice(len(pool), p=weights / weights.sum()))


SELECTIONS: Mapping[Selection, Callable[[Sequence[Member], np.random.Generator], int]] = MappingProxyType(
    {
        "best": best,
        "pareto": pareto,
        "pareto-tasks": pareto_tasks,
        "random": uniform,
        "mixed": mixed,
        "lineage": lineage,
    }
)
"""Selection rules by name. Each returns a position in a nonempty pool."""


def pareto_front(points: Sequence[tuple[float, ...]]) -> list[int]:
    """Return the positions of the points on the Pareto front: no other is at least as good everywhere and better somewhere."""

    def beaten(one: tuple[float, ...]) -> bool:
        return any(other != one and all(o >= x for o, x in zip(other, one, strict=True)) for other in points)

    return [i for i, point in enumerate(points) if not beaten(point)]


def _draw_one(places: Sequence[int], rng: np.random.Generator) -> int:
    return places[int(rng.integers(len(places)))]
