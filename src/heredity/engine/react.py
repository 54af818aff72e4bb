"""Actions in plain text (ReAct): writing and parsing them for models without tool calls.

A reply holds at most one `<thinking_memory>`, the model's notes to itself, and one `<action>` with a JSON object
(AutoEnv, section 3). Small models write this in many ways, so the parser is tolerant; the model gets the errors in
words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from heredity._core.errors import ConfigError
from heredity.models.replies import objects_in, unfenced, value_in, without_thoughts

if TYPE_CHECKING:
    from heredity.models import ToolSpec

_NAME_KEYS = ("action", "name", "tool")
_ARGUMENT_KEYS = ("params", "parameters", "arguments", "args")
_MEMORY = re.compile(r"<thinking_memory>(.*?)</thinking_memory>", re.DOTALL | re.IGNORECASE)
_OPEN_MEMORY = re.compile(r"<thinking_memory>(.*?)(?=<action>|\Z)", re.DOTALL | re.IGNORECASE)
_ACTION = re.compile(r"<action>(.*?)(?:</action>|(?=<action>)|\Z)", re.DOTALL | re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_MOST_TEXT = 20_000

FORM = '<action>{"action": "NAME", "params": {}}</action>'
"""Form of an action."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action that a model wrote.

    Attributes:
        name: the action.
        params: its parameters; JSON values.
        memory: the model's notes to itself, `""` if it wrote none.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    memory: str = ""


def has_action(text: str) -> bool:
    """Return True if a reply tries to act: it has the tag, well formed or not."""
    return "<action>" in text.lower()


def parse_action(text: str) -> Action | str:
    """Parse the first action of a reply; otherwise return an error text for the model.

    Accepted are a JSON object or a Python dictionary in the tag (fenced or not), the tag left open, a bare name, an
    object without a tag, and parameters under any usual key or next to the name. Text after the first action is
    ignored: the model answers observations that it only imagined.
    """
    text = without_thoughts(text)[1][:_MOST_TEXT]
    noted = _MEMORY.search(text) or _OPEN_MEMORY.search(text)
    memory = noted[1].strip() if noted else ""
    rest = text[: noted.start()] + text[noted.end() :] if noted else text
    tagged = _ACTION.search(rest)
    if tagged is None:
        parsed = _object_in(rest)
        return f"there is no action in your reply; write {FORM}" if parsed is None else _read(parsed, memory)
    body = unfenced(tagged[1])
    if _WORD.fullmatch(body):
        return Action(body, {}, memory)
    value = _value(body)
    if value is None:
        value = _object_in(body)
    if value is None:
        return f"what your <action> holds is not a JSON object: {body[:200]!r}; write {FORM}"
    return _read(value, memory)


def instructions(tools: Sequence[ToolSpec]) -> str:
    """Return the instructions for calling tools in plain text."""
    lines = [
        "You can use the tools listed below, one at a time. To use one, end your reply with a line of this form:",
        FORM,
        "Its result comes back inside <observation></observation>. Notes for yourself may stand before it, inside"
        " <thinking_memory></thinking_memory>. A reply without <action> is your final answer.",
        "",
        "Tools:",
        *(f"- {t.name}: {t.description}\n  params: {json.dumps(dict(t.parameters))}" for t in tools),
    ]
    return "\n".join(lines)


def _read(value: Any, memory: str) -> Action | str:
    if not isinstance(value, dict):
        return f"your action is not a JSON object with a name; write {FORM}"
    given = {str(k): v for k, v in cast("dict[Any, Any]", value).items()}
    key = next((k for k in _NAME_KEYS if isinstance(given.get(k), str) and given[k].strip()), None)
    if key is None:
        return f"your action does not say its name; write {FORM}"
    inside = next((k for k in _ARGUMENT_KEYS if k in given), None)
    params: Any = given[inside] if inside else {k: v for k, v in given.items() if k != key}
    if isinstance(params, str):
        params = _value(params) if params.strip() else {}
    if params is None and inside and given[inside] is None:
        params = {}
    if not isinstance(params, dict):
        return f'the params of your action are not a JSON object; write "{inside}": {{}} with one key for each of them'
    return Action(given[key].strip(), {str(k): v for k, v in cast("dict[Any, Any]", params).items()}, memory)


def _value(text: str) -> Any:
    """Parse a text as JSON in the forms that models write; None if it is none."""
    try:
        return value_in(text)
    except ConfigError:
        return None


def _object_in(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a text that names an action."""
    return next((value for value in objects_in(text) if any(key in value for key in _NAME_KEYS)), None)
