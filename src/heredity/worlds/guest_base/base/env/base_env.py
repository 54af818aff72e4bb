"""The three layers of an environment (AutoEnv, section 3.1 and appendix A), as the files of a world folder subclass them.

`BaseEnv` holds the dynamics and the whole state, `ObsEnv` says what of it is exposed, `SkinEnv` turns that into what an agent
sees, and has the step that they share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base_observation import ObservationPolicy


class BaseEnv:
    """State, actions, transition, reward and end.

    Args:
        env_id: names the environment.
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
        """Begin a level: load the one named `world_id`, or with the mode `"generate"` make one from a seed and load that."""
        raise NotImplementedError(_lacks(self, "reset"))

    def _load_world(self, world_id: str) -> Any:
        """Return the state in which a level begins."""
        raise NotImplementedError(_lacks(self, "_load_world"))

    def _generate_world(self, seed: int | None = None) -> str:
        """Write a level made from a seed, and return its name."""
        raise NotImplementedError(_lacks(self, "_generate_world"))

    def transition(self, action: Mapping[str, Any]) -> Any:
        """Apply `{"action": name, "params": {...}}` to the state, and return it."""
        raise NotImplementedError(_lacks(self, "transition"))

    def reward(self, action: Mapping[str, Any]) -> tuple[float, list[str], dict[str, Any]]:
        """Return what the last transition paid, the events in it, and more about them."""
        raise NotImplementedError(_lacks(self, "reward"))


class ObsEnv(BaseEnv):
    """Adds what is exposed of the state.

    Args:
        env_id: names the environment.
        obs_policy: chooses what is exposed.
    """

    def __init__(self, env_id: Any, obs_policy: ObservationPolicy) -> None:
        super().__init__(env_id)
        self.obs_policy = obs_policy

    def observe_semantic(self) -> Any:
        """Return what is exposed now."""
        raise NotImplementedError(_lacks(self, "observe_semantic"))


class SkinEnv(ObsEnv):
    """Adds what an agent sees, and the step."""

    def render_skin(self, omega: Any) -> Any:
        """Return what an agent sees of an observation."""
        raise NotImplementedError(_lacks(self, "render_skin"))

    def done(self, state: Any = None) -> bool:
        """Return whether the episode has ended: here, whether its steps are used up."""
        return bool(self._t >= self.configs["termination"]["max_steps"])

    def step(self, action: Mapping[str, Any]) -> tuple[Any, float, bool, dict[str, Any]]:
        """Take an action, and return the state, the reward, whether the episode has ended, and what else there is to say."""
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
    return f"{type(env).__name__} has no {method}; environments define it"
