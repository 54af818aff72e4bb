"""`underground_halls`: how far a draught goes, what a blast ruins, and whether the search hopes enough."""

from __future__ import annotations

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.kinds.world.mechanics.search import richest_plan
from heredity.kinds.world.world import world
from heredity.library.worlds.underground_halls.dynamics import DYNAMICS, State, read_level
from heredity.library.worlds.underground_halls.levels import LEVELS, moves_from


def mountain(*rows: str, charges: int = 0) -> State:
    halls = [[letter, 20] for letter in "abcd" if letter in "".join(rows)]
    return DYNAMICS.start({"plan": ["=~~", *rows], "halls": halls, "charges": charges, "fans": 1, "steps": 15})


def paid(state: State, *deeds: tuple[str, int, int]) -> list[float]:
    return [DYNAMICS.act(state, Action.of(verb, row=row, column=column)).reward for verb, row, column in deeds]


def test_a_fan_reaches_as_many_cells_as_it_is_deep() -> None:
    rows = (":ab", ":##", ":##")
    shallow = mountain(*rows)
    assert paid(shallow, ("dig", 1, 0), ("fan", 1, 0), ("dig", 1, 1), ("dig", 1, 2)) == [0, 0, 17, 0]
    deeper = mountain(*rows)
    assert paid(deeper, ("dig", 1, 0), ("dig", 2, 0), ("dig", 3, 0), ("fan", 3, 0), ("dig", 1, 1), ("dig", 1, 2)) == [
        0, 0, 0, 0, 15, 0,
    ]  # fmt: skip


def test_a_blast_ruins_closed_halls_beside_it_and_saves_days() -> None:
    state = mountain("%a:", ":b:", charges=1)
    paid(state, ("blast", 1, 0))
    assert (state.now.day, state.now.ruined) == (1, 1 << 4)
    paid(state, ("dig", 2, 0), ("fan", 2, 0))
    assert paid(state, ("dig", 1, 1), ("dig", 2, 1)) == [0, 15]


def test_hard_rock_takes_three_days_and_bedrock_cannot_be_opened() -> None:
    state = mountain("%#a", "::b")
    paid(state, ("dig", 1, 0))
    assert state.now.day == 3
    with pytest.raises(RefusedError, match="Nothing opens"):
        paid(state, ("dig", 1, 1))


@pytest.mark.parametrize("name", ["test-02", "test-03"])
def test_a_search_with_more_hope_finds_nothing_better(name: str) -> None:
    data = world("underground_halls").level(name).data
    state = read_level(data)
    city = state.city
    most, _ = richest_plan(
        state.now,
        lambda now: moves_from(city, now),
        lambda now: sum(
            max(0, hall.worth - now.day - 1) for hall in city.halls if not (now.settled | now.ruined) >> hall.cell & 1
        ),
    )
    assert most == LEVELS.upper_bound(data).value
