"""The environments known by name, from `families.toml`."""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heredity._core.errors import MissingExtraError, UnknownNameError
from heredity._core.outside import check_trusted
from heredity.kinds.policy.environments.making import is_file, make_from_spec
from heredity.kinds.policy.environments.spec import EnvironmentSpec, Family
from heredity.sandbox.check import Check

if TYPE_CHECKING:
    import gymnasium

PREFIX = "gymnasium/"
"""Prefix of a taskset's name before the environment's id."""


def _families() -> tuple[dict[str, Family], dict[str, EnvironmentSpec]]:
    tables = tomllib.loads(Path(__file__).with_name("families.toml").read_text(encoding="utf-8"))
    families: dict[str, Family] = {}
    specs: dict[str, EnvironmentSpec] = {}
    for name, table in tables.items():
        environments = table.pop("environments")
        family = families[name] = Family(name, **_frozen(table))
        specs.update((env_id, family.spec(env_id, **_frozen(fields))) for env_id, fields in environments.items())
    return families, specs


def _frozen(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}


FAMILIES, _SPECS = _families()


def environment_ids(family: str | None = None) -> tuple[str, ...]:
    """Return the ids of all registered environments, or of one family, installed or not.

    Raises:
        UnknownNameError: if the family does not exist.
    """
    return tuple(spec.id for spec in environment_specs(family))


def environment_specs(family: str | None = None) -> tuple[EnvironmentSpec, ...]:
    """Return all registered environments, or those of one family, installed or not.

    Raises:
        UnknownNameError: if the family does not exist.
    """
    if family is not None and family not in FAMILIES:
        raise UnknownNameError("environment family", family, FAMILIES)
    return tuple(spec for spec in _SPECS.values() if family in (None, spec.family))


def environment_spec(env_id: str) -> EnvironmentSpec:
    """Return the specification of an environment that can be created here.

    Args:
        env_id: a registered id such as `"CartPole-v1"`; any gymnasium id; or `"module:Id-v0"`, where importing the
            module registers `Id-v0`. All may start with `"gymnasium/"`. An unregistered environment is created once,
            to measure its failure return (see `measured_spec`).

    Raises:
        MissingExtraError: if it is registered but not installed.
        UnknownNameError: if the environment does not exist.
        ConfigError: if its module cannot be found, or lies in a folder that is not trusted.
        HostError: if the environment's own code fails.
    """
    name = env_id.removeprefix(PREFIX)
    spec = _SPECS.get(name)
    if spec is None:
        _check_origin(name)
        return _measured(name)
    if not installed(spec):
        raise MissingExtraError(spec.id, spec.extra or spec.family)
    return spec


def _check_origin(name: str) -> None:
    """Check the file of an environment's module, which is run outside of any sandbox (see `check_trusted`)."""
    module = name if is_file(name) else name.rpartition(":")[0]
    if is_file(module):
        check_trusted(Path(module))
    elif top := module.partition(".")[0]:
        found = importlib.util.find_spec(top)
        origins = [] if found is None else [found.origin, *(found.submodule_search_locations or ())]
        # The working folder may come first in the process that imports it.
        for path in (*filter(None, origins), f"{top}.py", top):
            if Path(path).exists():
                check_trusted(Path(path))


def installed(spec: EnvironmentSpec) -> bool:
    """Return True if the packages of an environment are installed, without importing it."""
    return all(importlib.util.find_spec(module) is not None for module in spec.requires)


def make(spec: EnvironmentSpec, render_mode: str | None = None) -> gymnasium.Env[Any, Any]:
    """Create an environment; see `make_from_spec` for the errors."""
    if not installed(spec):
        raise MissingExtraError(spec.id, spec.extra or spec.family)
    return make_from_spec(spec.to_worker(), render_mode)


_specs_measured: dict[str, EnvironmentSpec] = {}
_returns: dict[str, tuple[float, float]] = {}


def remember_returns(env_id: str, returns: tuple[float, float]) -> None:
    """Take the returns of random actions from a record instead of measuring them (see `EnvironmentSpec.measured`)."""
    name = env_id.removeprefix(PREFIX)
    if _specs_measured.get(name) is not None and _specs_measured[name].measured != returns:
        del _specs_measured[name]
    _returns[name] = returns


def _measured(name: str) -> EnvironmentSpec:
    if name not in _specs_measured:
        from heredity.kinds.policy.environments.generic import measured_spec

        _specs_measured[name] = measured_spec(name, list(FAMILIES.values()), _SPECS, _returns.get(name))
    return _specs_measured[name]


def machine_checks(install: bool = False) -> Iterator[Check]:
    """Look for the packages of each family of environments, without installing any."""
    families: dict[str, list[EnvironmentSpec]] = {}
    for spec in environment_specs():
        families.setdefault(spec.family, []).append(spec)
    for family, specs in families.items():
        here = [spec for spec in specs if installed(spec)]
        packages = sorted({package for spec in specs for package in spec.packages})
        extra = next((spec.extra for spec in specs if spec.extra), None)
        detail = f"{len(here)} of {len(specs)} environments; {', '.join(map(_version, packages))}"
        yield Check(
            f"environments: {family}", len(here) == len(specs), False, detail, f"pip install 'heredity[{extra}]'"
        )


def _version(package: str) -> str:
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return f"{package} not installed"
