"""Worlds whose rules are to be found out: what the rules are, that bounds hold, and that players who are told nothing can win."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import permutations
from typing import Any

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.kinds.world.mechanics.grids import Cell, moved, neighbours, shortest_path
from heredity.kinds.world.world import world
from heredity.library.worlds.ember_caves.dynamics import SIGNS, perilous
from heredity.library.worlds.hooded_ball.dynamics import Rivals, payment
from heredity.library.worlds.old_chart.dynamics import FORBIDDING, INVITING
from heredity.library.worlds.sinking_columns.dynamics import DYNAMICS, Habits, State, reply

STEP = {(-1, 0): "north", (1, 0): "south", (0, -1): "west", (0, 1): "east"}


def test_a_valley_season_cannot_be_better_than_its_bound() -> None:
    farm = world("valley_farm")
    actions = [Action.of("harvest"), Action.of("rest")]
    actions += [Action.of("work", how=how) for how in ("water", "manure", "scorch", "trample")]
    actions += [Action.of("walk", direction=direction) for direction in ("north", "south", "west", "east")]

    def best(state: Any, left: int) -> float:
        highest = 0.0
        for action in actions if left else []:
            after = copy.deepcopy(state)
            try:
                outcome = farm.dynamics.act(after, action)
            except RefusedError:
                continue
            highest = max(highest, outcome.reward + (0.0 if outcome.done else best(after, left - 1)))
        return highest

    for name in ("test-01", "validation-05"):
        data = {**farm.level(name).data, "steps": 4}
        assert farm.levels.upper_bound(data).value == farm.play(data) == best(farm.dynamics.start(data), 4)


def test_no_way_to_seat_guests_pays_more_than_the_bound() -> None:
    ball = world("hooded_ball")
    for level in ball.shipped["test"][:4]:
        data = {**level.data, "guests": level.data["guests"][:8]}
        rivals, guests = Rivals.of(data), [tuple(guest) for guest in data["guests"]]

        def best(left: list[Any], rivals: Rivals = rivals) -> int:
            if len(left) < 2:
                return 0
            first, rest = left[0], left[1:]
            pairs = [payment(first, other, rivals) + best([g for g in rest if g is not other]) for other in rest]
            return max([best(rest), *pairs])

        assert ball.levels.upper_bound(data).value == best(guests)


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"), [({0, 1, 2}, set[int](), 3), ({0, 1, 2}, {4, 5, 6}, 3), (set[int](), set[int](), 6)]
)
def test_the_opponent_wins_or_blocks_before_it_follows_its_liking(
    mine: set[int], theirs: set[int], expected: int
) -> None:
    bits = [sum(1 << 7 * column for column in columns) for columns in (mine, theirs)]
    assert reply(bits[0], bits[1], bits[0] | bits[1], Habits((6, 5, 4, 3, 2, 1, 0), careful=False)) == expected


def test_a_careful_opponent_does_not_lift_you_to_a_win() -> None:
    below = sum(1 << 7 * column for column in (0, 1, 2))
    above = sum(1 << 7 * column + 1 for column in (0, 1, 2))
    order = (3, 4, 5, 6, 0, 1, 2)
    for careful, expected in ((False, 3), (True, 4)):
        assert reply(above, 0, above | below, Habits(order, careful)) == expected


def test_a_full_bottom_row_sinks_away() -> None:
    habits = Habits((3, 2, 1, 0, 4), careful=False)
    state = State(mine=1 | 1 << 14 | 1 << 1, theirs=1 << 7 | 1 << 21, plugged=0, plugs=1, habits=habits)
    outcome = DYNAMICS.act(state, Action.of("plug", column=5))
    assert "sinks" in outcome.message
    assert (state.mine, state.theirs, state.plugged, state.plugs) == (1, 1 << 21, 0, 0)


def test_perfect_memory_clears_every_table_of_sliding_pairs() -> None:
    pairs = world("shifting_pairs")
    for level in (level for split in pairs.shipped.values() for level in split):
        episode = pairs.start(level.data)
        grid: list[list[str]] = [["?"] * len(row) for row in episode.observe()["grid"]]

        def turned(cell: Cell, grid: list[list[str]] = grid, episode: Any = episode) -> str:
            row, column = cell
            episode.step(Action.of("turn", row=row + 1, column=column + 1))
            grid[row][column] = episode.message.split(": ")[1].split(".")[0]
            return grid[row][column]

        while not episode.done:
            first, second = _known_pair(grid) or (_next(grid), None)
            picture = turned(first)
            places = [cell for cell in _places(grid, picture) if cell != first]
            second = second or (places[0] if places else _next(grid))
            turned(second)
            if "A pair!" in episode.message:
                for row, column in (first, second):
                    grid[row][column] = "."
            elif "slides" in episode.message:
                grid[second[0]].insert(0, grid[second[0]].pop())
        assert episode.total == 1.0, level.id


def _places(grid: list[list[str]], picture: str) -> list[Cell]:
    return [(r, c) for r, row in enumerate(grid) for c, seen in enumerate(row) if seen == picture]


def _known_pair(grid: list[list[str]]) -> tuple[Cell, Cell] | None:
    pictures = {seen for row in grid for seen in row} - {"?", "."}
    return next(((p[0], p[1]) for picture in sorted(pictures) if len(p := _places(grid, picture)) == 2), None)


def _next(grid: list[list[str]]) -> Cell:
    return _places(grid, "?")[0]


def test_who_weighs_signs_from_what_happened_brings_embers_home() -> None:
    caves, wins = world("ember_caves"), 0.0
    levels = [level for split in caves.shipped.values() for level in split]
    for level in levels:
        wins += _explore_caves(caves.start(level.data))
    assert wins >= len(levels) / 2


def _weighings() -> list[tuple[int, ...]]:
    """Return all weights that a cave may have."""
    sides = [((1, 3, 5), (2, 4, 6)), ((2, 4, 6), (1, 3, 5))]
    return [(*gentle, *grim) for one, other in sides for gentle in permutations(one) for grim in permutations(other)]


def _explore_caves(episode: Any) -> float:
    """Play by what is told: keep the weights that fit, avoid what they agree on, toss pebbles where they differ."""
    weighings, signs = _weighings(), dict[Cell, tuple[int, int]]()
    omega = episode.observe()
    size, at = len(omega["grid"]), (omega["row"] - 1, omega["column"] - 1)
    mouth = at
    ember = next((r, c) for r, row in enumerate(omega["grid"]) for c, mark in enumerate(row) if mark == "E")
    while not episode.done:
        omega = episode.observe()
        for line, (_, cell) in zip(omega["beside"], neighbours(at, size, size), strict=True):
            one, other = line.split(": ")[1].split(" and ")
            signs[cell] = (SIGNS.index(one), SIGNS.index(other))

        def risk(cell: Cell, weighings: list[tuple[int, ...]] = weighings) -> float:
            return sum(perilous(signs[cell], w) for w in weighings) / len(weighings) if cell in signs else 0.3

        goal = mouth if omega["ember"] == "with you" else ember
        ways = [
            shortest_path(at, goal, lambda c, most=most: min(c) >= 0 and max(c) < size and risk(c) <= most)
            for most in (0.3, 0.5, 0.7, 0.99)
        ]
        way = next(way for way in ways if way)
        target = moved(at, way[0])
        toss = risk(target) > 0 and omega["pebbles"]
        episode.step(Action.of("toss" if toss else "walk", direction=way[0]))
        bad = "driven" in episode.message or "snaps" in episode.message
        weighings = [w for w in weighings if perilous(signs[target], w) == bad]
        if not toss and not bad:
            at = target
    return episode.total


def test_who_watches_stones_finds_the_way_out_of_the_charted_land() -> None:
    chart, wins = world("old_chart"), 0.0
    levels = [level for split in chart.shipped.values() for level in split]
    for level in levels:
        wins += _explore_chart(chart.start(level.data))
    assert wins >= len(levels) / 2


def _explore_chart(episode: Any) -> float:
    """Play by what is told: learn by stones which signs carry, and walk to the nearest ground not seen from near."""
    carries, seen, entered = dict[str, bool](), dict[Cell, str](), set[Cell]()
    while not episode.done:
        omega = episode.observe()
        at, rows = (omega["row"] - 1, omega["column"] - 1), omega["grid"]
        entered.add(at)
        for r, row in enumerate(rows):
            for c, sign in enumerate(row):
                if sign in INVITING + FORBIDDING:
                    seen[(at[0] + r - len(rows) // 2, at[1] + c - len(rows) // 2)] = sign
        beside = [cell for _, cell in neighbours(at, omega["size"], omega["size"])]
        unknown = next((cell for cell in beside if seen[cell] not in carries), None)
        if unknown is not None:
            episode.step(Action.of("throw", direction=_towards(at, unknown)))
            carries[seen[unknown]] = "firm" in episode.message
            continue
        episode.step(Action.of("walk", direction=_frontier(at, seen, carries, entered)))
    return episode.total


def _towards(at: Cell, cell: Cell) -> str:
    return STEP[cell[0] - at[0], cell[1] - at[1]]


def _frontier(at: Cell, seen: dict[Cell, str], carries: dict[str, bool], entered: set[Cell]) -> str:
    """Return the first step towards the rarest of the carrying signs that has not been entered, the nearest of it."""
    signs = list(seen.values())

    def free(cell: Cell) -> bool:
        return carries.get(seen.get(cell, ""), False)

    ways: Iterator[tuple[float, list[str]]] = (
        (len(way) + (5 if signs.count(seen[cell]) > 6 else 0), way)
        for cell in seen
        if cell not in entered and (free(cell) or seen[cell] not in carries)
        if (way := shortest_path(at, cell, lambda c, goal=cell: free(c) or c == goal))
    )
    return min(ways)[1][0]
