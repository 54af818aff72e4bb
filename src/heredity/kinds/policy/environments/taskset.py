"""Environments as tasksets: a task is one episode, given by its seed."""

from __future__ import annotations

import math
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.ids import digest_bytes, digest_json, generator
from heredity._core.plugins import located
from heredity._core.refusals import quoted
from heredity.kinds.policy.environments.making import is_file, make_from_spec
from heredity.kinds.policy.environments.registry import (
    PREFIX,
    environment_ids,
    environment_spec,
    make,
    remember_returns,
)
from heredity.kinds.policy.environments.spaces import describe_space
from heredity.kinds.policy.environments.spec import EnvironmentSpec
from heredity.tasks import SPLITS, Task, Taskset, TasksetInfo

__all__ = ["SOURCE", "EnvironmentTaskset", "GymnasiumTasksets", "make_from_spec"]

SEED_LIMIT = 2**31
"""Upper bound of seeds, so that every simulator accepts them."""

_SEEDS_PER_SPLIT = SEED_LIMIT // len(SPLITS)


class EnvironmentTaskset:
    """The episodes of one environment. A task's spec is `{"seed": int, "options": {}}`; its score is the return.

    Args:
        spec: the environment.
    """

    def __init__(self, spec: EnvironmentSpec) -> None:
        self.environment = spec

    @property
    def info(self) -> TasksetInfo:
        """Description of this taskset. The first use creates the environment once, for its spaces.

        Raises:
            MissingExtraError: if the environment is not installed.
            HostError: if it cannot be built.
        """
        return self._info

    @cached_property
    def _info(self) -> TasksetInfo:
        from heredity.kinds.policy.environments.generic import repeated  # loads gymnasium

        spec = self.environment
        packages, failed = package_versions(spec), list[str]()
        # The digest changes the version with the horizon and the arguments.
        built_with = digest_json([spec.to_worker(), spec.failure_return])[:8]
        return TasksetInfo(
            name=PREFIX + spec.id,
            version=", ".join(
                [*(f"{name} {number}" for name, number in packages.items()), *_files(spec), f"spec {built_with}"]
            ),
            kind="episode",
            spec=spec.to_worker(),
            public=repeated(lambda: _public(spec, packages), failed),
            notes=(*spec.notes, *failed),
            description=_description(spec),
            failure_return=spec.failure_return,
            group=spec.group,
            family=spec.family,
        )

    def draw(self, split: str, count: int, entropy: int) -> tuple[Task, ...]:
        """Draw the first `count` episodes of a split; see `Taskset.draw`.

        Seeds are unique in a split. The seeds of different splits differ in their remainder modulo the number of
        splits, so no two splits share one.
        """
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
        if not 0 <= count <= _SEEDS_PER_SPLIT:
            raise ConfigError(f"{count} tasks of split {split!r} asked for; give a number from 0 to {_SEEDS_PER_SPLIT}")
        residue = SPLITS.index(split)
        rng = generator(entropy, "cases", PREFIX + self.environment.id, split)
        seeds: dict[int, None] = {}
        while len(seeds) < count:
            # One vectorized draw: a million single draws take minutes and block signals.
            drawn: list[int] = rng.integers(_SEEDS_PER_SPLIT, size=count - len(seeds)).tolist()
            seeds.update(dict.fromkeys(seed * len(SPLITS) + residue for seed in drawn))
        return tuple(Task(f"{split}/{i}", split, i, {"seed": seed, "options": {}}) for i, seed in enumerate(seeds))


class GymnasiumTasksets:
    """The tasksets named `"gymnasium/<id>"`, for registered ids and all others that gymnasium can make."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the registered tasksets."""
        return tuple(PREFIX + env_id for env_id in environment_ids())

    def taskset(self, name: str) -> Taskset:
        """Return the taskset of an environment; see `environment_spec` for the errors."""
        return EnvironmentTaskset(environment_spec(name))

    def measured(self, name: str) -> list[float] | None:
        """Return an environment's measurements, the lowest and the highest return of random actions; None if there are none."""
        returns = environment_spec(name).measured
        return None if returns is None else [*returns]

    def remember(self, name: str, values: Any) -> None:
        """Use an earlier result of `measured` instead of measuring again.

        Raises:
            ConfigError: if it has another form.
        """
        match values:
            case [int() | float() as low, int() | float() as high] if -math.inf < low <= high < math.inf:
                remember_returns(name, (float(low), float(high)))
            case _:
                raise ConfigError(
                    f"{name} was measured as {quoted(values)}; expected its lowest and its highest return"
                )

    def located(self, name: str, base: Path) -> str:
        """Return a name with its file path, if any, made absolute relative to the folder `base`."""
        module, colon, entry_id = name.removeprefix(PREFIX).rpartition(":")
        return f"{PREFIX}{located(module, base)}{colon}{entry_id}" if is_file(module) else name


SOURCE = GymnasiumTasksets()
"""What `heredity.tasks.registry` loads."""


def package_versions(spec: EnvironmentSpec) -> dict[str, str]:
    """Return the installed versions of the packages that can change an environment's scores, by name."""
    versions: dict[str, str] = {}
    for name in spec.packages:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "unknown"
    return versions


def _files(spec: EnvironmentSpec) -> list[str]:
    """Return the files that register an environment, each with a digest: their content is part of the version."""
    files = [Path(module) for module in spec.modules if is_file(module)]
    return [f"{file.name} {digest_bytes(file.read_bytes())[:8]}" for file in files]


def _public_id(env_id: str) -> str:
    """Return an environment's id without the folder of its file, which players must not see."""
    module, _, entry_id = env_id.rpartition(":")
    return f"{Path(module).name}:{entry_id}" if is_file(module) else env_id


def _public(spec: EnvironmentSpec, packages: dict[str, str]) -> dict[str, Any]:
    env = make(spec)
    try:
        # Some environments set their spaces in reset.
        env.reset(seed=0)
        obs_space, action_space = describe_space(env.observation_space), describe_space(env.action_space)
    finally:
        env.close()
    return {
        "env": _public_id(spec.id),
        "env_version": ", ".join(f"{name} {number}" for name, number in packages.items()),
        "max_episode_steps": spec.max_episode_steps,
        "obs_space": obs_space,
        "action_space": action_space,
        "obs_storage": spec.obs_storage,
        "reward_components": list(spec.reward_components),
    }


def _description(spec: EnvironmentSpec) -> str:
    return (
        f"# {_public_id(spec.id)}\n\n{spec.description.strip()}\n\n"
        f"An episode lasts at most {spec.max_episode_steps} steps. Its score is the sum of its rewards; higher is "
        f"better. A failed episode scores {spec.failure_return:g} or less.\n"
    )
