from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from heredity._core.errors import RefusedError
from heredity._core.ids import generator
from heredity.kinds.world.contract import Action
from heredity.kinds.world.skins import inverted, render
from heredity.kinds.world.world import world
from heredity.library.worlds.pattern_canvas.dynamics import DYNAMICS
from heredity.library.worlds.pattern_canvas.levels import mirrored, summed, tiled, turned

LEVEL = {"picture": ["0123456789"] * 10, "masked": [[0, 0], [0, 3], [5, 3]], "at": [0, 0], "peeks": 1}
CELLS = range(10)


def paint(value: int) -> Action:
    return Action.of("paint", value=value)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shifted", [False, True])
def test_pictures_follow_their_laws(seed: int, shifted: bool) -> None:
    def rng() -> np.random.Generator:
        return generator(seed, "test", "canvas")

    def steps(picture: np.ndarray, other: np.ndarray) -> set[int]:
        return {int(v) for v in np.ravel((other - picture) % 10)}

    halves, tiles = np.array(mirrored(rng(), shifted)), np.array(tiled(rng(), shifted))
    quarters, sums = np.array(turned(rng(), shifted)), np.array(summed(rng(), shifted))
    mirrors = [steps(halves[:, :5], halves[:, :4:-1]), steps(halves[:5], halves[:4:-1])]
    assert min(map(len, mirrors)) == 1
    assert len(steps(tiles[:, :5], tiles[:, 5:])) == len(steps(tiles[:5], tiles[5:])) == 1
    assert len(steps(quarters[:5, :5], np.rot90(quarters)[:5, :5])) == 1
    assert all((sums[r, c] + sums[0, 0] - sums[r, 0] - sums[0, c]) % 10 == 0 for r, c in product(CELLS, CELLS))


def test_a_masked_pixel_pays_once_and_only_for_the_right_value() -> None:
    state = DYNAMICS.start(LEVEL)
    assert DYNAMICS.act(state, paint(0)).reward == 1.0
    with pytest.raises(RefusedError):
        DYNAMICS.act(state, paint(0))
    DYNAMICS.act(state, Action.of("move", direction="east", cells=3))
    assert DYNAMICS.act(state, paint(7)).reward == 0.0
    with pytest.raises(RefusedError):
        DYNAMICS.act(state, paint(3))
    assert state.grid[0] == "012x456789"


def test_a_peek_shows_the_value_and_pays_nothing_then() -> None:
    state = DYNAMICS.start(LEVEL)
    DYNAMICS.act(state, Action.of("peek"))
    assert DYNAMICS.observe(state)["pixels"][0][0] == 0
    with pytest.raises(RefusedError):
        DYNAMICS.act(state, paint(0))
    DYNAMICS.act(state, Action.of("move", direction="east", cells=3))
    with pytest.raises(RefusedError, match="no peek"):
        DYNAMICS.act(state, Action.of("peek"))


def test_the_last_masked_pixel_ends_it_and_the_brush_stays_on_the_canvas() -> None:
    state = DYNAMICS.start({**LEVEL, "masked": [[0, 0]]})
    with pytest.raises(RefusedError, match="off the canvas"):
        DYNAMICS.act(state, Action.of("move", direction="north", cells=1))
    assert DYNAMICS.act(state, paint(5)).done


def test_the_inverse_skin_mirrors_values_in_text_and_picture_alike_and_leaves_masks() -> None:
    skin = world("pattern_canvas").description.skin
    omega = {"t": 0, "steps": 9, "message": "", **DYNAMICS.observe(DYNAMICS.start({**LEVEL, "at": [9, 9]}))}
    shown = inverted(skin, omega)
    assert [int(v) if v != "?" else v for v in shown["pixels"][0]] == ["?", 8, 7, "?", 5, 4, 3, 2, 1, 0]
    assert shown["grid"][0] == "?87?543210"
    assert "? 1 2 ? 4 5 6 7 8 9" in render(skin, omega)
