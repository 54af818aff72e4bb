"""Evidence: rollouts in the form that models see."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heredity.engine.trajectory import Trajectory, to_json
from heredity.methods.contract import Outcome
from heredity.results.status import Status

_STEPS = 40
"""Maximum steps of a rollout in a transcript; the middle of longer ones is omitted."""
_REPEATED = 24
"""Minimum characters of a text that a transcript does not repeat."""


def evidence_item(outcome: Outcome, chars: int) -> dict[str, Any]:
    """Return one rollout as a JSON object; unknown values are null.

    Its keys: `task` (the train task index), `question`, `expected`, `answer`, `transcript` (the solver's inputs and
    replies, alternating), `score` (null if the rollout is missing), `error` (the failure, or the reason why the answer
    is wrong). Where the transcript repeats the question, the answer or the error, their name stands in brackets.

    Args:
        outcome: the rollout, of any kind of task, with or without its trajectory.
        chars: maximum characters of each text.
    """
    trajectory = outcome.trajectory
    answer = last_info(trajectory, "extracted")
    if answer is None:
        answer = _last_action(trajectory)
    question, error = last_info(trajectory, "question"), _error(outcome)
    told = {"question": question, "answer": answer, "error": error}
    return {
        "task": outcome.task,
        "question": _text(question, chars),
        "expected": _text(last_info(trajectory, "expected"), chars),
        "answer": _text(answer, chars),
        "transcript": shortened(_transcript(trajectory, told, chars), chars) if trajectory else None,
        "score": outcome.score if math.isfinite(outcome.score) else None,
        "error": _text(error, chars),
    }


def worst_first(items: Iterable[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the worst item of each of up to `count` tasks, the worst tasks first; missing rollouts come last."""
    worst: dict[int, dict[str, Any]] = {}
    for item in items:
        if item["task"] not in worst or _badness(item) < _badness(worst[item["task"]]):
            worst[item["task"]] = item
    return sorted(worst.values(), key=_badness)[:count]


def latest_once(rejected: Sequence[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the latest rejected proposals, of equal edits with the same reason only the last; up to `count`."""
    last = {json.dumps([item["edits"], item["reason"]], sort_keys=True): item for item in rejected}
    kept = [item for item in rejected if any(item is one for one in last.values())]
    return kept[max(0, len(kept) - count) :]


def last_info(trajectory: Trajectory | None, key: str) -> Any:
    """Return the last value of a trajectory's column `info/key` that is not None; None if there is none."""
    column = trajectory.columns.get(f"info/{key}") if trajectory else None
    for value in reversed(column if column is not None else ()):
        if value is not None:
            return to_json(value)
    return None


def shortened(text: str, chars: int) -> str:
    """Return a text of at most about `chars` characters, cut in its middle."""
    if len(text) <= chars:
        return text
    half = chars // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out …]\n{text[len(text) - half :]}"


def _badness(item: dict[str, Any]) -> tuple[float, int]:
    return (math.inf if item["score"] is None else item["score"], item["task"])


def _text(value: Any, chars: int) -> str | None:
    return None if value is None else shortened(_plain(value), chars)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(to_json(value), ensure_ascii=False)


def _last_action(trajectory: Trajectory | None) -> Any:
    actions = list(trajectory.step_values("action")) if trajectory else []
    return to_json(actions[-1]) if actions else None


def _transcript(trajectory: Trajectory, told: Mapping[str, Any], chars: int) -> str:
    repeated = {name: text.strip() for name, text in told.items() if isinstance(text, str)}
    repeated = {name: text for name, text in repeated.items() if len(text) >= _REPEATED}
    observations, replies = list(trajectory.step_values("obs")), list(trajectory.step_values("action"))
    length = max(len(observations), len(replies))
    head = tail = length
    if length > _STEPS:
        head, tail = _STEPS // 4, length - (_STEPS - _STEPS // 4)
    lines: list[str] = []
    for step in range(length):
        if head <= step < tail:
            if step == head:
                lines.append(f"[… {tail - head} entries left out …]")
            continue
        for speaker, values in (("told", observations), ("said", replies)):
            if step < len(values):
                text = "" if values[step] is None else _plain(values[step])
                for name, whole in repeated.items():
                    text = text.replace(whole, f"[the {name}]")
                lines.append(f"[{speaker}] {shortened(text, chars)}")
    return "\n".join(lines)


def _error(outcome: Outcome) -> str | None:
    failure = outcome.failure or (outcome.trajectory.failure if outcome.trajectory else None)
    if failure is not None:
        return "\n".join(part for part in (f"{failure.category}: {failure.message}", failure.traceback) if part)
    if outcome.status != Status.OK:
        return outcome.status
    if last_info(outcome.trajectory, "correct") in (False, None):
        return last_info(outcome.trajectory, "reason")
    return None
