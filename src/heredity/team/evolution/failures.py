"""Finds failures of a step that an edit could fix, from its trace alone (Autogenesis, section 3.2.3: reflect).

A trace is the record of handling a message: the model's replies and the results of programs and tools. There are six
classes: a failing tool, output in the wrong format, a missing capability, a loop, a claim without a source, an
exhausted budget. Each is attributed to the resources that may be edited to fix it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from heredity._core.errors import ConfigError
from heredity.engine.calling import check_arguments
from heredity.engine.react import has_action, loads, parse_action
from heredity.models import Reply, ToolSpec
from heredity.team.agent import shortened
from heredity.team.messages import Outcome

Trace = Sequence[tuple[str, Any]]
"""Effects of handling a message: names and values, in order."""

_REPEATED = 3
_URL = re.compile(r"https?://[^\s<>()\[\]\"'`]+")
_FILE = re.compile(r"[\w./-]+\.(?:md|txt|html?|pdf|docx|xlsx|pptx|csv|png|jpe?g)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-\d+$")
_ERROR_LINE = re.compile(r"^error: ", re.MULTILINE)


class FailureKind(StrEnum):
    """Class of a failure that an edit could fix."""

    TOOL_ERROR = "tool error"
    WRONG_FORMAT = "wrong format"
    MISSING_CAPABILITY = "missing capability"
    LOOP = "loop"
    UNSUPPORTED_CLAIM = "unsupported claim"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure.

    Attributes:
        kind: its class.
        detail: description in one line.
        tool: the candidate's failing tool; `""` for none.
    """

    kind: FailureKind
    detail: str
    tool: str = ""


@dataclass(frozen=True)
class Handled:
    """The course of a step.

    Attributes:
        body: the request.
        outcome, error, answer: the result.
        trace: the effects.
        specs: its agent's tools, by name.
        programs: the agent's tool programs, by the first letters of their digest.
    """

    body: Mapping[str, Any]
    outcome: Outcome
    error: str = ""
    answer: str = ""
    trace: Trace = ()
    specs: Mapping[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    programs: Mapping[str, str] = field(default_factory=dict[str, str])


def failures(handled: Handled) -> list[Failure]:
    """Return a step's failures, starting with the one that ended it; empty if it went well."""
    replies = [Reply.from_json(value) for name, value in handled.trace if name.startswith("model-")]
    calls = [call for reply in replies for call in _calls(reply)]
    repeated = Counter(calls)
    looped = [
        f"{name} was called {n} times with {given[:200]}" for (name, given), n in repeated.items() if n >= _REPEATED
    ]
    failures_found = _ending(handled, looped)
    for name, given in repeated:
        failures_found += _of_call(name, given, handled.specs)
    if not any(reply.tool_calls for reply in replies):
        failures_found += _of_text(replies)
    failures_found += [failure for name, value in handled.trace if (failure := _of_effect(name, value, handled))]
    if looped and not any(failure.kind is FailureKind.LOOP for failure in failures_found):
        failures_found.append(Failure(FailureKind.LOOP, looped[0]))
    if handled.outcome is Outcome.OK:
        failures_found += _unsupported(handled)
    return list(dict.fromkeys(failures_found))


def score(handled: Handled, failures_found: Sequence[Failure]) -> float:
    """Score a step: 1 with an answer and without a failure, 0.5 with both, 0 without an answer."""
    if handled.outcome is not Outcome.OK:
        return 0.0
    return 0.5 if failures_found else 1.0


def transcript(handled: Handled, chars: int = 6000) -> str:
    """Return the messages and effects of a step, in order and shortened, for an optimizer."""
    lines: list[str] = []
    for name, value in handled.trace:
        if name.startswith("model-"):
            reply = Reply.from_json(value)
            calls = "".join(f"\n  calls {call.name}({shortened(call.arguments, 500)})" for call in reply.tool_calls)
            lines.append(f"[said] {shortened(reply.text, 1500)}{calls}")
        else:
            lines.append(f"[{_plain_name(name, handled)}] {shortened(_text(value), 1500)}")
    return shortened("\n".join(lines), chars)


def _calls(reply: Reply) -> list[tuple[str, str]]:
    if reply.tool_calls:
        return [(call.name, call.arguments) for call in reply.tool_calls]
    action = parse_action(reply.text) if has_action(reply.text) else ""
    return [] if isinstance(action, str) else [(action.name, json.dumps(dict(action.params), sort_keys=True))]


def _ending(handled: Handled, looped: Sequence[str]) -> list[Failure]:
    """Return the failure that ended a step without an answer; failures that no edit can fix are left out."""
    if handled.outcome is Outcome.TIMED_OUT:
        return [Failure(FailureKind.BUDGET, handled.error)]
    status = handled.error.removeprefix("AgentFailedError: ").partition(":")[0]
    if handled.outcome is not Outcome.FAILED or not handled.error.startswith("AgentFailedError: "):
        return []
    if status == "turns":
        return [Failure(FailureKind.LOOP, looped[0])] if looped else [Failure(FailureKind.BUDGET, handled.error)]
    if status in ("timeout", "program_timeout"):
        return [Failure(FailureKind.BUDGET, handled.error)]
    return [Failure(FailureKind.WRONG_FORMAT, handled.error)]


def _of_call(name: str, given: str, specs: Mapping[str, ToolSpec]) -> list[Failure]:
    if name not in specs:
        return [Failure(FailureKind.MISSING_CAPABILITY, f"{name} was called, and there is no such tool for this agent")]
    try:
        check_arguments({**specs[name].parameters, "type": "object"}, loads(given) if given.strip() else {}, where=name)
    except (ConfigError, ValueError, RecursionError) as error:
        return [Failure(FailureKind.WRONG_FORMAT, f"the arguments of {name}: {error}"[:400])]
    return []


def _of_text(replies: Sequence[Reply]) -> list[Failure]:
    wrong = [
        action for reply in replies if has_action(reply.text) and isinstance(action := parse_action(reply.text), str)
    ]
    return [Failure(FailureKind.WRONG_FORMAT, f"an action that cannot be read: {wrong[0]}"[:400])] if wrong else []


def _of_effect(name: str, value: Any, handled: Handled) -> Failure | None:
    if name.startswith("model-"):
        return None
    if name.startswith("program-"):
        own = handled.programs.get(name.split("-")[1], "")
        error = value.get("error") if isinstance(value, Mapping) else ""
        problem = f"{own or 'a program'}: {error}: {value['message']}" if error else ""
        return Failure(FailureKind.TOOL_ERROR, problem[:400], own) if error else None
    text = _text(value)
    failed = text.startswith("error") or (name.startswith("python-") and _ERROR_LINE.search(text))
    return Failure(FailureKind.TOOL_ERROR, f"{name.partition('-')[0]}: {shortened(text, 300)}") if failed else None


def _unsupported(handled: Handled) -> list[Failure]:
    """Return the sources named in an answer that were not shown to its agent."""
    shown = json.dumps(dict(handled.body), ensure_ascii=False)
    for name, value in handled.trace:
        if not name.startswith("model-") and not _text(value).startswith("error"):
            shown += f"\n{name}\n{_text(value)}"
    named = [source.rstrip(".,;:!?") for source in (*_URL.findall(handled.answer), *_FILE.findall(handled.answer))]
    return [
        Failure(FailureKind.UNSUPPORTED_CLAIM, f"{source} is named as a source, and was not among what was read")
        for source in dict.fromkeys(named)
        if source not in shown
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _plain_name(name: str, handled: Handled) -> str:
    if name.startswith("program-"):
        return handled.programs.get(name.split("-")[1], "program")
    return _NUMBER.sub("", name)
