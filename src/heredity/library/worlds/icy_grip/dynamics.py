"""The rules of `icy_grip`, in which the words for grip and safety mean their opposites.

A push slides the walker until something stops it. Grit slides; mirror ice holds, except with spikes. Ice under a red
flag, called breaking, is the safest and always stops; ice under a green flag, called tested, breaks under a walker
without spikes, who returns to the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, cells_of, window

RADIUS = 2
_NAMES = {":": "gritted ice", "~": "mirror ice", "!": "a red flag", "+": "a green flag", "E": "the shelter"}
_STOPS = {
    "#": "A snowbank stops you.",
    "~": "You come to a stand.",
    "!": "You come to a stand beside the flag.",
    "+": "The ice gives way. You crawl out, and a warden takes you back to where you set out.",
    "E": "You slide into the shelter.",
}
End = Literal["#", "~", "!", "+", "E"]


@dataclass(frozen=True, slots=True)
class Lake:
    """Immutable part of the state: the plan, the walker's start, and the shelter."""

    plan: tuple[str, ...]
    start: Cell
    shelter: Cell


class Now(NamedTuple):
    """Mutable part of the state: position of the walker, and whether the spikes are on."""

    at: Cell
    spikes: bool


@dataclass(slots=True)
class State:
    """A lake, and the walker's state."""

    lake: Lake
    now: Now

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the lake is shared."""
        return State(self.lake, self.now)


def read_level(level: LevelData) -> State:
    """Return the initial state of a level: without spikes."""
    plan, at = tuple(level["plan"]), (level["at"][0], level["at"][1])
    return State(Lake(plan, at, cells_of(plan, "E")[0]), Now(at, False))


def slid(lake: Lake, now: Now, direction: str) -> tuple[Now, End, int]:
    """Return the state after a push, the cause of the slide's end, and its length in cells."""
    down, right = DIRECTIONS[direction]
    (row, column), long = now.at, 0
    while True:
        symbol = lake.plan[row + down][column + right]
        if symbol == "#":
            return now._replace(at=(row, column)), "#", long
        row, column, long = row + down, column + right, long + 1
        if symbol == "E" or symbol == "!":
            return now._replace(at=(row, column)), symbol, long
        if not now.spikes and symbol == "~":
            return now._replace(at=(row, column)), "~", long
        if not now.spikes and symbol == "+":
            return now._replace(at=lake.start), "+", long


class IcyGrip(Dynamics[State]):
    """A frozen lake with inverted signs."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return read_level(level)

    def act(self, state: State, action: Action) -> Outcome:
        """Push off, put spikes on or take them off, or shout at the banks."""
        lake, now = state.lake, state.now
        if action.name == "spikes":
            wanted = action.params["wear"] == "on"
            if wanted == now.spikes:
                raise RefusedError(f"The spikes are {action.params['wear']} already.")
            state.now = now._replace(spikes=wanted)
            return Outcome(message="You strap the spikes on." if wanted else "You take the spikes off.")
        direction = action.params["direction"]
        if action.name == "shout":
            return Outcome(
                message=f"The echo of a snowbank comes back from {_to_bank(state, direction)} cells {direction}."
            )
        after, end, long = slid(lake, now, direction)
        if not long:
            raise RefusedError("You push against a snowbank.")
        state.now = after
        message = f"You slide {long} {'cell' if long == 1 else 'cells'} {direction}. {_STOPS[end]}"
        return Outcome(1.0, done=True, message=message) if end == "E" else Outcome(message=message)

    def observe(self, state: State) -> dict[str, Any]:
        """Show the ice around, and the distance to the shelter."""
        lake, (at, spikes) = state.lake, state.now
        rows = window(lake.plan, at, RADIUS, "#")
        rows[RADIUS] = rows[RADIUS][:RADIUS] + "@" + rows[RADIUS][RADIUS + 1 :]
        down, right = lake.shelter[0] - at[0], lake.shelter[1] - at[1]
        return {
            "grid": rows,
            "under": _NAMES[lake.plan[at[0]][at[1]]],
            "spikes": "on" if spikes else "off",
            "vertical": f"{abs(down)} {'south' if down > 0 else 'north'}",
            "horizontal": f"{abs(right)} {'east' if right > 0 else 'west'}",
        }


def _to_bank(state: State, direction: str) -> int:
    down, right = DIRECTIONS[direction]
    (row, column), cells = state.now.at, 1
    while state.lake.plan[row + down * cells][column + right * cells] != "#":
        cells += 1
    return cells


DYNAMICS = IcyGrip()
