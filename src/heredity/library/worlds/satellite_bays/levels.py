"""Levels of `satellite_bays`: a working satellite, with limits as tight as its construction allows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from string import ascii_uppercase
from typing import Any

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.satellite_bays.dynamics import EMPTY, SERVICES, refusal, temperatures

KINDS: dict[str, dict[str, tuple[int, int]]] = {
    "camera": {"mass": (2, 5), "power": (-5, -2), "heat": (1, 4), "sight": (2, 5)},
    "dish": {"mass": (2, 5), "power": (-5, -2), "heat": (1, 4), "link": (2, 5)},
    "engine": {"mass": (3, 6), "power": (-6, -3), "heat": (3, 6), "thrust": (2, 5)},
    "panel": {"mass": (2, 5), "power": (5, 10), "heat": (1, 4)},
    "radiator": {"mass": (1, 4), "power": (-2, -1), "heat": (-5, -2)},
}
"""Lowest and highest value of each number of a module."""
SHELVES = (
    ("camera", "camera", "camera", "dish", "dish", "panel", "panel", "radiator"),
    ("camera", "camera", "camera", "dish", "dish", "dish", "panel", "panel", "radiator", "radiator"),
    (
        "camera",
        "camera",
        "dish",
        "dish",
        "engine",
        "engine",
        "panel",
        "panel",
        "panel",
        "radiator",
        "radiator",
        "radiator",
    ),
)
BATTERY = 2
Modules = Sequence[dict[str, Any]]


class Satellites(Levels):
    """Makes shelves with hardly more than one selection that meets the demands."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a shelf, limits and demands; `answer` is a build order of a satellite that meets them."""
        kinds, bays = SHELVES[difficulty - 1], 3 + difficulty
        while True:
            modules = [
                {"kind": kind, **{key: int(rng.integers(low, high + 1)) for key, (low, high) in KINDS[kind].items()}}
                for kind in kinds
            ]
            chosen = sorted(int(m) for m in rng.permutation(len(kinds))[:bays])
            balance = BATTERY + _sum(modules, chosen, "power")
            if {kinds[m] for m in chosen} != set(kinds) or not 0 <= balance <= 1 + bays:
                continue
            limits = {
                "most_mass": _sum(modules, chosen, "mass"),
                "wanted": [_sum(modules, chosen, s) for s in SERVICES],
            }
            others = list(combinations(range(len(kinds)), bays))
            if sum(_meets(modules, other, limits) for other in others) > difficulty or not _weighed(modules, chosen):
                continue
            most_heat, answer = _coolest(modules, chosen)
            if answer:
                break
        head = {"modules": modules, "bays": bays, "battery": BATTERY, "most_heat": most_heat}
        return {**head, **limits, "steps": 3 * bays + 4, "answer": [[ascii_uppercase[m], bay] for m, bay in answer]}

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return 1: success pays 1 once, and the satellite behind the limits can be built."""
        return UpperBound(
            1.0, "exact", "success pays 1 once, and the satellite that the limits were drawn around can be built"
        )

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the build order of that satellite, and a launch."""
        installed = [Action.of("install", module=module, bay=bay) for module, bay in level["answer"]]
        return [*installed, Action.of("launch")]


def _sum(modules: Modules, chosen: Sequence[int], key: str) -> int:
    return sum(modules[m].get(key, 0) for m in chosen)


def _meets(modules: Modules, chosen: Sequence[int], limits: dict[str, Any]) -> bool:
    """Return True if these modules meet the demands, regardless of places and temperatures."""
    return (
        _sum(modules, chosen, "mass") <= limits["most_mass"]
        and BATTERY + _sum(modules, chosen, "power") >= 0
        and all(_sum(modules, chosen, s) >= wanted for s, wanted in zip(SERVICES, limits["wanted"], strict=True))
    )


def _weighed(modules: Modules, chosen: Sequence[int]) -> bool:
    """Return True if a lighter module of a usable kind stays on the shelf, so taking the lightest is not the answer."""
    serving = [m for m in modules if any(service in m for service in SERVICES)]
    return any(
        modules[number]["kind"] == other["kind"] and modules[number]["mass"] > other["mass"]
        for number in chosen
        for other in serving
    )


def _coolest(modules: Modules, chosen: Sequence[int]) -> tuple[int, list[tuple[int, int]]]:
    """Return the lowest temperature limit that allows installing the modules one by one, and the order: (module, bay).

    Return no order if filling the bays from first to last suffices, since that would be trivial.
    """
    heat, power = [m["heat"] for m in modules], [m["power"] for m in modules]
    ranked = sorted((max(temperatures(bays, heat)), bays) for bays in permutations(chosen))
    for most_heat, bays in ranked:
        order = _order(bays, power, heat, most_heat)
        if order:
            return most_heat, [] if order == list(range(len(bays))) else [(bays[bay], bay + 1) for bay in order]
    return 0, []


def _order(bays: Sequence[int], power: Sequence[int], heat: Sequence[int], most_heat: int) -> list[int]:
    """Return the first order of filling the bays that the live frame tolerates at every step; none if none exists."""
    dead: set[int] = set()

    def fill(filled: int, order: list[int]) -> list[int]:
        if len(order) == len(bays):
            return order
        for bay in range(len(bays)):
            after = filled | 1 << bay
            if after == filled or after in dead:
                continue
            now = [module if after >> p & 1 else EMPTY for p, module in enumerate(bays)]
            if not refusal(now, power, heat, BATTERY, most_heat) and (complete := fill(after, [*order, bay])):
                return complete
            dead.add(after)
        return []

    return fill(0, [])


LEVELS = Satellites()
