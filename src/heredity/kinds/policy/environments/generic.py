"""Any environment that gymnasium can make, without a module here."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from heredity._core.errors import ConfigError, HostError, UnknownNameError, nearest
from heredity._core.ids import generator
from heredity.kinds.policy.environments.child import ChildProcess, EnvironmentFailedError
from heredity.kinds.policy.environments.making import import_modules, is_file, make_from_spec
from heredity.kinds.policy.environments.spec import EnvironmentSpec, Family

DEFAULT_HORIZON = 1000
"""Default horizon, in steps, for environments that declare none."""

T = TypeVar("T")

_ATTEMPTS = 3
_FEW = 8
_EPISODES = 8
_STEPS = 2000


_ELSEWHERE = {
    "ALE/": "ale_py",
    "Meta-World/": "metaworld",
    "mo-": "mo_gymnasium",
    "miniwob/": "miniwob",
    "Vizdoom": "vizdoom.gymnasium_wrapper",
}
"""Prefixes of the ids of well-known packages, and the modules that register them."""


def measured_spec(
    name: str, families: Sequence[Family], names: Iterable[str] = (), returns: tuple[float, float] | None = None
) -> EnvironmentSpec:
    """Return the specification of an environment that is not registered here.

    `failure_return` is measured: the lowest return of up to 8 episodes (none started after 2000 steps) of uniform
    random actions from fixed seeds, minus the span from the lowest to the highest. User environments are measured in a
    separate process.

    Args:
        name: a gymnasium id, `"module:Id-v0"`, or `"/path/of/module.py:Id-v0"`.
        families: families whose modules may register the id, or whose code it may be.
        names: other names to suggest.
        returns: earlier measurements, the lowest and the highest return (None measures).

    Raises:
        UnknownNameError: if gymnasium does not know the id.
        ConfigError: if its module cannot be found.
        HostError: if the environment's own code fails, ends its process or times out.
    """
    if is_file(name):
        name += ":"
    module, failed = name.rpartition(":")[0], list[str]()
    ours = not module or any(module in family.modules for family in families)
    about = describe(name, families) if ours else None
    if about is None or not _is_ours(about):

        def measure() -> tuple[EnvironmentSpec, float, float]:
            with contextlib.closing(ChildProcess(name.rstrip(":"))) as child:
                about = child.ask("describe", name)
                draft = _draft(name, about, families, names, child=True)
                low, high = returns or child.ask("measure", draft.to_worker())
                return draft, low, high

        draft, low, high = repeated(measure, failed)
        draft = replace(draft, notes=tuple(failed))
    else:
        draft = _draft(name, about, families, names, child=False)
        low, high = returns or random_returns(name, make_from_spec(draft.to_worker()))
    return measured(draft, low, high)


def repeated(work: Callable[[], T], failed: list[str]) -> T:
    """Return the result of work with a user environment, retrying code that fails now and then.

    Args:
        work: the work; uses a new process each time.
        failed: called with each failure before the success.

    Raises:
        EnvironmentFailedError: if it failed three times, or timed out.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return work()
        except EnvironmentFailedError as error:
            if error.timed_out:
                raise
            if attempt == _ATTEMPTS:
                message = f"{error}; it was tried {_ATTEMPTS} times and never worked"
                raise EnvironmentFailedError(error.what, message) from error
            failed.append(f"{error}; it was measured again")
    raise AssertionError("the last attempt returns or raises")


def measured(draft: EnvironmentSpec, low: float, high: float) -> EnvironmentSpec:
    """Return a specification whose failure return is derived from the lowest and highest return of random actions."""
    lowest = low - (high - low)
    description = (
        f"{draft.description}\n\nUniform random actions get returns from {low:g} to {high:g}; a failed episode counts as "
        f"{lowest:g} at most."
    )
    return replace(draft, failure_return=lowest, description=description, measured=(low, high))


def describe(
    name: str, families: Sequence[Family], *, child: bool = False, mark: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Import and create an environment, and return the data of its specification, as JSON values.

    Args:
        name: see `measured_spec`.
        families: see `measured_spec`.
        child: true if this is the process of a user environment; other processes do not create one.
        mark: called with the name of each operation before it starts.
    """
    import gymnasium

    mark("make")
    module, _, entry_id = name.rpartition(":")
    before = set(gymnasium.registry)
    if module:
        import_modules([module], env_id=name.rstrip(":"))
    elif entry_id not in gymnasium.registry:
        _import_families(entry_id, families)
    registered = gymnasium.registry.get(entry_id)
    if registered is None:
        own = [str(key) for key in gymnasium.registry if module and key not in before]
        return {"entry_point": "", "family": None, "ids": [str(key) for key in gymnasium.registry], "own": own}
    entry_point = registered.entry_point
    family = _family_of(entry_point, families)
    path = entry_point if isinstance(entry_point, str) else getattr(entry_point, "__module__", "")
    about: dict[str, Any] = {"entry_point": str(path), "family": family.name if family else None}
    if not (child or _is_ours(about)):
        return about
    worker = {"env_id": name, "entry_id": entry_id, "kwargs": {}, "modules": [module] if module else []}
    worker["modules"] = worker["modules"] or list(family.modules if family else ())
    env = make_from_spec({**worker, "max_episode_steps": None})
    steps, space = getattr(env.unwrapped, "max_steps", None), env.observation_space
    env.close()
    steps = registered.max_episode_steps or (steps if isinstance(steps, int) and steps > 0 else None)
    return {
        **about,
        "steps": steps,
        "pictures": _has_pictures(space),
        "description": _first_paragraph(entry_point, name),
    }


def _is_ours(about: Mapping[str, Any]) -> bool:
    """Return True if the code is gymnasium's or a family's; also for an unknown id, which has no code to run."""
    return bool(about["family"]) or about["entry_point"] == "" or about["entry_point"].startswith("gymnasium.")


def _draft(
    name: str, about: Mapping[str, Any], families: Sequence[Family], names: Iterable[str], *, child: bool
) -> EnvironmentSpec:
    module, _, entry_id = name.rpartition(":")
    if not about["entry_point"]:
        elsewhere = next((module for start, module in _ELSEWHERE.items() if name.startswith(start)), None)
        if elsewhere is not None:
            raise ConfigError(
                f"unknown environment {name!r}; {elsewhere} registers it when it is imported: install it, and write "
                f"{elsewhere}:{name}"
            )
        if own := [str(key) for key in about["own"]]:
            named = " or ".join(f"{module}:{key}" for key in nearest(entry_id, own) or own[:_FEW])
            raise ConfigError(f"{module} registers no {entry_id or 'environment without an id'}; write {named}")
        if is_file(module):
            raise ConfigError(
                f"{module} registers no environment; call gymnasium.register in it (docs/environments.md)"
            )
        raise UnknownNameError("environment", name, {*names, *map(str, about["ids"])})
    family = next((family for family in families if family.name == about["family"]), None)
    own = Path(module).stem if is_file(module) else module.partition(".")[0]
    return EnvironmentSpec(
        id=name,
        family=family.name if family else (own or "gymnasium"),
        entry_id=entry_id,
        max_episode_steps=about["steps"] or DEFAULT_HORIZON,
        failure_return=0.0,
        description=about["description"],
        obs_storage="external" if about["pictures"] else "inline",
        modules=(module,) if module else (family.modules if family else ()),
        group=family.group if family else "tuning",
        extra=family.extra if family else None,
        packages=_packages(module, family),
        assumed_horizon=not about["steps"],
        child=child,
    )


def _import_families(entry_id: str, families: Sequence[Family]) -> None:
    import gymnasium

    for family in families:
        if entry_id not in gymnasium.registry and all(importlib.util.find_spec(r) for r in family.requires):
            import_modules(family.modules, env_id=entry_id, extra=family.extra)


def _family_of(entry_point: Any, families: Sequence[Family]) -> Family | None:
    # Decide by the code's location, not by earlier imports, so that a name always gives the same answer.
    path = entry_point if isinstance(entry_point, str) else getattr(entry_point, "__module__", "")
    parts = path.partition(":")[0].split(".")
    own = parts[2] if parts[:2] == ["gymnasium", "envs"] and len(parts) > 2 else None
    return next((f for f in families if f.name == own or parts[0] in f.modules), None)


def _has_pictures(space: Any) -> bool:
    from gymnasium import spaces

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


def random_returns(env_id: str, env: Any) -> tuple[float, float]:
    """Return the lowest and the highest return of some episodes of random actions, and close the environment."""
    rng = generator(0, "failure-return", env_id)
    returns: list[float] = []
    steps = 0
    try:
        while len(returns) < _EPISODES and steps < _STEPS:
            score, length = _random_episode(env, int(rng.integers(2**31)), int(rng.integers(2**31)))
            returns.append(score)
            steps += length
    except Exception as error:
        raise HostError(f"environment {env_id!r} failed in a random episode: {error!r}") from error
    finally:
        env.close()
    low, high = min(returns), max(returns)
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise ConfigError(
            f"environment {env_id!r} gives returns that are not finite ({low} to {high}); bound its rewards"
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
