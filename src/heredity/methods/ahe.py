"""AHE: agentic harness engineering, which edits a harness as files, from an evidence pack (SEAGym, appendices B.2 and C.1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from functools import partial
from itertools import pairwise
from typing import Any, cast

from pydantic import Field

from heredity._core.errors import ConfigError
from heredity.methods.contract import EvolverContext, SessionContract
from heredity.methods.operators.dialogue import Failed
from heredity.methods.operators.evidence import shortened
from heredity.methods.operators.improve import Edits, apply, edits_in, one_line
from heredity.methods.operators.measure import Measured, Rollout
from heredity.methods.proposals import Proposed, Revision, Turn
from heredity.methods.registry import parse_options
from heredity.methods.targets import Target
from heredity.methods.updates import UpdateOptions, run_updates
from heredity.resources import Candidate
from heredity.resources.assembly import variables
from heredity.results.status import Status


@dataclass(frozen=True, slots=True)
class Manifest:
    """A reply of the form `engineer`.

    Attributes:
        values: variable to its new text; None removes it.
        reasons: variable to the reason for its change, one line each.
        fixes: train task indices expected to be solved from now on.
        risks: one line on possible regressions.
    """

    values: Mapping[str, str | None]
    reasons: Mapping[str, str]
    fixes: tuple[int, ...] = ()
    risks: str = ""

    @property
    def edits(self) -> Edits:
        """The edits, with the whole manifest on one line for the submission's note."""
        tasks = ", ".join(map(str, self.fixes)) or "none"
        expects = f"expected to fix tasks: {tasks}" + (f"; risks: {self.risks}" if self.risks else "")
        why = "; ".join(dict.fromkeys(filter(None, self.reasons.values())))
        return Edits(self.values, f"{why} [{expects}]".strip(), expects)


def manifest_in(unsolved: Collection[int], reply: Mapping[str, Any]) -> Manifest:
    """Read a reply of the form `engineer`; an empty list of edits leaves the harness unchanged.

    Args:
        unsolved: train task indices that can improve. Others are removed from `fixes`, so predictions cannot be
            trivially right.
        reply: the reply's object.

    Raises:
        ConfigError: if an edit or the list of tasks is malformed.
    """
    fixes: Any = reply.get("fixes") or []
    if not isinstance(fixes, list) or not all(type(task) is int for task in cast("list[Any]", fixes)):
        raise ConfigError(f'"fixes" is {fixes!r:.80}; expected a list of train tasks, as numbered in the evidence')
    expected = tuple(task for task in dict.fromkeys(cast("list[int]", fixes)) if task in unsolved)
    risks = one_line(reply.get("risks"))
    if reply.get("edits") == []:
        return Manifest({}, {}, expected, risks)
    values = edits_in(reply).values
    return Manifest(values, {edit["variable"]: one_line(edit.get("why")) for edit in reply["edits"]}, expected, risks)


def statistics(measured: Measured, solved: float) -> dict[str, Any]:
    """Return the mean score (null if unknown) and the numbers of tasks solved, failed, and with a rollout in error.

    Tasks in `errors` also count as `failed`, unless their rollouts are missing.
    """
    scored = len(measured.scores)
    good = len(measured.solved(solved))
    errors = sum(any(a.status != Status.OK for a in rollouts) for rollouts in measured.rollouts.values())
    return {"score": measured.mean if scored else None, "solved": good, "failed": scored - good, "errors": errors}


def grouped_failures(measured: Measured, solved: float) -> list[dict[str, Any]]:
    """Group the failed rollouts by error, largest group first: `error` (an example) and `tasks`.

    Errors that differ only in numbers, paths and quoted texts share a group.
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
    """Replace quotations, paths and numbers in a text by marks, and collapse white space."""
    for pattern, mark in _VARYING:
        text = pattern.sub(mark, text)
    return " ".join(text.split())


@dataclass
class _State:
    """State of the harness between two changes.

    Attributes:
        candidate: the harness.
        round: when it was proposed; 0 for the first.
        manifest: manifest of the change that led to it; None for the first.
        solved: whether each train task was solved when last attempted, by task index.
        first: the same for the first attempt.
        means: mean score of each turn; None if unknown.
    """

    candidate: Candidate
    round: int = 0
    manifest: Manifest | None = None
    solved: dict[int, bool] = field(default_factory=dict[int, bool])
    first: dict[int, bool] = field(default_factory=dict[int, bool])
    means: list[float | None] = field(default_factory=list[float | None])


class Course:
    """Changes that led to the committed harness, with the prediction and the outcome of each.

    Refused changes are not included, nor are changes before a reset.
    """

    def __init__(self, solved: float) -> None:
        """Start empty; `solved` is the lowest score that counts as solved."""
        self._threshold = solved
        self._states: list[_State] = []
        self._proposed: _State | None = None

    def reached(self, turn: Turn) -> None:
        """Record the committed harness's results in this turn."""
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
        """Remember the proposals; the next turn shows which one was committed."""
        self._proposed = _State(candidate, turn.number, manifest)

    @property
    def unsolved(self) -> set[int]:
        """Train tasks that were not solved when last attempted."""
        return {task for task, solved in _merged(s.solved for s in self._states).items() if not solved}

    def history(self) -> list[dict[str, Any]]:
        """Return the changes, each with the mean scores of the turns before and after it.

        If turns have different tasks, these means are over different tasks.
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
        """Return each change's predictions and their outcome when the tasks were next attempted.

        `tasks` were expected to be fixed. `held` are those then solved, `missed` those then not solved; a task not
        attempted again is in neither. `broke` are tasks that were solved before and not after.
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
        """Return a unified diff of each variable that the last change edited, at most `chars` characters each."""
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
    """Return the informative lines of a rollout's error.

    For a failure: the first line, with category and message. For a verifier's output: the last line, preceded by the
    one before if it is a single word such as `AssertionError`.
    """
    lines = [line.strip() for line in (rollout.evidence["error"] or "").splitlines() if not _FRAME.match(line)]
    if rollout.status != Status.OK:
        return shortened("\n".join(lines[:1]), _SHOWN)
    kept = lines[-1:] if lines and " " in lines[-1] else lines[-2:]
    return shortened("\n".join(kept), _SHOWN)


_SHOWN = 500
_FRAME = re.compile(r'\s*(File ".*|Traceback \(.*|[\^~ ]*|[=\-_]{3}.*)$')
"""Lines of a traceback or a test runner that give a location, not a cause."""

_VARYING = (
    (re.compile(r'"[^"]*"|`[^`]*`' + r"|(?<!\w)'[^']*'(?!\w)"), "«…»"),
    (re.compile(r"\.{0,2}/?[\w.-]+(?:/[\w.-]+)+/?|(?<!\w)/[\w.-]+"), "PATH"),
    (re.compile(r"\b0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b|\d+(?:[.,]\d+)*"), "N"),
)


class AheOptions(UpdateOptions):
    """Options of AHE."""

    target: tuple[Target, ...] = Field(
        ("prompt", "tool", "memory", "agent"), min_length=1, description="targets that may change"
    )
    history: int = Field(
        12, ge=0, le=1_000, description="earlier changes, their predictions, and refused ones shown to the model"
    )


async def propose(course: Course, turn: Turn) -> list[Proposed]:
    """Pack the evidence, ask for edits with a manifest, and apply them."""
    course.reached(turn)
    options = turn.options
    history, predictions = course.history(), course.predictions()
    latest = max(0, len(history) - options.history)
    data = turn.data(
        statistics=statistics(turn.base, options.solved),
        history=history[latest:],
        failures=grouped_failures(turn.base, options.solved),
        diffs=course.diffs(options.evidence_chars),
        predictions=predictions[latest:],
    )

    def read(reply: Mapping[str, Any]) -> Manifest:
        manifest = manifest_in(course.unsolved, reply)
        if manifest.values and isinstance(made := apply(turn, manifest.edits), Failed):
            raise ConfigError(made.reason.removeprefix("improve: "))
        return manifest

    manifest = await turn.dialogue.ask("engineer", data, read, (turn.number, turn.stage))
    if isinstance(manifest, Failed):
        return [manifest]
    if not manifest.values:
        return [Failed("engineer: no edit was asked for")]
    made = apply(turn, manifest.edits)
    if isinstance(made, Revision):
        course.changed(turn, made.candidate, manifest)
    return [made]


class Ahe:
    """Edits prompts, tools, memories, middleware and project files; every update is adopted unless `gate` is set."""

    name = "ahe"
    scheduled = True
    options_model = AheOptions

    async def evolve(self, session: SessionContract, context: EvolverContext) -> None:
        """Engineer the harness batch by batch until the rounds, the schedule or the budget ends.

        Raises:
            ConfigError: if an option is invalid, no model is configured, or nothing may change.
        """
        options = parse_options(AheOptions, self.name, context.options)
        await run_updates(self.name, partial(propose, Course(options.solved)), session, context, options)
