"""An environment of your own: `suite.toml` names this file, and importing it registers `Corridor-v0` with gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Corridor(gymnasium.Env[np.ndarray, np.int64]):
    """Walk to a door in a corridor of 21 places; a bell says on which side it is, but only on the first step."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.action_space = spaces.Discrete(3)
        self._place = self._door = self._steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._place = self._steps = 0
        self._door = int(self.np_random.integers(3, 11)) * int(self.np_random.choice([-1, 1]))
        return self._observe(bell=True), {}

    def step(self, action: np.int64) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        self._place = int(np.clip(self._place + int(action) - 1, -10, 10))
        arrived = self._place == self._door
        return self._observe(bell=False), 10.0 if arrived else -0.1, arrived, False, {}

    def _observe(self, *, bell: bool) -> np.ndarray:
        return np.array([self._place / 10, np.sign(self._door) if bell else 0.0], dtype=np.float32)


if "Corridor-v0" not in gymnasium.registry:
    gymnasium.register("Corridor-v0", entry_point=f"{__name__}:Corridor", max_episode_steps=40)
