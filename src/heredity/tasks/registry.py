"""Tasksets by name, such as `"gymnasium/CartPole-v1"`; packages add sources in the entry point group `heredity.tasksets`.

An entry's name is the first part of its tasksets' names, up to the slash; it loads a `TasksetSource`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from heredity._core.errors import ConfigError, UnknownNameError
from heredity._core.plugins import Group
from heredity.tasks.contract import Taskset

_SHOWN = 60


def written_options(name: str, query: str) -> dict[str, str]:
    """Parse the options in a taskset's name, without interpreting their values.

    Args:
        name: name of the taskset; errors quote its part before the question mark.
        query: the part after it.

    Raises:
        ConfigError: if a part is not `key=value`, or a key is repeated.
    """
    options: dict[str, str] = {}
    for part in filter(None, query.split("&")):
        key, equals, value = part.partition("=")
        if not (key and equals and value) or key in options:
            before = name.partition("?")[0]
            raise ConfigError(
                f"{before}: {part[:_SHOWN]!r} is not an option; write ?key=value&key=value, each key once"
            )
        options[key] = value
    return options


@runtime_checkable
class TasksetSource(Protocol):
    """Offers tasksets whose names share a first part."""

    def names(self) -> Iterable[str]:
        """Return the full names of its tasksets, such as `"gymnasium/CartPole-v1"`; not necessarily all."""
        ...

    def taskset(self, name: str) -> Taskset:
        """Return the taskset with a full name.

        Raises:
            UnknownNameError: if it does not exist.
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
        UnknownNameError: if it does not exist; the nearest names are suggested.
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
    """Return a taskset's name in a form that is valid from any folder: its paths are made absolute relative to `base`.

    Sources whose names contain paths define a method `located(name, base)`. Any other name is returned unchanged.

    Raises:
        ConfigError: if a package that offers tasksets fails to load.
    """
    locate = getattr(_source(name), "located", None)
    return name if locate is None else locate(name, base)


def measurements(names: Iterable[str]) -> dict[str, Any]:
    """Return properties of tasksets that were measured instead of declared, by name, as JSON values.

    They determine the tasksets, so resumed or repeated runs restore them with `remember`. Sources that measure define
    the methods `measured(name)`, which returns None for a taskset without measurements, and `remember(name, value)`.

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
    """Restore the `measurements` of another process instead of measuring again.

    Raises:
        ConfigError: if they have another form.
    """
    for name, value in measured.items():
        take = getattr(_source(name), "remember", None)
        if take is not None:
            take(name, value)


def _source(name: str) -> TasksetSource | None:
    first = name.partition("/")[0]
    return SOURCES.load(first) if first in SOURCES else None


def expand(names: Iterable[str]) -> list[str]:
    """Replace the names of groups, such as `"worlds/six"`, by their members.

    A source offers groups by a method `groups()`, which maps names to members, or by `members(name)`, where any file
    is a group. Other names are returned unchanged.

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
    """Return the names of all tasksets whose sources list them, sorted.

    Raises:
        ConfigError: if a package that offers tasksets fails to load.
    """
    return tuple(sorted({name for source in SOURCES.names() for name in SOURCES.load(source).names()}))
