from __future__ import annotations

import pytest

from heredity._core.errors import RefusedError
from heredity.kinds.world.contract import Action
from heredity.library.worlds.shadow_theatre.dynamics import (
    DYNAMICS,
    HEIGHT,
    SHAPES,
    WIDTH,
    Puppet,
    Scene,
    after,
    cut,
    shadow,
    shadows,
)


def dark_cells(puppet: Puppet, lamp: int) -> set[tuple[int, int]]:
    rows = shadow(puppet, lamp)
    return {(HEIGHT - 1 - r, c) for r in range(HEIGHT) for c in range(WIDTH) if rows[r] >> c & 1}


def cells_in_perspective(puppet: Puppet, lamp: int) -> set[tuple[int, int]]:
    """Trace a ray from the lamp through the middle of each cell of the screen."""
    rows, scale = cut(puppet.shape, puppet.turns), puppet.lane + 1
    cells: set[tuple[int, int]] = set()
    for height in range(HEIGHT):
        for column in range(WIDTH):
            x = lamp + (column + 0.5 - lamp) / scale - puppet.column
            y = (height + 0.5) / scale
            if 0 <= x < len(rows[0]) and y < len(rows) and rows[len(rows) - 1 - int(y)][int(x)] == "#":
                cells.add((height, column))
    return cells


@pytest.mark.parametrize("shape", range(len(SHAPES)))
@pytest.mark.parametrize("lane", [0, 1, 2])
def test_a_shadow_is_where_rays_from_the_lamp_are_stopped(shape: int, lane: int) -> None:
    for turns in range(4):
        for lamp in (0, 5, 12, 18):
            puppet = Puppet(shape, turns, 7, lane)
            assert dark_cells(puppet, lamp) == cells_in_perspective(puppet, lamp)


def test_the_lamp_does_not_move_the_shadow_of_a_puppet_at_the_screen() -> None:
    assert shadow(Puppet(0, 0, 4, 0), 3) == shadow(Puppet(0, 0, 4, 0), 9)
    assert shadow(Puppet(0, 0, 4, 1), 3) != shadow(Puppet(0, 0, 4, 1), 4)


def test_puppets_pass_each_other_only_in_different_lanes() -> None:
    scene = Scene(9, (Puppet(0, 0, 4, 0), Puppet(1, 0, 6, 0)))
    with pytest.raises(RefusedError, match="Puppet 2 is in the way"):
        after(scene, 0, "right")
    scene = after(after(scene, 0, "farther"), 0, "right")
    assert scene.puppets[0] == Puppet(0, 0, 5, 1)


def test_any_scene_with_the_same_shadows_succeeds() -> None:
    hidden = Scene(9, (Puppet(2, 0, 9, 1), Puppet(2, 0, 9, 0)))
    level = {"wanted": list(shadows(hidden)), "lamp": 9, "puppets": [[2, 0, 9, 1], [2, 0, 8, 0]], "steps": 5}
    state = DYNAMICS.start(level)
    outcome = DYNAMICS.act(state, Action.of("move", puppet=2, direction="right"))
    assert (outcome.reward, outcome.done) == (1.0, True)
