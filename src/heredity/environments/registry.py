"""Every environment that Heredity knows by name. A family is one module, and one line here."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from heredity.environments import box2d, classic_control, highway, minigrid, mujoco, robotics, toy_text
from heredity.environments.making import make_from_spec
from heredity.environments.spec import EnvironmentSpec
from heredity.errors import MissingExtraError, UnknownNameError
from heredity.tasks.registry import taskset

if TYPE_CHECKING:
    import gymnasium

    from heredity.environments.spec import Family

__all__ = [
    "FAMILIES",
    "PREFIX",
    "environment_ids",
    "environment_spec",
    "environment_specs",
    "installed",
    "make",
    "remember_returns",
    "taskset",
]

_MODULES = (
    classic_control,
    toy_text,
    box2d,
    mujoco,
    minigrid,
    highway,
    robotics,
)

FAMILIES: dict[str, Family] = {m.FAMILY.name: m.FAMILY for m in _MODULES}
"""The families by name."""

PREFIX = "gymnasium/"
"""What a taskset's name has before an environment's id."""

_SPECS: dict[str, EnvironmentSpec] = {spec.id: spec for m in _MODULES for spec in m.SPECS}


def environment_ids(family: str | None = None) -> tuple[str, ...]:
    """Return the ids of all registered environments, or of one family, whether installed or not.

    Raises:
        UnknownNameError: if there is no such family.
    """
    return tuple(spec.id for spec in environment_specs(family))


def environment_specs(family: str | None = None) -> tuple[EnvironmentSpec, ...]:
    """Return all registered environments, or those of one family, whether installed or not.

    Raises:
        UnknownNameError: if there is no such family.
    """
    if family is not None and family not in FAMILIES:
        raise UnknownNameError("environment family", family, FAMILIES)
    return tuple(spec for spec in _SPECS.values() if family in (None, spec.family))


def environment_spec(env_id: str) -> EnvironmentSpec:
    """Return what is known of an environment that can be made here.

    Args:
        env_id: a registered id such as `"CartPole-v1"`; or any id that gymnasium knows; or `"module:Id-v0"`, where
            importing the module registers `Id-v0`. All may start with `"gymnasium/"`. What is not registered here
            is made once, to measure what failures count as (see `measured_spec`).

    Raises:
        MissingExtraError: if it is registered but not installed.
        UnknownNameError: if there is no such environment.
        ConfigError: if its module cannot be found.
        HostError: if the environment's own code fails.
    """
    name = env_id.removeprefix(PREFIX)
    spec = _SPECS.get(name)
    if spec is None:
        return _measured(name)
    if not installed(spec):
        raise MissingExtraError(spec.id, spec.extra or spec.family)
    return spec


def installed(spec: EnvironmentSpec) -> bool:
    """Return whether what an environment needs is installed, without importing it."""
    return all(importlib.util.find_spec(module) is not None for module in spec.requires)


def make(spec: EnvironmentSpec, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Make an environment; see `make_from_spec` for the errors."""
    if not installed(spec):
        raise MissingExtraError(spec.id, spec.extra or spec.family)
    return make_from_spec(spec.to_worker(), render_mode)


_specs_measured: dict[str, EnvironmentSpec] = {}
_returns: dict[str, tuple[float, float]] = {}


def remember_returns(env_id: str, returns: tuple[float, float]) -> None:
    """Take what random actions got in an environment from a record instead of measuring it (see `EnvironmentSpec.measured`)."""
    name = env_id.removeprefix(PREFIX)
    if _specs_measured.get(name) is not None and _specs_measured[name].measured != returns:
        del _specs_measured[name]
    _returns[name] = returns


def _measured(name: str) -> EnvironmentSpec:
    if name not in _specs_measured:
        from heredity.environments.generic import measured_spec

        _specs_measured[name] = measured_spec(name, list(FAMILIES.values()), _SPECS, _returns.get(name))
    return _specs_measured[name]
