"""What packages offer, found by entry points: one loader for everything that has a name.

Each group is one kind of thing. What comes with Heredity is registered in the same groups by its own `pyproject.toml`, so that
nothing of ours is found in another way than what anybody else's package offers. Code behind an entry point runs in the trusted
host, with all its rights: it is imported only when a configuration names it, and `loaded()` says which packages it came from.

    [project.entry-points."heredity.methods"]
    doubling = "my_package.doubling:Doubling"
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, EntryPoint, EntryPoints, entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, TypeVar

from heredity.errors import ConfigError, UnknownNameError, described

OWN = "heredity"
"""The distribution whose entries are ours."""

T = TypeVar("T")

_loaded: dict[tuple[str, str], Origin] = {}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was loaded from.

    Attributes:
        group: the entry point group.
        name: the entry's name.
        value: `module:attribute`.
        distribution: the package that offers it, and its `version`.
        digest: SHA-256 of the package's own list of its files (RECORD), which names each with its hash; empty without one, as
            in a package that is installed from its sources.
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    digest: str

    def to_json(self) -> dict[str, str]:
        """Return it as JSON values."""
        return {name: str(getattr(self, name)) for name in self.__slots__}


@dataclass(frozen=True)
class Group(Generic[T]):
    """All things of one kind that installed packages offer.

    Attributes:
        name: the entry point group, such as `"heredity.methods"`.
        noun: what one of them is called in messages.
        contract: what an entry has to load, in words that follow "give".
        conforms: whether what was loaded is that.
        or_path: whether the path of a folder, with a `/`, does in the place of a name.
    """

    name: str
    noun: str
    contract: str
    conforms: Callable[[Any], bool]
    or_path: bool = False

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted; nothing is imported for it.

        Raises:
            ConfigError: if two packages offer the same name.
        """
        return tuple(sorted(_entries(self.name)))

    def own(self) -> tuple[str, ...]:
        """Return the names of what comes with Heredity, sorted."""
        entries = _entries(self.name).items()
        return tuple(sorted(name for name, entry in entries if entry.dist is not None and _package(entry.dist) == OWN))

    def __contains__(self, name: object) -> bool:
        return name in _entries(self.name)

    def load(self, name: str) -> T:
        """Import what a package offers under a name.

        Raises:
            UnknownNameError: if there is nothing of that name; the nearest are suggested.
            ConfigError: if it cannot be imported or does not conform.
        """
        entries = _entries(self.name)
        if name not in entries:
            raise UnknownNameError(self.noun, name, sorted(entries), or_path=self.or_path)
        return self.check(entries[name])

    def check(self, entry: EntryPoint) -> T:
        """Import what an entry point names and check it. Raises as `load`."""
        name = f"the {self.noun} {entry.name!r} ({entry.value}, group {self.name})"
        try:
            plugin = entry.load()
        # Whatever a stranger's module raises while it is imported; an exit, too, would end the host with the code 0.
        except (Exception, SystemExit) as error:
            raise ConfigError(f"{name} failed to load: {described(error)}; repair or uninstall its package") from error
        if not self.conforms(plugin):
            raise ConfigError(f"{name} is {plugin!r}; give {self.contract}")
        if entry.dist is not None and _package(entry.dist) != OWN:
            _loaded[self.name, entry.name] = _origin(entry, entry.dist)
        return plugin


def loaded() -> list[Origin]:
    """Return what other packages' code this process has loaded by name, sorted, for the record of a run."""
    return [_loaded[key] for key in sorted(_loaded)]


def located(path: str, base: Path) -> str:
    """Return the absolute path of a file or folder.

    Args:
        path: as seen from `base`; or `package:path`, what an installed package holds, such as `heredity.library:harnesses/worker`.
        base: a folder.

    Raises:
        ConfigError: if the package is not installed.
    """
    package, colon, inside = path.partition(":")
    if not colon or not package.replace(".", "").isidentifier():
        return str((base / Path(path).expanduser()).absolute())
    try:
        return str(files(package) / inside)
    except ImportError as error:
        raise ConfigError(
            f"{path[:200]}: no package {package[:80]} is installed ({error!s:.200}); correct its name, or give a path"
        ) from error


def _origin(entry: EntryPoint, distribution: Distribution) -> Origin:
    files = distribution.read_text("RECORD")
    digest = hashlib.sha256(files.encode()).hexdigest() if files else ""
    return Origin(entry.group, entry.name, entry.value, distribution.name, distribution.version, digest)


@cache
def _installed() -> Mapping[str, EntryPoints]:
    """All entry points by group: one look through the installed packages."""
    points = entry_points()
    return {group: points.select(group=group) for group in points.groups}


@cache
def _package(distribution: Distribution) -> str:
    """A package's name, for which all its metadata is parsed: once."""
    return distribution.name


@cache
def _entries(group: str) -> Mapping[str, EntryPoint]:
    entries: dict[str, EntryPoint] = {}
    for entry in _installed().get(group, ()):
        other = entries.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ConfigError(
                f"two packages offer {entry.name!r} in {group}: {other.value} and {entry.value}; uninstall one of them"
            )
    return entries
