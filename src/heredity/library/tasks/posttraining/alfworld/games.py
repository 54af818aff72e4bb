"""Households generated from a seed: the initial state of a game in ALFWorld's domain, with a goal from its library.

This module draws rooms, their contents and positions. The package defines the things that can be heated, cooled,
cleaned or placed.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
# What is imported here is an extra's, and need not be installed.
from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from heredity._core.errors import MissingExtraError
from heredity._core.ids import generator

CHORES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
"""ALFWorld's six kinds of chores, which take turns."""

_PLACES: Mapping[str, Mapping[str, int]] = {
    "kitchen": {"CounterTop": 2, "Cabinet": 4, "Drawer": 2, "Fridge": 1, "Microwave": 1, "SinkBasin": 1, "DiningTable": 1,
                "GarbageCan": 1, "Shelf": 2},
    "bedroom": {"Desk": 1, "Bed": 1, "Drawer": 3, "Shelf": 3, "SideTable": 2, "Dresser": 1, "GarbageCan": 1, "Safe": 1},
    "bathroom": {"CounterTop": 1, "SinkBasin": 1, "Cabinet": 3, "Drawer": 2, "Toilet": 1, "GarbageCan": 1, "Shelf": 2},
}  # fmt: skip
"""Room to its places and how many of each there are at most."""

_THINGS: Mapping[str, Sequence[str]] = {
    "kitchen": ("Apple", "Bread", "Egg", "Lettuce", "Potato", "Tomato", "Cup", "Mug", "Plate", "Bowl", "Knife", "Fork", "Spoon",
                "Pan", "Pot", "DishSponge", "Spatula", "WineBottle"),
    "bedroom": ("Book", "CD", "CellPhone", "CreditCard", "KeyChain", "Pen", "Pencil", "Laptop", "Mug", "Watch", "Statue", "Vase",
                "RemoteControl", "Bowl"),
    "bathroom": ("SoapBar", "SoapBottle", "Cloth", "ToiletPaper", "SprayBottle", "Candle", "HandTowel", "TissueBox"),
}  # fmt: skip
_ROOMS = {CHORES[1]: ("bedroom",), CHORES[2]: ("kitchen", "bathroom"), CHORES[3]: ("kitchen",), CHORES[4]: ("kitchen",)}
_CHANGES = {CHORES[2]: "Cleanable", CHORES[3]: "Heatable", CHORES[4]: "Coolable"}
_LAMP = "DeskLamp"
_CLUTTER = 9
"""Things that lie about beside what the chore needs."""


@dataclass(frozen=True, slots=True)
class Game:
    """A generated game.

    Attributes:
        chore: one of `CHORES`.
        task: instruction for the player.
        problem: its initial state and goal, in PDDL.
    """

    chore: str
    task: str
    problem: str


def check_installed() -> None:
    """Raise an error if ALFWorld is missing.

    Raises:
        MissingExtraError: if the package is not installed.
    """
    if find_spec("alfworld") is None or find_spec("textworld") is None or find_spec("fast_downward") is None:
        raise MissingExtraError("ALFWorld", "alfworld")


def generate(seed: int, number: int) -> Game:
    """Return a game, determined by seed and number; chores cycle with the number.

    Raises:
        MissingExtraError: if ALFWorld is not installed.
    """
    check_installed()
    from alfworld.gen import goal_library

    draws = generator(seed, "posttraining", "alfworld", "game", number)
    chore = CHORES[number % len(CHORES)]
    room = _one(draws, _ROOMS.get(chore, tuple(_PLACES)))
    household = _Household(draws, room)
    thing, receptacle = household.furnish(chore)
    words = {"obj": thing, "recep": receptacle, "toggle": _LAMP, "mrecep": ""}
    goal: dict[str, Any] = goal_library.gdict[chore]
    task = goal["templates"][0].format(**{key: value.lower() for key, value in words.items()})
    return Game(chore, task, household.problem(goal["pddl"].format(**words).replace("#", "-")))


def write(game: Game, folder: Path) -> None:
    """Write a game's files, in the format of the package's environment, into a new folder.

    Raises:
        MissingExtraError: if ALFWorld is not installed.
    """
    folder.mkdir(parents=True)
    for name, data in game_files(game).items():
        (folder / name).write_bytes(data)


def game_files(game: Game) -> dict[str, bytes]:
    """Return a game's files, name to content.

    Raises:
        MissingExtraError: if ALFWorld is not installed.
    """
    check_installed()
    from alfworld import info

    domain = Path(info.ALFRED_PDDL_PATH).read_text(encoding="utf-8")
    grammar = Path(info.ALFRED_TWL2_PATH).read_text(encoding="utf-8").replace("UNKNOWN GOAL", game.task)
    played = {"pddl_domain": domain, "grammar": grammar, "pddl_problem": game.problem, "solvable": True}
    about = {"task_type": game.chore, "generated": True}
    return {"game.tw-pddl": json.dumps(played).encode(), "traj_data.json": json.dumps(about).encode()}


class _Household:
    """A room being furnished."""

    def __init__(self, draws: np.random.Generator, room: str) -> None:
        from alfworld.gen import constants

        self._draws, self._room = draws, room
        self._holds: Mapping[str, Any] = constants.VAL_RECEPTACLE_OBJECTS
        self._can: Mapping[str, Any] = constants.VAL_ACTION_OBJECTS
        self._openable = set(constants.OPENABLE_CLASS_LIST)
        needed = {"Fridge", "Microwave", "SinkBasin", "Desk"}
        self._places = [
            (kind, number)
            for kind, most in _PLACES[room].items()
            for number in range(1, (most if kind in needed else int(draws.integers(1, most + 1))) + 1)
        ]
        self._things: list[tuple[str, int, int]] = []

    def furnish(self, chore: str) -> tuple[str, str]:
        """Put things in their places; return the kinds of the chore's thing and place."""
        change = _CHANGES.get(chore)
        fitting = [t for t in _THINGS[self._room] if change is None or t in self._can[change]]
        thing = _one(self._draws, fitting)
        goals = sorted({kind for kind, _ in self._places if thing in self._holds[kind]})
        while not goals or all(len(self._at(thing, but=goal)) == 0 for goal in goals):
            thing = _one(self._draws, fitting)
            goals = sorted({kind for kind, _ in self._places if thing in self._holds[kind]})
        goal = _one(self._draws, [g for g in goals if self._at(thing, but=g)])
        for _ in range(2 if chore == CHORES[5] else 1):
            self._put(thing, self._at(thing, but=goal))
        if self._room == "bedroom":
            self._put(_LAMP, [i for i, (kind, _) in enumerate(self._places) if kind == "Desk"])
        for other in self._draws.choice(
            _THINGS[self._room], min(_CLUTTER, len(_THINGS[self._room]) - 1), replace=False
        ):
            if str(other) != thing and (places := self._at(str(other))):
                self._put(str(other), places)
        return thing, goal

    def problem(self, goal: str) -> str:
        """Return the initial state with a goal, in PDDL; the goal closes the parenthesis opened here."""
        lines = "\n        ".join
        return (
            "(define (problem household)\n    (:domain alfred)\n"
            f"    (:objects\n        {lines(self._objects())}\n    )\n"
            f"    (:init\n        {lines(self._facts())}\n    )\n{goal}"
        )

    def _at(self, thing: str, but: str = "") -> list[int]:
        return [i for i, (kind, _) in enumerate(self._places) if kind != but and thing in self._holds[kind]]

    def _put(self, thing: str, places: Sequence[int]) -> None:
        number = 1 + sum(kind == thing for kind, _, _ in self._things)
        self._things.append((thing, number, places[int(self._draws.integers(len(places)))]))

    def _objects(self) -> Iterator[str]:
        yield "agent1 - agent"
        for kind in dict.fromkeys(kind for kind, _ in self._places):
            yield f"{kind}Type - rtype"
        for kind in dict.fromkeys((_LAMP, *_THINGS[self._room])):
            yield f"{kind}Type - otype"
        yield "loc_bar_0 - location"
        for i, (kind, number) in enumerate(self._places, 1):
            yield f"loc_bar_{i} - location"
            yield f"{_named(kind, number)} - receptacle"
        for kind, number, _ in self._things:
            yield f"{_named(kind, number)} - object"

    def _facts(self) -> Iterator[str]:
        yield "(= (total-cost) 0)"
        yield "(atLocation agent1 loc_bar_0)"
        for i, (kind, number) in enumerate(self._places, 1):
            name = _named(kind, number)
            yield f"(receptacleType {name} {kind}Type)"
            yield f"(receptacleAtLocation {name} loc_bar_{i})"
            if kind in self._openable:
                yield f"(openable {name})"
        for kind in dict.fromkeys(kind for kind, _ in self._places):
            yield from (f"(canContain {kind}Type {t}Type)" for t in _THINGS[self._room] if t in self._holds[kind])
        for kind, number, location in self._things:
            name = _named(kind, number)
            yield f"(objectType {name} {kind}Type)"
            yield f"(inReceptacle {name} {_named(*self._places[location])})"
            yield f"(objectAtLocation {name} loc_bar_{location + 1})"
            yield f"({'toggleable' if kind == _LAMP else 'pickupable'} {name})"
            yield from (f"({able.lower()} {name})" for able in _CHANGES.values() if kind in self._can[able])


def _named(kind: str, number: int) -> str:
    """Return a name that the package shows as the kind in lower case and a number."""
    return f"Sink_bar_{number}_bar_SinkBasin" if kind == "SinkBasin" else f"{kind}_bar_{number}"


def _one(draws: np.random.Generator, values: Sequence[str]) -> str:
    return values[int(draws.integers(len(values)))]
