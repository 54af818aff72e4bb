from __future__ import annotations

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.kinds.world.mechanics.grids import DIRECTIONS
from heredity.kinds.world.mechanics.search import shortest_plan
from heredity.kinds.world.world import world
from heredity.library.worlds.tile_quakes.dynamics import DYNAMICS, Now, moved, passed, read_level
from heredity.library.worlds.tile_quakes.levels import LEVELS

LEVEL = {
    "board": [1, 2, 3, 4, 5, 6, 7, 0, 8], "goal": [1, 2, 3, 5, 6, 4, 7, 8, 0], "worth": [1, 2, 3, 4, 5, 1, 1, 5],
    "period": 2, "quakes": [[1, -1]], "jolts": 1, "steps": 12,
}  # fmt: skip


@pytest.mark.parametrize("name", ["test-01", "test-04"])
def test_the_way_found_from_both_ends_is_as_short_as_one_found_by_the_rules_alone(name: str) -> None:
    level = world("tile_quakes").level(name).data
    state = read_level(level)
    puzzle = state.puzzle

    def after(now: Now) -> list[tuple[str, Now]]:
        moves: list[tuple[str, Now]] = []
        for verb, direction in [("wait", ""), ("jolt", ""), *(("slide", d) for d in DIRECTIONS)]:
            try:
                moves.append((verb, passed(puzzle, moved(puzzle, now, verb, direction))))
            except RefusedError:
                continue
        return moves

    plan = shortest_plan(state.now, after, lambda now: now.board == puzzle.goal)
    assert plan is not None
    assert len(plan) == len(LEVELS.solve(level))


def test_the_quake_turns_its_row_when_it_is_due_and_the_whole_pattern_ends_the_episode() -> None:
    state = DYNAMICS.start(LEVEL)
    slide = DYNAMICS.act(state, Action.of("slide", direction="west"))
    assert (slide.reward, slide.done) == (5.0, False)
    shaken = DYNAMICS.act(state, Action.of("wait"))
    assert shaken.done
    assert shaken.reward == 10 + 10
    assert state.now.board == tuple(LEVEL["goal"])


def test_a_tile_that_comes_back_to_its_place_pays_no_second_time() -> None:
    state = DYNAMICS.start({**LEVEL, "quakes": [[0, 1]], "period": 50})
    slides = [Action.of("slide", direction=d) for d in ("west", "east", "west")]
    assert [DYNAMICS.act(state, slide).reward for slide in slides] == [5.0, 0.0, 0.0]


def test_a_refused_step_lets_the_quake_come_but_pays_nothing() -> None:
    state = DYNAMICS.start(LEVEL)
    DYNAMICS.act(state, Action.of("slide", direction="west"))
    with pytest.raises(RefusedError):
        DYNAMICS.act(state, Action.of("slide", direction="west"))
    assert DYNAMICS.refuse(state).reward == 0.0
    assert state.now.board == tuple(LEVEL["goal"])
