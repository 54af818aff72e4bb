"""Definition of an attack, a short hostile program with the ways it must be stopped, and the environment it runs in.

`HeredityArena-v0` is built as a target: it gives one unit of reward per step, holds a secret in its state, and flags
in `info` any action outside its space. Importing this module registers it with gymnasium, as for every family of
environments.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from heredity.kinds.policy.environments.spaces import describe_space
from heredity.resources import SourceTree
from heredity.tasks import TasksetInfo

PRINTED = 1 << 18
"""Characters of stdout and of stderr kept from an attack's episode."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One attempt to escape, cheat or do damage.

    It succeeds if the host sees a planted secret in its output, a connection, a changed file, a dead process, a
    surviving thread, an unearned reward, an action outside the space, or a failure attributed to something other than
    the candidate. It also succeeds if the program reports that something forbidden worked, with a word given only to
    it.

    Attributes:
        name: unique, such as `"read-shadow"`.
        category: target of the attack.
        what: description, one line.
        program: `policy.py`; `kit.py` and `target.json` are in the same folder.
        files: further files of the program.
        action: the arena's action space: `"discrete"`, `"box"`, `"text"` or `"dict"`.
        rounds: number of concurrent episodes in each successive round.
        limits: fields of `Limits` that differ from the suite's.
        stopped_by: allowed statuses; empty allows all except a timeout.
        submit: turns its files into a program, for attacks on that step; gets a folder, a secret's path and the plain
            files.
    """

    name: str
    category: str
    what: str
    program: str
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    action: str = "discrete"
    rounds: tuple[int, ...] = (1,)
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    stopped_by: frozenset[str] = frozenset()
    submit: Callable[[Path, Path, Mapping[str, str]], SourceTree] | None = None


TIMEOUTS = frozenset({"rollout_timeout", "init_timeout"})
"""Statuses of a program stopped by a timeout."""


def policy(act: str = "return 0", *, top: str = "", init: str = "", reset: str = "") -> str:
    """Return a `policy.py` around the lines of an attack.

    Args:
        act: lines of `act(self, obs)`, where `self.t` counts calls from 1; it then returns the action 0.
        top: lines run on import.
        init: lines of the constructor, with access to `obs_space`, `action_space` and `env_meta`.
        reset: lines of `reset(self, episode_index)`.
    """
    bodies = [textwrap.indent(textwrap.dedent(part).strip() or "pass", " " * 8) for part in (init, reset, act)]
    return (
        "import ctypes, json, os, struct, sys, threading, time\n"
        "from kit import *\n"
        f"{textwrap.dedent(top).strip()}\n\n"
        "class Policy:\n"
        f"    def __init__(self, obs_space, action_space, env_meta):\n        self.t = 0\n{bodies[0]}\n"
        f"    def reset(self, episode_index):\n        self.index = episode_index\n{bodies[1]}\n"
        f"    def act(self, obs):\n        self.t += 1\n{bodies[2]}\n        return 0\n"
    )


ARENA_ID = "HeredityArena-v0"
STEPS = 4
"""Length of an episode."""


def state_secret(seed: int) -> str:
    """Return the secret in the arena's state for the episode of a seed."""
    return "CANARY-" + hashlib.sha256(f"arena {seed}".encode()).hexdigest()[:32]


def action_space(kind: str) -> spaces.Space[Any]:
    """Return one of the arena's action spaces."""
    box = spaces.Box(-1.0, 1.0, (2,), np.float32)
    made: dict[str, spaces.Space[Any]] = {
        "discrete": spaces.Discrete(4),
        "box": box,
        "text": spaces.Text(16),
        "dict": spaces.Dict({"move": box, "word": spaces.Text(16), "pick": spaces.Discrete(3)}),
    }
    return made[kind]


class Arena(gymnasium.Env[np.ndarray, Any]):
    """The environment; see the module.

    Args:
        action: kind of its action space (`action_space`).
        render_mode: ignored.
    """

    def __init__(self, action: str = "discrete", render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self.observation_space = spaces.Box(0.0, STEPS, (2,), np.float32)
        self.action_space = action_space(action)
        self._secret, self._step = "", 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self._secret, self._step = state_secret(seed or 0), 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Count a step and flag invalid actions."""
        self._step += 1
        plain = type(action) in (int, str, dict, np.ndarray) and self.action_space.contains(action)
        return self._observation(), 1.0, False, self._step >= STEPS, {"foreign": not plain}

    def _observation(self) -> np.ndarray:
        return np.array([self._step, 0.0], dtype=np.float32)


gymnasium.register(ARENA_ID, f"{__name__}:Arena", max_episode_steps=STEPS)


def arena(action: str) -> TasksetInfo:
    """Return the arena as a taskset with one of its action spaces."""
    spec = {
        "env_id": ARENA_ID,
        "entry_id": ARENA_ID,
        "kwargs": {"action": action},
        "modules": [__name__],
        "max_episode_steps": STEPS,
    }
    observed = spaces.Box(0.0, STEPS, (2,), np.float32)
    public = {
        "env": ARENA_ID,
        "max_episode_steps": STEPS,
        "obs_space": describe_space(observed),
        "action_space": describe_space(action_space(action)),
    }
    return TasksetInfo(ARENA_ID, "1", "episode", spec, public, "", 0.0)
