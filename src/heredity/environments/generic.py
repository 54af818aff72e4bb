"""Any environment that gymnasium can make, without a module of its own here."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from heredity.environments.making import import_modules, is_file, make_from_spec
from heredity.environments.spec import EnvironmentSpec, Family
from heredity.errors import ConfigError, HostError, UnknownNameError
from heredity.ids import generator

DEFAULT_HORIZON = 1000
"""Steps after which an episode is truncated where the environment names no horizon."""

_EPISODES = 8
_STEPS = 2000


_ELSEWHERE = {
    "ALE/": "ale_py",
    "Meta-World/": "metaworld",
    "mo-": "mo_gymnasium",
    "miniwob/": "miniwob",
    "Vizdoom": "vizdoom.gymnasium_wrapper",
}
"""What ids of well-known packages begin with, and the module that registers them."""


def measured_spec(name: str, families: Sequence[Family], names: Iterable[str] = ()) -> EnvironmentSpec:
    """Return the specification of an environment that is not registered here.

    `failure_return` is measured: the lowest return of up to 8 episodes (none begun after 2000 steps) of uniform random
    actions from fixed seeds, less the span from the lowest to the highest.

    Args:
        name: an id that gymnasium knows, or `"module:Id-v0"`, or `"/path/of/module.py:Id-v0"`.
        families: whose modules may register the id, or whose code it may be.
        names: other names to suggest.

    Raises:
        UnknownNameError: if gymnasium does not know the id.
        ConfigError: if its module cannot be found.
        HostError: if the environment's own code fails.
    """
    draft = _draft(name, families, names)
    low, high = _random_returns(draft)
    fields = {f: getattr(draft, f) for f in draft.__dataclass_fields__}
    fields["failure_return"] = low - (high - low)
    fields["description"] += (
        f"\n\nUniform random actions get returns from {low:g} to {high:g}; a failed episode counts as "
        f"{fields['failure_return']:g} at most."
    )
    return EnvironmentSpec(**fields)


def _draft(name: str, families: Sequence[Family], names: Iterable[str]) -> EnvironmentSpec:
    import gymnasium

    module, _, entry_id = name.rpartition(":")
    if module:
        import_modules([module], env_id=name)
    elif entry_id not in gymnasium.registry:
        _import_families(entry_id, families)
    registered = gymnasium.registry.get(entry_id)
    if registered is None:
        module = next((module for start, module in _ELSEWHERE.items() if name.startswith(start)), None)
        if module is not None:
            raise ConfigError(
                f"unknown environment {name!r}; {module} registers it when it is imported: install it, and write {module}:{name}"
            )
        raise UnknownNameError("environment", name, {*names, *gymnasium.registry})
    family = _family_of(registered.entry_point, families)
    own = Path(module).stem if is_file(module) else module.partition(".")[0]
    label = family.name if family else (own or "gymnasium")
    modules = (module,) if module else (family.modules if family else ())
    worker = {"env_id": name, "entry_id": entry_id, "kwargs": {}, "modules": modules}
    return EnvironmentSpec(
        id=name,
        family=label,
        entry_id=entry_id,
        max_episode_steps=registered.max_episode_steps or _own_horizon(worker) or DEFAULT_HORIZON,
        failure_return=0.0,
        description=_first_paragraph(registered.entry_point, name),
        obs_storage="external" if _has_pictures(worker) else "inline",
        modules=tuple(modules),
        group=family.group if family else "tuning",
        extra=family.extra if family else None,
        packages=_packages(module, family),
    )


def _import_families(entry_id: str, families: Sequence[Family]) -> None:
    import gymnasium

    for family in families:
        if entry_id not in gymnasium.registry and all(importlib.util.find_spec(r) for r in family.requires):
            import_modules(family.modules, env_id=entry_id, extra=family.extra)


def _family_of(entry_point: Any, families: Sequence[Family]) -> Family | None:
    # By where the code is, and not by what happened to be imported before: the same name gives the same answer.
    path = entry_point if isinstance(entry_point, str) else getattr(entry_point, "__module__", "")
    parts = path.partition(":")[0].split(".")
    own = parts[2] if parts[:2] == ["gymnasium", "envs"] and len(parts) > 2 else None
    return next((f for f in families if f.name == own or parts[0] in f.modules), None)


def _own_horizon(worker: dict[str, Any]) -> int | None:
    env = make_from_spec({**worker, "max_episode_steps": None})
    steps = getattr(env.unwrapped, "max_steps", None)
    env.close()
    return steps if isinstance(steps, int) and steps > 0 else None


def _has_pictures(worker: dict[str, Any]) -> bool:
    from gymnasium import spaces

    env = make_from_spec({**worker, "max_episode_steps": None})
    space = env.observation_space
    env.close()
    parts = space.spaces.values() if isinstance(space, spaces.Dict) else [space]
    return any(isinstance(p, spaces.Box) and len(p.shape) >= 2 and p.low.size > 1024 for p in parts)


def _first_paragraph(entry_point: Any, name: str) -> str:
    target = entry_point
    if isinstance(entry_point, str):
        module, _, attribute = entry_point.partition(":")
        target = getattr(importlib.import_module(module), attribute, None)
    paragraphs = (" ".join(p.split()) for p in (getattr(target, "__doc__", None) or "").split("\n\n"))
    return next((p for p in paragraphs if p and not p.startswith("#")), f"The gymnasium environment `{name}`.")


def _packages(module: str, family: Family | None) -> tuple[str, ...]:
    if family:
        return family.packages
    from importlib.metadata import packages_distributions

    top = module.partition(".")[0]
    return ("gymnasium", *sorted(set(packages_distributions().get(top, [])) - {"gymnasium"}))


def _random_returns(spec: EnvironmentSpec) -> tuple[float, float]:
    rng = generator(0, "failure-return", spec.id)
    returns: list[float] = []
    steps = 0
    env = make_from_spec(spec.to_worker())
    try:
        while len(returns) < _EPISODES and steps < _STEPS:
            score, length = _random_episode(env, int(rng.integers(2**31)), int(rng.integers(2**31)))
            returns.append(score)
            steps += length
    except Exception as error:
        raise HostError(f"environment {spec.id!r} failed in a random episode: {error!r}") from error
    finally:
        env.close()
    low, high = min(returns), max(returns)
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise ConfigError(
            f"environment {spec.id!r} gives returns that are not finite ({low} to {high}); bound its rewards"
        )
    return low, high


def _random_episode(env: Any, seed: int, action_seed: int) -> tuple[float, int]:
    env.reset(seed=seed)
    env.action_space.seed(action_seed)
    score, length, over = 0.0, 0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
        score, length, over = score + float(reward), length + 1, bool(terminated or truncated)
    return score, length
