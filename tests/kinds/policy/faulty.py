"""Small environments with one fault each, and one without; importing this module registers them."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces


class Sound(gymnasium.Env[np.ndarray, int]):
    """A random walk on a line towards either end."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-10.0, 10.0, (2,), np.float64)
        self.action_space = spaces.Discrete(2)
        self.state = np.zeros(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.state = self.np_random.uniform(-1, 1, 2)
        return self.state.copy(), {}

    def step(self, action: int) -> tuple[Any, Any, Any, Any, Any]:
        self.state[0] += action - 0.5 + 0.1 * self.np_random.normal()
        reward: Any = -abs(float(self.state[0]))
        return self.state.copy(), reward, bool(abs(self.state[0]) > 4), False, {}


class Leaky(Sound):
    """Remembers how many episodes there were."""

    episodes = 0

    def reset(self, **options: Any) -> tuple[Any, Any]:
        self.episodes += 1
        observation, info = super().reset(**options)
        self.state[1] = observation[1] = 0.01 * self.episodes
        return observation, info


class Unseeded(Sound):
    """Draws from numpy's process-wide generator."""

    def reset(self, **options: Any) -> tuple[Any, Any]:
        observation, info = super().reset(**options)
        self.state[0] = observation[0] = np.random.uniform(-1, 1)
        return observation, info


class Outside(Sound):
    """Leaves its observation space."""

    def step(self, action: int) -> tuple[Any, Any, Any, Any, Any]:
        _, *rest = super().step(action)
        return np.array([99.0, 0.0]), *rest


class Infinite(Sound):
    """Gives a reward that is not finite."""

    def step(self, action: int) -> tuple[Any, Any, Any, Any, Any]:
        observation, _, *rest = super().step(action)
        return observation, float("nan"), *rest


class Aliased(Sound):
    """Returns its own state array."""

    def step(self, action: int) -> tuple[Any, Any, Any, Any, Any]:
        _, *rest = super().step(action)
        return self.state, *rest


class Mistyped(Sound):
    """Returns integers for flags."""

    def step(self, action: int) -> tuple[Any, Any, Any, Any, Any]:
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, int(terminated), truncated, info


class Constant(Sound):
    """Ignores its seed."""

    def reset(self, **options: Any) -> tuple[Any, Any]:
        return super().reset(**{**options, "seed": 0})


class Raising(Sound):
    """Fails in a step."""

    def step(self, action: int) -> tuple[Any, Any, Any, Any, Any]:
        raise ZeroDivisionError("the wheel came off")


class Unclosable(Sound):
    """Fails when it is closed a second time."""

    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class Overlong(Sound):
    """Never ends, although it declares a horizon through a specification that nothing enforces."""

    def step(self, action: int) -> tuple[Any, Any, Any, Any, Any]:
        observation, reward, _, truncated, info = super().step(action)
        self.state[0] = np.clip(self.state[0], -5, 5)
        return observation, reward, False, truncated, info


for _kind in (Sound, Leaky, Unseeded, Raising):
    gymnasium.register(f"{_kind.__name__}-v0", entry_point=_kind, max_episode_steps=50)
gymnasium.register("Endless-v0", entry_point=Overlong)
