"""Drift: checks that a team evolving across tasks still solves what it solved before (canaries), and reverts it if not.

`canaries.jsonl` has a line for each solved earlier task, with the right answer; the history next to the store has a
line for each task and each check. A lost canary is re-attempted with the versions of earlier tasks. If those solve
it, later tasks start from them again; otherwise the edits did not cause the loss, and they stay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from heredity._core.errors import ConfigError, RecordError
from heredity._core.ids import digest_json
from heredity._core.outside import json_value, read_text
from heredity._core.refusals import quoted, reading
from heredity.resources import Candidate
from heredity.team.evolution.lineage import Lineage
from heredity.team.evolution.trials import Case

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
