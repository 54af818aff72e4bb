"""Changes of a candidate's texts over a run, from the first to the final candidate."""

from __future__ import annotations

import difflib

from heredity.resources import Candidate, SourceTree
from heredity.results.run import Change, ChangeStatus

MOST_LINES = 400
"""Maximum lines of a file's diff."""
_CONTEXT = 2
_LINE_CHARS = 2000


def changes(before: Candidate, after: Candidate) -> list[Change]:
    """Return one entry per changed file, by part and path, with a truncated unified diff without its header."""
    empty = SourceTree({})
    entries: list[Change] = []
    for part in sorted({*before.parts, *after.parts}):
        old, new = before.parts.get(part, empty), after.parts.get(part, empty)
        entries += [_change(part, path, old, new) for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    return entries


def _change(part: str, path: str, old: SourceTree, new: SourceTree) -> Change:
    status = (
        ChangeStatus.ADDED if path not in old else ChangeStatus.REMOVED if path not in new else ChangeStatus.CHANGED
    )
    was, now = (tree.texts().get(path, None if path in tree else "") for tree in (old, new))
    if was is None or now is None:
        return Change(part=part, file=path, status=status, added=None, removed=None, diff=None)
    lines = list(difflib.unified_diff(was.splitlines(), now.splitlines(), n=_CONTEXT, lineterm=""))[2:]
    shown = [line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES} more lines")
    added, removed = (sum(line[0] == sign for line in lines) for sign in "+-")
    return Change(part=part, file=path, status=status, added=added, removed=removed, diff="\n".join(shown))
