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
from collections.abc import Iterable, Mapping, Sequence

from heredity.analysis.code_features import Bundle
from heredity.results.run import Edit, EditKind, Phase, SubmissionRow

PHASE_KINDS = {
    EditKind.INITIAL: EditKind.SYNTHESIS,
    EditKind.SYNTHESIS: EditKind.SYNTHESIS,
    EditKind.PARAMETRIC: EditKind.PARAMETRIC,
}
"""Which edits make phases; rollbacks and retests are events on the timeline and neither begin nor end a phase."""

_ALIGNED_LINES = 1000


class EditClassifier:
    """Classifies the edits of one run, submission by submission."""

    def __init__(self) -> None:
        self._previous: Bundle | None = None
        self._seen: set[str] = set()

    def next(self, bundle: Bundle, hit: bool | None = None) -> Edit:
        """Return the edit that led to the next score-bearing submission's bundle; `hit` says whether it raised the best."""
        kind = self._kind(bundle)
        added, removed = changed_lines({} if self._previous is None else self._previous.lines, bundle.lines)
        self._previous = bundle
        self._seen.add(bundle.topology)
        total = bundle.features.lines
        return Edit(kind=kind, hit=hit, lines_added=added, lines_removed=removed, lines_total=total)

    def _kind(self, bundle: Bundle) -> EditKind:
        if self._previous is None:
            return EditKind.INITIAL
        if bundle.digest == self._previous.digest:
            return EditKind.RETEST
        if bundle.topology == self._previous.topology:
            return EditKind.PARAMETRIC
        return EditKind.ROLLBACK if bundle.topology in self._seen else EditKind.SYNTHESIS


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


def phases(rows: Iterable[SubmissionRow]) -> list[Phase]:
    """Join adjacent edits of one kind into phases (EvoPolicyGym, figure 5); the initial submission counts as synthesis."""
    joined: list[Phase] = []
    for row in rows:
        kind = PHASE_KINDS.get(row.edit.kind) if row.edit else None
        if kind is None:
            continue
        start, first = row.budget_used - row.episodes, row.index
        if joined and joined[-1].kind is kind:
            before = joined.pop()
            start, first = before.start, before.first
        joined.append(Phase(kind=kind, start=start, stop=row.budget_used, first=first, last=row.index))
    return joined
