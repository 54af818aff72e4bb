"""The rules of `hooded_ball`: guests dance only if they have nothing in common, and best with their rivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

COLOURS = ("crimson", "amber", "azure", "ivory")
MASKS = ("lion", "lamb", "hawk", "dove")
FEATHERS = ("no feathers", "one feather", "two feathers", "three feathers")
WIDTH = 5
"""Guests in a row on the floor."""

Guest = tuple[int, int, int]
"""Colour, mask, feathers."""


@dataclass(frozen=True)
class Rivals:
    """The rival of each colour and mask, and the value when such guests meet."""

    colours: tuple[int, ...]
    masks: tuple[int, ...]
    colour_worth: int
    mask_worth: int

    def __deepcopy__(self, memo: object) -> Rivals:
        return self

    @classmethod
    def of(cls, level: LevelData) -> Rivals:
        """Read them from a level."""
        worths: list[int] = level["worths"]
        return cls(tuple(level["colour_rivals"]), tuple(level["mask_rivals"]), worths[0], worths[1])


@dataclass(slots=True)
class State:
    """The remaining guests, and the one with a lifted hood."""

    guests: list[Guest | None]
    rivals: Rivals
    heralds: int = 2
    coins: int = 0
    open: int | None = None


def payment(one: Guest, other: Guest, rivals: Rivals) -> int:
    """Return the coins for two guests who meet; 0 if they share a colour, a mask or a number of feathers."""
    if any(a == b for a, b in zip(one, other, strict=True)):
        return 0
    colours = rivals.colour_worth if rivals.colours[one[0]] == other[0] else 0
    masks = rivals.mask_worth if rivals.masks[one[1]] == other[1] else 0
    return 1 + colours + masks + abs(one[2] - other[2])


class HoodedBall(Dynamics[State]):
    """Guests to pair by unlikeness."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return State([(g[0], g[1], g[2]) for g in level["guests"]], Rivals.of(level))

    def act(self, state: State, action: Action) -> Outcome:
        """Lift or lower a hood, or hear the herald."""
        if action.name == "lift":
            return self._lift(state, action.params["guest"] - 1)
        if action.name == "lower":
            if state.open is None:
                raise RefusedError("No hood is lifted.")
            state.open = None
            return Outcome(message="The hood goes down again.")
        if not state.heralds:
            raise RefusedError("The herald is hoarse.")
        state.heralds -= 1
        return Outcome(message=_called(state.guests, action.params["about"]))

    @staticmethod
    def _lift(state: State, index: int) -> Outcome:
        guest = state.guests[index] if index < len(state.guests) else None
        if guest is None:
            raise RefusedError("Nobody stands there.")
        if state.open == index:
            raise RefusedError("That hood is lifted already.")
        if state.open is None:
            state.open = index
            return Outcome(message=f"Under the hood: {described(guest)}.")
        first, state.open = state.open, None
        other = state.guests[first]
        assert other is not None, "whose hood is lifted has not left"
        met = f"{described(guest).capitalize()} meets {described(other)}."
        coins = payment(guest, other, state.rivals)
        if not coins:
            return Outcome(message=f"{met} They will not dance; both hoods go down.")
        state.guests[index] = state.guests[first] = None
        state.coins += coins
        done = sum(g is not None for g in state.guests) < 2
        return Outcome(float(coins), done, f"{met} They dance away, and you are paid {coins} coins.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show hoods and empty places."""
        marks = ["." if guest is None else "?" for guest in state.guests]
        shown = "none"
        if state.open is not None:
            guest = state.guests[state.open]
            marks[state.open] = "!"
            shown = f"guest {state.open + 1}, {described(guest)}" if guest else "none"
        return {
            "grid": ["".join(marks[at : at + WIDTH]) for at in range(0, len(marks), WIDTH)],
            "open": shown,
            "coins": state.coins,
            "left": len(marks) - marks.count("."),
            "heralds": state.heralds,
        }


def described(guest: Guest) -> str:
    """Describe a guest's clothes."""
    return f"a {MASKS[guest[1]]} in {COLOURS[guest[0]]} with {FEATHERS[guest[2]]}"


def _called(guests: list[Guest | None], about: str) -> str:
    names, field = {"colours": (COLOURS, 0), "masks": (MASKS, 1), "feathers": (FEATHERS, 2)}[about]
    heard = (f"{number} {names[guest[field]]}" for number, guest in enumerate(guests, 1) if guest is not None)
    return f"The herald calls: {', '.join(heard)}."


DYNAMICS = HoodedBall()
