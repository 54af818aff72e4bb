"""The trusted side of one episode: its environment, its record, and how it ended."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
from gymnasium.wrappers import OrderEnforcing, TimeLimit

from heredity.results.status import PROGRAM_FAILURES, FailureSource, Status
from heredity.rollouts.episode.media import MediaRecorder
from heredity.rollouts.episode.recorder import Recorder
from heredity.rollouts.trajectory import Failure, Trajectory
from heredity.sandbox.limits import Limits

_OF_POLICIES = PROGRAM_FAILURES | {Status.INVALID_ACTION}


@dataclass(frozen=True, slots=True)
class Rollout:
    """One job as the environment worker gets it (pickled from the trusted host).

    Attributes:
        request: which call of the runner it belongs to.
        position: its place in that call.
        task_id: for the trajectory.
        candidate: digest, for the trajectory.
        program: folder of the program's files.
        environment: the taskset's spec: how to build the environment.
        profile: space descriptions (`obs`, `action`) and `meta` (JSON text) for the policy.
        task: seed and options of the episode. Secret: stays in this process.
        episode_index: what `reset` is told.
        policy_seed: seeds the policy's generators.
        media: what to record beside the columns: `{"video": true}`, `{"frames": every}`.
        limits: what it may use.
        lockstep: how many episodes may share one policy process.
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
        """Start the episode; return the encoded first observation, None if it has to travel pickled."""
        task = self.rollout.task
        observation, _ = self.env.reset(seed=task["seed"], options=task.get("options") or None)
        if self.media:
            self.media.keep(self.env)
        return self.recorder.observe(observation)

    def print(self, out: str, err: str) -> None:
        """Keep what the policy printed, up to the limit."""
        limit = self.rollout.limits.output_bytes
        for index, text in enumerate((out, err)):
            self.output[index] = (self.output[index] + text)[:limit]

    def trajectory(self, failure: Failure | None, failure_source: FailureSource | None = None) -> Trajectory:
        """Return the record of the episode as it ended.

        Args:
            failure: what went wrong; None when ok.
            failure_source: whose fault; by default what the failure's category implies.
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
    """Return what steps an environment, and after how many steps it is cut.

    The two wrappers that `gymnasium.make` puts around everything count steps and check that `reset` came first. Both hold here
    anyway, so they are passed by: a step of a light environment takes a tenth less. Any other wrapper is left in place.
    """
    horizon = math.inf
    while isinstance(env, gymnasium.Wrapper) and type(env) in (TimeLimit, OrderEnforcing):
        if isinstance(env, TimeLimit):
            horizon = min(horizon, float(getattr(env, "_max_episode_steps")))  # noqa: B009 - it has no public name
        env = env.env
    return env.step, horizon


class EnvironmentPool:
    """Environments that are idle, by what they were built from, so that building one is paid for once."""

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
