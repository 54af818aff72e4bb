"""A world as a Gymnasium environment: one set of rules, any observation policy, any skin."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from heredity._core.errors import ConfigError, RefusedError
from heredity._core.ids import generator
from heredity.kinds.world.description import ActionDescription
from heredity.kinds.world.episode import Episode, listed_actions, read_action, sample_action
from heredity.kinds.world.pictures import SIZE
from heredity.kinds.world.skins import check_skin, inverted, picture, render
from heredity.kinds.world.world import DIFFICULTIES, Level, World, world


class ActionSpace(gymnasium.Space[dict[str, Any]]):
    """All actions of a world, `{"action": name, "params": {...}}`; `sample` draws a name, then parameters, uniformly."""

    def __init__(self, actions: Mapping[str, ActionDescription], seed: int | np.random.Generator | None = None) -> None:
        self.actions = dict(actions)
        super().__init__(None, None, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Draw an action; masks are not supported and must be omitted."""
        return sample_action(self.np_random, self.actions).to_json()

    def contains(self, x: Any) -> bool:
        """Return True if `x` is one of these actions."""
        try:
            read_action(x, self.actions)
        except RefusedError:
            return False
        return True

    @property
    def is_np_flattenable(self) -> bool:
        """Always False: parameters have different types."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ActionSpace) and other.actions == self.actions

    def __hash__(self) -> int:
        return hash(tuple(self.actions))

    def __repr__(self) -> str:
        return f"ActionSpace({', '.join(self.actions)})"

    def describe(self) -> list[dict[str, Any]]:
        """Return the actions as shown to agents: name, description, parameters."""
        return listed_actions(self.actions)


_MAX_TEXT = 20_000


class WorldEnv(gymnasium.Env[Any, dict[str, Any]]):
    """A world of the library.

    Observations are texts (skins `text`, `inverse`) or pictures, uint8 of shape (160, 160, 3) (`picture`,
    `inverse-picture`). Actions are `{"action": name, "params": {...}}`; a refused action costs its step. `reset` plays
    the level named in its options (`{"level": "test-01"}`), or generates one from the seed (`{"difficulty": 2}` sets
    the difficulty). `info` holds the level's name and bound, the exposed values (`omega`), and whether the action was
    refused.

    Args:
        name: the world, or its name.
        skin: one of `SKINS`.

    Raises:
        UnknownNameError: if the world or the skin is unknown.
    """

    metadata: ClassVar[dict[str, Any]] = {  # pyright: ignore[reportIncompatibleVariableOverride] - as gymnasium's own environments do
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(self, name: str | World, skin: str = "text", render_mode: str | None = None) -> None:
        self.world = name if isinstance(name, World) else world(name)
        self.skin, self.render_mode = skin, render_mode
        check_skin(self.world.name, self.world.description.skin, skin)
        self.action_space = ActionSpace(self.world.description.actions)
        picture = spaces.Box(0, 255, (SIZE, SIZE, 3), np.uint8)
        self.observation_space: gymnasium.Space[Any] = (
            picture if skin.endswith("picture") else spaces.Text(_MAX_TEXT, min_length=0, charset=string.printable)
        )
        self.level: Level | None = None
        self._episode: Episode | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Raises:
            UnknownNameError: if the level is unknown.
            ConfigError: if the difficulty is not 1, 2 or 3.
        """
        super().reset(seed=seed)
        given = options or {}
        if "level" in given:
            self.level = self.world.level(given["level"])
        else:
            difficulty = given.get("difficulty", 1)
            if difficulty not in DIFFICULTIES:
                raise ConfigError(f"difficulty is {difficulty!r}; expected 1, 2 or 3")
            drawn = int(self.np_random.integers(1 << 31)) if seed is None else seed
            self.level = self.world.make(drawn, difficulty)
        self._episode = self.world.start(self.level.data)
        return self._observation(refused=False)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action.

        Raises:
            ConfigError: if no episode is in progress.
        """
        if self._episode is None or self._episode.done:
            raise ConfigError("no episode is in progress; call reset first")
        step = self._episode.step(action)
        observation, info = self._observation(refused=step.refused)
        return observation, step.reward, step.terminated, step.truncated, info

    def render(self) -> Any:
        """Return the current text (`ansi`) or picture (`rgb_array`)."""
        if self._episode is None or self.render_mode is None:
            return None
        omega = self._omega()
        skin = self.world.description.skin
        return picture(skin, omega) if self.render_mode == "rgb_array" else render(skin, omega)

    def random_action(self, seed: int) -> dict[str, Any]:
        """Return a random action from a seed, for examples."""
        space = ActionSpace(self.world.description.actions, generator(seed, "world", self.world.name, "action"))
        return space.sample()

    def _omega(self) -> dict[str, Any]:
        assert self._episode is not None
        omega = self._episode.observe()
        return inverted(self.world.description.skin, omega) if self.skin.startswith("inverse") else omega

    def _observation(self, *, refused: bool) -> tuple[Any, dict[str, Any]]:
        assert self.level is not None
        omega, skin = self._omega(), self.world.description.skin
        observation = picture(skin, omega) if self.skin.endswith("picture") else render(skin, omega)
        info = {
            "level": self.level.id,
            "bound": self.level.upper_bound.value,
            "omega": omega,
            "invalid_action": refused,
        }
        return observation, info
