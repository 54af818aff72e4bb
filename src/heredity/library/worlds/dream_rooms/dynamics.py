"""The rules of `dream_rooms`.

The rooms lie on a hidden circle. Each of three doors has a stride along it, and the strides swap doors every
hour. In light sleep a door leads forward by its stride, in deep sleep back by it, and in deepest sleep forward by twice
as much. All of this is hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

DOORS = ("left", "ahead", "right")
HOURS = 3
FACTORS = (1, -1, 2)
SLEEPS = ("light", "deep", "deepest")


class Keepsake(NamedTuple):
    """A thing to gather: its name, its room, and its depth of sleep."""

    name: str
    room: int
    depth: int


@dataclass(frozen=True, slots=True)
class Dream:
    """Immutable part of the state: the rooms in the order of the circle, the strides, the keepsakes, and the first room."""

    rooms: tuple[str, ...]
    strides: tuple[int, ...]
    ponds: frozenset[int]
    ladders: frozenset[int]
    bed: int
    first: int
    deepest: int
    keepsakes: tuple[Keepsake, ...]


class Now(NamedTuple):
    """Mutable part of the state: the room, the depth of sleep, the hour, and the keepsakes held."""

    at: int
    depth: int
    hour: int
    held: tuple[bool, ...]


@dataclass(slots=True)
class State:
    """A dream, and its current state."""

    dream: Dream
    now: Now

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the dream is shared."""
        return State(self.dream, self.now)


def awake(dream: Dream, now: Now) -> bool:
    """Return True if waking succeeds: in the bed, in light sleep, with everything held."""
    return now.at == dream.bed and now.depth == 0 and all(now.held)


def after(dream: Dream, now: Now, verb: str, door: int = 0) -> Now:
    """Return the state after an action; after a successful `wake`, the same as before.

    Raises:
        RefusedError: if the action is impossible here.
    """
    if verb == "walk":
        stride = FACTORS[now.depth] * dream.strides[(door + now.hour) % HOURS]
        return now._replace(at=(now.at + stride) % len(dream.rooms), hour=(now.hour + 1) % HOURS)
    if verb == "listen":
        return now._replace(hour=(now.hour + 1) % HOURS)
    if verb == "sink":
        if now.at not in dream.ponds:
            raise RefusedError("There is no pond here to sink into.")
        if now.depth == dream.deepest:
            raise RefusedError("The pond is only ankle-deep here; sleep goes no deeper.")
        return now._replace(depth=now.depth + 1)
    if verb == "rise":
        if now.at not in dream.ladders:
            raise RefusedError("There is no ladder here to climb.")
        if now.depth == 0:
            raise RefusedError("The ladder ends at a painted ceiling; sleep is light already.")
        return now._replace(depth=now.depth - 1)
    if verb == "take":
        index = here(dream, now)
        if index is None:
            raise RefusedError("There is nothing here to take.")
        return now._replace(held=(*now.held[:index], True, *now.held[index + 1 :]))
    return now if awake(dream, now) else now._replace(at=dream.first, depth=0)


def here(dream: Dream, now: Now) -> int | None:
    """Return the keepsake at the dreamer's place, if any."""
    for index, keepsake in enumerate(dream.keepsakes):
        if (keepsake.room, keepsake.depth) == (now.at, now.depth) and not now.held[index]:
            return index
    return None


def read_dream(level: LevelData) -> Dream:
    """Return the dream of a level."""
    return Dream(
        rooms=tuple(level["rooms"]),
        strides=tuple(level["strides"]),
        ponds=frozenset(level["ponds"]),
        ladders=frozenset(level["ladders"]),
        bed=level["bed"],
        first=level["first"],
        deepest=level["deepest"],
        keepsakes=tuple(Keepsake(*k) for k in level["keepsakes"]),
    )


class DreamRooms(Dynamics[State]):
    """Rooms on a circle, seen one at a time."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        dream = read_dream(level)
        return State(dream, Now(dream.first, 0, level["hour"], (False,) * len(dream.keepsakes)))

    def act(self, state: State, action: Action) -> Outcome:
        """Walk, sink, rise, take, listen, or try to wake."""
        dream, before, verb = state.dream, state.now, action.name
        if verb == "wake" and awake(dream, before):
            return Outcome(1.0, done=True, message="You open your eyes. It is morning, and your hands are not empty.")
        door = DOORS.index(action.params["door"]) if verb == "walk" else 0
        now = state.now = after(dream, before, verb, door)
        return Outcome(message=_told(dream, before, now, verb))

    def observe(self, state: State) -> dict[str, Any]:
        """Show the room, the clock, the depth of sleep, and the keepsakes held."""
        dream, now = state.dream, state.now
        index = here(dream, now)
        things = [
            "a pond" if now.at in dream.ponds else "",
            "a ladder" if now.at in dream.ladders else "",
            "your bed" if now.at == dream.bed else "",
            f"the {dream.keepsakes[index].name}" if index is not None else "",
        ]
        held = [k.name for k, has in zip(dream.keepsakes, now.held, strict=True) if has]
        missing = [k.name for k, has in zip(dream.keepsakes, now.held, strict=True) if not has]
        return {
            "room": dream.rooms[now.at],
            "things": ", ".join(filter(None, things)) or "nothing more",
            "hour": now.hour + 1,
            "sleep": SLEEPS[now.depth],
            "held": ", ".join(held) or "nothing",
            "missing": ", ".join(missing) or "nothing",
            "gauges": {
                "hour": [now.hour + 1, 1, HOURS],
                "depth": [now.depth, 0, dream.deepest],
                "keepsakes": [len(held), 0, len(dream.keepsakes)],
            },
        }


def _told(dream: Dream, before: Now, now: Now, verb: str) -> str:
    if verb == "walk":
        return f"You come out in the {dream.rooms[now.at]}. The clock moves on."
    if verb == "sink":
        return f"The water closes over you. The room is the same, your sleep is {SLEEPS[now.depth]}."
    if verb == "rise":
        return f"You climb through the ceiling into the same room; your sleep is {SLEEPS[now.depth]}."
    if verb == "take":
        return f"You take the {dream.keepsakes[here(dream, before) or 0].name}."
    if verb == "listen":
        for keepsake, has in zip(dream.keepsakes, now.held, strict=True):
            if not has:
                where = f"in the {dream.rooms[keepsake.room]}, in {SLEEPS[keepsake.depth]} sleep"
                return f"A voice hums of the {keepsake.name}: it is {where}. The clock moves on."
        return f"A voice hums of your bed: it stands in the {dream.rooms[dream.bed]}. The clock moves on."
    return f"You start up, but sleep takes you back to the {dream.rooms[dream.first]}, where the dream began."


DYNAMICS = DreamRooms()
