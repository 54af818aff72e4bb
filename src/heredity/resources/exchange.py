"""Resources as files: every version as JSON, to be read by people and loaded into another store; or a folder for each."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heredity.errors import ConfigError, DamagedRecordError
from heredity.outside import json_value
from heredity.resources.tree import SourceTree
from heredity.resources.versions import Draft, Manifest, Version, checked_name

_FORMAT = "heredity-resources-1"
_ABOUT = "resource.json"
Entries = list[tuple[Version, SourceTree]]
Heads = list[tuple[str, Version, bool]]
"""A branch, its head, and whether the resource is hidden."""


def to_json(
    entries: Iterable[tuple[Version, SourceTree]], heads: dict[str, list[tuple[str, str, bool]]]
) -> dict[str, Any]:
    """Return versions as JSON.

    Args:
        entries: versions and their files.
        heads: `type/name` to its branches, each with its head's digest and whether the resource is hidden.
    """
    versions: list[dict[str, Any]] = []
    contents: dict[str, Any] = {}
    for version, tree in entries:
        versions.append({**version.to_json(), "digest": version.digest})
        contents[version.content] = {path: _encoded(data) for path, data in tree.items()}
    return {
        "format": _FORMAT,
        "versions": versions,
        "heads": heads,
        "contents": contents,
    }


def from_json(text: str, *, where: str) -> tuple[Entries, Heads]:
    """Read what `to_json` gave, and check every digest in it.

    Raises:
        ConfigError: if it is no JSON of this kind.
        DamagedRecordError: if a version or a content does not match its digest.
    """
    try:
        value = json_value(text)
    except ValueError as error:
        raise DamagedRecordError(f"{where} is not JSON, or cut short: {error}; export it again") from error
    if not isinstance(value, dict) or value.get("format") != _FORMAT:
        raise ConfigError(f"{where} is no export of resources; it must be an object with format {_FORMAT!r}")
    try:
        trees = {
            digest: SourceTree({p: _decoded(d) for p, d in files.items()})
            for digest, files in value["contents"].items()
        }
        entries = [_entry(entry, trees, where) for entry in value["versions"]]
        by_digest = {version.digest: version for version, _ in entries}
        heads = [
            (checked_name(str(branch), "name of a branch"), by_digest[digest], bool(hidden))
            for branches in value["heads"].values()
            for branch, digest, hidden in branches
            if digest in by_digest
        ]
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error, ConfigError) as error:
        raise DamagedRecordError(f"{where} is damaged: {error!r:.200}; export it again") from error
    return entries, heads


def _entry(value: dict[str, Any], trees: dict[str, SourceTree], where: str) -> tuple[Version, SourceTree]:
    try:
        version = Version.from_json({key: inner for key, inner in value.items() if key != "digest"})
    except DamagedRecordError as error:
        raise DamagedRecordError(f"{where}: {error}") from error
    if version.digest != value["digest"]:
        raise DamagedRecordError(
            f"{where}: {version.label} does not match its digest, for it was changed; export it again"
        )
    tree = trees[version.content]
    if tree.digest != version.content:
        raise DamagedRecordError(f"{where}: the files of {version.label} do not match their digest; export it again")
    return version, tree


def _encoded(data: bytes) -> dict[str, str]:
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _decoded(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["base64"], validate=True)


def draft_of(type_: str, folder: Path) -> Draft:
    """Read a resource from a folder of its files, with an optional `resource.json`, its manifest."""
    files: dict[str, bytes | str] = {**SourceTree.from_folder(folder)}
    about = files.pop(_ABOUT, b"{}")
    try:
        manifest = Manifest.from_json(json_value(about))
    except (ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{folder / _ABOUT} is not a JSON object: {error}; correct it there") from error
    except ConfigError as error:
        raise ConfigError(f"{folder / _ABOUT}: {error}") from error
    return Draft(type_, folder.name, SourceTree(files), manifest, note=f"from {folder.name}/")
