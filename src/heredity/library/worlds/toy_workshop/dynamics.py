"""The rules of `toy_workshop`.

Bodies and wheels of three colours lie about a house. A body and wheels make a cart at the bench. The shop pays the
price of an order once for a matching cart, and little for anything else. Two hands carry two things, and one room may
be locked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action, Dynamics, LevelData, Outcome

HANDS = 2
PLAIN_CART = 3
LOOSE_PART = 1
KEY = "key"
_WALL = "#####"
_DOORS = {"north": (0, 2), "south": (4, 2), "west": (2, 0), "east": (2, 4)}
_SPOTS = ((1, 1), (1, 3), (3, 1), (3, 3), (1, 2), (3, 2), (2, 1), (2, 3))
_SYMBOLS = {
    "red body": "r", "green body": "g", "blue body": "b", "red wheels": "R", "green wheels": "G", "blue wheels": "B",
    KEY: "k",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class House:
    """Immutable part of the state.

    Attributes:
        names: names of the rooms.
        doors: by room, the room behind the door in each direction, if any.
        things: things that lie about, and their rooms.
        orders: a cart, and the price paid for one.
        bench: the room with the bench.
        shop: the room with the shop window and the orders.
        locked: the room whose doors are locked at first, or -1.
    """

    names: tuple[str, ...]
    doors: tuple[dict[str, int], ...]
    things: tuple[tuple[str, int], ...]
    orders: tuple[tuple[str, int], ...]
    bench: int
    shop: int
    locked: int


class Now(NamedTuple):
    """Mutable state: the room, the things in hand (sorted), the things still lying about, the open orders, lock and income."""

    room: int
    hands: tuple[str, ...]
    lying: tuple[int, ...]
    open: tuple[int, ...]
    locked: bool
    earned: int


@dataclass(slots=True)
class State:
    """A house, and its current state."""

    house: House
    now: Now

    def __deepcopy__(self, memo: object) -> State:
        """Return an independent copy; the house is shared."""
        return State(self.house, self.now)


def read_level(level: LevelData) -> State:
    """Return the initial state of a level: empty hands."""
    house = House(
        tuple(level["names"]),
        tuple(dict(doors) for doors in level["doors"]),
        tuple((name, room) for name, room in level["things"]),
        tuple((cart, price) for cart, price in level["orders"]),
        level["bench"],
        level["shop"],
        level["locked"],
    )
    lying, orders = tuple(range(len(house.things))), tuple(range(len(house.orders)))
    return State(house, Now(level["at"], (), lying, orders, house.locked >= 0, 0))


def gone(house: House, now: Now, direction: str) -> Now:
    """Return the state after going through a door; a key in hand opens a locked one, and stays in it.

    Raises:
        RefusedError: if no door leads there, or it is locked and no key is in hand.
    """
    room = house.doors[now.room].get(direction)
    if room is None:
        raise RefusedError(f"There is no door to the {direction}.")
    if not (now.locked and room == house.locked):
        return now._replace(room=room)
    if KEY not in now.hands:
        raise RefusedError(f"The door to the {house.names[room]} is locked, and you have no key in hand.")
    return now._replace(room=room, hands=_without(now.hands, KEY), locked=False)


def taken(house: House, now: Now, name: str) -> Now:
    """Return the state after taking something up.

    Raises:
        RefusedError: if no such thing lies here, or if both hands are full.
    """
    here = [thing for thing in now.lying if house.things[thing] == (name, now.room)]
    if not here:
        raise RefusedError(f"No {name} lies here.")
    if len(now.hands) == HANDS:
        raise RefusedError("Your hands are full.")
    lying = tuple(thing for thing in now.lying if thing != here[0])
    return now._replace(hands=tuple(sorted((*now.hands, name))), lying=lying)


def combined(house: House, now: Now) -> Now:
    """Return the state after assembling a cart from a body and wheels.

    Raises:
        RefusedError: away from the bench, or if the hands hold anything else.
    """
    if now.room != house.bench:
        raise RefusedError("There is no bench here.")
    bodies = [name for name in now.hands if name.endswith(" body")]
    wheels = [name for name in now.hands if name.endswith(" wheels")]
    if not bodies or not wheels:
        raise RefusedError("A cart takes one body and one set of wheels in your hands.")
    return now._replace(hands=(f"{bodies[0].split()[0]} cart on {wheels[0]}",))


def sold(house: House, now: Now, number: int) -> Now:
    """Return the state after selling the thing in one hand at the shop.

    Raises:
        RefusedError: if this is not the shop, or that hand holds nothing that can be sold.
    """
    if now.room != house.shop:
        raise RefusedError("This is not the shop.")
    if number > len(now.hands):
        raise RefusedError(f"You hold no thing number {number}.")
    name = now.hands[number - 1]
    if name == KEY:
        raise RefusedError("Nobody buys a key.")
    hands = _without(now.hands, name)
    matching = [order for order in now.open if house.orders[order][0] == name]
    if not matching:
        return now._replace(hands=hands, earned=now.earned + (PLAIN_CART if " cart " in name else LOOSE_PART))
    order = max(matching, key=lambda order: house.orders[order][1])
    left = tuple(other for other in now.open if other != order)
    return now._replace(hands=hands, open=left, earned=now.earned + house.orders[order][1])


def _without(hands: tuple[str, ...], name: str) -> tuple[str, ...]:
    index = hands.index(name)
    return hands[:index] + hands[index + 1 :]


class ToyWorkshop(Dynamics[State]):
    """A house full of parts, a bench and a shop."""

    def start(self, level: LevelData) -> State:
        """Return the initial state of a level."""
        return read_level(level)

    def act(self, state: State, action: Action) -> Outcome:
        """Go, take, combine or sell."""
        house, now = state.house, state.now
        if action.name == "go":
            state.now = gone(house, now, action.params["direction"])
            return Outcome(message="The key turns, and stays in the lock." if state.now.locked != now.locked else "")
        if action.name == "take":
            state.now = taken(house, now, action.params["thing"])
            return Outcome(message=f"You take the {action.params['thing']}.")
        if action.name == "combine":
            state.now = combined(house, now)
            return Outcome(message=f"You have made a {state.now.hands[0]}.")
        state.now = sold(house, now, action.params["number"])
        pay, name = state.now.earned - now.earned, now.hands[action.params["number"] - 1]
        how = "as ordered" if state.now.open != now.open else "though nobody ordered it"
        return Outcome(float(pay), message=f"The {name} is sold for {pay}, {how}.")

    def observe(self, state: State) -> dict[str, Any]:
        """Show this room, the things in hand and the income; in the shop, the orders."""
        house, now = state.house, state.now
        here = [house.things[thing][0] for thing in now.lying if house.things[thing][1] == now.room]
        use = (
            " with the bench" if now.room == house.bench else " with the shop window" if now.room == house.shop else ""
        )
        orders = ", ".join([f"{house.orders[o][0]} for {house.orders[o][1]}" for o in now.open]) or "none left"
        return {
            "grid": _room(house, now, here),
            "room": house.names[now.room] + use,
            "doors": ", ".join(
                [f"{d} to the {_behind(house, now, room)}" for d, room in house.doors[now.room].items()]
            ),
            "here": ", ".join(here) or "nothing",
            "hands": ", ".join([f"{number}: {name}" for number, name in enumerate(now.hands, 1)]) or "nothing",
            "orders": orders if now.room == house.shop else "written up in the shop",
            "earned": now.earned,
        }


def _behind(house: House, now: Now, room: int) -> str:
    return house.names[room] + (" (locked)" if now.locked and room == house.locked else "")


def _room(house: House, now: Now, here: list[str]) -> list[str]:
    rows = [list(_WALL), list("#...#"), list("#...#"), list("#...#"), list(_WALL)]
    for direction, room in house.doors[now.room].items():
        row, column = _DOORS[direction]
        rows[row][column] = "=" if now.locked and room == house.locked else "/"
    for (row, column), name in zip(_SPOTS, here, strict=False):
        rows[row][column] = _SYMBOLS[name]
    rows[2][2] = "@"
    return ["".join(row) for row in rows]


DYNAMICS = ToyWorkshop()
