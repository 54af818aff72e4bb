"""Levels of `alien_colony`, and the maximum a colony can eat, by dynamic programming."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.library.worlds.alien_colony.dynamics import PRESSED, colonists

_REASON = (
    "dynamic programming over portions eaten and stored, timber and buildings, with only what is useful: whatever poison,"
    " solvent, trap, drain or waste do leaves no more of anything, and with more of everything one is never worse off"
)


class Plan(NamedTuple):
    """State after some steps of useful actions.

    Attributes:
        eaten: portions eaten, equal to the reward.
        had: portions eaten or in store.
        timber: units in store.
        hatchery: whether it stands.
        press: whether it stands.
        cut: timber taken from its field.
        steps: actions so far.
    """

    eaten: int
    had: int
    timber: int
    hatchery: bool
    press: bool
    cut: int
    steps: tuple[tuple[str, str], ...]


class Colonies(Levels):
    """Assigns roles to names, the useful roles to those that sound foul."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a colony, its fields and its stores, where the right buildings are worth their timber."""
        while True:
            level = _draft(rng, difficulty)
            if 8 * _best(level).eaten >= 9 * _best(level, building=False).eaten:
                return level

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the maximum number of portions that can be eaten.

        With the same buildings, let one colony have at least as much eaten, eaten or in store, and timber as another,
        and no more lost colonists. It is then at least as large. Copying the other's actions (or doing nothing if
        refused) keeps it ahead in all of these: after a meal `eaten` is the minimum of `eaten + colonists` and `had`;
        after gathering `had` is the minimum of `had + brought`, the whole field and `eaten + room`; all are monotonic
        in their inputs. So poison, solvent, trap, drain, tasting and serving timber, which only lower them, never help.
        Among plans with the same buildings only the nondominated ones need to be kept.
        """
        return UpperBound(float(_best(level).eaten), "exact", _REASON)

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return the plan that eats the most."""
        return [
            Action.of(verb, **{"building" if verb == "build" else "resource": name})
            for verb, name in _best(level).steps
        ]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    parts: dict[str, str] = {}
    for names, dealt in (
        (("venom", "rot"), ("food", "timber")),
        (("honey", "balm"), ("poison", "solvent")),
        (("crypt", "furnace"), ("hatchery", "press")),
        (("nursery", "clinic"), ("trap", "drain")),
    ):
        parts.update(zip(names, (dealt[int(i)] for i in rng.permutation(2)), strict=True))
    by_part = {part: name for name, part in parts.items()}
    cost = 2 + (difficulty > 1)
    fields = {name: int(rng.integers(12, 25)) for name in ("honey", "balm")}
    fields[by_part["food"]] = 30 + 15 * difficulty + int(rng.integers(0, 9))
    fields[by_part["timber"]] = 2 * cost + int(rng.integers(0, 3))
    stores = {name: int(rng.integers(1, 4)) for name in ("honey", "balm")}
    stores[by_part["food"]] = int(rng.integers(1, 3))
    stores[by_part["timber"]] = int(rng.integers(1, 3))
    return {
        "parts": parts,
        "fields": fields,
        "stores": stores,
        "colonists": 2 + int(rng.integers(0, 2)),
        "cost": cost,
        "room": 12 + int(rng.integers(0, 5)),
        "steps": 17 + 3 * difficulty,
    }


def _best(level: LevelData, building: bool = True) -> Plan:
    names = {part: name for name, part in level["parts"].items()}
    food, timber = names["food"], names["timber"]
    plans = [Plan(0, level["stores"][food], level["stores"][timber], False, False, 0, ())]
    for _ in range(level["steps"]):
        plans = _foremost([*plans, *(other for plan in plans for other in _next(level, names, plan, building))])
    return max(plans, key=lambda plan: plan.eaten)


def _next(level: LevelData, names: dict[str, str], plan: Plan, building: bool) -> Iterator[Plan]:
    """Yield the successors of a plan by useful actions, with or without building."""
    food, timber = names["food"], names["timber"]
    number = colonists(level["colonists"], plan.eaten, plan.hatchery)
    whole = level["stores"][food] + level["fields"][food]
    if plan.eaten < plan.had:
        yield plan._replace(eaten=min(plan.eaten + number, plan.had), steps=(*plan.steps, ("serve", food)))
    had = min(plan.had + number + PRESSED * plan.press, whole, plan.eaten + level["room"])
    if had > plan.had:
        yield plan._replace(had=had, steps=(*plan.steps, ("gather", food)))
    if not building:
        return
    brought = min(number, level["fields"][timber] - plan.cut, level["room"] - plan.timber)
    if brought and not (plan.hatchery and plan.press):
        yield plan._replace(
            timber=plan.timber + brought, cut=plan.cut + brought, steps=(*plan.steps, ("gather", timber))
        )
    left = plan.timber - level["cost"]
    if left >= 0 and not plan.hatchery:
        yield plan._replace(timber=left, hatchery=True, steps=(*plan.steps, ("build", names["hatchery"])))
    if left >= 0 and not plan.press:
        yield plan._replace(timber=left, press=True, steps=(*plan.steps, ("build", names["press"])))


def _foremost(plans: list[Plan]) -> list[Plan]:
    """Return the plans not dominated by another with the same buildings."""
    kept: dict[tuple[bool, bool], list[Plan]] = {}
    for plan in sorted(plans, key=lambda p: p[:3], reverse=True):
        rivals = kept.setdefault((plan.hatchery, plan.press), [])
        if not any(r.had >= plan.had and r.timber >= plan.timber for r in rivals):
            rivals.append(plan)
    return [plan for rivals in kept.values() for plan in rivals]


LEVELS = Colonies()
