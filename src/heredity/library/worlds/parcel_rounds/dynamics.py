"""The rules of `parcel_rounds`, in which labels mean their opposites.

A parcel belongs to the depot opposite the one on its label. One stamped heavy weighs little and one stamped light much.
Express roads are slow and slow lanes fast. All consequences are visible: clock, load and replies of depots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, cells_of, moved

ACROSS = {"N": "S", "S": "N", "W": "E", "E": "W"}
WEIGHT = {"heavy": 1, "light": 3}
HOURS = {"=": 3, "-": 1}


class Parcel(NamedTuple):
    """A parcel: its position, label and stamp."""

    place: Cell
    label: str
    stamp: str


@dataclass(frozen=True, slots=True)
class Town:
    """Immutable part of the state.

    Attributes:
        plan: crossings (`o`, and `N`, `S`, `W`, `E` with a depot) in even rows and columns, between them express roads
            `=`, slow lanes `-`, or nothing.
        depots: letter by crossing.
        parcels: all of them, in order.
        room: maximum load of the van.
    """

    plan: tuple[str, ...]
    depots: dict[Cell, str]
    parcels: tuple[Parcel, ...]
    room: int


class Now(NamedTuple):
    """Mutable state without the clock: position of the van, waiting parcels, and loaded ones, the last on top."""

    at: Cell
    waiting: tuple[int, ...]
    load: tuple[int, ...]


@dataclass(slots=True)
class State:
    """A town, the van in it, and the hours left of the day."""

    town: Town
    now: Now
    hours: int

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the town is shared."""
        return State(self.town, self.now, self.hours)


def read_level(level: LevelData) -> State:
    """Return the initial state of a level: an empty van."""
    plan = tuple(level["plan"])
    parcels = tuple(Parcel((row, column), label, stamp) for row, column, label, stamp in level["parcels"])
    depots = {cells_of(plan, letter)[0]: letter for letter in ACROSS}
    now = Now((level["at"][0], level["at"][1]), tuple(range(len(parcels))), ())
    return State(Town(plan, depots, parcels, level["room"]), now, level["steps"])


def weight(town: Town, load: tuple[int, ...]) -> int:
    """Return the weight of a load."""
    return sum(WEIGHT[town.parcels[parcel].stamp] for parcel in load)


def driven(town: Town, now: Now, direction: str) -> tuple[Now, int]:
    """Return the state after a drive to the next crossing, and the hours it takes.

    Raises:
        RefusedError: if no road leads there.
    """
    row, column = road = moved(now.at, direction)
    if not (0 <= row < len(town.plan) and 0 <= column < len(town.plan[0])) or town.plan[row][column] not in HOURS:
        raise RefusedError(f"No road leads {direction} from here.")
    return now._replace(at=moved(road, direction)), HOURS[town.plan[row][column]]


def loaded(town: Town, now: Now) -> Now:
    """Return the state after loading the parcel that waits here.

    Raises:
        RefusedError: if none waits here, or the van cannot take it.
    """
    here = [parcel for parcel in now.waiting if town.parcels[parcel].place == now.at]
    if not here:
        raise RefusedError("No parcel waits here.")
    load = (*now.load, here[0])
    if weight(town, load) > town.room:
        raise RefusedError(
            f"With parcel {here[0] + 1} the load would be {weight(town, load)}; the van takes {town.room}."
        )
    return now._replace(waiting=tuple(parcel for parcel in now.waiting if parcel != here[0]), load=load)


def unloaded(town: Town, now: Now) -> Now:
    """Return the state after unloading the topmost parcel at the depot here.

    Raises:
        RefusedError: without a depot or a parcel, or if the parcel does not belong here.
    """
    if now.at not in town.depots:
        raise RefusedError("There is no depot here.")
    if not now.load:
        raise RefusedError("The van is empty.")
    depot, top = town.depots[now.at], now.load[-1]
    if ACROSS[town.parcels[top].label] != depot:
        raise RefusedError(f"Depot {depot} sends parcel {top + 1} back: it does not belong here.")
    return now._replace(load=now.load[:-1])


class ParcelRounds(Dynamics[State]):
    """A van, four depots, and a day."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return read_level(level)

    def act(self, state: State, action: Action) -> Outcome:
        """Drive, load or unload; time passes."""
        town, now, hours = state.town, state.now, 1
        if action.name == "drive":
            state.now, hours = driven(town, now, action.params["direction"])
            message = f"The drive takes {hours} {'hour' if hours == 1 else 'hours'}."
        elif action.name == "load":
            state.now = loaded(town, now)
            message = f"Parcel {state.now.load[-1] + 1} is on top of the load."
        else:
            state.now = unloaded(town, now)
            message = f"Depot {town.depots[now.at]} takes parcel {now.load[-1] + 1}."
        state.hours -= hours
        if state.hours >= 0 and not state.now.waiting and not state.now.load:
            return Outcome(1.0, done=True, message=f"{message} That was the last of them.")
        return self._later(state, message)

    def refuse(self, state: State) -> Outcome:
        """Lose an hour."""
        state.hours -= 1
        return self._later(state, "")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the town, the parcels with label and stamp, the load and the clock."""
        town, now = state.town, state.now
        rows = list(town.plan)
        for parcel in now.waiting:
            rows = _put(rows, town.parcels[parcel].place, str(parcel + 1))
        below = rows[now.at[0]][now.at[1]]
        load = weight(town, now.load)
        return {
            "grid": _put(rows, now.at, "@"),
            "below": {"o": "nothing"}.get(below, f"depot {below}" if below in ACROSS else f"parcel {below}"),
            "parcels": [f"parcel {p + 1}: to {town.parcels[p].label}, {town.parcels[p].stamp}" for p in now.waiting]
            or "none",
            "inside": [f"parcel {p + 1}: to {town.parcels[p].label}, {town.parcels[p].stamp}" for p in now.load[::-1]]
            or "none",
            "load": load,
            "room": town.room,
            "hours": max(0, state.hours),
            "gauges": {"load": [load, 0, town.room]},
        }

    def _later(self, state: State, message: str) -> Outcome:
        over = state.hours <= 0
        return Outcome(done=over, message=f"{message} The working day is over.".strip() if over else message)


def _put(rows: list[str], cell: Cell, symbol: str) -> list[str]:
    row, column = cell
    line = rows[row]
    return [*rows[:row], line[:column] + symbol + line[column + 1 :], *rows[row + 1 :]]


DYNAMICS = ParcelRounds()
