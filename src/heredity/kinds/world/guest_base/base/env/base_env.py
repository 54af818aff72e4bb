"""The three layers of an environment (AutoEnv, section 3.1 and appendix A), as the files of a world folder subclass them.

`BaseEnv` holds the dynamics and the full state. `ObsEnv` selects the exposed part. `SkinEnv` renders it for the agent
and has the shared step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base_observation import ObservationPolicy


class BaseEnv:
    """State, actions, transition, reward and end.

    Args:
        env_id: the environment's name.
    """

    def __init__(self, env_id: Any) -> None:
        self.env_id = env_id
        self._t = 0
        self._history: list[Any] = []
        self._state: Any = None
        self.configs: Any = None
        self._last_action_result: Any = None
        self._dsl_config()

    def _dsl_config(self) -> None:
        """Read the environment's `config.yaml` into `configs`."""
        raise NotImplementedError(_lacks(self, "_dsl_config"))

    def reset(self, mode: str = "load", world_id: str | None = None, seed: int | None = None) -> Any:
        """Start a level: load the one named `world_id`, or with the mode `"generate"` make one from a seed and load that."""
        raise NotImplementedError(_lacks(self, "reset"))

    def _load_world(self, world_id: str) -> Any:
        """Return the initial state of a level."""
        raise NotImplementedError(_lacks(self, "_load_world"))

    def _generate_world(self, seed: int | None = None) -> str:
        """Write a level generated from a seed, and return its name."""
        raise NotImplementedError(_lacks(self, "_generate_world"))

    def transition(self, action: Mapping[str, Any]) -> Any:
        """Apply `{"action": name, "params": {...}}` to the state, and return it."""
        raise NotImplementedError(_lacks(self, "transition"))

    def reward(self, action: Mapping[str, Any]) -> tuple[float, list[str], dict[str, Any]]:
        """Return the reward of the last transition, its events, and further information."""
        raise NotImplementedError(_lacks(self, "reward"))


class ObsEnv(BaseEnv):
    """Adds the observation.

    Args:
        env_id: the environment's name.
        obs_policy: selects the exposed part of the state.
    """

    def __init__(self, env_id: Any, obs_policy: ObservationPolicy) -> None:
        super().__init__(env_id)
        self.obs_policy = obs_policy

    def observe_semantic(self) -> Any:
        """Return the current observation."""
        raise NotImplementedError(_lacks(self, "observe_semantic"))


class SkinEnv(ObsEnv):
    """Adds rendering and the step."""

    def render_skin(self, omega: Any) -> Any:
        """Return the agent's view of an observation."""
        raise NotImplementedError(_lacks(self, "render_skin"))

    def done(self, state: Any = None) -> bool:
        """Return True if the episode has ended: by default, if its steps are used up."""
        return bool(self._t >= self.configs["termination"]["max_steps"])

    def step(self, action: Mapping[str, Any]) -> tuple[Any, float, bool, dict[str, Any]]:
        """Take an action, and return the state, the reward, whether the episode has ended, and further information."""
        self._last_action_result = None
        state = self.transition(action)
        reward, events, reward_info = self.reward(action)
        self._t += 1
        observed = self.observe_semantic()
        seen = self.render_skin(observed)
        info = {
            "raw_obs": observed,
            "skinned": seen,
            "events": events,
            "reward_info": reward_info,
            "last_action_result": self._last_action_result,
        }
        return state, reward, self.done(state), info


def _lacks(env: object, method: str) -> str:
    return f"{type(env).__name__} has no {method}; environments must define it"
