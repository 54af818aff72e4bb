"""The rules of `terraform_belt`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

Climate = tuple[int, int, int]
"""Heat, water and air, 0 to 4 each."""
Needs = tuple[tuple[int, int], ...]
"""Least and most of heat, water and air that life bears."""

MOST = 4
HOT = 3
"""From here on a mirror boils water off."""
FORGES = 3
"""How often each region has gas for a forge."""
COST = {"mirror": 1, "shade": 1, "scrub": 1, "comet": 2, "forge": 2}
SHARES = {3: 3, 2: 1}
"""How many shares of its worth a region pays when it is seeded, by the number of needs that are met."""
QUALITIES = ("heat", "water", "air")


@dataclass(frozen=True, slots=True)
class Site:
    """Constants of a region: its needs, and the value of a share."""

    needs: Needs
    worth: int

    def __deepcopy__(self, memo: object) -> Site:
        return self


@dataclass(slots=True)
class State:
    """The climate of each region, the living ones, the gas left in each, and the energy left."""

    sites: tuple[Site, ...]
    climates: list[Climate]
    living: list[bool]
    gas: list[int]
    energy: int


def worked(tool: str, climate: Climate) -> Climate:
    """Return a region's climate after a tool was used there, or after `"wind"` brought it a neighbour's gas."""
    heat, water, air = climate
    if tool == "mirror":
        return min(MOST, heat + 1), max(0, water - (heat >= HOT)), air
    if tool == "shade":
        return max(0, heat - 1), water, air
    if tool == "scrub":
        return heat, water, max(0, air - 1)
    if tool == "comet":
        return max(0, heat - 1), min(MOST, water + 2), air
    if tool == "forge":
        return min(MOST, heat + 1), water, min(MOST, air + 2)
    return heat, water, min(MOST, air + 1)


def met(climate: Climate, needs: Needs) -> int:
    """Return the number of needs, of three, that a climate meets."""
    return sum(low <= value <= high for value, (low, high) in zip(climate, needs, strict=True))


class TerraformBelt(Dynamics[State]):
    """A row of regions with a wind from the west."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        regions = level["regions"]
        sites = tuple(Site(tuple((low, high) for low, high in region["needs"]), region["worth"]) for region in regions)
        climates: list[Climate] = [(heat, water, air) for heat, water, air in (region["climate"] for region in regions)]
        return State(sites, climates, [False] * len(sites), [FORGES] * len(sites), level["energy"])

    def act(self, state: State, action: Action) -> Outcome:
        """Use a tool on a region, or seed it."""
        region = action.params["region"] - 1
        if region >= len(state.sites):
            raise RefusedError(f"There are only {len(state.sites)} regions.")
        if state.living[region]:
            raise RefusedError(f"Region {region + 1} lives already and is left alone.")
        if action.name == "seed":
            return self._seed(state, region)
        cost = COST[action.name]
        if cost > state.energy:
            raise RefusedError(f"That takes {cost} energy, and {state.energy} is left.")
        if action.name == "forge" and not state.gas[region]:
            raise RefusedError(f"Region {region + 1} has no gas left for a forge.")
        state.energy -= cost
        before = state.climates[region]
        state.climates[region] = worked(action.name, before)
        message = f"Region {region + 1}: {_change(before, state.climates[region])}."
        if action.name == "forge":
            state.gas[region] -= 1
            message += self._blow(state, region + 1)
        return Outcome(message=message)

    @staticmethod
    def _blow(state: State, region: int) -> str:
        if region == len(state.sites) or state.living[region]:
            return ""
        before = state.climates[region]
        state.climates[region] = worked("wind", before)
        return f" The wind blows gas to region {region + 1}: {_change(before, state.climates[region])}."

    @staticmethod
    def _seed(state: State, region: int) -> Outcome:
        site = state.sites[region]
        count = met(state.climates[region], site.needs)
        if count not in SHARES:
            raise RefusedError(f"Region {region + 1} meets only {count} of its needs; nothing would grow.")
        state.living[region] = True
        paid = SHARES[count] * site.worth
        return Outcome(
            float(paid), all(state.living), f"Region {region + 1} lives, with {count} needs met; this pays {paid}."
        )

    def observe(self, state: State) -> dict[str, Any]:
        """Show everything."""
        lines: list[str] = []
        for number, site in enumerate(state.sites):
            needs = ", ".join(
                f"{name} {low} to {high}" for name, (low, high) in zip(QUALITIES, site.needs, strict=True)
            )
            lines.append(
                f"region {number + 1} needs {needs}; a share is worth {site.worth}; forges left: {state.gas[number]}"
            )
        grid = ["".join(str(climate[quality]) for climate in state.climates) for quality in range(3)]
        grid.append("".join("L" if lives else "-" for lives in state.living))
        return {"grid": grid, "regions": lines, "energy": state.energy, "gauges": {"energy": [state.energy, 0, 30]}}


def _change(before: Sequence[int], after: Sequence[int]) -> str:
    changes = [
        f"{name} {'rises' if new > old else 'falls'} to {new}"
        for name, old, new in zip(QUALITIES, before, after, strict=True)
        if old != new
    ]
    return " and ".join(changes) or "nothing changes"


DYNAMICS = TerraformBelt()
