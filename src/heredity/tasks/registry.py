"""Tasksets by name: `"gymnasium/CartPole-v1"`, and whatever installed packages offer.

A package plugs in through the entry point group `heredity.tasksets`. An entry's name is what tasksets' names begin
with, up to the first slash; it loads a `TasksetSource`. Our own sources are written as the same kind of entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, runtime_checkable

from heredity.errors import ConfigError, UnknownNameError
from heredity.tasks.contract import Taskset

GROUP = "heredity.tasksets"
"""Entry point group of outside packages."""

_OWN = (
    EntryPoint("gymnasium", "heredity.environments.taskset:SOURCE", GROUP),
    EntryPoint("posttraining", "heredity.posttraining.tasks.registry:SOURCE", GROUP),
    EntryPoint("questions", "heredity.tasks.questions:SOURCE", GROUP),
    EntryPoint("tasks", "heredity.tasks.containers.taskset:SOURCE", GROUP),
    EntryPoint("worlds", "heredity.worlds.taskset:SOURCE", GROUP),
    EntryPoint("world-folders", "heredity.rollouts.world_folder_tasks:SOURCE", GROUP),
)


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


def taskset(name: str) -> Taskset:
    """Return a taskset by its full name.

    Raises:
        UnknownNameError: if there is none of that name; the nearest names are suggested.
        MissingExtraError: if it needs an optional dependency.
        ConfigError: if the package that offers it fails to load.
    """
    first = name.partition("/")[0]
    entries = _entries()
    if "/" not in name or first not in entries:
        raise UnknownNameError("taskset", name, taskset_names())
    return _load(entries[first]).taskset(name)


def expand(names: Iterable[str]) -> list[str]:
    """Return names with those of groups, such as `"worlds/six"`, replaced by their members.

    A source offers groups by a method `groups()`, name to the names of its members. Any other name is returned as it is.

    Raises:
        ConfigError: if a package that offers tasksets fails to load.
    """
    found: list[str] = []
    for name in names:
        entry = _entries().get(name.partition("/")[0])
        groups = getattr(_load(entry), "groups", None) if entry is not None else None
        found += groups().get(name, (name,)) if groups is not None else (name,)
    return found


def taskset_names() -> tuple[str, ...]:
    """Return the names of all tasksets that say their names, sorted.

    Raises:
        ConfigError: if a package that offers tasksets fails to load.
    """
    return tuple(sorted({name for entry in _entries().values() for name in _load(entry).names()}))


def _entries() -> dict[str, EntryPoint]:
    found = {entry.name: entry for entry in _OWN}
    for entry in entry_points(group=GROUP):
        known = found.get(entry.name)
        if known is not None and known.value != entry.value:
            raise ConfigError(
                f"two packages offer tasksets named {entry.name}/…: {known.value} and {entry.value}; "
                "uninstall one of them"
            )
        found[entry.name] = entry
    return found


def _load(entry: EntryPoint) -> TasksetSource:
    try:
        source = entry.load()
    except Exception as error:
        raise ConfigError(
            f"the plugin {entry.name!r} ({entry.value}, group {GROUP}) failed to load: {error!r}; fix or uninstall it"
        ) from error
    if not isinstance(source, TasksetSource):
        raise ConfigError(
            f"the plugin {entry.name!r} ({entry.value}, group {GROUP}) is {type(source).__name__}, "
            "but must be an object with names() and taskset(name)"
        )
    return source
