"""Extension points: one loader for built-in parts and for those of other packages.

Each group is one extension point. Built-in parts are listed in `heredity._core.built_in`; other packages offer theirs
as entry points. Code behind an entry point runs in the trusted host, with all its rights: it is imported only when a
configuration names it, and `loaded()` lists the packages it came from.

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

from heredity._core.built_in import BUILT_IN
from heredity._core.errors import ConfigError, UnknownNameError, described

_OWN = "heredity"

T = TypeVar("T")

_loaded: dict[tuple[str, str], Origin] = {}


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a loaded object.

    Attributes:
        group: the entry point group.
        name: the entry's name.
        value: `module:attribute`.
        distribution: the package that offers it, and its `version`.
        digest: SHA-256 of the package's list of files (RECORD), which has a hash of each; empty without a list, as in
            an editable installation.
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
    """All entries of one extension point: built-in ones, and those of installed packages.

    Attributes:
        name: the entry point group, such as `"heredity.methods"`.
        noun: noun for one entry in messages.
        contract: required object, in words that follow "give".
        conforms: checks whether a loaded object satisfies the contract.
        or_path: whether the path of a folder, with a `/`, is valid instead of a name.
    """

    name: str
    noun: str
    contract: str
    conforms: Callable[[Any], bool]
    or_path: bool = False

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted, without importing anything.

        Raises:
            ConfigError: if two packages offer the same name.
        """
        return tuple(sorted(_entries(self.name)))

    def own(self) -> tuple[str, ...]:
        """Return the names of built-in entries, sorted."""
        return tuple(sorted(BUILT_IN.get(self.name, ())))

    def __contains__(self, name: object) -> bool:
        return name in _entries(self.name)

    def load(self, name: str) -> T:
        """Import the entry of a name.

        Raises:
            UnknownNameError: if the entry does not exist; the nearest names are suggested.
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
        # Importing third-party code may raise anything; even an exit would end the host with code 0.
        except (Exception, SystemExit) as error:
            raise ConfigError(f"{name} failed to load: {described(error)}; repair or uninstall its package") from error
        if not self.conforms(plugin):
            raise ConfigError(f"{name} is {plugin!r}; give {self.contract}")
        if entry.dist is not None:
            _loaded[self.name, entry.name] = _origin(entry, entry.dist)
        return plugin


def loaded() -> list[Origin]:
    """Return the origins of third-party entries that this process has loaded, sorted, for the record of a run."""
    return [_loaded[key] for key in sorted(_loaded)]


def located(path: str, base: Path) -> str:
    """Return the absolute path of a file or folder.

    Args:
        path: relative to `base`; or `package:path` for files of an installed package, such as
            `heredity.library:harnesses/worker`.
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
            f"{path[:200]}: the package {package[:80]} is not installed ({error!s:.200}); correct its name, or give a path"
        ) from error


def _origin(entry: EntryPoint, distribution: Distribution) -> Origin:
    files = distribution.read_text("RECORD")
    digest = hashlib.sha256(files.encode()).hexdigest() if files else ""
    return Origin(entry.group, entry.name, entry.value, distribution.name, distribution.version, digest)


@cache
def _installed() -> Mapping[str, EntryPoints]:
    """All entry points of other packages by group, from one scan of the installed packages."""
    points = entry_points()
    return {group: points.select(group=group) for group in points.groups}


@cache
def _entries(group: str) -> Mapping[str, EntryPoint]:
    entries = {name: EntryPoint(name, value, group) for name, value in BUILT_IN.get(group, {}).items()}
    for entry in _installed().get(group, ()):
        # An older installation of this package has entries as well, which may name modules that have moved.
        if entry.dist is not None and entry.dist.name == _OWN:
            continue
        other = entries.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ConfigError(
                f"two packages offer {entry.name!r} in {group}: {other.value} and {entry.value}; uninstall one of them"
            )
    return entries


def is_path(name: str) -> bool:
    """Report whether a name is the path of a file or folder: registered names have no slash."""
    return "/" in name.partition("?")[0] or name in (".", "..")
