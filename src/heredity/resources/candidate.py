"""Candidates: immutable sets of resource versions that are evaluated as a whole."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from heredity._core.errors import DamagedRecordError
from heredity._core.ids import digest_json
from heredity.resources.tree import SourceTree
from heredity.resources.versions import Version


def difference(before: tuple[Version, SourceTree], after: tuple[Version, SourceTree]) -> str:
    """Return a unified diff of the manifests and of every file that differs; empty if nothing does."""
    (old, old_tree), (new, new_tree) = before, after
    parts = [_lines("manifest.json", _manifest(old), _manifest(new), old.label, new.label)]
    for path in sorted({*old_tree, *new_tree}):
        a, b = old_tree.get(path), new_tree.get(path)
        if a != b:
            parts.append(_file(path, a, b, (old.label, new.label)))
    return "".join(parts)


def _manifest(version: Version) -> str:
    return json.dumps(version.manifest.to_json(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _file(path: str, before: bytes | None, after: bytes | None, labels: tuple[str, str]) -> str:
    try:
        return _lines(path, (before or b"").decode(), (after or b"").decode(), *labels)
    except UnicodeDecodeError:
        sizes = " to ".join("none" if data is None else f"{len(data)} bytes" for data in (before, after))
        return f"{path} is not text and differs: {sizes}\n"


def _lines(path: str, before: str, after: str, *labels: str) -> str:
    diff = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{labels[0]}/{path}", f"{labels[1]}/{path}", lineterm=""
    )
    return "".join(f"{line}\n" for line in diff)


AGENT = "agent"
"""The name of the part that holds a policy program."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """An immutable set of named resources; its digest is its identity.

    Attributes:
        parts: name to content. A policy program is one part, `"agent"`.
    """

    parts: Mapping[str, SourceTree]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", MappingProxyType(dict(sorted(self.parts.items()))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Candidate) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the digests of the parts."""
        return digest_json({name: tree.digest for name, tree in self.parts.items()})

    @classmethod
    def program(cls, tree: SourceTree) -> Candidate:
        """Return the candidate that consists of one policy program."""
        return cls({AGENT: tree})

    @property
    def agent(self) -> SourceTree:
        """The policy program.

        Raises:
            KeyError: if the candidate has no part `"agent"`.
        """
        return self.parts[AGENT]

    def to_bytes(self) -> bytes:
        """Encode the candidate; equal candidates give equal bytes."""
        return SourceTree({name: tree.to_bytes() for name, tree in self.parts.items()}).to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Candidate:
        """Decode the result of `to_bytes`.

        Raises:
            DamagedRecordError: if `data` is not an encoded candidate.
        """
        parts = {name: SourceTree.from_bytes(part) for name, part in SourceTree.from_bytes(data).items()}
        if not parts:
            raise DamagedRecordError("an encoded candidate has no parts")
        return cls(parts)
