from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from heredity.kinds.world.mechanics.search import (
    best_within,
    cheapest_plan,
    meeting_plan,
    richest_plan,
    shortest_plan,
)

MOST = 400
_PLACES = range(24)
roads = st.sets(st.tuples(st.integers(0, 23), st.integers(0, 23)), max_size=60)


def doubled(number: int) -> Iterator[tuple[str, int]]:
    yield "double", (2 * number) % MOST
    yield "add", (number + 7) % MOST


@given(roads, st.integers(0, 23), st.sets(st.integers(0, 23), max_size=3))
def test_searching_from_both_ends_finds_a_way_as_short_as_searching_from_one(
    ways: set[tuple[int, int]], start: int, goals: set[int]
) -> None:
    meeting = meeting_plan(
        start,
        goals,
        lambda node: [((a, b), b) for a, b in sorted(ways) if a == node],
        lambda node: [((a, b), a) for a, b in sorted(ways) if b == node],
    )
    plain = shortest_plan(start, lambda node: [((a, b), b) for a, b in sorted(ways) if a == node], goals.__contains__)
    assert (meeting is None) == (plain is None)
    if meeting is not None and plain is not None:
        assert len(meeting) == len(plain)
        at = start
        for a, b in meeting:
            assert a == at
            at = b
        assert at in goals


@given(roads, st.integers(0, 23), st.integers(0, 23))
def test_the_cheapest_way_costs_what_relaxing_every_road_gives(
    ways: set[tuple[int, int]], start: int, goal: int
) -> None:
    def cost(way: tuple[int, int]) -> int:
        return (way[0] * 5 + way[1] * 3) % 7

    least = {node: 0 if node == start else 10**6 for node in _PLACES}
    for _ in _PLACES:
        for a, b in ways:
            least[b] = min(least[b], least[a] + cost((a, b)))
    cheapest = cheapest_plan(
        start, lambda node: [((a, b), b, cost((a, b))) for a, b in sorted(ways) if a == node], goal.__eq__
    )
    if cheapest is None:
        assert least[goal] == 10**6
    else:
        assert cheapest[0] == least[goal] == sum(map(cost, cheapest[1]))


def test_one_who_is_there_already_needs_no_plan() -> None:
    assert shortest_plan(3, doubled, lambda number: number == 3) == []
    assert meeting_plan(3, [3], doubled, doubled) == []
    assert cheapest_plan(3, lambda number: [], lambda number: number == 3) == (0, [])


def test_the_richest_plan_may_be_longer_than_the_greedy_one() -> None:
    pays = {("a", "b"): 5, ("a", "c"): 1, ("c", "d"): 9}
    richest = richest_plan(
        "a", lambda node: [(y, y, pay) for (x, y), pay in pays.items() if x == node], lambda node: 10
    )
    assert richest == (10, ["c", "d"])


@given(st.integers(1, 30), st.integers(0, 6))
def test_the_best_within_some_moves_is_the_best_of_all_sequences_of_them(start: int, steps: int) -> None:
    reached = {start}
    for _ in range(steps):
        reached |= {other for number in reached for _, other in doubled(number)}
    worth, moves = best_within(start, doubled, steps, lambda number: number % 53)
    assert worth == max(number % 53 for number in reached)
    at = start
    for move in moves:
        at = dict(doubled(at))[move]
    assert at % 53 == worth
    assert len(moves) <= steps
