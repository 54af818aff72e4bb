"""Actions in plain text (ReAct): how they are written for models without tool calls, and how they are read.

A reply holds at most one `<thinking_memory>`, notes that the model keeps for itself, and one `<action>` with a JSON
object (AutoEnv, section 3). Small models write this in many ways, so the reading is tolerant; what cannot be read is told
to the model in words.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:
    from heredity.gateway import ToolSpec

_NAME_KEYS = ("action", "name", "tool")
_ARGUMENT_KEYS = ("params", "parameters", "arguments", "args")
_MEMORY = re.compile(r"<thinking_memory>(.*?)</thinking_memory>", re.DOTALL | re.IGNORECASE)
_OPEN_MEMORY = re.compile(r"<thinking_memory>(.*?)(?=<action>|\Z)", re.DOTALL | re.IGNORECASE)
_ACTION = re.compile(r"<action>(.*?)(?:</action>|(?=<action>)|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"\A```\w*\s*|\s*```\Z")
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_MOST_TEXT = 20_000
_MOST_BRACES = 64

FORM = '<action>{"action": "NAME", "params": {}}</action>'
"""How an action is written."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action that a model wrote.

    Attributes:
        name: what to do.
        params: with what; JSON values.
        memory: the model's notes for itself, `""` if it wrote none.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    memory: str = ""


def has_action(text: str) -> bool:
    """Return whether a reply means to act: it has the tag, well formed or not."""
    return "<action>" in text.lower()


def parse_action(text: str) -> Action | str:
    """Read the first action of a reply; the text returned otherwise tells the model what is wrong.

    Understood are a JSON object or a Python dictionary in the tag, fenced or not, the tag left open, a bare name, an
    object without a tag, parameters under any usual key or beside the name. What a model says after its first action
    is ignored: it answers observations that it only imagined.
    """
    text = text[:_MOST_TEXT]
    noted = _MEMORY.search(text) or _OPEN_MEMORY.search(text)
    memory = noted[1].strip() if noted else ""
    rest = text[: noted.start()] + text[noted.end() :] if noted else text
    tagged = _ACTION.search(rest)
    if tagged is None:
        parsed = _object_in(rest)
        return f"there is no action in your reply; write {FORM}" if parsed is None else _read(parsed, memory)
    body = _FENCE.sub("", tagged[1].strip())
    if _WORD.fullmatch(body):
        return Action(body, {}, memory)
    value = _value(body)
    if value is None:
        value = _object_in(body)
    if value is None:
        return f"what your <action> holds is not a JSON object: {body[:200]!r}; write {FORM}"
    return _read(value, memory)


def instructions(tools: Sequence[ToolSpec]) -> str:
    """Return what a model is told that calls tools in plain text."""
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


def loads(text: str) -> Any:
    """Read JSON; NaN and infinities are no JSON.

    Raises:
        ValueError: if it is none.
        RecursionError: if it is nested too deeply.
    """
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


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
    """Return the JSON value, or the Python literal made of JSON's types, that a text is; None if it is neither."""
    try:
        return loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        value = ast.literal_eval(text.strip())
        # A round trip leaves sets, bytes, complex numbers and the like outside.
        return loads(json.dumps(value, allow_nan=False))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _object_in(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in a text that says what to do."""
    decoder = json.JSONDecoder(parse_constant=_refuse)
    for match in list(re.finditer(r"\{", text))[:_MOST_BRACES]:
        try:
            value, _ = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and any(key in value for key in _NAME_KEYS):
            return cast("dict[str, Any]", value)
    return None
