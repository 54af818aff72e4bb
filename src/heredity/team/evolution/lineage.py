"""Versions of a team: the initial one, committed and refused ones, and restoring them (Autogenesis, section 3.1).

They are stored in a store of resources. The team.toml is a version like any other (a person's change of it becomes the
newest one). Edits committed across tasks move the heads from which later tasks start; edits for one task move a
separate branch; refused ones move nothing. `heredity resources` lists, compares and restores all of them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, DamagedRecordError, RecordError, UnknownNameError
from heredity._core.ids import digest_json
from heredity._core.outside import json_value, read_text
from heredity._core.refusals import quoted, reading
from heredity.methods.contract import Decision
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import changed_parts, draft_of, part_of
from heredity.resources.store import Store
from heredity.resources.versions import MAIN, Number, Version
from heredity.team.evolution.trials import Case
from heredity.team.team import write_whole

CONFIGURED = "as configured"
"""The note of versions written by a person."""

_FILE = "team.json"
_REASON = 3000


class Lineage:
    """The versions of one team.

    Args:
        path: the store; created if missing.
        session: the task's name, for notes and for its branch.
        across: apply commits to later tasks too.
    """

    def __init__(self, path: Path, session: str, *, across: bool) -> None:
        self.store = Store(path)
        self._session = session
        self._branch = MAIN if across else f"task-{re.sub(r'[^A-Za-z0-9._-]', '-', session)}"[:64]

    def __enter__(self) -> Lineage:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def start(self, configured: Candidate, folder: Path) -> Candidate:
        """Return the initial team of a task, the same whenever the task is resumed.

        Args:
            configured: the team of the team.toml.
            folder: the task's folder; its `team.json` holds the versions.

        Raises:
            DamagedRecordError: if the file is damaged.
        """
        path = folder / _FILE
        if path.exists():
            return self.candidate(_numbers(path))
        with self.store.transaction():
            for name, part in configured.parts.items():
                self._bring(name, part)
        numbers = self.heads()
        write_whole(path, json.dumps(numbers, indent=1))
        return self.candidate(numbers)

    def heads(self) -> dict[str, str]:
        """Return the version of each part from which the next task starts."""
        return {f"{v.type}/{v.name}": str(v.number) for v in self.store.list()}

    def candidate(self, numbers: Mapping[str, str]) -> Candidate:
        """Return the team with the given versions.

        Raises:
            UnknownNameError: if a number does not exist.
        """
        parts: dict[str, SourceTree] = {}
        for name, number in numbers.items():
            version = self.store.get(*_identity(name), Number.parse(number))
            parts[name] = part_of(self.store.tree(version), version.manifest)
        return Candidate(parts)

    def keep(self, decision: Decision, before: Candidate, whole: Candidate) -> dict[str, str]:
        """Add a version for each changed part, and move heads to committed ones; idempotent."""
        verdict = "committed" if decision.accepted else "refused"
        note = f"{self._session}: {verdict}: {decision.reason}"[:_REASON]
        versions: dict[str, str] = {}
        with self.store.transaction():
            for name in changed_parts(before, whole):
                if name not in whole.parts:
                    versions[name] = "removed"
                    if decision.accepted and self._branch == MAIN:
                        self.store.move(*_identity(name), hidden=True)
                    continue
                version = self._version(name, whole.parts[name], before.parts.get(name), note)
                versions[name] = str(version.number)
                if decision.accepted:
                    self.store.move(*_identity(name), version.number, branch=self._branch)
        return versions

    def restore(self, numbers: Mapping[str, str]) -> dict[str, str]:
        """Make earlier versions the heads for later tasks; return the changes. Nothing is lost: the others stay in the lineage."""
        heads, moved = self.heads(), dict[str, str]()
        with self.store.transaction():
            for name in heads.keys() | numbers.keys():
                if heads.get(name) == numbers.get(name):
                    continue
                moved[name] = numbers.get(name, "removed")
                if name in numbers:
                    self.store.move(*_identity(name), Number.parse(numbers[name]))
                else:
                    self.store.move(*_identity(name), hidden=True)
        return moved

    def _bring(self, name: str, part: SourceTree) -> None:
        """Make a person's new version the head; an unchanged one leaves the evolved head."""
        draft = draft_of(name, part, CONFIGURED)
        versions = self._versions(name)
        if not versions:
            self.store.put(draft, new=True, action="register")
            return
        written = [v for v in versions if v.note == CONFIGURED]
        same = bool(written) and (written[-1].content, written[-1].manifest) == (draft.tree.digest, draft.manifest)
        if not same:
            parents = (self._head(name) or versions[-1]).digest
            version = self.store.put(replace(draft, parents=(parents,)), branch=None)
            self.store.move(*_identity(name), version.number)

    def _version(self, name: str, part: SourceTree, before: SourceTree | None, note: str) -> Version:
        draft = draft_of(name, part, note)
        versions = self._versions(name)
        for version in reversed(versions):
            if (version.content, version.manifest, version.note) == (draft.tree.digest, draft.manifest, note):
                return version
        earlier = draft_of(name, before) if before is not None else None
        made_from = [
            v for v in versions if earlier and (v.content, v.manifest) == (earlier.tree.digest, earlier.manifest)
        ]
        return self.store.put(replace(draft, parents=tuple(v.digest for v in made_from[-1:])), branch=None)

    def _versions(self, name: str) -> list[Version]:
        try:
            return self.store.list(*_identity(name))
        except UnknownNameError:
            return []

    def _head(self, name: str) -> Version | None:
        number = self.heads().get(name)
        return self.store.get(*_identity(name), Number.parse(number)) if number else None


def _identity(name: str) -> tuple[str, str]:
    type_, _, own = name.partition("/")
    return type_, own


def _numbers(path: Path) -> dict[str, str]:
    try:
        value: Any = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(number) for name, number in value.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise DamagedRecordError(f"{path} does not say which versions the team began with: {error}") from error


# Drift: checks that a team evolving across tasks still solves earlier tasks (canaries). `canaries.jsonl` has a
# line for each solved earlier task, with the right answer; the history next to the store has a line for each task and
# each check. A lost canary is re-attempted with the versions of earlier tasks. If those solve it, later tasks start from
# them again; otherwise the edits did not cause the loss, and they stay.


Attempt = Callable[[Candidate, Case], Awaitable[float]]
"""Attempts a canary with a team; returns its score, 1 for solved."""

_EARLIER = 5
"""Number of earlier teams tried when a canary is lost."""


def read_canaries(path: Path) -> list[Case]:
    """Return the earlier tasks in a file; empty if the file does not exist.

    Raises:
        ConfigError: if a line has no task or no answer.
    """
    return [_case(f"{path}, line {number}", line) for number, line in enumerate(_lines(path), 1)]


def add_canary(path: Path, task: str, answer: str) -> None:
    """Add a solved task, once.

    Raises:
        RecordError: if the file cannot be written.
    """
    line = {"task": task, "answer": answer}
    if _case("", line).key not in {case.key for case in read_canaries(path)}:
        _append(path, line)


def read_history(path: Path) -> list[dict[str, Any]]:
    """Return the tasks and checks of a team, in order."""
    return _lines(path)


def history_of(store: Path) -> Path:
    """Return the history file next to a store."""
    return store.with_suffix(".history.jsonl")


async def after_task(
    lineage: Lineage,
    done: Mapping[str, Any],
    canaries: Sequence[Case],
    every: int,
    attempt: Attempt,
    used: Callable[[], Mapping[str, Any]],
) -> None:
    """Add a task to the history, once, and check the canaries if a check is due.

    Args:
        lineage: the team's versions.
        done: the task's entry; `task` names it.
        canaries: earlier tasks.
        every: tasks between checks; 0 for none.
        attempt: attempts a canary.
        used: returns the usage of these attempts.
    """
    path = history_of(lineage.store.path)
    history = read_history(path)
    if not any(line["what"] == "task" and line["task"] == done["task"] for line in history):
        history.append({"what": "task", **done, "versions": lineage.heads()})
        _append(path, history[-1])
    since = 0
    for line in reversed(history):
        if line["what"] == "check":
            break
        since += 1
    if canaries and every and since >= every:
        tasks = sum(line["what"] == "task" for line in history)
        _append(path, {"tasks": tasks, **await _check(lineage, canaries, history, attempt), **used()})


def checks_after(store: Path, task: str) -> list[dict[str, Any]]:
    """Return the checks made after a task and before the next one, in order; `task` is the name of its folder."""
    checks: list[dict[str, Any]] = []
    own = False
    for line in read_history(history_of(store)):
        if line["what"] == "task":
            own = str(line["task"]).partition("/")[0] == task
        elif own:
            checks.append(line)
    return checks


async def _check(
    lineage: Lineage, canaries: Sequence[Case], history: Sequence[Mapping[str, Any]], attempt: Attempt
) -> dict[str, Any]:
    """Attempt all canaries with the current team, and revert to an earlier one that solves the lost ones."""
    versions = lineage.heads()
    team = lineage.candidate(versions)
    solved = [case.key for case in canaries if await attempt(team, case) == 1.0]
    check_data: dict[str, Any] = {"what": "check", "solved": solved, "canaries": len(canaries), "versions": versions}
    if len(solved) == len(canaries):
        return check_data
    for earlier in _earlier(history, versions):
        team = lineage.candidate(earlier)
        again = [case.key for case in canaries if await attempt(team, case) == 1.0]
        if len(again) > len(solved):
            moved = lineage.restore(earlier)
            return {**check_data, "rolled_back": moved, "solved_again": again, "versions": earlier}
    return {**check_data, "kept": "no earlier versions solve more of them"}


def _earlier(history: Sequence[Mapping[str, Any]], now: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the teams of earlier tasks and checks, newest first, without the current one."""
    teams: dict[str, dict[str, str]] = {}
    for line in reversed(history):
        versions: dict[str, str] = dict(line["versions"])
        if versions != now:
            teams.setdefault(digest_json(versions), versions)
    return list(teams.values())[:_EARLIER]


def _case(where: str, line: Mapping[str, Any]) -> Case:
    if not isinstance(line.get("task"), str) or not isinstance(line.get("answer"), str):
        raise ConfigError(f'{where} is not a canary; write an object with "task" and "answer", both texts')
    body = {"task": line["task"]}
    return Case(f"canary.{digest_json([body, line['answer']])[:12]}", "task", "", body, line["answer"])


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    lines: list[dict[str, Any]] = []
    with reading(path, "text", "put a file of JSON lines there, or remove it"):
        whole = read_text(path)
    for number, text in enumerate(whole.splitlines(), 1):
        try:
            value: Any = json_value(text)
        except ValueError as error:
            raise ConfigError(f"{path}, line {number} is not JSON: {error}; correct the line, or remove it") from error
        if not isinstance(value, dict):
            raise ConfigError(
                f"{path}, line {number} is not a JSON object: {quoted(text)}; correct the line, or remove it"
            )
        lines.append(cast("dict[str, Any]", value))
    return lines


def _append(path: Path, line: Mapping[str, Any]) -> None:
    """Add a line with one synced write: others may append meanwhile, and a kill leaves the line whole or absent."""
    try:
        ended = not path.exists() or path.read_bytes()[-1:] in (b"", b"\n")
        with path.open("ab") as file:
            file.write(f"{'' if ended else chr(10)}{json.dumps(line, ensure_ascii=False)}\n".encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RecordError(
            f"{path} cannot be written: {error.strerror}; free some space, then resume the task"
        ) from error
