"""The trusted side of one episode: its environment, its record and its end."""

from __future__ import annotations

import copy
import io
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import OrderEnforcing, TimeLimit

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import MissingExtraError
from heredity.engine.trajectory import Column, Failure, Trajectory, to_json
from heredity.results.status import PROGRAM_FAILURES, FailureSource, Status
from heredity.sandbox.guest.codec import Codec
from heredity.sandbox.limits import Limits


class Recorder:
    """Columns of one episode.

    Attributes:
        observations: one entry per observation so far: encoded bytes while `exact`, values otherwise.
        exact: true while every observation has had exactly the type and shape of its space.
        actions: the policy's actions, as bytes.
        rewards: one float per step.
        infos: one mapping per step.
        repaired: steps whose action was outside its space and was clipped.
    """

    __slots__ = (
        "_action_codec",
        "_copied",
        "_dtype",
        "_observation_codec",
        "_shape",
        "actions",
        "exact",
        "infos",
        "observations",
        "repaired",
        "rewards",
    )

    def __init__(self, observation_codec: Codec, action_codec: Codec) -> None:
        self._observation_codec, self._action_codec = observation_codec, action_codec
        self._copied: tuple[str, ...] | None = None
        leaf = observation_codec.array_leaf
        self._dtype, self._shape = (leaf.dtype, leaf.shape) if leaf else (None, ())
        self.observations: list[Any] = []
        self.exact = observation_codec.leaves is not None
        self.actions: list[bytes] = []
        self.rewards: list[float] = []
        self.infos: list[Mapping[str, Any]] = []
        self.repaired: list[int] = []

    def observe(self, value: Any) -> bytes | None:
        """Record an observation; return its encoding, or None if it must be pickled."""
        if self.exact:
            # By far the most frequent case, without a call: one array that matches its space.
            if type(value) is np.ndarray and value.dtype == self._dtype and value.shape == self._shape:
                data = value.tobytes()
                self.observations.append(data)
                return data
            data = self._observation_codec.encode_exact(value)
            if data is not None:
                self.observations.append(data)
                return data
            self.exact = False
            self.observations = [copy.deepcopy(self._observation_codec.decode(d)) for d in self.observations]
        self.observations.append(copy.deepcopy(value))
        return None

    def keep_info(self, info: Mapping[str, Any]) -> None:
        """Record a step's info; values that the environment may modify later are copied."""
        if self._copied is None:
            self._copied = tuple(k for k, v in info.items() if not isinstance(v, int | float | str | bool | np.generic))
        if self._copied:
            info = {**info, **{k: copy.deepcopy(info[k]) for k in self._copied if k in info}}
        self.infos.append(info)

    def columns(self, *, terminated: bool, truncated: bool) -> dict[str, Column]:
        """Return the episode as columns (see `Trajectory`)."""
        steps = len(self.rewards)
        ends = {"terminated": terminated, "truncated": truncated}
        columns: dict[str, Column] = {}
        if self.exact:
            leaves = self._observation_codec.columns(b"".join(self.observations), len(self.observations))
            columns.update((f"obs/{name}" if name else "obs", array) for name, array in leaves.items())
        else:
            columns["obs"] = [to_json(o) for o in self.observations]
        if self._action_codec.leaves is not None:
            leaves = self._action_codec.columns(b"".join(self.actions), len(self.actions))
            columns.update((f"action/{name}" if name else "action", array) for name, array in leaves.items())
        else:
            columns["action"] = [a[4:].decode("utf-8", "replace") for a in self.actions]
        columns["reward"] = np.array(self.rewards, dtype=np.float64)
        for name, value in ends.items():
            column = np.zeros(steps, dtype=np.bool_)
            if steps:
                column[-1] = value
            columns[name] = column
        columns.update(self._info_columns(steps))
        return columns

    def _info_columns(self, steps: int) -> dict[str, Column]:
        columns: dict[str, Column] = {}
        for key in dict.fromkeys(k for info in self.infos for k in info):
            values = [info.get(key) for info in self.infos]
            values += [None] * (steps - len(values))
            columns[f"info/{key}"] = _column(values)
        if self.repaired:
            flags = np.zeros(steps, dtype=np.bool_)
            flags[[step for step in self.repaired if step < steps]] = True
            columns["info/invalid_action"] = flags
        return columns


def _column(values: list[Any]) -> Column:
    first = values[0] if values else None
    if isinstance(first, bool | int | float | np.bool_ | np.integer | np.floating):
        try:
            array = np.array(values)
        except (ValueError, OverflowError):
            return [to_json(v) for v in values]
        if array.dtype.kind in "biuf":
            return array
    return [to_json(v) for v in values]


_VIDEO = "video.mp4"


class MediaRecorder:
    """Keeps rendered frames of one episode.

    Args:
        wanted: `{"video": true}` for an mp4 of every frame, `{"frames": n}` for every n-th frame as PNG; both may be given.
    """

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        self._every = int(wanted.get("frames") or 0)
        self._video: Any = None
        self._folder: EngineFolder | None = None
        self._wants_video = bool(wanted.get("video"))
        self._files: dict[str, bytes] = {}
        self._count = 0

    def keep(self, env: gymnasium.Env[Any, Any]) -> None:
        """Render the environment's current state."""
        frame = np.asarray(env.render())
        if self._wants_video:
            self._video = self._video or self._open(env)
            self._video.append_data(frame)
        if self._every and self._count % self._every == 0:
            buffer = io.BytesIO()
            _imageio().imwrite(buffer, frame, format="png")
            self._files[f"frames/{self._count:05d}.png"] = buffer.getvalue()
        self._count += 1

    def files(self) -> dict[str, bytes]:
        """Finish the video and return every file: name to content."""
        if self._video is not None:
            self._video.close()
            assert self._folder is not None
            self._files[_VIDEO] = (self._folder.path / _VIDEO).read_bytes()
            self._folder.remove()
            self._video = None
        return self._files

    def _open(self, env: gymnasium.Env[Any, Any]) -> Any:
        self._folder = EngineFolder()
        fps = env.metadata.get("render_fps") or 30
        return _imageio().get_writer(self._folder.path / _VIDEO, fps=fps, macro_block_size=2)


def _imageio() -> Any:
    try:
        import imageio.v2 as imageio
    except ImportError as error:
        raise MissingExtraError("recording pictures", "video") from error
    return imageio


_OF_POLICIES = PROGRAM_FAILURES | {Status.INVALID_ACTION}


@dataclass(frozen=True, slots=True)
class Rollout:
    """One job for the environment worker (pickled by the trusted host).

    Attributes:
        request: the runner's call that it belongs to.
        position: its position in that call.
        task_id: for the trajectory.
        candidate: digest, for the trajectory.
        program: folder of the program's files.
        environment: the taskset's spec: how to build the environment.
        profile: space descriptions (`obs`, `action`) and `meta` (JSON text) for the policy.
        task: seed and options of the episode. Secret: stays in this process.
        episode_index: argument of `reset`.
        policy_seed: seeds the policy's generators.
        media: what to record in addition to the columns: `{"video": true}`, `{"frames": every}`.
        limits: its limits.
        lockstep: maximum episodes that share one policy process.
    """

    request: int
    position: int
    task_id: str
    candidate: str
    program: str
    environment: Mapping[str, Any]
    profile: Mapping[str, Any]
    task: Mapping[str, Any]
    episode_index: int
    policy_seed: int
    media: Mapping[str, Any]
    limits: Limits
    lockstep: int


class Episode:
    """One running episode."""

    __slots__ = (
        "ended",
        "env",
        "horizon",
        "media",
        "output",
        "recorder",
        "rollout",
        "started",
        "step",
        "terminated",
        "total",
        "truncated",
    )

    def __init__(self, rollout: Rollout, env: gymnasium.Env[Any, Any], recorder: Recorder) -> None:
        self.rollout, self.env, self.recorder = rollout, env, recorder
        self.step, self.horizon = _bare_step(env)
        self.media = MediaRecorder(rollout.media) if rollout.media else None
        self.output = ["", ""]
        self.started = time.perf_counter()
        self.total = 0.0
        self.ended = self.terminated = self.truncated = False

    def reset(self) -> bytes | None:
        """Start the episode; return the encoded first observation, or None if it must be pickled."""
        task = self.rollout.task
        observation, _ = self.env.reset(seed=task["seed"], options=task.get("options") or None)
        if self.media:
            self.media.keep(self.env)
        return self.recorder.observe(observation)

    def print(self, out: str, err: str) -> None:
        """Keep the policy's output, up to the limit."""
        limit = self.rollout.limits.output_bytes
        for index, text in enumerate((out, err)):
            self.output[index] = (self.output[index] + text)[:limit]

    def trajectory(self, failure: Failure | None, failure_source: FailureSource | None = None) -> Trajectory:
        """Return the record of the ended episode.

        Args:
            failure: the failure; None when ok.
            failure_source: source of the failure; implied by the failure's category by default.
        """
        if failure_source is None and failure is not None:
            failure_source = FailureSource.CANDIDATE if failure.category in _OF_POLICIES else FailureSource.HOST
        return Trajectory(
            task_id=self.rollout.task_id,
            candidate=self.rollout.candidate,
            status=failure.category if failure else Status.OK,
            failure_source=failure_source or FailureSource.NONE,
            total_reward=float(self.total),
            length=len(self.recorder.rewards),
            terminated=self.terminated,
            columns=self.recorder.columns(terminated=self.terminated, truncated=self.truncated),
            stdout=self.output[0],
            stderr=self.output[1],
            failure=failure,
            media=self.media.files() if self.media else {},
            seconds=time.perf_counter() - self.started,
        )


def _bare_step(
    env: gymnasium.Env[Any, Any],
) -> tuple[Callable[[Any], tuple[Any, Any, bool, bool, dict[str, Any]]], float]:
    """Return an environment's step function and its horizon.

    The two wrappers that `gymnasium.make` adds to every environment count steps and check that `reset` came first.
    Both hold here anyway, so they are bypassed: this saves a tenth of a light environment's step. Other wrappers stay
    in place.
    """
    horizon = math.inf
    while isinstance(env, gymnasium.Wrapper) and type(env) in (TimeLimit, OrderEnforcing):
        if isinstance(env, TimeLimit):
            horizon = min(horizon, float(getattr(env, "_max_episode_steps")))  # noqa: B009 - it has no public name
        env = env.env
    return env.step, horizon


class EnvironmentPool:
    """Idle environments by specification, so that each is built once."""

    def __init__(
        self, build: Callable[[Mapping[str, Any], str | None], gymnasium.Env[Any, Any]], limit: int = 64
    ) -> None:
        self._build, self._limit = build, limit
        self._idle: dict[str, list[gymnasium.Env[Any, Any]]] = {}

    def take(self, key: str, spec: Mapping[str, Any], render_mode: str | None) -> gymnasium.Env[Any, Any]:
        """Return an idle environment of this kind, or a new one."""
        idle = self._idle.get(key)
        return idle.pop() if idle else self._build(spec, render_mode)

    def give(self, key: str, env: gymnasium.Env[Any, Any]) -> None:
        """Keep an environment for the next episode; close the least recently used when there are too many."""
        mine = self._idle.pop(key, [])
        mine.append(env)
        self._idle[key] = mine
        while sum(map(len, self._idle.values())) > self._limit:
            oldest = next(iter(self._idle))
            self._idle[oldest].pop().close()
            if not self._idle[oldest]:
                del self._idle[oldest]

    def close(self) -> None:
        """Close every idle environment."""
        for envs in self._idle.values():
            for env in envs:
                env.close()
        self._idle.clear()
