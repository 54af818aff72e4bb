"""Pictures of an episode: mp4, gif or png, without a screen.

Policies do not run here: actions are random, zero, or given. Policies are untrusted and run only in the engine, which
can keep frames; `write_video` turns those into a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heredity._core.errors import ConfigError, HostError, MissingExtraError
from heredity._core.outside import json_value, read_text
from heredity.kinds.policy.environments.spaces import action_from_json, zero_action
from heredity.kinds.policy.environments.spec import EnvironmentSpec

if TYPE_CHECKING:
    import gymnasium

SUFFIXES = (".mp4", ".gif", ".png")
"""Supported suffixes; `.png` writes one numbered file per frame."""

DEFAULT_FPS = 30


@dataclass(frozen=True, slots=True)
class Playback:
    """The result of playing an episode.

    Attributes:
        path: the video; for `.png` the first frame's file.
        frames: number of pictures.
        steps: steps taken.
        total_reward: sum of the rewards.
        terminated: true if the environment ended the episode.
        truncated: true if the horizon did.
    """

    path: str
    frames: int
    steps: int
    total_reward: float
    terminated: bool
    truncated: bool


def play(
    spec: EnvironmentSpec, path: Path, *, seed: int = 0, steps: int | None = None, actions: str | Path = "random"
) -> Playback:
    """Play one episode and write it as a video.

    Args:
        spec: the environment.
        path: output file; its suffix is one of `SUFFIXES`.
        seed: of the episode, and of random actions.
        steps: maximum number of steps; None plays to the end.
        actions: `"random"`, `"zero"`, or a file with one JSON action per line; the episode stops when they run out.

    Raises:
        ConfigError: if the suffix, the number of steps or the actions are wrong, or the environment cannot be rendered.
        MissingExtraError: if a dependency is not installed.
        HostError: if this machine cannot render, or the environment fails.
    """
    check_suffix(path)
    if steps is not None and steps < 1:
        raise ConfigError(f"{steps} steps asked for; give at least 1")
    env = _make_drawing(spec)
    try:
        frames, playback = _episode(env, spec, seed, steps, _actor(actions, seed))
        fps = int(env.metadata.get("render_fps") or DEFAULT_FPS)
    finally:
        env.close()
    first = write_video(frames, path, fps)
    return Playback(str(first), len(frames), *playback)


def write_video(frames: Sequence[np.ndarray], path: Path, fps: int = DEFAULT_FPS) -> Path:
    """Write frames as an mp4 or a gif, or as numbered png files `<stem>-00000.png` and on.

    Args:
        frames: pictures, (height, width, 3) uint8, all of one size.
        path: output file.
        fps: frames per second; gif players support at most 50.

    Returns:
        The file written, the first one for png.

    Raises:
        ConfigError: without frames, or if the suffix is unknown.
        MissingExtraError: if imageio or its ffmpeg is not installed.
        HostError: if the file cannot be written.
    """
    suffix = check_suffix(path)
    if not frames:
        raise ConfigError(f"there are no frames to write to {path}")
    try:
        import imageio.v3 as iio
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"writing {path.name}", "video") from error
    pictures = [_even(f) for f in frames] if suffix == ".mp4" else list(frames)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if suffix == ".png":
            files = [path.with_name(f"{path.stem}-{i:05d}.png") for i in range(len(pictures))]
            for file, picture in zip(files, pictures, strict=True):
                iio.imwrite(file, picture)
            return files[0]
        if suffix == ".gif":
            iio.imwrite(path, np.stack(pictures), duration=1000 / min(fps, 50), loop=0, plugin="pillow")
        else:
            iio.imwrite(path, np.stack(pictures), fps=fps, codec="libx264", macro_block_size=2, plugin="FFMPEG")
    except ImportError as error:
        raise MissingExtraError(f"writing {path.name}", "video") from error
    except OSError as error:
        raise HostError(f"{path} could not be written: {error}; choose another --video path") from error
    return path


def check_suffix(path: Path) -> str:
    """Return a video path's suffix in lower case.

    Raises:
        ConfigError: if it is not one of `SUFFIXES`.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise ConfigError(f"the video {str(path)!r} must end in one of {', '.join(SUFFIXES)}")
    return suffix


def _make_drawing(spec: EnvironmentSpec) -> gymnasium.Env[Any, Any]:
    from heredity.kinds.policy.environments.registry import make

    plain = make(spec)
    modes = plain.metadata.get("render_modes", [])
    plain.close()
    if "rgb_array" not in modes:
        raise ConfigError(f"{spec.id} cannot be drawn: its render modes are {', '.join(map(str, modes)) or 'none'}")
    return make(spec, render_mode="rgb_array")


def _episode(
    env: Any, spec: EnvironmentSpec, seed: int, steps: int | None, act: Callable[[Any, int], Any]
) -> tuple[list[np.ndarray], tuple[int, float, bool, bool]]:
    limit = min(steps or spec.max_episode_steps, spec.max_episode_steps)
    score, taken, terminated, truncated = 0.0, 0, False, False
    try:
        env.reset(seed=seed)
        env.action_space.seed(seed)
        frames = [_picture(env.render())]
        while taken < limit and not (terminated or truncated):
            action = act(env.action_space, taken)
            if action is None:
                break
            _, reward, terminated, truncated, _ = env.step(action)
            score, taken = score + float(reward), taken + 1
            frames.append(_picture(env.render()))
    except (ConfigError, HostError):
        raise
    except Exception as error:
        raise _explained(spec, error) from error
    return frames, (taken, score, bool(terminated), bool(truncated))


def _explained(spec: EnvironmentSpec, error: Exception) -> Exception:
    from gymnasium.error import DependencyNotInstalled

    if isinstance(error, DependencyNotInstalled | ModuleNotFoundError):
        return MissingExtraError(f"drawing {spec.id}", spec.extra or "classic")
    return HostError(f"{spec.id} failed while it was drawn: {error!r}")


def _actor(actions: str | Path, seed: int) -> Callable[[Any, int], Any]:
    if actions == "random":
        return lambda space, _: space.sample()
    if actions == "zero":
        return lambda space, _: zero_action(space)
    script = list(_read_actions(Path(actions)))

    def scripted(space: Any, step: int) -> Any:
        if step >= len(script):
            return None
        try:
            action = action_from_json(space, script[step])
        except (TypeError, ValueError, KeyError, IndexError) as error:
            raise _wrong_action(actions, step, script[step], space) from error
        if not space.contains(action):
            raise _wrong_action(actions, step, script[step], space)
        return action

    return scripted


def _wrong_action(path: str | Path, step: int, value: Any, space: Any) -> ConfigError:
    return ConfigError(f"{path}, action {step + 1} is {json.dumps(value)[:80]}, which is not in {space}")


def _read_actions(path: Path) -> Iterable[Any]:
    try:
        lines = read_text(path).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"actions {str(path)!r} cannot be read ({error}); give random, zero, or a file") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield json_value(line)
            except ValueError as error:
                raise ConfigError(f"{path}, line {number} is not JSON: {error}; give one action a line") from error


def _picture(frame: Any) -> np.ndarray:
    picture = np.asarray(frame)
    if picture.ndim != 3 or picture.shape[2] < 3:
        raise HostError(f"a frame has shape {picture.shape}; expected (height, width, 3)")
    return np.ascontiguousarray(picture[:, :, :3], dtype=np.uint8)


def _even(picture: np.ndarray) -> np.ndarray:
    # The video codec takes even sizes only.
    return np.pad(picture, ((0, picture.shape[0] % 2), (0, picture.shape[1] % 2), (0, 0)), mode="edge")
