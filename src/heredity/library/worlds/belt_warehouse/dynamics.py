"""The rules of `belt_warehouse`.

After every action, even a refused one, each crate on a belt moves one cell on if that cell is free. Crates move in the
order of their letters, so one may follow into a cell that another has just left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, moved

BELTS = {"^": "north", "v": "south", "<": "west", ">": "east"}
_TURNED = str.maketrans("^v<>", "v^><")
NAMES = "abc"


@dataclass(frozen=True, slots=True)
class Hall:
    """Immutable part of the state: the floor with its walls and belts, and the bay of each crate."""

    floor: tuple[str, ...]
    bays: tuple[Cell, ...]
    rides: tuple[dict[Cell, Cell], dict[Cell, Cell]]
    """Where a crate on a belt rides to, as the belts run at the start and when they are reversed."""
    plans: tuple[tuple[str, ...], tuple[str, ...]]
    """The floor with the bays drawn in, likewise."""


class Now(NamedTuple):
    """Mutable part of the state: positions of the truck and crates, and whether the belts are reversed (0 or 1)."""

    at: Cell
    crates: tuple[Cell, ...]
    turned: int


@dataclass(slots=True)
class State:
    """A hall, and its current state."""

    hall: Hall
    now: Now

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the hall is shared."""
        return State(self.hall, self.now)


def read_hall(floor: tuple[str, ...], bays: tuple[Cell, ...]) -> Hall:
    """Return the hall of a floor of `#`, `.` and belts, and the bays of the crates in order."""
    belts = {(r, c): s for r, row in enumerate(floor) for c, s in enumerate(row) if s in BELTS}
    plain, turned = (
        {cell: moved(cell, BELTS[symbol.translate(table)]) for cell, symbol in belts.items()} for table in ({}, _TURNED)
    )
    rows = [list(row) for row in floor]
    for name, (r, c) in zip(NAMES, bays, strict=False):
        rows[r][c] = name.upper()
    plan = tuple("".join(row) for row in rows)
    return Hall(floor, bays, (plain, turned), (plan, tuple(row.translate(_TURNED) for row in plan)))


def after(hall: Hall, now: Now, verb: str, direction: str = "") -> Now:
    """Return the state after an action and the following belt movement.

    Raises:
        RefusedError: if the truck cannot drive that way.
    """
    if verb == "reverse":
        return ridden(hall, now._replace(turned=1 - now.turned))
    if verb == "wait":
        return ridden(hall, now)
    at, crates = moved(now.at, direction), now.crates
    if hall.floor[at[0]][at[1]] == "#":
        raise RefusedError("A wall stops the truck.")
    if at in crates:
        beyond, crate = moved(at, direction), crates.index(at)
        if hall.floor[beyond[0]][beyond[1]] == "#" or beyond in crates:
            raise RefusedError(f"Crate {NAMES[crate]} cannot be pushed {direction}.")
        crates = (*crates[:crate], beyond, *crates[crate + 1 :])
    return ridden(hall, Now(at, crates, now.turned))


def ridden(hall: Hall, now: Now) -> Now:
    """Return the state after the belts have run for one step."""
    rides = hall.rides[now.turned]
    if not any(cell in rides for cell in now.crates):
        return now
    crates = list(now.crates)
    for index, cell in enumerate(crates):
        to = rides.get(cell)
        if to is not None and to != now.at and to not in crates and hall.floor[to[0]][to[1]] != "#":
            crates[index] = to
    return now._replace(crates=tuple(crates))


class BeltWarehouse(Dynamics[State]):
    """A hall with belts, a truck, crates and bays."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        hall = read_hall(tuple(level["floor"]), tuple((r, c) for r, c in level["bays"]))
        return State(hall, Now((level["at"][0], level["at"][1]), tuple((r, c) for r, c in level["crates"]), 0))

    def act(self, state: State, action: Action) -> Outcome:
        """Drive, reverse the belts or wait; then the belts run."""
        before = state.now
        now = state.now = after(state.hall, before, action.name, action.params.get("direction", ""))
        return _told(state.hall, before, now)

    def refuse(self, state: State) -> Outcome:
        """Let the belts run."""
        before = state.now
        state.now = ridden(state.hall, before)
        return _told(state.hall, before, state.now)

    def observe(self, state: State) -> dict[str, Any]:
        """Show the hall with its objects, and its floor alone."""
        hall, now = state.hall, state.now
        plan = hall.plans[now.turned]
        rows = list(plan)
        for symbol, (r, c) in zip("@" + NAMES, (now.at, *now.crates), strict=False):
            rows[r] = rows[r][:c] + symbol + rows[r][c + 1 :]
        home = [name for name, cell, bay in zip(NAMES, now.crates, hall.bays, strict=False) if cell == bay]
        return {
            "grid": rows,
            "plan": list(plan),
            "home": ", ".join(home) or "none",
            "row": now.at[0],
            "column": now.at[1],
        }


def _told(hall: Hall, before: Now, now: Now) -> Outcome:
    if now.crates == hall.bays:
        return Outcome(1.0, done=True, message="Every crate is in its bay. The gates close on a finished shift.")
    lines = [f"Crate {n} is at row {to[0]}, column {to[1]}." for n, to in _moved(before, now)]
    if now.turned != before.turned:
        lines.insert(0, "All belts change direction.")
    return Outcome(message=" ".join(lines))


def _moved(before: Now, now: Now) -> list[tuple[str, Cell]]:
    pairs = zip(NAMES, before.crates, now.crates, strict=False)
    return [(name, to) for name, cell, to in pairs if cell != to]


DYNAMICS = BeltWarehouse()
MOVES = (*(("drive", direction) for direction in DIRECTIONS), ("reverse", ""), ("wait", ""))
"""Every action: its name, and its direction if it has one."""
