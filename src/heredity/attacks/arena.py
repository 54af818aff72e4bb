"""`HeredityArena-v0`: an environment built as a target for attacks.

It gives one unit of reward per step, holds a secret in its state, and flags in `info` any action outside its space.
Importing this module registers it with gymnasium, as for every family of environments.
"""

from __future__ import annotations

import hashlib
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from heredity.kinds.policy.environments.spaces import describe_space
from heredity.tasks import TasksetInfo

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
