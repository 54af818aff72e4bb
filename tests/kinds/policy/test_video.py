from __future__ import annotations

import json
import os

import numpy as np
import pytest

from heredity._core.errors import ConfigError, HostError
from heredity.kinds.policy.environments import environment_spec, installed, make
from heredity.kinds.policy.environments.making import prepare_drawing
from heredity.kinds.policy.environments.video import play, write_video

iio = pytest.importorskip("imageio.v3")
CARTPOLE = environment_spec("CartPole-v1")


@pytest.fixture(autouse=True)
def unchanged_environment(monkeypatch: pytest.MonkeyPatch):
    before = dict(os.environ)
    yield
    for name in set(os.environ) - set(before):
        del os.environ[name]
    os.environ.update(before)


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_a_video_has_one_frame_for_each_observation(tmp_path, suffix: str):
    path = tmp_path / "new" / f"episode{suffix}"
    result = play(CARTPOLE, path, seed=3, steps=5)
    assert (result.frames, result.steps, result.total_reward) == (6, 5, 5.0)
    frames = np.asarray(iio.imread(path))
    assert frames.shape[1:] == (400, 600, 3)
    # A gif shows one picture for longer where nothing moved.
    assert len(frames) == 6 if suffix == ".mp4" else 3 <= len(frames) <= 6
    assert frames[0].std() > 5


def test_png_writes_numbered_frames(tmp_path):
    result = play(CARTPOLE, tmp_path / "f.png", steps=2)
    assert result.path == str(tmp_path / "f-00000.png")
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"f-0000{i}.png" for i in range(3)]


def test_odd_sizes_are_padded_for_mp4(tmp_path):
    path = write_video([np.full((31, 33, 3), 200, np.uint8)] * 2, tmp_path / "odd.mp4")
    assert np.asarray(iio.imread(path)).shape[1:] == (32, 34, 3)


def test_the_same_seed_plays_the_same_episode(tmp_path):
    first, second = (play(CARTPOLE, tmp_path / f"{i}.gif", seed=8) for i in range(2))
    assert first.total_reward == second.total_reward
    assert (tmp_path / "0.gif").read_bytes() == (tmp_path / "1.gif").read_bytes()


def test_scripted_actions_are_played_until_they_run_out(tmp_path):
    script = tmp_path / "actions.jsonl"
    script.write_text("\n".join(map(json.dumps, [0, 1, 1])))
    assert play(CARTPOLE, tmp_path / "v.gif", actions=script).steps == 3


@pytest.mark.parametrize(
    ("text", "message"), [("0\n7", "action 2 is 7"), ("0\nleft", "line 2 is not JSON"), ('"left"', "action 1")]
)
def test_a_wrong_script_is_refused_with_its_place(tmp_path, text: str, message: str):
    script = tmp_path / "actions.jsonl"
    script.write_text(text)
    with pytest.raises(ConfigError, match=message):
        play(CARTPOLE, tmp_path / "v.gif", actions=script)


def test_a_missing_script_and_a_wrong_suffix_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="random, zero, or a file"):
        play(CARTPOLE, tmp_path / "v.gif", actions="randm")
    with pytest.raises(ConfigError, match=r"\.mp4, \.gif, \.png"):
        play(CARTPOLE, tmp_path / "v.avi")


def test_an_environment_without_pictures_says_so(tmp_path):
    with pytest.raises(ConfigError, match="cannot be drawn"):
        play(environment_spec("tests.kinds.policy.faulty:Sound-v0"), tmp_path / "v.gif")


def test_a_video_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match="could not be written"):
        play(CARTPOLE, tmp_path / "file" / "v.gif", steps=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "env_id", ["Taxi-v4", "CarRacing-v3", "Reacher-v5", "MiniGrid-FourRooms-v0", "roundabout-v0", "FetchPush-v4"]
)
@pytest.mark.parametrize("driver", [None, "dummy"])
def test_pictures_of_every_family_are_not_blank(env_id: str, driver: str | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SDL_VIDEODRIVER", raising=False)
    if driver:
        monkeypatch.setenv("SDL_VIDEODRIVER", driver)
    spec = environment_spec(env_id)
    if not installed(spec):
        pytest.skip(f"{spec.extra} is not installed")
    env = make(spec, render_mode="rgb_array")
    env.reset(seed=0)
    picture = np.asarray(env.render())
    env.close()
    assert picture.std() > 5


def test_without_a_drawing_backend_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    from heredity.kinds.policy.environments import making as drawing

    for name in ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(drawing, "_PROBE", "import sys; sys.exit(1)")
    with pytest.raises(HostError, match="apt-get install libosmesa6"):
        prepare_drawing("mujoco")


def test_what_the_user_chose_for_drawing_is_kept(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    prepare_drawing("mujoco")
    assert os.environ["MUJOCO_GL"] == "glfw"
