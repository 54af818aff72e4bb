"""The rules of `crystal_lab`.

The labels of the bottles mislead (inverse semantics): ice heats and flame cools, vinegar removes acidity and soda adds
it, a catalyst halves the next yield and poison doubles it, and the lamp warns of a flask that is just right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

MOST = 9
"""The highest heat and acidity; the lowest is 0."""
MISFIT = 2
"""What each degree off costs of a yield."""
HEATS = {"ice": 1, "flame": -1}
SOURS = {"soda": 1, "vinegar": -1}
LOOKS = {"plain": "pale", "catalyst": "sparkling", "poison": "murky"}
NEAR = 2
"""The most degrees off at which the lamp is red."""


@dataclass(slots=True)
class State:
    """The flask: its heat, its acidity, and the additives for the next run; the batches done, and their yields."""

    heat: int
    acid: int
    dose: str
    batch: int
    crystals: int
    shelf: Shelf


@dataclass(frozen=True, slots=True)
class Shelf:
    """Constants of an episode: the batches, strengths of the bottles, the climate of the room; texts, made once.

    `coming` lists the remaining batches for each number of batches done.
    """

    batches: tuple[Mapping[str, int], ...]
    coming: tuple[str, ...]
    strengths: Mapping[str, int]
    printed: str
    room: tuple[int, int]

    def __deepcopy__(self, memo: object) -> Shelf:
        return self


def dosed(crystals: int, dose: str) -> int:
    """Return a yield after the effect of additives."""
    return 2 * crystals if dose == "poison" else crystals // 2 if dose == "catalyst" else crystals


class CrystalLab(Dynamics[State]):
    """A flask, six bottles, and a row of batches."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        batches = tuple(level["batches"])
        lines = [
            f"batch {number}: worth {b['worth']}, wants heat {b['heat']} and acidity {b['acid']};"
            f" leaves heat {b['heats']:+d}, acidity {b['sours']:+d}"
            for number, b in enumerate(batches, 1)
        ]
        coming = tuple("\n".join(lines[done:]) or "none" for done in range(len(lines) + 1))
        strengths = dict(level["strengths"])
        printed = ", ".join(f"{bottle} {strength}" for bottle, strength in strengths.items())
        shelf = Shelf(batches, coming, strengths, printed, (level["room"][0], level["room"][1]))
        return State(level["heat"], level["acid"], "plain", 0, 0, shelf)

    def act(self, state: State, action: Action) -> Outcome:
        """Add from a bottle, run or skip the batch, or rest."""
        if action.name == "add":
            return self._add(state, action.params["bottle"])
        if action.name == "rest":
            room = state.shelf.room
            state.heat += (room[0] > state.heat) - (room[0] < state.heat)
            state.acid += (room[1] > state.acid) - (room[1] < state.acid)
            return Outcome(message="The flask rests.")
        batch, paid, message = state.shelf.batches[state.batch], 0, f"Batch {state.batch + 1} is poured away."
        if action.name == "run":
            off = abs(state.heat - batch["heat"]) + abs(state.acid - batch["acid"])
            paid = dosed(max(0, batch["worth"] - MISFIT * off), state.dose)
            message = f"Batch {state.batch + 1} runs, and yields {paid} crystals."
            state.heat, state.acid = _held(state.heat + batch["heats"]), _held(state.acid + batch["sours"])
            state.dose = "plain"
        state.batch += 1
        state.crystals += paid
        return Outcome(float(paid), state.batch == len(state.shelf.batches), message)

    @staticmethod
    def _add(state: State, bottle: str) -> Outcome:
        if bottle in ("catalyst", "poison"):
            state.dose = bottle
            return Outcome(message=f"You add {bottle}: the flask looks {LOOKS[bottle]}.")
        strength = state.shelf.strengths[bottle]
        state.heat = _held(state.heat + strength * HEATS.get(bottle, 0))
        state.acid = _held(state.acid + strength * SOURS.get(bottle, 0))
        return Outcome(message=f"You add {bottle}.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the flask, the shelf and the batches to come."""
        shelf, lamp = state.shelf, "dark"
        if state.batch < len(shelf.batches):
            batch = shelf.batches[state.batch]
            off = abs(state.heat - batch["heat"]) + abs(state.acid - batch["acid"])
            lamp = "red, DANGER" if off <= NEAR else "green, all is well"
        return {
            "heat": state.heat,
            "acid": state.acid,
            "look": LOOKS[state.dose],
            "lamp": lamp,
            "crystals": state.crystals,
            "room_heat": shelf.room[0],
            "room_acid": shelf.room[1],
            "strengths": shelf.printed,
            "coming": shelf.coming[state.batch],
            "gauges": {"heat": [state.heat, 0, MOST], "acid": [state.acid, 0, MOST]},
        }


def _held(value: int) -> int:
    return min(MOST, max(0, value))


DYNAMICS = CrystalLab()
