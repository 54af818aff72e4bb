"""Tasksets by name: `"gymnasium/CartPole-v1"`, and whatever installed packages offer (entry point group `heredity.tasksets`).

An entry's name is what tasksets' names begin with, up to the first slash; it loads a `TasksetSource`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from heredity.errors import ConfigError, UnknownNameError
from heredity.plugins import Group
from heredity.tasks.contract import Taskset


@runtime_checkable
class TasksetSource(Protocol):
    """Offers tasksets whose names share a first part."""

    def names(self) -> Iterable[str]:
        """Return the full names of its tasksets, such as `"gymnasium/CartPole-v1"`; there may be others."""
        ...

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name.

        Raises:
            UnknownNameError: if there is none.
        """
        ...


SOURCES = Group[TasksetSource](
    "heredity.tasksets",
    "source of tasksets",
    "an object with names() and taskset(name)",
    lambda source: isinstance(source, TasksetSource),
)


def taskset(name: str) -> Taskset:
    """Return a taskset by its full name.

    Raises:
        UnknownNameError: if there is none of that name; the nearest names are suggested.
        MissingExtraError: if it needs an optional dependency.
        ConfigError: if it is a bare path, or the package that offers it fails to load.
    """
    first = name.partition("/")[0]
    if "/" not in name or first not in SOURCES:
        if name.startswith((".", "/", "~")):
            raise ConfigError(
                f"{name[:200]} is a path, not the name of a taskset; say what it holds: tasks/{name[:200]} (container tasks), "
                f"questions/file:{name[:200]}, program/{name[:200]} or worlds/{name[:200]}"
            )
        raise UnknownNameError("taskset", name, taskset_names())
    return SOURCES.load(first).taskset(name)


def located_taskset(name: str, base: Path) -> str:
    """Return a taskset's name such that it means the same everywhere: a path in it, as seen from the folder `base`, is absolute.

    A source whose names have paths in them says so by a method `located(name, base)`. Any other name is returned as it is.

    Raises:
        ConfigError: if a package that offers tasksets fails to load.
    """
    locate = getattr(_source(name), "located", None)
    return name if locate is None else locate(name, base)


def measurements(names: Iterable[str]) -> dict[str, Any]:
    """Return what was measured of tasksets rather than declared, by name, as JSON values.

    It decides what tasksets are, so whoever continues or repeats a run takes it from there by `remember`. A source that measures
    says so by the methods `measured(name)`, which returns None of a taskset of which nothing was, and `remember(name, value)`.

    Raises:
        HeredityError: as `taskset`.
    """
    values: dict[str, Any] = {}
    for name in names:
        measured = getattr(_source(name), "measured", None)
        if measured is not None and (value := measured(name)) is not None:
            values[name] = value
    return values


def remember(measured: Mapping[str, Any]) -> None:
    """Take what `measurements` returned in another process instead of measuring it again.

    Raises:
        ConfigError: if it is anything else.
    """
    for name, value in measured.items():
        take = getattr(_source(name), "remember", None)
        if take is not None:
            take(name, value)


def _source(name: str) -> TasksetSource | None:
    first = name.partition("/")[0]
    return SOURCES.load(first) if first in SOURCES else None


def expand(names: Iterable[str]) -> list[str]:
    """Return names with those of groups, such as `"worlds/six"`, replaced by their members.

    A source offers groups by a method `groups()`, name to the names of its members, or by `members(name)`, where any file is a
    group. Any other name is returned as it is.

    Raises:
        ConfigError: if a package that offers tasksets fails to load.
    """
    expanded: list[str] = []
    for name in names:
        source = _source(name)
        groups, members = getattr(source, "groups", None), getattr(source, "members", None)
        expanded += (
            members(name) if members is not None else groups().get(name, (name,)) if groups is not None else (name,)
        )
    return expanded


def taskset_names() -> tuple[str, ...]:
    """Return the names of all tasksets that say their names, sorted.

    Raises:
        ConfigError: if a package that offers tasksets fails to load.
    """
    return tuple(sorted({name for source in SOURCES.names() for name in SOURCES.load(source).names()}))
