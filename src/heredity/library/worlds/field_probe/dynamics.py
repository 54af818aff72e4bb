"""The rules of `field_probe`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome
from heredity.kinds.world.mechanics.grids import DIRECTIONS, Cell, inside

NODE = ((1, 2, 1), (2, 3, 2), (1, 2, 1))
"""What a node looks like: its own intensity in the middle, and those of the eight cells around it."""
EDGE = "x"


@dataclass(slots=True)
class State:
    """The field as rows of digits, the position of the probe, and the node."""

    field: tuple[str, ...]
    at: Cell
    node: Cell


def patch(field: Sequence[str], centre: Cell) -> list[list[int | str]]:
    """Return the three by three intensities around a cell, 0 to 3; `EDGE` outside the field."""
    size = len(field)
    around = range(-1, 2)
    return [
        [
            int(field[centre[0] + down][centre[1] + right])
            if inside((centre[0] + down, centre[1] + right), size, size)
            else EDGE
            for right in around
        ]
        for down in around
    ]


class FieldProbe(Dynamics[State]):
    """A field of intensities, a probe that sees nine of them, and one node."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return State(tuple(level["field"]), (level["at"][0], level["at"][1]), (level["node"][0], level["node"][1]))

    def act(self, state: State, action: Action) -> Outcome:
        """Glide, or mark the cell under the probe."""
        if action.name == "mark":
            if state.at == state.node:
                return Outcome(1.0, done=True, message="The mark holds: this is the node.")
            return Outcome(done=True, message="The mark fades: this is not the node.")
        direction, far = action.params["direction"], action.params["cells"]
        down, right = DIRECTIONS[direction]
        target = state.at[0] + far * down, state.at[1] + far * right
        if not inside(target, len(state.field), len(state.field)):
            raise RefusedError(f"The field ends before that: {far} cells to the {direction} there is none.")
        state.at = target
        return Outcome(message=f"The probe glides {far} to the {direction}.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the intensities around the probe."""
        around, size = patch(state.field, state.at), len(state.field)
        return {
            "patch": around,
            "grid": ["".join(map(str, row)) for row in around],
            "row": state.at[0],
            "column": state.at[1],
            "size": size,
            "last": size - 1,
        }


DYNAMICS = FieldProbe()
