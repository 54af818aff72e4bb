"""Versions of resources: identity, manifest, and version numbers.

A resource is a name of one of six types (Autogenesis, definition E.1, and the model). A version is immutable: its
digest covers its content, its manifest, its parents and its number, so any change is detected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property, total_ordering
from types import MappingProxyType
from typing import Any

from heredity._core.errors import ConfigError, DamagedRecordError, UnknownNameError
from heredity._core.ids import NAME_PATTERN, canonical_json, digest_json
from heredity._core.refusals import quoted
from heredity.resources.tree import SourceTree

TYPES = ("prompt", "agent", "tool", "environment", "memory", "model")
MAIN = "main"
"""The default branch."""

_NUMBER = re.compile(r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})")
_MAX_NOTE = 4000


@total_ordering
@dataclass(frozen=True, slots=True)
class Number:
    """A semantic version, `major.minor.patch`: the name of a version whose identity is its digest."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def __lt__(self, other: Number) -> bool:
        return (self.major, self.minor, self.patch) < (other.major, other.minor, other.patch)

    @classmethod
    def parse(cls, text: str) -> Number:
        """Read `"1.0.2"`.

        Raises:
            ConfigError: if `text` is not three plain numbers with dots between them.
        """
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise ConfigError(f"{text!r} is not a version; write three numbers such as 1.0.2")
        return cls(*map(int, match.groups()))

    def next(self, part: str = "patch") -> Number:
        """Return the number after this one, raising `"major"`, `"minor"` or `"patch"`.

        Raises:
            UnknownNameError: if `part` is none of the three.
        """
        if part == "patch":
            return Number(self.major, self.minor, self.patch + 1)
        if part == "minor":
            return Number(self.major, self.minor + 1, 0)
        if part == "major":
            return Number(self.major + 1, 0, 0)
        raise UnknownNameError("part of a version", part, ("major", "minor", "patch"))


FIRST = Number(1, 0, 0)


def _nothing() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Manifest:
    """Manifest of a version: the registration record of Autogenesis (definition E.2).

    Attributes:
        description: its purpose, for people and models.
        evolvable: whether `set_variables` and optimizers may change it (the marker g).
        metadata: anything else, JSON.
        parameters: parameters of an instance, JSON.
        arguments: JSON schema of the input of `run`; empty to use a tool's signature.
        pins: other resources that it needs, `"prompt/solver"` to the version used with it, `"1.0.2"`.
    """

    description: str = ""
    evolvable: bool = True
    metadata: Mapping[str, Any] = field(default_factory=_nothing)
    parameters: Mapping[str, Any] = field(default_factory=_nothing)
    arguments: Mapping[str, Any] = field(default_factory=_nothing)
    pins: Mapping[str, str] = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        for key in ("metadata", "parameters", "arguments", "pins"):
            value = getattr(self, key)
            try:
                own = json.loads(canonical_json(dict(value))) if value else {}
            except (TypeError, ValueError, RecursionError) as error:
                raise ConfigError(f"{key} must be a JSON object, not {value!r:.80}: {error}") from error
            object.__setattr__(self, key, MappingProxyType(own))
        _check_text("description", self.description)
        for target, number in self.pins.items():
            type_, _, name = target.partition("/")
            checked_identity(type_, name)
            Number.parse(str(number))

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {f.name: dict(v) if isinstance(v := getattr(self, f.name), Mapping) else v for f in fields(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Manifest:
        """Read a JSON object; keys may be missing.

        Raises:
            UnknownNameError: if it has an unknown key.
            ConfigError: if a value is of the wrong type.
        """
        keys = [f.name for f in fields(cls)]
        for key in value:
            if key not in keys:
                raise UnknownNameError("key of a manifest", key, keys)
        if not isinstance(value.get("description", ""), str) or not isinstance(value.get("evolvable", True), bool):
            shown = {key: value[key] for key in ("description", "evolvable") if key in value}
            raise ConfigError(f"a manifest has {quoted(shown)}; give a text as description, true or false as evolvable")
        return cls(**value)


@dataclass(frozen=True, slots=True)
class Draft:
    """A version before it has a number.

    Attributes:
        type: one of `TYPES`.
        name: unique within its type.
        tree: its files.
        manifest: its manifest.
        note: the reason, for the log.
        number: its number; None for the next free one.
        part: the part of the number to increase for the next free one.
        parents: digests of the versions it was made from; None for the head of its branch.
        created: creation time, in UTC (ISO 8601); `""` for now.
    """

    type: str
    name: str
    tree: SourceTree
    manifest: Manifest = field(default_factory=Manifest)
    note: str = ""
    number: Number | None = None
    part: str = "patch"
    parents: tuple[str, ...] | None = None
    created: str = ""

    def __post_init__(self) -> None:
        checked_identity(self.type, self.name)
        _check_text("note", self.note)
        if len(self.note) > _MAX_NOTE:
            raise ConfigError(f"a note of {len(self.note)} characters is too long; {_MAX_NOTE} are allowed")


@dataclass(frozen=True)
class Version:
    """An immutable version of a resource.

    Attributes:
        type: one of `TYPES`.
        name: the resource's name.
        number: the version's number, never reused in one resource.
        content: digest of its files (`SourceTree.digest`).
        manifest: its manifest.
        parents: digests of the versions it was made from, also of other resources (a copy); empty for the first.
        note: the reason.
        created: creation time, in UTC (ISO 8601).
    """

    type: str
    name: str
    number: Number
    content: str
    manifest: Manifest
    parents: tuple[str, ...]
    note: str
    created: str

    @classmethod
    def of(cls, draft: Draft, number: Number, parents: tuple[str, ...]) -> Version:
        """Return the version that a draft becomes."""
        created = draft.created or datetime.now(UTC).isoformat(timespec="microseconds")
        return cls(draft.type, draft.name, number, draft.tree.digest, draft.manifest, parents, draft.note, created)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over everything above."""
        return digest_json(self.to_json())

    @property
    def label(self) -> str:
        """`type/name@number`."""
        return f"{self.type}/{self.name}@{self.number}"

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; equal versions give equal objects."""
        manifest = self.manifest.to_json()
        return {
            **{f.name: getattr(self, f.name) for f in fields(self)},
            "number": str(self.number),
            "manifest": manifest,
            "parents": list(self.parents),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Version:
        """Read what `to_json` gave.

        Raises:
            DamagedRecordError: if it is not a version.
        """
        try:
            given = dict(value)
            checked_identity(given["type"], given["name"])
            given["number"] = Number.parse(given["number"])
            given["manifest"] = Manifest.from_json(given["manifest"])
            given["parents"] = tuple(map(str, given["parents"]))
            return cls(**given)
        except (KeyError, TypeError, AttributeError, ConfigError) as error:
            raise DamagedRecordError(
                f"this is not a version of a resource: {error!r:.200}; restore it from a copy"
            ) from error


@dataclass(frozen=True, slots=True)
class Move:
    """One entry of a branch's log: its head became `target`.

    Attributes:
        branch: the branch.
        target: digest of the new head.
        action: `register`, `update`, `restore`, `unregister` and so on.
        at: time, in UTC (ISO 8601).
    """

    branch: str
    target: str
    action: str
    at: str

    def to_json(self) -> dict[str, str]:
        """Return it as a JSON object."""
        return asdict(self)


def _check_text(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"the {what} {text!r:.60} cannot be stored as text: {error}") from error


def checked_identity(type_: str, name: str) -> None:
    """Refuse an invalid type or name.

    Raises:
        UnknownNameError: if the type does not exist.
        ConfigError: if the name has other characters than letters, digits, `.`, `_` and `-`, or more than 64.
    """
    if type_ not in TYPES:
        raise UnknownNameError("type of resource", str(type_), TYPES)
    checked_name(name, "name of a resource")


def checked_name(name: str, what: str) -> str:
    """Return a name, or refuse an invalid one.

    Raises:
        ConfigError: if it has other characters than letters, digits, `.`, `_` and `-`, or more than 64.
    """
    if not NAME_PATTERN.fullmatch(name):
        raise ConfigError(
            f"{name!r:.80} is no {what}; use 1 to 64 letters, digits, dots, hyphens or underscores, a letter or digit first"
        )
    return name
