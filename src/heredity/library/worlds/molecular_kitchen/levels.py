"""Levels of `molecular_kitchen`: pantries, and orders that take some chemistry."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import Cell, shortest_path
from heredity.library.worlds.molecular_kitchen.dynamics import (
    HOLDS,
    Brew,
    Molecule,
    Pantry,
    Taste,
    read_pantry,
    stirred,
)

_NAMES = ("pelin", "quorin", "rhodol", "sabene", "umbrol")
_SIZES = {1: (4, 4), 2: (4, 5), 3: (5, 5)}
_SHAPES = {
    1: ("ring", "ring", "fork"),
    2: ("ring", "ring", "fork", "chain"),
    3: ("ring", "ring", "fork", "chain", "hook"),
}
_ADDED = {1: 3, 2: 4, 3: 5}
_STEPS = {1: 40, 2: 50, 3: 60}
_LONGEST = 34
Chain = tuple[Molecule, ...]


class Pantries(Levels):
    """Makes pantries and orders; an order needs 3, 4 or 5 molecules, and every available shape."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a pantry whose order cannot be met by a shorter brew or by fewer shapes."""
        while True:
            molecules = _molecules(rng, difficulty)
            order = _order(rng, molecules, _ADDED[difficulty])
            if order is None:
                continue
            plan = _plan(rng, [molecule.name[0] for molecule in molecules], *_SIZES[difficulty])
            level = {
                "plan": plan,
                "molecules": [list(molecule) for molecule in molecules],
                "order": list(order),
                "steps": _STEPS[difficulty],
            }
            if _walkable(level) and len(self.solve(level)) <= _LONGEST:
                return level

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: the right taste pays 1 once, and a right brew can be made within the horizon."""
        return UpperBound(
            1.0, "exact", "serving pays 1 once, and a brew of the right taste can be made within the horizon"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the shortest walk that makes one of the smallest brews of the right taste and serves it."""
        pantry = read_pantry(level)
        places = {molecule.name: cell for cell, molecule in pantry.shelves.items()}
        walks = [
            [places[molecule.name] for molecule in chain]
            for chain in _smallest(list(pantry.shelves.values()), pantry.order)
        ]
        return min((_walk(pantry, stops) for stops in walks), key=len)


def _molecules(rng: np.random.Generator, difficulty: int) -> list[Molecule]:
    shapes = _SHAPES[difficulty]
    names = [_NAMES[int(i)] for i in rng.permutation(len(_NAMES))[: len(shapes)]]
    tastes = [int(i) for i in rng.permutation(3)]
    return [
        Molecule(name, shape, tastes[index] if index < 2 else int(rng.integers(3)), int(rng.integers(1, 4)))
        for index, (name, shape) in enumerate(zip(names, shapes, strict=True))
    ]


def _order(rng: np.random.Generator, molecules: Sequence[Molecule], count: int) -> Taste | None:
    """Draw a taste that needs `count` molecules and all shapes; None if none exists."""
    shorter = {_taste(chain) for size in range(count) for chain in itertools.product(molecules, repeat=size)}
    by_taste: dict[Taste, list[Chain]] = {}
    for chain in itertools.product(molecules, repeat=count):
        taste = _taste(chain)
        if taste not in shorter:
            by_taste.setdefault(taste, []).append(chain)
    shapes = {molecule.shape for molecule in molecules}
    hard = sorted(t for t, chains in by_taste.items() if all({m.shape for m in chain} == shapes for chain in chains))
    return hard[int(rng.integers(len(hard)))] if hard else None


def _taste(chain: Sequence[Molecule]) -> Taste:
    brew = Brew()
    for molecule in chain:
        brew = stirred(brew, molecule)
    return brew.taste


def _smallest(molecules: Sequence[Molecule], order: Taste) -> list[Chain]:
    for size in range(1, HOLDS + 1):
        chains = [chain for chain in itertools.product(molecules, repeat=size) if _taste(chain) == order]
        if chains:
            return chains
    return []


def _plan(rng: np.random.Generator, shelves: Sequence[str], rows: int, columns: int) -> list[str]:
    symbols = ["T", *shelves, *"#" * (rows * columns // 5)]
    symbols += "." * (rows * columns - len(symbols))
    shuffled = [symbols[int(i)] for i in rng.permutation(len(symbols))]
    return ["".join(shuffled[row * columns : (row + 1) * columns]) for row in range(rows)]


def _walkable(level: LevelData) -> bool:
    pantry = read_pantry(level)
    return all(_way(pantry, pantry.table, cell) is not None for cell in pantry.shelves)


def _way(pantry: Pantry, start: Cell, goal: Cell) -> list[str] | None:
    plan = pantry.plan
    return shortest_path(
        start,
        goal,
        lambda cell: 0 <= cell[0] < len(plan) and 0 <= cell[1] < len(plan[0]) and plan[cell[0]][cell[1]] != "#",
    )


def _walk(pantry: Pantry, stops: Sequence[Cell]) -> list[Action]:
    actions: list[Action] = []
    at = pantry.table
    for stop in stops:
        actions += [Action.of("move", direction=d) for d in _way(pantry, at, stop) or []]
        actions.append(Action.of("add"))
        at = stop
    actions += [Action.of("move", direction=d) for d in _way(pantry, at, pantry.table) or []]
    return [*actions, Action.of("serve")]


LEVELS = Pantries()
