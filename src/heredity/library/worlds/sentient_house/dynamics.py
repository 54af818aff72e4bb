"""The rules of `sentient_house`.

The rooms form three rows of three and are numbered from 1. The open rooms are one number, with bit i set if room i + 1
is open. The house responds to every change by its previous mood. Serene, it does the same in the opposite room (the
mirror image through the middle). Wary, it does the contrary there. Angry, it shuts the open room with the most open
neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

ROOMS = 9
ANGRIEST = 5
MOODS = ("serene", "serene", "wary", "wary", "angry", "angry")
_BESIDE = tuple(
    sum(1 << other for other in range(ROOMS) if abs(room // 3 - other // 3) + abs(room % 3 - other % 3) == 1)
    for room in range(ROOMS)
)


class House(NamedTuple):
    """The open rooms (0 to 511), and the mood (0 to 5)."""

    rooms: int
    mood: int


class Guest(NamedTuple):
    """A guest who wants to walk between two rooms while another is closed, and pays for it until a deadline."""

    start: int
    end: int
    quiet: int
    worth: int
    until: int


def answered(house: House, verb: str, room: int) -> House:
    """Return the house after an action, and its answer to it.

    Args:
        house: the house before.
        verb: `open`, `close`, `hold`, `praise`, or anything else for nothing.
        room: 0 to 8; ignored for praise and nothing.

    Raises:
        RefusedError: if the room is already open, or already closed.
    """
    rooms, mood = house
    word = MOODS[mood]
    if verb in ("open", "close"):
        if (verb == "open") == bool(rooms >> room & 1):
            raise RefusedError(f"Room {room + 1} is {'open' if verb == 'open' else 'closed'} already.")
        rooms ^= 1 << room
        opposite = 1 << ROOMS - 1 - room
        if room != ROOMS // 2 or word == "wary":
            if word != "angry" and (word == "serene") == (verb == "open"):
                rooms |= opposite
            elif word != "angry":
                rooms &= ~opposite
    if word == "angry":
        rooms &= ~_grudged(rooms, room if verb == "hold" else None)
        mood -= 1
    mood += 1 if verb == "open" else -2 if verb == "praise" else 0
    return House(rooms, min(ANGRIEST, max(0, mood)))


def _grudged(rooms: int, held: int | None) -> int:
    """Return the bit of the open room with the most open neighbours, ties go to the first; 0 if none is open."""
    candidates = [room for room in range(ROOMS) if rooms >> room & 1 and room != held]
    return 1 << max(candidates, key=lambda room: ((rooms & _BESIDE[room]).bit_count(), -room)) if candidates else 0


def pleased(rooms: int, guest: Guest) -> bool:
    """Return True if a guest can walk through open rooms while the quiet room is closed."""
    if rooms >> guest.quiet & 1:
        return False
    reached, front = 0, rooms & 1 << guest.start
    while front:
        reached |= front
        beside = 0
        for room in range(ROOMS):
            if front >> room & 1:
                beside |= _BESIDE[room]
        front = beside & rooms & ~reached
    return bool(reached >> guest.end & 1)


@dataclass(slots=True)
class State:
    """The house, the guests, the bits of guests who have paid, and the turn."""

    house: House
    guests: tuple[Guest, ...]
    paid: int = 0
    turn: int = 0

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; everything in it is immutable."""
        return State(self.house, self.guests, self.paid, self.turn)


class SentientHouse(Dynamics[State]):
    """Nine rooms that respond by mood."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return State(House(*level["house"]), tuple(Guest(*guest) for guest in level["guests"]))

    def act(self, state: State, action: Action) -> Outcome:
        """Act on the house, let it respond, and let the guests walk who can."""
        before, room = state.house, action.params.get("room", 1) - 1
        state.house = after = answered(before, action.name, room)
        state.turn += 1
        lines = [_told(before, after, action.name, room)]
        pay = 0
        for index, guest in enumerate(state.guests):
            if state.turn <= guest.until and not state.paid >> index & 1 and pleased(after.rooms, guest):
                state.paid |= 1 << index
                pay += guest.worth
                lines.append(f"Guest {index + 1} walks and pays.")
        return Outcome(float(pay), not _waiting(state), " ".join(lines))

    def refuse(self, state: State) -> Outcome:
        """Lose a turn; the house acts, and no guest walks."""
        before = state.house
        state.house = answered(before, "", 0)
        state.turn += 1
        return Outcome(done=not _waiting(state), message=f"A turn goes by. {_told(before, state.house, '', 0)}")

    def observe(self, state: State) -> dict[str, Any]:
        """Show the rooms, the mood and the guests."""
        rooms, mood = state.house
        plan = "".join(["." if rooms >> room & 1 else "#" for room in range(ROOMS)])
        return {
            "grid": [plan[0:3], plan[3:6], plan[6:9]],
            "mood": f"{MOODS[mood]} ({mood})",
            "guests": [_line(state, index) for index in range(len(state.guests))],
            "gauges": {"mood": [mood, 0, ANGRIEST]},
        }


def _waiting(state: State) -> bool:
    return any(state.turn < guest.until and not state.paid >> index & 1 for index, guest in enumerate(state.guests))


def _line(state: State, index: int) -> str:
    guest = state.guests[index]
    if state.paid >> index & 1:
        return f"Guest {index + 1} has paid."
    if state.turn >= guest.until:
        return f"Guest {index + 1} has left."
    return (
        f"Guest {index + 1}: from room {guest.start + 1} to room {guest.end + 1} while room {guest.quiet + 1} is closed;"
        f" pays {guest.worth} up to turn {guest.until}"
    )


def _told(before: House, after: House, verb: str, room: int) -> str:
    """Describe the house's response, separately from the action."""
    own = 1 << room if verb in ("open", "close") else 0
    undone = bool(own & ~(before.rooms ^ after.rooms))
    changed = (before.rooms ^ after.rooms) & ~own | (own if undone else 0)
    parts = [
        f"{'opens' if after.rooms >> other & 1 else 'shuts'} room {other + 1}"
        for other in range(ROOMS)
        if changed >> other & 1
    ]
    return (
        f"The {MOODS[before.mood]} house {' and '.join(parts)}."
        if parts
        else f"The {MOODS[before.mood]} house keeps still."
    )


DYNAMICS = SentientHouse()
