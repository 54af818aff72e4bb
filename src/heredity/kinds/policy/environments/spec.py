"""Environment specifications: one frozen value per environment, and its family."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from heredity._core.errors import ConfigError

Group = Literal["synthesis", "tuning"]
Storage = Literal["inline", "external"]


@dataclass(frozen=True, slots=True)
class EnvironmentSpec:
    """One environment that policies can be evaluated in. Returns are sums of rewards: higher is better.

    Attributes:
        id: its name, such as `"CartPole-v1"`.
        family: label of the simulator family.
        entry_id: id for `gymnasium.make`.
        max_episode_steps: horizon; an episode is truncated after this many steps at the latest.
        failure_return: upper bound of a failed episode's return. Where the rewards are bounded it is the lowest
            possible return of an episode; otherwise a documented value below the returns of uniform random actions.
        description: the task in Markdown: goal, observations, actions, rewards, units, bounds, source.
        kwargs: further keyword arguments of `gymnasium.make` (JSON values).
        group: `"synthesis"` where a policy needs structure (pixels, symbolic plans), `"tuning"` where a known structure
            needs good constants (EvoPolicyGym, section 5.1).
        reward_components: keys of `info` whose values are terms of the reward.
        obs_storage: `"external"` for observations too large for text, such as pictures; else `"inline"`.
        core16: true for EvoPolicyGym's Core16.
        extra: the optional dependency (`heredity[extra]`) that installs it; None if nothing more is needed.
        modules: modules to import so that gymnasium knows `entry_id`.
        requires: top-level modules that must be installed.
        packages: distributions whose versions can change a score.
        renew: true if episodes leave traces inside the simulator, so that each needs a new one to be reproducible.
        constant: true if the seed changes nothing: every episode starts and responds alike.
        assumed_horizon: true if `max_episode_steps` is our default because the environment declares none.
        child: true for a user environment, which runs in a separate process (see
            `heredity.kinds.policy.environments.child`).
        measured: the lowest and the highest return of random actions, if `failure_return` is derived from them.
        notes: remarks on the measurement, such as that it failed once.
    """

    id: str
    family: str
    entry_id: str
    max_episode_steps: int
    failure_return: float
    description: str
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    group: Group = "tuning"
    reward_components: tuple[str, ...] = ()
    obs_storage: Storage = "inline"
    core16: bool = False
    extra: str | None = None
    modules: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    packages: tuple[str, ...] = ("gymnasium",)
    renew: bool = False
    constant: bool = False
    assumed_horizon: bool = False
    child: bool = False
    measured: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "kwargs", MappingProxyType(dict(self.kwargs)))
        if not self.id or not self.entry_id:
            raise ConfigError(f"an environment needs an id and an entry id; got {self.id!r} and {self.entry_id!r}")
        if self.max_episode_steps < 1:
            raise ConfigError(
                f"{self.id}: max_episode_steps is {self.max_episode_steps}; give a positive number of steps"
            )
        if not math.isfinite(self.failure_return):
            raise ConfigError(
                f"{self.id}: failure_return is {self.failure_return}; give a finite lower bound of a return"
            )

    def to_worker(self) -> dict[str, Any]:
        """Return the data for rebuilding the environment in another process, as JSON values (see `make_from_spec`)."""
        return {
            "env_id": self.id,
            "family": self.family,
            "entry_id": self.entry_id,
            "kwargs": dict(self.kwargs),
            "modules": list(self.modules),
            "max_episode_steps": self.max_episode_steps,
            "renew": self.renew,
            "extra": self.extra,
            **({"child": True} if self.child else {}),
        }


@dataclass(frozen=True, slots=True)
class Family:
    """Common properties of one simulator's environments.

    Attributes:
        name: label, such as `"mujoco"`.
        extra: see `EnvironmentSpec.extra`.
        modules: see `EnvironmentSpec.modules`.
        requires: see `EnvironmentSpec.requires`.
        packages: see `EnvironmentSpec.packages`.
        notes: Markdown appended to the description of each of its environments.
        group: default group of its environments.
    """

    name: str
    notes: str
    extra: str | None = None
    modules: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    packages: tuple[str, ...] = ("gymnasium",)
    group: Group = "tuning"

    def spec(self, env_id: str, *, description: str, **fields: Any) -> EnvironmentSpec:
        """Return the specification of one environment of this family.

        Args:
            env_id: its id, also used for `gymnasium.make`.
            description: its description; the family's notes are appended.
            **fields: further fields of `EnvironmentSpec`, over those of the family.
        """
        common: dict[str, Any] = {
            "group": self.group,
            "extra": self.extra,
            "modules": self.modules,
            "requires": self.requires,
            "packages": self.packages,
        }
        text = f"{description.strip()}\n\n{self.notes.strip()}"
        return EnvironmentSpec(env_id, self.name, env_id, description=text, **{**common, **fields})
