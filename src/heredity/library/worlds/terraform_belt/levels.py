"""Levels of `terraform_belt`: regions, and the ones worth their energy, by search in each and dynamic programming along the row.

This is exact, because a region affects another only by the eastward wind. In a plan, each region sees its tools and
some of its western neighbour's forges in some order. Orders chosen independently for each region are always compatible:
two neighbours share only the forges of the western one, which are identical, and forges that a region does not need can
wait until it lives. It suffices to know, for each region, the least energy by number of gusts used and forges worked,
and to choose along the row. Every tool takes energy, so the horizon (energy, and a step for seeding each region) never
binds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.terraform_belt.dynamics import COST, FORGES, MOST, SHARES, Climate, Needs, met, worked

Node = tuple[Climate, int, int]
"""A climate, the gusts used to come to it, and the forges worked."""
Option = tuple[int, int, tuple[str, ...]]
"""Energy, pay, and what is done in a region."""


class Belts(Levels):
    """Makes rows of regions that can all be seeded, with energy for about two thirds."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return two, three or four regions, and the energy."""
        regions = [self._region(rng) for _ in range(1 + difficulty)]
        whole = sum(_cheapest(region)[0] for region in regions)
        energy = whole * 2 // 3 + 1
        return {"regions": regions, "energy": energy, "steps": energy + len(regions) + 6}

    @staticmethod
    def _region(rng: np.random.Generator) -> dict[str, Any]:
        while True:
            climate = [int(v) for v in rng.integers(MOST + 1, size=3)]
            lows = [int(v) for v in rng.integers(1, MOST + 1, size=3)]
            needs = [[low, min(MOST, low + int(rng.integers(2)))] for low in lows]
            region = {"climate": climate, "needs": needs, "worth": int(rng.integers(1, 6))}
            if met(_climate(region), _needs(region)) <= 1 and 4 <= _cheapest(region)[0] <= 12:
                return region

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the maximum value that the energy can bring to life."""
        total = sum(pay for _, pay, _ in _best(level))
        return UpperBound(
            float(total), "exact", "shortest paths in every region, dynamic programming over wind and energy"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the actions for it: each region in order, and its western neighbour as far as gusts are needed."""
        tasks = [done for _, _, done in _best(level)]
        at, plan = [0] * len(tasks), list[Action]()

        def go_on(region: int, until: str) -> None:
            while at[region] < len(tasks[region]):
                task = tasks[region][at[region]]
                at[region] += 1
                if task == "wind":
                    go_on(region - 1, "forge")
                    continue
                plan.append(Action.of(task, region=region + 1))
                if task == until:
                    return

        for region in reversed(range(len(tasks))):
            go_on(region, "")
        return plan


def _climate(region: Mapping[str, Any]) -> Climate:
    heat, water, air = region["climate"]
    return heat, water, air


def _needs(region: Mapping[str, Any]) -> Needs:
    return tuple((low, high) for low, high in region["needs"])


@cache
def _paths(start: Climate) -> dict[Node, tuple[int, Node | None, str]]:
    """Return the least energy to every climate, gusts used and forges worked, with the step that came before (Dijkstra)."""
    first: Node = (start, 0, 0)
    reached: dict[Node, tuple[int, Node | None, str]] = {}
    queue: list[tuple[int, Node, Node | None, str]] = [(0, first, None, "")]
    while queue:
        cost, node, before, tool = heapq.heappop(queue)
        if node in reached:
            continue
        reached[node] = (cost, before, tool)
        for task, after in _steps(node):
            if after not in reached:
                heapq.heappush(queue, (cost + COST.get(task, 0), after, node, task))
    return reached


def _steps(node: Node) -> Iterator[tuple[str, Node]]:
    climate, gusts, forges = node
    for tool in COST:
        if tool != "forge":
            yield tool, (worked(tool, climate), gusts, forges)
    if forges < FORGES:
        yield "forge", (worked("forge", climate), gusts, forges + 1)
    if gusts < FORGES:
        yield "wind", (worked("wind", climate), gusts + 1, forges)


def _cheapest(region: Mapping[str, Any]) -> Option:
    """Return the actions that meet all needs of a region with the least energy and no wind."""
    needs = _needs(region)
    costs = [
        (cost, node)
        for node, (cost, _, _) in _paths(_climate(region)).items()
        if not node[1] and met(node[0], needs) == 3
    ]
    cost, node = min(costs)
    return cost, SHARES[3] * region["worth"], _tasks(_climate(region), node)


def _tasks(start: Climate, node: Node) -> tuple[str, ...]:
    paths, tasks = _paths(start), ["seed"]
    at: Node | None = node
    while at is not None:
        _, at, task = paths[at]
        tasks.append(task)
    return tuple(tasks[-2::-1])


def _options(region: Mapping[str, Any]) -> dict[tuple[int, int], list[Option]]:
    """Return the possible results for a region, by gusts used and forges worked: barren, or seeded with two or three needs met."""
    start, needs = _climate(region), _needs(region)
    best: dict[tuple[int, int, int], tuple[int, Node]] = {}
    for node, (cost, _, _) in _paths(start).items():
        count = met(node[0], needs)
        if count in SHARES:
            key = (node[1], node[2], count)
            best[key] = min(best.get(key, (cost, node)), (cost, node))
    options: dict[tuple[int, int], list[Option]] = {
        (0, forges): [(forges * COST["forge"], 0, ("forge",) * forges)] for forges in range(FORGES + 1)
    }
    for (gusts, forges, count), (cost, node) in sorted(best.items()):
        made = (cost, SHARES[count] * region["worth"], _tasks(start, node))
        options.setdefault((gusts, forges), []).append(made)
    return options


def _best(level: LevelData) -> list[Option]:
    """Return the best combination of results, region by region from the west."""
    options = [_options(region) for region in level["regions"]]

    @cache
    def rest(index: int, gusts: int, energy: int) -> tuple[int, tuple[Option, ...]]:
        if index == len(options):
            return 0, ()
        best: tuple[int, tuple[Option, ...]] = (-1, ())
        for (used, forges), made in options[index].items():
            for option in made if used <= gusts else ():
                if option[0] <= energy:
                    pay, others = rest(index + 1, forges, energy - option[0])
                    best = max(best, (option[1] + pay, (option, *others)))
        return best

    return list(rest(0, 0, level["energy"])[1])


LEVELS = Belts()
