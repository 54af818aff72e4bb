"""The evidence pack of harness engineering: statistics, failures in groups, and what came of earlier changes.

Everything in it is derived from turns, so a resumed method packs the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import unified_diff
from itertools import pairwise
from typing import Any

from heredity.evolution.operators.evidence import shortened
from heredity.evolution.operators.manifest import Manifest
from heredity.evolution.operators.measure import Measured, Rollout
from heredity.evolution.proposals import Turn
from heredity.resources import Candidate
from heredity.resources.assembly import variables
from heredity.results.status import Status


def statistics(measured: Measured, solved: float) -> dict[str, Any]:
    """Return the mean score (null if unknown), and how many tasks were solved, were not, and had a rollout not end well.

    Tasks of `errors` are also among the `failed` ones, unless they are missing.
    """
    scored = len(measured.scores)
    good = len(measured.solved(solved))
    errors = sum(any(a.status != Status.OK for a in rollouts) for rollouts in measured.rollouts.values())
    return {"score": measured.mean if scored else None, "solved": good, "failed": scored - good, "errors": errors}


def grouped_failures(measured: Measured, solved: float) -> list[dict[str, Any]]:
    """Return the failed rollouts by what went wrong, the largest group first: `error` (of one of them) and `tasks`.

    Rollouts are of a group if their errors differ in numbers, paths and quoted texts alone.
    """
    groups: dict[str, tuple[str, dict[int, None]]] = {}
    for task, rollouts in measured.rollouts.items():
        for rollout in rollouts:
            if not rollout.score >= solved:
                error = _telling(rollout) or "no reason is given"
                groups.setdefault(normalised(error), (error, {}))[1][task] = None
    failures = [{"error": error, "tasks": sorted(tasks)} for error, tasks in groups.values()]
    return sorted(failures, key=lambda group: (-len(group["tasks"]), group["tasks"]))


def normalised(text: str) -> str:
    """Return a text with its quotations, paths and numbers replaced by marks, and its white space by single blanks."""
    for pattern, mark in _VARYING:
        text = pattern.sub(mark, text)
    return " ".join(text.split())


@dataclass
class _State:
    """The harness between two changes.

    Attributes:
        candidate: the harness.
        round: when it was proposed; 0 for the first.
        manifest: of the change that led to it; None for the first.
        solved: train task index to whether it was solved when last attempted; `first`: when first attempted.
        means: its mean score of each turn; None if unknown.
    """

    candidate: Candidate
    round: int = 0
    manifest: Manifest | None = None
    solved: dict[int, bool] = field(default_factory=dict[int, bool])
    first: dict[int, bool] = field(default_factory=dict[int, bool])
    means: list[float | None] = field(default_factory=list[float | None])


class Course:
    """The changes that led to the committed harness, with what was expected of each and what came.

    A change that was refused is no part of it, and neither is what was changed before a reset.
    """

    def __init__(self, solved: float) -> None:
        """Begin; `solved` is the score from which on a task counts as solved."""
        self._threshold = solved
        self._states: list[_State] = []
        self._proposed: _State | None = None

    def reached(self, turn: Turn) -> None:
        """Take in how the committed harness did in this turn."""
        base = turn.base
        states = [*self._states, *([self._proposed] if self._proposed else [])]
        while states and states[-1].candidate != base.candidate:
            states.pop()
        self._states, self._proposed = states or [_State(base.candidate)], None
        good, state = base.solved(self._threshold), self._states[-1]
        came = {task: task in good for task in base.scores}
        state.solved, state.first = state.solved | came, came | state.first
        state.means.append(base.mean if base.scores else None)

    def changed(self, turn: Turn, candidate: Candidate, manifest: Manifest) -> None:
        """Remember what was proposed; the next turn shows whether it was committed."""
        self._proposed = _State(candidate, turn.number, manifest)

    @property
    def unsolved(self) -> set[int]:
        """The train tasks that were not solved when last attempted."""
        return {task for task, solved in _merged(s.solved for s in self._states).items() if not solved}

    def history(self) -> list[dict[str, Any]]:
        """Return the changes, with the mean scores of the turns before and after each.

        Where turns have tasks of their own, these are means of different tasks.
        """
        return [
            {
                "round": state.round,
                "changes": [{"variable": name, "why": why} for name, why in state.manifest.reasons.items()],
                "before": before.means[-1],
                "after": state.means[0],
            }
            for before, state in pairwise(self._states)
            if state.manifest
        ]

    def predictions(self) -> list[dict[str, Any]]:
        """Return what was expected of each change, and what came when tasks were next attempted.

        `tasks` are those expected to be fixed; `held` and `missed` are those of them that were then solved or not (neither,
        if they have not come again); `broke` are the tasks that were solved before and then not.
        """
        rows: list[dict[str, Any]] = []
        for index, state in enumerate(self._states):
            if state.manifest is None:
                continue
            before = _merged(s.solved for s in self._states[:index])
            after = _merged(s.first for s in reversed(self._states[index:]))
            fixes = state.manifest.fixes
            rows.append(
                {
                    "round": state.round,
                    "tasks": list(fixes),
                    "held": [task for task in fixes if after.get(task) is True],
                    "missed": [task for task in fixes if after.get(task) is False],
                    "broke": sorted(task for task in before.keys() & after.keys() if before[task] and not after[task]),
                }
            )
        return rows

    def diffs(self, chars: int) -> dict[str, str]:
        """Return a unified diff of each variable that the last change edited, of `chars` characters at most each."""
        if len(self._states) < 2 or self._states[-1].manifest is None:
            return {}
        old, new = (variables(state.candidate) for state in self._states[-2:])
        return {
            name: shortened("\n".join(_diff(old.get(name, ""), new.get(name, ""))), chars)
            for name in self._states[-1].manifest.values
        }


def _merged(rounds: Iterable[dict[int, bool]]) -> dict[int, bool]:
    return {task: solved for outcomes in rounds for task, solved in outcomes.items()}


def _diff(old: str, new: str) -> Iterable[str]:
    return unified_diff(old.splitlines(), new.splitlines(), "before", "after", lineterm="")


def _telling(rollout: Rollout) -> str:
    """Return the lines of a rollout's error that say what went wrong.

    Of a failure the first one, its category and message; of a verifier's output the last, with the one before if it is a
    single word, such as `AssertionError`.
    """
    lines = [line.strip() for line in (rollout.evidence["error"] or "").splitlines() if not _FRAME.match(line)]
    if rollout.status != Status.OK:
        return shortened("\n".join(lines[:1]), _SHOWN)
    kept = lines[-1:] if lines and " " in lines[-1] else lines[-2:]
    return shortened("\n".join(kept), _SHOWN)


_SHOWN = 500
_FRAME = re.compile(r'\s*(File ".*|Traceback \(.*|[\^~ ]*|[=\-_]{3}.*)$')
"""Lines of a traceback or of a test runner that say where, not what."""

_VARYING = (
    (re.compile(r'"[^"]*"|`[^`]*`' + r"|(?<!\w)'[^']*'(?!\w)"), "«…»"),
    (re.compile(r"\.{0,2}/?[\w.-]+(?:/[\w.-]+)+/?|(?<!\w)/[\w.-]+"), "PATH"),
    (re.compile(r"\b0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b|\d+(?:[.,]\d+)*"), "N"),
)
