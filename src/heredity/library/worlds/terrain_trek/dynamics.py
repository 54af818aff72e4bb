"""The rules of `terrain_trek`.

The cost of a step depends on the entered ground and the worn gear. The costs of the day are hidden and are learned by
walking. Rest restores strength but takes scarce time. The view is wide from heights and narrow in forests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, moved, window

FAR = 3
GEAR = ("boots", "waders", "rope")
NAMES = {".": "meadow", "f": "forest", "m": "marsh", "^": "crag", "H": "hut"}
SIGHT = {".": 2, "f": 1, "m": 2, "^": FAR, "H": 2}
RECOVERY = {".": 4, "f": 3, "m": 0, "^": 2, "H": 4}
"""Strength that a rest gives back, by ground."""


@dataclass(frozen=True, slots=True)
class Country:
    """Immutable part of the state.

    Attributes:
        plan: rows of ground: `.` meadow, `f` forest, `m` marsh, `^` crag, `w` deep water, `H` the hut.
        effort: strength for entering each ground, for each of `GEAR`.
        hut: position of the hut.
        full: maximum strength.
    """

    plan: tuple[str, ...]
    effort: tuple[dict[str, int], ...]
    hut: Cell
    full: int


class Now(NamedTuple):
    """Mutable part of the state: position of the walker, index of the worn gear in `GEAR`, and the strength left."""

    at: Cell
    gear: int
    strength: int


@dataclass(slots=True)
class State:
    """A country, and the walker's state."""

    country: Country
    now: Now

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the country is shared."""
        return State(self.country, self.now)


def read_level(level: LevelData) -> State:
    """Return the initial state of a level: in boots, with full strength."""
    effort = tuple(dict(level["effort"][gear]) for gear in GEAR)
    country = Country(tuple(level["plan"]), effort, (level["hut"][0], level["hut"][1]), level["full"])
    return State(country, Now((level["at"][0], level["at"][1]), 0, country.full))


def ground(country: Country, cell: Cell) -> str:
    """Return the symbol of the ground; deep water beyond the map."""
    row, column = cell
    plan = country.plan
    return plan[row][column] if 0 <= row < len(plan) and 0 <= column < len(plan[0]) else "w"


def walked(country: Country, now: Now, direction: str) -> Now:
    """Return the state after a step.

    Raises:
        RefusedError: for water, or if the step takes more strength than is left.
    """
    cell = moved(now.at, direction)
    kind = ground(country, cell)
    if kind == "w":
        raise RefusedError("Deep water stops you.")
    effort = country.effort[now.gear][kind]
    if effort > now.strength:
        raise RefusedError(f"You try the {NAMES[kind]}, but have not the strength for it now.")
    return Now(cell, now.gear, now.strength - effort)


def rested(country: Country, now: Now) -> Now:
    """Return the state after a rest.

    Raises:
        RefusedError: if the ground is too wet.
    """
    gain = RECOVERY[ground(country, now.at)]
    if not gain:
        raise RefusedError("Nobody can rest in a marsh.")
    return now._replace(strength=min(country.full, now.strength + gain))


class TerrainTrek(Dynamics[State]):
    """A walk to a hut over ground visible only from nearby."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return read_level(level)

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, change gear, or rest."""
        country, now = state.country, state.now
        if action.name == "rest":
            state.now = rested(country, now)
            return Outcome(message=f"You rest, and regain {state.now.strength - now.strength}.")
        if action.name == "wear":
            gear = GEAR.index(action.params["gear"])
            if gear == now.gear:
                raise RefusedError(f"You wear the {GEAR[gear]} already.")
            state.now = now._replace(gear=gear)
            return Outcome(message=f"You put on the {GEAR[gear]}.")
        state.now = walked(country, now, action.params["direction"])
        if state.now.at == country.hut:
            return Outcome(1.0, done=True, message="You push open the door of the hut. There is soup.")
        kind = NAMES[ground(country, state.now.at)]
        return Outcome(message=f"The {kind} takes {now.strength - state.now.strength} of your strength.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the ground visible from here, and the direction of the hut's smoke."""
        country, now = state.country, state.now
        kind = ground(country, now.at)
        blind = FAR - SIGHT[kind]
        rows = window(country.plan, now.at, FAR, "w")
        if blind:
            side = "?" * blind
            unseen = ["?" * (2 * FAR + 1)] * blind
            rows = [*unseen, *[side + row[blind:-blind] + side for row in rows[blind:-blind]], *unseen]
        rows[FAR] = rows[FAR][:FAR] + "@" + rows[FAR][FAR + 1 :]
        return {
            "grid": rows,
            "ground": NAMES[kind],
            "smoke": _way(now.at, country.hut),
            "gear": GEAR[now.gear],
            "strength": now.strength,
            "full": country.full,
            "gauges": {"strength": [now.strength, 0, country.full]},
        }


def _way(at: Cell, hut: Cell) -> str:
    down, right = hut[0] - at[0], hut[1] - at[1]
    parts = [f"{abs(down)} {'south' if down > 0 else 'north'}"] if down else []
    parts += [f"{abs(right)} {'east' if right > 0 else 'west'}"] if right else []
    return " and ".join(parts)


DYNAMICS = TerrainTrek()
