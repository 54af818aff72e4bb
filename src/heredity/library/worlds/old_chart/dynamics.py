"""The rules of `old_chart`: inviting signs block, drain or throw back, forbidding ones carry, refresh and lead out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import Cell, inside, moved, window

FLOOR, TONIC, EXIT, WALL, DRAIN, TRAPDOOR = range(6)
INVITING, FORBIDDING = ".+G", "^~X"
CHART = ". meadow, + spring, G gate, ^ thorns, ~ bog, X grave."
NEAR, FAR = 2, 4
DRAINED, REFRESHED = 3, 6
MOST = 60
"""The most strength there is."""


@dataclass(slots=True)
class State:
    """Position of the traveller, and effects of cells."""

    roles: list[list[int]]
    shown: list[str]
    signs: str
    at: Cell
    start: Cell
    strength: int
    high: bool = False


class OldChart(Dynamics[State]):
    """A land whose signs contradict the chart."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        roles = [[int(role) for role in row] for row in level["land"]]
        shown = ["".join(level["signs"][role] for role in row) for row in roles]
        at = (level["at"][0], level["at"][1])
        return State(roles, shown, level["signs"], at, at, level["strength"])

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, throw a stone, or climb a tree."""
        if action.name == "climb":
            if state.high:
                raise RefusedError("You sit in a tree already.")
            state.high = True
            return self._tired(state, "You climb a tree and look around.")
        target = moved(state.at, action.params["direction"])
        if not inside(target, len(state.roles), len(state.roles)):
            raise RefusedError("The land ends there.")
        role = state.roles[target[0]][target[1]]
        if action.name == "throw":
            return self._tired(state, _thrown(role))
        if role == WALL:
            raise RefusedError("You cannot get through there.")
        state.at, state.high = target, False
        return self._entered(state, role)

    def _entered(self, state: State, role: int) -> Outcome:
        if role == EXIT:
            return Outcome(1.0, True, "You have found the way out.")
        message = ""
        if role == TONIC:
            row, column = state.at
            line, state.roles[row][column] = state.shown[row], FLOOR
            state.shown[row] = line[:column] + state.signs[FLOOR] + line[column + 1 :]
            state.strength = min(MOST, state.strength + REFRESHED)
            message = "You feel refreshed. The ground has changed under your feet."
        elif role == DRAIN:
            state.strength -= DRAINED
            message = "Something here saps your strength."
        elif role == TRAPDOOR:
            state.at = state.start
            message = "The ground gives way. You slide down a shaft, and come out where you began."
        return self._tired(state, message)

    @staticmethod
    def _tired(state: State, message: str) -> Outcome:
        state.strength = max(0, state.strength - 1)
        if not state.strength:
            return Outcome(0.0, True, f"{message} Your strength is used up.".strip())
        return Outcome(message=message)

    def refuse(self, state: State) -> Outcome:
        """Tire."""
        return self._tired(state, "")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the signs around the traveller."""
        radius = FAR if state.high else NEAR
        rows = window(state.shown, state.at, radius)
        middle = rows[radius]
        rows[radius] = middle[:radius] + "@" + middle[radius + 1 :]
        return {
            "grid": rows,
            "row": state.at[0] + 1,
            "column": state.at[1] + 1,
            "size": len(state.roles),
            "strength": state.strength,
            "chart": CHART,
            "gauges": {"strength": [state.strength, 0, MOST]},
        }


def _thrown(role: int) -> str:
    if role == WALL:
        return "The stone bounces back."
    if role == TRAPDOOR:
        return "The stone breaks through and is gone."
    if role == DRAIN:
        return "The stone sinks in slowly."
    return "The stone rolls on over firm ground."


DYNAMICS = OldChart()
