"""What evolution made of a candidate's texts: from the one that a run began with to the one it ended with."""

from __future__ import annotations

import difflib
from typing import Any

from heredity.resources import Candidate, SourceTree

MOST_LINES = 400
"""How many lines of a file's diff are kept."""
_CONTEXT = 2
_LINE_CHARS = 2000


def changes(before: Candidate, after: Candidate) -> list[dict[str, Any]]:
    """Return one entry for each file that differs, by part and path.

    An entry has `part`, `file`, `status` (`"added"`, `"removed"` or `"changed"`), `added` and `removed` (lines), and
    `diff`, a unified diff without its head, cut after `MOST_LINES`; null for what is no text.
    """
    empty = SourceTree({})
    found: list[dict[str, Any]] = []
    for part in sorted({*before.parts, *after.parts}):
        old, new = before.parts.get(part, empty), after.parts.get(part, empty)
        found += [_change(part, path, old, new) for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    return found


def _change(part: str, path: str, old: SourceTree, new: SourceTree) -> dict[str, Any]:
    status = "added" if path not in old else "removed" if path not in new else "changed"
    texts = [tree.texts().get(path, None if path in tree else "") for tree in (old, new)]
    entry: dict[str, Any] = {"part": part, "file": path, "status": status, "added": None, "removed": None, "diff": None}
    if texts[0] is None or texts[1] is None:
        return entry
    was, now = texts[0].splitlines(), texts[1].splitlines()
    lines = list(difflib.unified_diff(was, now, n=_CONTEXT, lineterm=""))[2:]
    shown = [line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES} more lines")
    counts = {"added": sum(line[0] == "+" for line in lines), "removed": sum(line[0] == "-" for line in lines)}
    return {**entry, **counts, "diff": "\n".join(shown)}
