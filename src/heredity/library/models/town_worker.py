"""`offline/town-worker`: a program in the place of all models of a team that answers questions about Varnholm.

As the planner it looks up the question among the known ones, and assigns its steps. As an agent it makes the calls of
its step in order. It extracts answers from tool results with the step's patterns: it knows where to look, but not the
content there. It reports missing values; the planner requests them once more, and then ends with "unknown". It knows
the arguments of `read` only from its prompt. If the prompt does not name an argument, it uses a wrong name, which
evolution has to repair.
"""

from __future__ import annotations

import json
import re
from typing import Any, cast

from heredity.library.localweb.questions import practice, questions
from heredity.library.localweb.site import slug
from heredity.library.localweb.steps import LocalQuestion
from heredity.library.localweb.town import make_town
from heredity.library.models.follower import words_of
from heredity.models.contract import Reply, Request, ToolCall, Usage

MARK = "Make these calls one after the other, and reply with what their patterns find: "
_PLACE = re.compile(r"\{(\w+\*?)(\|slug)?\}")
_STEP = re.compile(r"^- s\d+ \(\S+\), \w+", re.MULTILINE)
_GAVE = re.compile(r"^- (s\d+) \(\S+\), done.*\n(?:\[cut: .*\n)?  gave: (\{.*\})$", re.MULTILINE)
_GIVEN = re.compile(r"^Result of step \S+:\n(\{.*\})$", re.MULTILINE)
_SITE = re.compile(r"http://(127\.0\.0\.1:\d+)")
PATH_RULE = "Give read the path of what you read."
PART_RULE = "Give read the part of a workbook, such as its sheet."
_MISTAKEN = {"path": "page", "part": "sheet"}
_ATTEMPTS = 2

Values = dict[str, Any]


class TownWorker:
    """Plans and works by the steps of `heredity.library.localweb.questions`; usage counts words."""

    name = "offline/town-worker"

    async def reply(self, request: Request) -> Reply:
        """Answer a request."""
        asked = next(m.content for m in request.messages if m.role == "user")
        if asked.startswith("Task:\n"):
            return self._reply(request, json.dumps(_planned(asked)))
        if MARK not in asked:
            return self._reply(request, "unknown")
        calls = cast("list[Values]", json.JSONDecoder().raw_decode(asked.partition(MARK)[2])[0])
        values = _values_in(asked)
        results = [m.content for m in request.messages if m.role == "tool"]
        for call, result in zip(calls, results, strict=False):
            missing = _extract(call["find"], result, values)
            if missing:
                return self._reply(request, json.dumps({"missing": missing, "of": call["tool"]}))
        if len(results) == len(calls):
            found = {name: values[name] for call in calls for name in call["find"]}
            return self._reply(request, json.dumps(found, ensure_ascii=False))
        call = calls[len(results)]
        if unknown := _unknown(call, values):
            return self._reply(request, json.dumps({"missing": unknown, "of": "earlier steps"}))
        arguments = {name: _filled(value, values) for name, value in call["with"].items()}
        if call["tool"] == "read":
            arguments = _under_names(
                arguments, request.messages[0].content if request.messages[0].role == "system" else ""
            )
        made = ToolCall(f"call-{len(results) + 1}", call["tool"], json.dumps(arguments, ensure_ascii=False))
        return self._reply(request, "", made)

    def _reply(self, request: Request, text: str, *calls: ToolCall) -> Reply:
        usage = Usage(words_of(request.messages), len(text.split()) + 4 * len(calls), 0, 0.0)
        return Reply(text, calls, "tool_calls" if calls else "stop", usage, self.name)


def _planned(asked: str) -> Values:
    """Return the planner's reply: the steps of the question, or its answer once they are done."""
    question = next((q for q in (*questions(make_town()), *practice(make_town())) if q.text in asked), None)
    if question is None:
        return {"note": "none of the questions known here", "finished": True, "result": "Answer: unknown"}
    given = len(_STEP.findall(asked))
    gave: dict[str, Values] = {name: json.loads(text) for name, text in _GAVE.findall(asked)}
    last = gave.get(f"s{given}", {})
    if question.last not in last and given < _ATTEMPTS * len(question.steps):
        return {"note": "as written down for it", "steps": _steps(question, given)}
    return {
        "note": f"{sum('missing' not in values for values in gave.values())} of {given} steps found something",
        "finished": True,
        "result": f"Answer: {last.get(question.last, 'unknown')}",
    }


def _steps(question: LocalQuestion, given: int) -> list[Values]:
    return [
        {
            "id": f"s{given + number}",
            "agent": step.agent,
            "task": MARK + json.dumps(list(step.calls), ensure_ascii=False),
            "after": [f"s{given + before + 1}" for before in step.after],
        }
        for number, step in enumerate(question.steps, 1)
    ]


def _under_names(arguments: Values, prompt: str) -> Values:
    """Return arguments of `read` under the names in the prompt; if it names none, under another name."""
    name, rule = ("part", PART_RULE) if "part" in arguments else ("path", PATH_RULE)
    return arguments if rule in prompt else {_MISTAKEN[k] if k == name else k: v for k, v in arguments.items()}


def _unknown(call: Values, values: Values) -> str:
    """Return a value that a call needs and no earlier step has found; `""` if none is missing."""
    needed = (match[1] for text in call["with"].values() if isinstance(text, str) for match in _PLACE.finditer(text))
    return next((name for name in needed if name not in values), "")


def _values_in(asked: str) -> Values:
    """Return the values found by earlier steps, and the site's address."""
    values: Values = {}
    for text in _GIVEN.findall(asked):
        values.update(json.loads(text))
    site = _SITE.search(asked)
    return {**values, **({"site": site[1]} if site else {})}


def _extract(patterns: dict[str, str], result: str, values: Values) -> str:
    """Extract values from a result by patterns into `values`; return the name of a missing one."""
    for name, pattern in patterns.items():
        matches = re.findall(pattern, result)
        if not matches:
            return name
        values[name] = matches if name.endswith("*") else matches[0].strip()
    return ""


def _filled(value: Any, values: Values) -> Any:
    """Return an argument with its placeholders filled; unknown ones stay, and the tool reports them as missing."""

    def fill(match: re.Match[str]) -> str:
        value = values.get(match[1])
        if value is None:
            return match[0]
        text = value if isinstance(value, str) else json.dumps(value)
        return slug(text) if match[2] else text

    return _PLACE.sub(fill, value) if isinstance(value, str) else value
