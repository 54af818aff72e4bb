"""The reader of models' replies: finds the JSON object in a text, as models write it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from heredity._core.errors import ConfigError

_MOST_TRIES = 200
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_SKIPPED = re.compile(r"(?:\s|//[^\n]*|#[^\n]*|/\*.*?\*/)+", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANTS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_QUOTES = {'"': '"', "'": "'", "“": "”"}

_COMMAND = re.compile(
    # A text has no backspace or form feed, and a carriage return only before a line feed.
    r"\\(?:[bfr](?=[a-z])"
    # What is left of a LaTeX command without its first letter begins neither a line nor a column.
    r"|n(?=(?:abla|cong|earrow|eg|eq|exists|geq|leq|mid|ot|otin|parallel|prec|subseteq|succ)(?![a-z]))"
    r"|t(?=(?:anh|ext[a-z]*|frac|heta|herefore|hinspace|ilde|imes|riangle[a-z]*)(?![a-z])))"
)
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def object_in(text: str, form: Mapping[str, Any]) -> Mapping[str, Any]:
    r"""Return the last JSON object in a reply that has a key of `form`; ignore the text around it.

    Accepts what models write instead of JSON: fences, comments, trailing commas, single or curly quotes, line breaks and
    quotes inside texts, Python's constants, names without quotes, an object in another one, the bare list of a form that
    asks for one. Backslashes that JSON has no use for are kept, those of LaTeX commands too: `"\frac"` is no form feed.
    Thoughts in `<think>` tags before the reply do not count.

    Args:
        text: the reply.
        form: an example of the object.

    Raises:
        ConfigError: if there is none, it breaks off, or a text in it holds a control character; describes what was found.
    """
    text = _THOUGHTS.sub("", text).strip().removeprefix("\ufeff")
    if not text:
        raise ConfigError("it is empty; expected a JSON object")
    if text.startswith('"'):
        text = _unquoted(text)
    parsed: Mapping[str, Any] | None = None
    problem = ""
    for value in _values(text, "{"):
        if isinstance(value, ValueError):
            problem = problem or f"{value}"
        elif (found := _fitting(value, form)) is not None:
            parsed = found
        elif not problem:
            problem = f"its keys are {', '.join(map(str, value)) or 'none'}"
    if parsed is None and -1 < text.find("[") < text.find("{"):
        parsed = _list_of(text, form)
    if parsed is None:
        raise ConfigError(f"expected a JSON object with the keys {', '.join(form)}: {problem or 'there is no { in it'}")
    if control := _control_in(parsed):
        raise ConfigError(f"a text in it holds the control character {control!r}; leave it out")
    return parsed


def _unquoted(text: str) -> str:
    """Return the text inside a reply that is one JSON string."""
    try:
        value = json.loads(text, strict=False)
    except ValueError:
        return text
    return value if isinstance(value, str) and "{" in value else text


def _values(text: str, bracket: str) -> Iterator[Any]:
    """Yield each value that begins with a bracket, or the error where none can be read."""
    position = text.find(bracket)
    for _ in range(_MOST_TRIES):
        if position < 0:
            return
        try:
            value, end = _read(text, position)
            yield value
        except (ValueError, RecursionError) as error:
            yield ValueError(str(error))
            end = position + 1
        position = text.find(bracket, end)


def _read(text: str, position: int) -> tuple[Any, int]:
    """Read the value at a position, and return where it ends: as JSON if it is, else as models write it."""
    try:
        value, end = _DECODER.raw_decode(text, position)
        if not _COMMAND.search(text, position, end):
            return value, end
    except ValueError as error:
        problem = error
    else:
        problem = None
    try:
        clean, end = _cleaned(text, position)
        return _DECODER.decode(clean), end
    except (ValueError, IndexError):
        raise problem or ValueError("it breaks off") from None


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)


def _cleaned(text: str, position: int) -> tuple[str, int]:
    """Return the value at a position as JSON, and where it ends.

    Raises:
        IndexError: if it has no end.
    """
    out: list[str] = []
    depth = 0
    while True:
        if blank := _SKIPPED.match(text, position):
            position = blank.end()
        here = text[position]
        if here in _QUOTES:
            string, position = _string(text, position)
            out.append(string)
            continue
        if word := _WORD.match(text, position):
            position = word.end()
            out.append(_CONSTANTS.get(word[0]) or (json.dumps(word[0]) if _next(text, position) == ":" else word[0]))
            continue
        if here not in "{}[]:,+-.0123456789":
            raise ValueError(f"{here!r} where a value or a name is expected")
        position += 1
        if here == "," and _next(text, position) in "}]":
            continue
        out.append(here)
        depth += (here in "{[") - (here in "}]")
        if depth == 0:
            return "".join(out), position


def _next(text: str, position: int) -> str:
    blank = _SKIPPED.match(text, position)
    return text[blank.end() if blank else position]


def _string(text: str, position: int) -> tuple[str, int]:
    """Return the string that begins at a position as JSON, and where it ends."""
    end = text[position : position + 3] if text.startswith(('"""', "'''"), position) else _QUOTES[text[position]]
    position += len(end)
    out = ['"']
    while True:
        if text.startswith(end, position) and _next(f"{text}}}", position + len(end)) in ",:}]":
            return "".join([*out, '"']), position + len(end)
        here = text[position]
        if here == "\\":
            escape = None if _COMMAND.match(text, position) else _ESCAPE.match(text, position)
            step = escape.end() - position if escape else 1 + (text[position + 1] in "'")
            out.append(escape[0] if escape else "'" if step == 2 else "\\\\")
            position += step
            continue
        out.append(json.dumps(here, ensure_ascii=False)[1:-1])
        position += 1


def _fitting(value: Any, form: Mapping[str, Any], depth: int = 3) -> Mapping[str, Any] | None:
    """Return the object with a key of the form: a value itself, or one inside it."""
    if isinstance(value, dict):
        given = cast("dict[str, Any]", value)
        if form.keys() & given.keys():
            return given
        inside: list[Any] = list(given.values())
    elif isinstance(value, list) and len(cast("list[Any]", value)) == 1:
        inside = cast("list[Any]", value)
    else:
        return None
    found = [fit for item in inside if depth and (fit := _fitting(item, form, depth - 1)) is not None]
    return found[-1] if found else None


def _list_of(text: str, form: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the bare list of a form's first list as an object, if its items look like the form's."""
    name = next((key for key, value in form.items() if isinstance(value, list) and value), None)
    example: Any = form[name][0] if name else None
    if name is None or not isinstance(example, dict):
        return None
    keys = cast("dict[str, Any]", example).keys()
    for value in _values(text, "["):
        items = cast("list[Any]", value) if isinstance(value, list) else []
        if items and all(isinstance(item, dict) and keys & cast("dict[str, Any]", item).keys() for item in items):
            return {name: items}
    return None


def _control_in(value: Any) -> str:
    if isinstance(value, str):
        match = _CONTROL.search(value)
        return match[0] if match else ""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        return next(filter(None, map(_control_in, [*items.keys(), *items.values()])), "")
    if isinstance(value, list):
        return next(filter(None, map(_control_in, cast("list[Any]", value))), "")
    return ""
