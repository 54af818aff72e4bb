"""The rules of `lamp_row`."""

from __future__ import annotations

from typing import Any

from heredity import RefusedError, world

State = list[int]


class LampRow(world.Dynamics[State]):
    """Lamps in a row; a state is whether each is lit."""

    def start(self, level: world.LevelData) -> State:
        """Return the lamps as the level lights them."""
        return list(level["lamps"])

    def act(self, state: State, action: world.Action) -> world.Outcome:
        """Turn a lamp and its neighbours."""
        if action.name == "wait":
            return world.Outcome()
        lamp = action.params["lamp"] - 1
        if lamp >= len(state):
            raise RefusedError(f"There are {len(state)} lamps.")
        for turned in range(max(lamp - 1, 0), min(lamp + 2, len(state))):
            state[turned] ^= 1
        dark = not any(state)
        return world.Outcome(float(dark), dark, "All lamps are dark." if dark else "")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the row."""
        return {"grid": ["".join("*" if lit else "o" for lit in state)]}


DYNAMICS = LampRow()
