"""The rules of `backward_day`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

THINGS = {
    "lamp": ("dark", "lit"),
    "gate": ("shut", "open"),
    "bell": ("silent", "ringing"),
    "mill": ("still", "turning"),
    "well": ("dry", "full"),
    "flag": ("lowered", "raised"),
}
"""The things, and what their two states are called."""
NAMES = tuple(THINGS)


@dataclass(frozen=True, slots=True)
class Event:
    """Event of an hour: if the cause is in the state `when`, the effect changes to its other state."""

    cause: int
    when: int
    effect: int


@dataclass(frozen=True, slots=True)
class Day:
    """Constants of an episode: the events by hour, the wanted evening, things that can turn, and the last hour for it."""

    events: tuple[Event, ...]
    wanted: tuple[int, ...]
    reach: tuple[int, ...]
    until: int

    def __deepcopy__(self, memo: object) -> Day:
        return self


@dataclass(slots=True)
class State:
    """The hour, the state of things, and the turns left."""

    day: Day
    hour: int
    things: list[int]
    turns: int


def happen(event: Event, things: list[int]) -> bool:
    """Apply or undo an event, which is the same; return True if anything changed."""
    fires = things[event.cause] == event.when
    things[event.effect] ^= fires
    return fires


def evening(morning: Sequence[int], events: Sequence[Event]) -> list[int]:
    """Return the state of things after all events."""
    things = list(morning)
    for event in events:
        happen(event, things)
    return things


class BackwardDay(Dynamics[State]):
    """A day of reversible events, entered at its end."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level: the evening of the day as it was."""
        events = tuple(Event(*event) for event in level["events"])
        day = Day(events, tuple(level["wanted"]), tuple(level["reach"]), level["until"])
        return State(day, len(events), evening(level["morning"], events), level["turns"])

    def act(self, state: State, action: Action) -> Outcome:
        """Go back, go on, turn a thing, or study the next event."""
        if action.name == "rewind":
            message = self._rewind(state)
        elif action.name == "advance":
            message = self._advance(state)
        elif action.name == "turn":
            message = self._turn(state, NAMES.index(action.params["thing"]))
        else:
            message = self._study(state)
        if state.hour == len(state.day.events) and tuple(state.things) == state.day.wanted:
            return Outcome(1.0, done=True, message=f"{message} The evening is as it should be.")
        return Outcome(message=message)

    @staticmethod
    def _rewind(state: State) -> str:
        if state.hour == 0:
            raise RefusedError("It is morning; the day goes no further back.")
        event = state.day.events[state.hour - 1]
        fired = happen(event, state.things)
        state.hour -= 1
        change = f"before it, the {_named(state, event.effect, 'was')}." if fired else "no change."
        return f"Hour {state.hour + 1} is undone: {change}"

    @staticmethod
    def _advance(state: State) -> str:
        if state.hour == len(state.day.events):
            raise RefusedError("It is evening; the day goes no further.")
        event = state.day.events[state.hour]
        fired = happen(event, state.things)
        state.hour += 1
        change = f"now the {_named(state, event.effect, 'is')}." if fired else "no change."
        return f"Hour {state.hour} passes: {change}"

    @staticmethod
    def _turn(state: State, thing: int) -> str:
        if thing not in state.day.reach:
            raise RefusedError(f"The {NAMES[thing]} is not in your reach.")
        if state.hour > state.day.until:
            raise RefusedError(f"After hour {state.day.until} your hand goes through things.")
        if not state.turns:
            raise RefusedError("You have no turns left.")
        state.turns -= 1
        state.things[thing] ^= 1
        return f"You reach out: now the {_named(state, thing, 'is')}."

    @staticmethod
    def _study(state: State) -> str:
        if state.hour == len(state.day.events):
            raise RefusedError("It is evening; nothing is about to happen.")
        cause = state.day.events[state.hour].cause
        return f"What happens in hour {state.hour + 1} depends on the {NAMES[cause]}."

    def observe(self, state: State) -> dict[str, Any]:
        """Show the hour, the state of things, and the wanted state in the evening."""
        day = state.day
        return {
            "hour": state.hour,
            "last": len(day.events),
            "until": day.until,
            "turns": state.turns,
            "reach": ", ".join(NAMES[thing] for thing in day.reach),
            "things": {NAMES[i]: THINGS[NAMES[i]][value] for i, value in enumerate(state.things)},
            "wanted": {NAMES[i]: THINGS[NAMES[i]][value] for i, value in enumerate(day.wanted)},
            "grid": ["".join("01"[value] for value in state.things), "".join("01"[value] for value in day.wanted)],
        }


def _named(state: State, thing: int, verb: str) -> str:
    return f"{NAMES[thing]} {verb} {THINGS[NAMES[thing]][state.things[thing]]}"


DYNAMICS = BackwardDay()
