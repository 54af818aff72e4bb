"""Contracts: what a resource does, what it takes and what it promises, as a SKILL.md for people and models.

A contract is front matter (name, description, and optionally license, compatibility, metadata and allowed-tools) and a
text. Of YAML it uses what every reader agrees on: one key a line, values plain or in quotes, metadata one level deep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heredity.errors import ConfigError, UnknownNameError
from heredity.resources.building import SKILL, check_skill
from heredity.resources.tree import SourceTree
from heredity.resources.versions import Version

_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
_LINE = re.compile(r"(?P<indent> *)(?P<key>[A-Za-z0-9_.-]+):(?: +(?P<value>.*))?")
_PLAIN = re.compile(r"[^\s\"'\[\]{}>|*&!%#`@,?:-][^\n]*")


@dataclass(frozen=True, slots=True)
class Contract:
    """A SKILL.md.

    Attributes:
        name: what it describes; for a tool also its folder's name.
        description: what it does and when to use it.
        extra: the other keys of the front matter.
        text: what comes after the front matter.
    """

    name: str
    description: str
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    text: str = ""

    def __str__(self) -> str:
        lines = ["---"]
        for key, value in {"name": self.name, "description": self.description, **self.extra}.items():
            if isinstance(value, Mapping):
                lines += [f"{key}:", *(f"  {inner}: {_quoted(v)}" for inner, v in value.items())]
            else:
                lines.append(f"{key}: {value if key == 'name' else _quoted(value)}")
        return "\n".join([*lines, "---", "", self.text.strip(), ""])


def contract_of(version: Version, tree: SourceTree) -> Contract:
    """Return a version's contract: the text of its SKILL.md if it has one, else one made from its manifest."""
    if SKILL in tree:
        own = read_contract(tree.text(SKILL), where=f"{SKILL} of {version.label}")
        if own.name != version.name:
            raise ConfigError(f"{SKILL} of {version.label} names {own.name}; name the resource it describes")
        return Contract(own.name, version.manifest.description, own.extra, own.text)
    return Contract(version.name, version.manifest.description, _facts(version), _text(version, tree))


def read_contract(text: str, *, where: str) -> Contract:
    """Read a SKILL.md.

    Args:
        text: the file's text.
        where: how messages name it.

    Raises:
        ConfigError: if it has no front matter, or a line of it is none that every reader understands.
        UnknownNameError: if it has a key that SKILL.md has not.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != "---" or "---" not in [line.rstrip() for line in lines[1:]]:
        raise ConfigError(f"{where} has no front matter; begin with ---, name: …, description: …, ---")
    end = [line.rstrip() for line in lines].index("---", 1)
    found: dict[str, Any] = {}
    outer = ""
    for number, line in enumerate(lines[1:end], 2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.rstrip())
        if match is None:
            raise ConfigError(f"{where}, line {number}: expected `key: value` on one line, not {line.strip()!r:.60}")
        value = _value(match["value"] or "", f"{where}, line {number}")
        if not match["indent"]:
            outer = match["key"]
            if outer not in _KEYS:
                raise UnknownNameError(f"key in {where}", outer, _KEYS)
            found[outer] = {} if outer == "metadata" else value
        elif outer == "metadata":
            found[outer][match["key"]] = value
        else:
            raise ConfigError(f"{where}, line {number}: only metadata has lines of its own; write {outer} on one line")
    name, description = found.pop("name", ""), found.pop("description", "")
    check_skill(name, description)
    return Contract(name, description, found, "\n".join(lines[end + 1 :]).strip())


def _facts(version: Version) -> dict[str, Any]:
    return {"metadata": {"type": version.type, "version": str(version.number), "digest": version.digest}}


def _text(version: Version, tree: SourceTree) -> str:
    manifest = version.manifest
    parts = [f"# {version.name}", manifest.description]
    properties: Mapping[str, Any] = manifest.arguments.get("properties", {})
    if properties:
        required = manifest.arguments.get("required", [])
        parts.append("## Arguments")
        parts.append(
            "\n".join(
                f"- `{key}` ({schema.get('type', 'any')}{'' if key in required else ', optional'})"
                + (f": {schema['description']}" if "description" in schema else "")
                for key, schema in properties.items()
            )
        )
    if manifest.pins:
        parts += ["## Needs", "\n".join(f"- {target} {number}" for target, number in manifest.pins.items())]
    if tree:
        parts += ["## Files", "\n".join(f"- `{path}` ({len(data)} bytes)" for path, data in tree.items())]
    return "\n\n".join(part for part in parts if part)


def _quoted(value: Any) -> str:
    return json.dumps(str(value), ensure_ascii=False)


def _value(text: str, where: str) -> str:
    text = text.strip()
    if text[:1] == '"':
        try:
            return str(json.loads(text))
        except ValueError as error:
            raise ConfigError(f"{where}: {text!r:.60} is no text in double quotes: {error}") from error
    if text[:1] == "'":
        if len(text) < 2 or text[-1] != "'":
            raise ConfigError(f"{where}: {text!r:.60} has no closing quote")
        return text[1:-1].replace("''", "'")
    if text and not _PLAIN.fullmatch(text):
        raise ConfigError(f"{where}: put {text!r:.60} in double quotes, on one line")
    return text
