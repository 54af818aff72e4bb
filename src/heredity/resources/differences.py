"""Differences between two versions, as a unified diff."""

from __future__ import annotations

import difflib
import json

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
