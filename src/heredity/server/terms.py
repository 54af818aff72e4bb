"""The terms of a run: everything an agent may know of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heredity.errors import ConfigError
from heredity.resources import SourceTree
from heredity.sandbox.limits import Limits
from heredity.tasks import TasksetInfo

PROTOCOL_VERSION = "0.1"
"""Version of the HTTP protocol and of the feedback files (EvoPolicyGym's names and fields)."""


@dataclass(frozen=True, slots=True)
class RunTerms:
    """What an agent is told of its run.

    Attributes:
        taskset: the tasks; only `name`, `description` and `public` are ever shown.
        train_tasks: how many train task indices there are (0 .. train_tasks - 1).
        episode_budget: episodes that the whole run may spend.
        min_episodes: fewest episodes of one submission.
        max_episodes: most episodes of one submission.
        limits: what one rollout may use.
        allowed_imports: packages beyond the standard library that a policy may import.
        denied_imports: packages named as forbidden, for clarity; whatever is not allowed is not there.
        tools: whether it is given tools to ask this process for.
    """

    taskset: TasksetInfo
    train_tasks: int
    episode_budget: int
    min_episodes: int = 1
    max_episodes: int = 128
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    allowed_imports: tuple[str, ...] = ("numpy",)
    denied_imports: tuple[str, ...] = ()
    tools: bool = False

    def __post_init__(self) -> None:
        for name in ("train_tasks", "episode_budget", "min_episodes", "max_episodes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.min_episodes > self.max_episodes:
            raise ConfigError(f"min_episodes ({self.min_episodes}) exceeds max_episodes ({self.max_episodes})")

    @property
    def env(self) -> str:
        """The environment's name as agents see it."""
        return str(self.taskset.public.get("env", self.taskset.name))

    @property
    def external_observations(self) -> bool:
        """Whether observations are too large for rows and are kept in a file beside them."""
        return self.taskset.public.get("obs_storage", "inline") == "external"

    @property
    def reward_components(self) -> dict[str, str]:
        """Declared parts of the reward: the name agents see, to the key of `info` that carries it."""
        declared = self.taskset.public.get("reward_components") or {}
        if isinstance(declared, Mapping):
            return {str(k): str(v) for k, v in declared.items()}  # pyright: ignore[reportUnknownVariableType]
        return {str(k): str(k) for k in declared}

    @property
    def width(self) -> int:
        """Digits of submission and episode numbers in folder names: at least 3."""
        return max(3, len(str(self.episode_budget)))

    def describe(self) -> dict[str, Any]:
        """Return the constant part of `GET /info` (EvoPolicyGym's fields)."""
        meta = dict(self.taskset.public)
        meta.setdefault("env", self.taskset.name)
        meta.setdefault("obs_storage", "inline")
        meta["n_env_instances"] = self.train_tasks
        return {
            "protocol_version": PROTOCOL_VERSION,
            "env_meta": meta,
            "episode_budget": self.episode_budget,
            "min_episodes_per_submit": self.min_episodes,
            "max_episodes_per_submit": self.max_episodes,
            "resource_limits": {
                "rollout_wall_s": self.limits.episode_s,
                "memory_bytes": self.limits.memory_bytes,
                "init_wall_s": self.limits.init_s,
                "act_wall_s": self.limits.act_s,
                "scratch_bytes": self.limits.scratch_bytes,
                "output_bytes": self.limits.output_bytes,
            },
            "allowed_imports": list(self.allowed_imports),
            "denied_imports": list(self.denied_imports),
        }


@dataclass(frozen=True, slots=True)
class Briefing:
    """What an agent reads when it starts; the words are its protocol's.

    Attributes:
        agent: makes AGENTS.md: the goal, the budget, what is to be written, how to submit, how to read feedback.
        task: makes TASK.md, which `GET /task` gives too.
        starter: the program to begin with where the run names none.
    """

    agent: Callable[[RunTerms], str]
    task: Callable[[RunTerms], str]
    starter: SourceTree
