from __future__ import annotations

import io
import string
import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.kinds.world.env import WorldEnv
from heredity.kinds.world.pictures import SIZE, glyph, line, png
from heredity.kinds.world.skins import SKINS, inverted
from heredity.kinds.world.world import world_names

SOME = sorted({*world_names()[::9], "grid_treasure", "crystal_lab"})


@pytest.mark.parametrize("skin", SKINS)
@pytest.mark.parametrize("name", SOME)
@pytest.mark.fast(8)
def test_gymnasium_finds_nothing_wrong(name: str, skin: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_env(WorldEnv(name, skin), skip_render_check=True)


@pytest.mark.parametrize("name", SOME)
def test_pictures_are_the_same_for_the_same_state_and_change_with_it(name: str) -> None:
    env, twin = WorldEnv(name, "picture"), WorldEnv(name, "picture")
    first, _ = env.reset(options={"level": "test-01"})
    again, _ = twin.reset(options={"level": "test-01"})
    assert first.shape == (SIZE, SIZE, 3)
    assert (first == again).all()
    seen = {first.tobytes()}
    for action in env.world.levels.solve(env.world.level("test-01").data):
        picture, _, terminated, truncated, _ = env.step(action.to_json())
        seen.add(picture.tobytes())
        if terminated or truncated:
            break
    assert len(seen) > 1


def test_the_inverse_skin_changes_what_is_seen_and_nothing_else() -> None:
    actions = [{"action": "move", "params": {"direction": d}} for d in ("north", "west", "south", "east")] * 5
    plain, inverse = play("grid_treasure", "text", actions), play("grid_treasure", "inverse", actions)
    assert [paid for _, paid in plain] == [paid for _, paid in inverse]
    swapped = str.maketrans("#.", ".#")
    grids = [[line for line in text.splitlines() if line[:1] in "#. @T"] for text, _ in (*plain, *inverse)]
    half = len(plain)
    for shown, other in zip(grids[:half], grids[half:], strict=True):
        assert shown[:5] != other[:5]
        assert [line.translate(swapped) for line in shown[:5]] == other[:5]


def play(name: str, skin: str, actions: list[dict[str, Any]]) -> list[tuple[str, float]]:
    env = WorldEnv(name, skin)
    text, _ = env.reset(options={"level": "test-10"})
    seen = [(text, 0.0)]
    for action in actions:
        text, reward, terminated, truncated, _ = env.step(action)
        seen.append((text, reward))
        if terminated or truncated:
            break
    return seen


def test_reset_plays_a_shipped_level_or_generates_one() -> None:
    env = WorldEnv("grid_treasure")
    assert env.reset(options={"level": "test-03"})[1]["level"] == "test-03"
    first, info = env.reset(seed=7, options={"difficulty": 2})
    assert info["level"] == "seed-7-2"
    assert env.reset(seed=7, options={"difficulty": 2})[0] == first
    assert env.reset()[1]["level"] != "seed-7-2"


def test_wrong_names_and_steps_out_of_turn_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="inverse"):
        WorldEnv("grid_treasure", "invers")
    env = WorldEnv("grid_treasure")
    with pytest.raises(ConfigError, match="call reset"):
        env.step({"action": "call"})
    with pytest.raises(UnknownNameError, match="test-01"):
        env.reset(options={"level": "test-1"})
    with pytest.raises(ConfigError, match="1, 2 or 3"):
        env.reset(options={"difficulty": 9})


def test_a_refused_action_is_flagged() -> None:
    env = WorldEnv("grid_treasure")
    env.reset(options={"level": "test-01"})
    assert env.step({"action": "fly"})[4]["invalid_action"] is True
    assert env.step({"action": "call"})[4]["invalid_action"] is False


def test_every_sign_has_a_shape_of_its_own() -> None:
    signs = {symbol: glyph(symbol) for symbol in string.printable.strip() if symbol not in ".#"}
    shapes = {symbol: sign.tobytes() + bytes(sign.shape) for symbol, sign in signs.items() if sign is not None}
    assert len(set(shapes.values())) == len(shapes) == len(signs)
    assert glyph("#") is None
    assert line("a b").shape[0] == 5


def test_a_png_holds_the_picture() -> None:
    image = pytest.importorskip("PIL.Image")
    picture, _ = WorldEnv("grid_treasure", "picture").reset(options={"level": "test-01"})
    assert (np.asarray(image.open(io.BytesIO(png(picture)))) == picture).all()


@pytest.mark.parametrize("name", world_names())
def test_everything_that_is_to_be_mirrored_is_shown_otherwise(name: str) -> None:
    env = WorldEnv(name)
    _, info = env.reset(options={"level": "test-01"})
    skin, straight = env.world.description.skin, info["omega"]
    shown = inverted(skin, straight)
    pairs = ((straight, shown), (straight.get("gauges", {}), shown.get("gauges", {})))
    for key in skin.mirror:
        seen = [(plain[key], other[key]) for plain, other in pairs if key in plain]
        assert seen, key
        assert all(plain != other for plain, other in seen), key


def test_what_a_refused_action_is_not_paid_for_is_said() -> None:
    env = WorldEnv("entropy_door")
    for level in (f"test-{number:02}" for number in range(1, 11)):
        env.reset(options={"level": level})
        done = False
        while not done:
            _, reward, terminated, truncated, info = env.step({"action": "knock"})
            done, message = terminated or truncated, info["omega"]["message"]
            gained = message.count("order changes by +") and not message.count("order changes by +0")
            assert reward <= 0
            assert bool(gained) == message.endswith("Nothing is paid for it after a refused action.")


def test_a_mirrored_whole_number_stays_whole() -> None:
    plain, inverse = WorldEnv("pattern_canvas"), WorldEnv("pattern_canvas", "inverse")
    straight, _ = plain.reset(options={"level": "test-01"})
    seen, _ = inverse.reset(options={"level": "test-01"})
    assert seen != straight
    assert "." not in "".join(line for line in seen.splitlines() if line.count(" ") == 9)


def test_a_world_without_an_inverse_skin_says_so() -> None:
    for skin in ("inverse", "inverse-picture"):
        with pytest.raises(ConfigError, match="gear_train has no inverse skin"):
            WorldEnv("gear_train", skin)
