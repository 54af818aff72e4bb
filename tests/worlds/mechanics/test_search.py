from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from heredity.worlds.mechanics.search import best_within, cheapest_plan, meeting_plan, richest_plan, shortest_plan

MOST = 400
_PLACES = range(24)
roads = st.sets(st.tuples(st.integers(0, 23), st.integers(0, 23)), max_size=60)


def doubled(place: int) -> Iterator[tuple[str, int]]:
    yield "double", (2 * place) % MOST
    yield "add", (place + 7) % MOST


@given(roads, st.integers(0, 23), st.sets(st.integers(0, 23), max_size=3))
def test_searching_from_both_ends_finds_a_way_as_short_as_searching_from_one(
    ways: set[tuple[int, int]], start: int, goals: set[int]
) -> None:
    found = meeting_plan(
        start,
        goals,
        lambda place: [((a, b), b) for a, b in sorted(ways) if a == place],
        lambda place: [((a, b), a) for a, b in sorted(ways) if b == place],
    )
    plain = shortest_plan(start, lambda place: [((a, b), b) for a, b in sorted(ways) if a == place], goals.__contains__)
    assert (found is None) == (plain is None)
    if found is not None and plain is not None:
        assert len(found) == len(plain)
        at = start
        for a, b in found:
            assert a == at
            at = b
        assert at in goals


@given(roads, st.integers(0, 23), st.integers(0, 23))
def test_the_cheapest_way_costs_what_relaxing_every_road_gives(
    ways: set[tuple[int, int]], start: int, goal: int
) -> None:
    def cost(way: tuple[int, int]) -> int:
        return (way[0] * 5 + way[1] * 3) % 7

    least = {place: 0 if place == start else 10**6 for place in _PLACES}
    for _ in _PLACES:
        for a, b in ways:
            least[b] = min(least[b], least[a] + cost((a, b)))
    found = cheapest_plan(
        start, lambda place: [((a, b), b, cost((a, b))) for a, b in sorted(ways) if a == place], goal.__eq__
    )
    if found is None:
        assert least[goal] == 10**6
    else:
        assert found[0] == least[goal] == sum(map(cost, found[1]))


def test_one_who_is_there_already_needs_no_plan() -> None:
    assert shortest_plan(3, doubled, lambda place: place == 3) == []
    assert meeting_plan(3, [3], doubled, doubled) == []
    assert cheapest_plan(3, lambda place: [], lambda place: place == 3) == (0, [])


def test_the_richest_plan_may_be_longer_than_the_greedy_one() -> None:
    pays = {("a", "b"): 5, ("a", "c"): 1, ("c", "d"): 9}
    found = richest_plan(
        "a", lambda place: [(y, y, pay) for (x, y), pay in pays.items() if x == place], lambda place: 10
    )
    assert found == (10, ["c", "d"])


@given(st.integers(1, 30), st.integers(0, 6))
def test_the_best_within_some_moves_is_the_best_of_all_sequences_of_them(start: int, steps: int) -> None:
    reached = {start}
    for _ in range(steps):
        reached |= {other for place in reached for _, other in doubled(place)}
    worth, moves = best_within(start, doubled, steps, lambda place: place % 53)
    assert worth == max(place % 53 for place in reached)
    at = start
    for move in moves:
        at = dict(doubled(at))[move]
    assert at % 53 == worth
    assert len(moves) <= steps
