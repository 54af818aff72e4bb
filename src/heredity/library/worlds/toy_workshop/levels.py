"""Levels of `toy_workshop`: houses, parts and orders; the best income by exhaustive search within the horizon."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from heredity._core.errors import RefusedError
from heredity._core.ids import canonical_json
from heredity.kinds.world.contract import Action, LevelData, Levels, UpperBound
from heredity.kinds.world.mechanics.grids import neighbours
from heredity.kinds.world.mechanics.search import best_within
from heredity.library.worlds.toy_workshop.dynamics import KEY, House, Now, combined, gone, read_level, sold, taken

_ROOMS = {1: (2, 3), 2: (2, 4), 3: (3, 3)}
_CARTS = {1: 2, 2: 3, 3: 3}
_STEPS = {1: 26, 2: 36, 3: 42}
_COLOURS = ("red", "green", "blue")
_NAMES = ("attic", "cellar", "den", "hall", "kitchen", "larder", "parlour", "pantry", "study", "veranda")
Move = tuple[str, str, Any]


class Houses(Levels):
    """Makes houses in which good carts need some walking, and the best pairs are worth waiting for."""

    def generate(self, rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
        """Return a house in which at least two orders can be filled, and the locked room, if any, is worth its key."""
        while True:
            level = _draft(rng, difficulty)
            now = read_level(level).now
            for move in _best(canonical_json(level))[1]:
                now = _done(read_level(level).house, now, move)
            if len(level["orders"]) - len(now.open) >= 2 and (difficulty == 1 or not now.locked):
                return level

    def upper_bound(self, level: LevelData) -> UpperBound:
        """Return the best income, by exhaustive search within the horizon."""
        best, _ = _best(canonical_json(dict(level)))
        return UpperBound(float(best), "exact", "the best of all situations that can be reached within the horizon")

    def solve(self, level: LevelData) -> Sequence[Action]:
        """Return a shortest path to the best income."""
        return [
            Action.of(verb, **{key: value} if key else {}) for verb, key, value in _best(canonical_json(dict(level)))[1]
        ]


def _draft(rng: np.random.Generator, difficulty: int) -> dict[str, Any]:
    rows, columns = _ROOMS[difficulty]
    count, carts = rows * columns, _CARTS[difficulty]
    names = [_NAMES[int(i)] for i in rng.permutation(len(_NAMES))[:count]]
    doors = _doors(rng, rows, columns)
    bench, shop, at = (int(i) for i in rng.permutation(count)[:3])
    dead_ends = [room for room in range(count) if len(doors[room]) == 1 and room not in (bench, shop, at)]
    locked = dead_ends[int(rng.integers(len(dead_ends)))] if difficulty > 1 and dead_ends else -1
    parts = [_COLOURS[int(i)] for i in rng.integers(0, 3, 2 * carts)]
    bodies, wheels = parts[:carts], parts[carts:]
    things = [[f"{c} body", int(rng.integers(count))] for c in bodies]
    things += [[f"{c} wheels", int(rng.integers(count))] for c in wheels]
    if locked >= 0:
        things.append([KEY, int(rng.choice([room for room in range(count) if room != locked]))])
    pairs = sorted({f"{body} cart on {wheel} wheels" for body in bodies for wheel in wheels})
    chosen = rng.permutation(len(pairs))[: carts + 1]
    orders = [[pairs[int(i)], int(rng.integers(5, 13))] for i in chosen]
    rooms = {"bench": bench, "shop": shop, "at": at, "locked": locked}
    return {"names": names, "doors": doors, "things": things, "orders": orders, **rooms, "steps": _STEPS[difficulty]}


def _doors(rng: np.random.Generator, rows: int, columns: int) -> list[dict[str, int]]:
    """Return the doors of a house with all rooms reachable: a random tree, and one extra door."""
    doors: list[dict[str, int]] = [{} for _ in range(rows * columns)]
    walls = [
        (row * columns + column, direction, other[0] * columns + other[1])
        for row in range(rows)
        for column in range(columns)
        for direction, other in neighbours((row, column), rows, columns)
        if direction in ("south", "east")
    ]
    group, spare = list(range(rows * columns)), 1
    for index in rng.permutation(len(walls)):
        room, direction, other = walls[int(index)]
        if group[room] == group[other]:
            if not spare:
                continue
            spare -= 1
        group = [group[room] if g == group[other] else g for g in group]
        doors[room][direction] = other
        doors[other]["north" if direction == "south" else "west"] = room
    return doors


@lru_cache(maxsize=4)
def _best(text: bytes) -> tuple[int, list[Move]]:
    level = json.loads(text)
    state = read_level(level)
    house = state.house
    return best_within(state.now, lambda now: _moves(house, now), level["steps"], lambda now: now.earned)


def _moves(house: House, now: Now) -> Iterator[tuple[Move, Now]]:
    for move in _sensible(house, now):
        try:
            yield move, _done(house, now, move)
        except RefusedError:
            continue


def _sensible(house: House, now: Now) -> Iterator[Move]:
    """Yield every action that may be possible; omitted ones are refused or duplicate another."""
    for direction in house.doors[now.room]:
        yield "go", "direction", direction
    for name in sorted({house.things[thing][0] for thing in now.lying if house.things[thing][1] == now.room}):
        yield "take", "thing", name
    if now.room == house.bench:
        yield "combine", "", None
    if now.room == house.shop:
        for index in range(len(now.hands)):
            yield "sell", "number", index + 1


def _done(house: House, now: Now, move: Move) -> Now:
    verb, _, value = move
    if verb == "go":
        return gone(house, now, value)
    if verb == "take":
        return taken(house, now, value)
    return combined(house, now) if verb == "combine" else sold(house, now, value)


LEVELS = Houses()
