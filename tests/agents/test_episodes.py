from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import RejectedError
from heredity.agents.app import MAX_EPISODES, parse_episodes

ranges = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20)), min_size=1, max_size=8)


@given(ranges)
def test_inclusive_ranges_keep_order_and_repeats(parts: list[tuple[int, int]]) -> None:
    text = ",".join(f"{a}-{a + n}" if n else str(a) for a, n in parts)
    assert parse_episodes(text) == [h for a, n in parts for h in range(a, a + n + 1)]


@given(ranges)
def test_half_open_ranges_leave_their_end_out(parts: list[tuple[int, int]]) -> None:
    text = " , ".join(f"{a}:{a + n + 1}" for a, n in parts)
    assert parse_episodes(text) == [h for a, n in parts for h in range(a, a + n + 1)]


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=50))
def test_a_list_is_taken_as_it_is(task_indices: list[int]) -> None:
    assert parse_episodes(task_indices) == task_indices


@given(st.text(max_size=20))
def test_any_text_is_either_expanded_or_refused(text: str) -> None:
    try:
        task_indices = parse_episodes(text)
    except RejectedError:
        return
    assert task_indices
    assert all(type(h) is int and h >= 0 for h in task_indices)


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        1.5,
        {},
        [],
        "",
        " ",
        ",",
        "0-",
        "-1",
        "3-1",
        "4:4",
        "a",
        "0--3",
        "1,,2",
        [1, -1],
        [True],
        ["1"],
        [1.0],
        "٣",
        "1_0",
    ],
)
def test_what_names_no_cases_is_refused(value: object) -> None:
    with pytest.raises(RejectedError):
        parse_episodes(value)


def test_a_short_text_cannot_fill_the_memory() -> None:
    with pytest.raises(RejectedError, match=str(MAX_EPISODES)):
        parse_episodes("0-999999999,0-999999999")
