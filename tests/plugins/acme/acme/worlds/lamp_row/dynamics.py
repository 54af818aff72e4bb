"""The rules of `lamp_row`."""

from __future__ import annotations

from typing import Any

from heredity.worlds.contract import Action, Dynamics, LevelData, Outcome, RefusedError

State = list[int]


class LampRow(Dynamics[State]):
    """Lamps in a row; a state is whether each is lit."""

    def start(self, level: LevelData) -> State:
        """Return the lamps as the level lights them."""
        return list(level["lamps"])

    def act(self, state: State, action: Action) -> Outcome:
        """Turn a lamp and its neighbours."""
        if action.name == "wait":
            return Outcome()
        lamp = action.params["lamp"] - 1
        if lamp >= len(state):
            raise RefusedError(f"There are {len(state)} lamps.")
        for turned in range(max(lamp - 1, 0), min(lamp + 2, len(state))):
            state[turned] ^= 1
        dark = not any(state)
        return Outcome(float(dark), dark, "All lamps are dark." if dark else "")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the row."""
        return {"grid": ["".join("*" if lit else "o" for lit in state)]}


DYNAMICS = LampRow()
