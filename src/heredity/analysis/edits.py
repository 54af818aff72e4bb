"""Edits between submissions: their kind, their size, and the phases they form (EvoPolicyGym, section 5).

Only score-bearing submissions count, that is, those whose status is ok. Each is compared with the one before:

- `initial`: the first one of the run; it introduces its topology.
- `retest`: the bundle is the same to the byte.
- `parametric`: the bundle changed and its topology did not; also when only data files (weights) changed.
- `rollback`: the topology is not the previous one, but was seen earlier in the run.
- `synthesis`: the topology was not seen before in the run.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.analysis.code_features import Bundle

KINDS = ("initial", "synthesis", "parametric", "rollback", "retest")
PHASE_KINDS = {"initial": "synthesis", "synthesis": "synthesis", "parametric": "parametric"}
"""Which edits make phases; rollbacks and retests are events on the timeline and neither begin nor end a phase."""

_ALIGNED_LINES = 1000


@dataclass(frozen=True, slots=True)
class Edit:
    """How a score-bearing submission differs from the one before.

    Attributes:
        kind: one of `KINDS`.
        lines_added: lines of modules that the previous bundle does not have.
        lines_removed: lines of modules that only the previous bundle has.
        lines_total: lines of this bundle.
    """

    kind: str
    lines_added: int
    lines_removed: int
    lines_total: int


class EditClassifier:
    """Classifies the edits of one run, submission by submission."""

    def __init__(self) -> None:
        self._previous: Bundle | None = None
        self._seen: set[str] = set()

    def next(self, bundle: Bundle) -> Edit:
        """Return the edit that led to the next score-bearing submission's bundle."""
        kind = self._kind(bundle)
        added, removed = changed_lines({} if self._previous is None else self._previous.lines, bundle.lines)
        self._previous = bundle
        self._seen.add(bundle.topology)
        return Edit(kind, added, removed, bundle.features.lines)

    def _kind(self, bundle: Bundle) -> str:
        if self._previous is None:
            return "initial"
        if bundle.digest == self._previous.digest:
            return "retest"
        if bundle.topology == self._previous.topology:
            return "parametric"
        return "rollback" if bundle.topology in self._seen else "synthesis"


def changed_lines(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> tuple[int, int]:
    """Return how many lines were (added, removed) between two sets of modules, file by file."""
    added = removed = 0
    for path in sorted({*before, *after}):
        plus, minus = _changed_in_file(before.get(path, ()), after.get(path, ()))
        added += plus
        removed += minus
    return added, removed


def _changed_in_file(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """Count added and removed lines; aligned where that is affordable, else as a difference of multisets."""
    head, limit = 0, min(len(before), len(after))
    while head < limit and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < limit - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not old or not new:
        return len(new), len(old)
    if len(old) + len(new) <= _ALIGNED_LINES:
        blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        kept = sum(block.size for block in blocks)
    else:
        kept = (Counter(old) & Counter(new)).total()
    return len(new) - kept, len(old) - kept


@dataclass(frozen=True, slots=True)
class Step:
    """A score-bearing submission on the timeline.

    Attributes:
        submission: its number in the run.
        kind: its edit's kind.
        used_before: episodes consumed before it.
        used_after: episodes consumed when it had run.
    """

    submission: int
    kind: str
    used_before: int
    used_after: int


def phases(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Join adjacent edits of one kind into phases (EvoPolicyGym, figure 5).

    The initial submission counts as synthesis. Returns rows with kind, from and to (episodes consumed), first and last
    (submissions).
    """
    rows: list[dict[str, Any]] = []
    for step in steps:
        kind = PHASE_KINDS.get(step.kind)
        if kind is None:
            continue
        if rows and rows[-1]["kind"] == kind:
            rows[-1] |= {"to": step.used_after, "last": step.submission}
        else:
            span = {"from": step.used_before, "to": step.used_after}
            rows.append({"kind": kind, **span, "first": step.submission, "last": step.submission})
    return rows
