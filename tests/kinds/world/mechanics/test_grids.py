from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.ids import generator
from heredity.kinds.world.mechanics.grids import DIRECTIONS, cells_of, maze, moved, neighbours, shortest_path, window
from heredity.kinds.world.mechanics.search import guided_plan, shortest_plan

PLAN = ["#####", "#...#", "#.#.#", "#.#E#", "#####"]


def free(cell: tuple[int, int]) -> bool:
    return PLAN[cell[0]][cell[1]] != "#"


def test_a_shortest_path_goes_round_a_wall() -> None:
    assert shortest_path((3, 1), (3, 3), free) == ["north", "north", "east", "east", "south", "south"]
    assert shortest_path((1, 1), (1, 1), free) == []
    assert shortest_path((1, 1), (2, 2), free) is None


def test_a_corner_has_two_neighbours() -> None:
    assert dict(neighbours((0, 0), 3, 3)) == {"south": (1, 0), "east": (0, 1)}


def test_a_window_shows_what_is_off_the_grid_as_beyond() -> None:
    assert window(PLAN, (3, 3), 1) == ["#.#", "#E#", "###"]
    assert window(PLAN, (0, 0), 1, beyond="~") == ["~~~", "~##", "~#."]
    assert cells_of(PLAN, "E") == [(3, 3)]


@given(st.integers(0, 200), st.sampled_from([5, 7, 11]), st.sampled_from([5, 9]), st.sampled_from([0.0, 0.1, 0.5]))
def test_every_free_cell_of_a_maze_can_be_reached_and_none_is_on_its_edge(
    seed: int, rows: int, columns: int, loops: float
) -> None:
    grid = maze(generator(seed, "test"), rows, columns, loops)
    cells = cells_of(grid, ".")
    assert all(0 < r < rows - 1 and 0 < c < columns - 1 for r, c in cells)
    assert all(shortest_path((1, 1), cell, lambda at: grid[at[0]][at[1]] != "#") is not None for cell in cells)
    assert grid == maze(generator(seed, "test"), rows, columns, loops)


@pytest.mark.parametrize("boldness", [1, 3])
def test_a_guided_plan_leads_to_the_goal_and_is_as_short_as_can_be_if_the_guess_is_not_bold(boldness: int) -> None:
    grid = maze(generator(4, "test"), 15, 15, 0.3)
    goal = (13, 13)

    def ways(cell: tuple[int, int]) -> list[tuple[str, tuple[int, int]]]:
        return [(d, moved(cell, d)) for d in DIRECTIONS if grid[moved(cell, d)[0]][moved(cell, d)[1]] != "#"]

    def guess(cell: tuple[int, int]) -> int:
        return boldness * (goal[0] - cell[0] + goal[1] - cell[1])

    plan, short = guided_plan((1, 1), ways, guess, 1000), shortest_plan((1, 1), ways, lambda cell: cell == goal)
    assert plan is not None
    assert short is not None
    at = (1, 1)
    for direction in plan:
        at = moved(at, direction)
    assert at == goal
    assert len(plan) >= len(short)
    assert boldness > 1 or len(plan) == len(short)
    assert guided_plan((1, 1), ways, guess, 3) is None
