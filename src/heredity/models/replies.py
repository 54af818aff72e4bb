r"""The reader of models' replies: JSON as models write it, long texts beside it, fenced blocks, and thoughts.

A form is an example of the object that is asked for; `format_of` makes the schema of it that providers can enforce.

A long text in a JSON string loses what JSON reads as escapes: `"\neq"` begins with a line break. So replies may hold
texts outside of their object, byte for byte:

    {"edits": [{"variable": "prompt/system:prompt.md", "value": "<text 1>"}]}
    <text 1>
    Give the answer as \boxed{…}.
    </text 1>
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from heredity._core.errors import ConfigError

_MOST_TRIES = 200
_MOST_SCANNED = 1_000_000
"""Characters that may be read in vain: a reply that opens again and again what it never closes must not take minutes."""
_MOST_DEPTH = 64
_THOUGHTS = re.compile(
    r"\A\s*(?:<think>(.*?)</think>|((?:(?!<think>).)*?)</think>(?=[ \t]*$))\s*", re.DOTALL | re.MULTILINE
)
_LATER_THOUGHTS = re.compile(r"^[ \t]*<(think|thinking)>(?:.*?</\1>|.*\Z)", re.DOTALL | re.MULTILINE)
_SKIPPED = re.compile(r"(?:[\s\u200b-\u200d\u2060\ufeff]|\\[nrt]|//[^\n]*|#[^\n]*|/\*.*?\*/)+", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_CONSTANTS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_QUOTES = {'"': '"', "'": "'", "“": "”", "\u2018": "\u2019", "`": "`"}
_READ_AS = {"\uff1a": ":", "\uff0c": ",", "(": "[", ")": "]"}
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})([^\n`]*)\n(.*?)(?:^[ \t]*(\1)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_WHOLE_FENCE = re.compile(r"\A\s*(`{3,}|~{3,})[^\n`]*\n(.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)

_COMMAND = re.compile(
    # A text has no backspace or form feed, and a carriage return only before a line feed.
    r"\\(?:[bfr](?=[a-z])"
    # What is left of a LaTeX command without its first letter begins neither a line nor a column.
    r"|n(?=(?:abla|cong|earrow|eq|geq|leq|ot|otin)(?![a-z]))"
    r"|t(?=(?:anh|ext(?:bf|it|rm|sc|sf|style|tt)?|frac|heta|herefore|hinspace|ilde|imes|riangle[a-z]*)(?![a-z])))"
)
_IN_FORMULA = re.compile(r"\\(?:n(?:e|eg|exists|i|mid|parallel|prec|sim|subseteq|succ|u)|t(?:an|au|o|op))(?![A-Za-z])")
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_TEXT = r"text(?:[ _-]?(\d+)|[ ]+(?:(?:id|name)=)?[\"']?([^\s\"'<>=]+)[\"']?)"
_OPENED = re.compile(rf"^[ \t]*<{_TEXT}>[ \t]*\r?\n", re.MULTILINE)
_NAMED = re.compile(rf"<{_TEXT}>")
_NEXT_PAIR = re.compile(r"[ \t]*\n\s*(?:[\"'“][\w ./-]+[\"'”]\s*:|[{\[])")


def object_in(text: str, form: Mapping[str, Any]) -> Mapping[str, Any]:
    r"""Return the last JSON object in a reply that has a key of `form`; ignore the text around it.

    Accepts what models write instead of JSON: fences, comments, trailing, missing and doubled commas, single or curly
    quotes, line breaks and quotes inside texts, Python's constants, names without quotes, an object in another one or in
    a text, the bare list or item of a form that asks for a list. Backslashes that JSON has no use for are kept, those of
    LaTeX commands too: `"\frac"` is no form feed. Thoughts in `<think>` tags do not count. `"<text 1>"` stands for the
    text between the lines `<text 1>` and `</text 1>`.

    Args:
        text: the reply.
        form: an example of the object.

    Raises:
        ConfigError: if there is none, it breaks off, a text of it is missing, or holds a control character; describes
            what was found.
    """
    thoughts, text = without_thoughts(text)
    text = text.strip().removeprefix("\ufeff")
    if not text:
        raise ConfigError(f"it is empty{' after its thoughts' if thoughts else ''}; expected a JSON object")
    if text.startswith(('"', '{\\"')):
        text = _unquoted(text)
    outside, texts = _apart(text)
    try:
        parsed = _object_of(outside, form)
    except ConfigError:
        if not texts:
            raise
        # The lines of a text may also stand in a string with raw line breaks.
        parsed, texts = _object_of(text, form), {}
    parsed = _filled(parsed, texts)
    if unused := [name for name, (_, used) in texts.items() if not used]:
        raise ConfigError(
            f'the text {unused[0]} is not named in the object; write "<text {unused[0]}>" where it belongs'
        )
    if control := control_in(parsed):
        raise ConfigError(f"a text in it holds the control character {control!r}; leave it out")
    return parsed


def format_of(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the option `format` of a request (see `Request.options`) whose answer has a form.

    All names are required, so that providers can enforce it strictly. A text that a form writes as `"<text 1>"` may also
    be null. Items of several shapes are told apart by the text that all of them have under one name, such as
    `"do": "add"`. The format is optional: a provider that refuses it gets the request without.
    """
    return {"name": "answer", "schema": _schema_like(form), "strict": True, "optional": True}


def _schema_like(example: Any) -> dict[str, Any]:
    """Return a JSON schema of values like an example, in words that all providers know."""
    if isinstance(example, Mapping):
        members = {name: _schema_like(value) for name, value in cast("Mapping[str, Any]", example).items()}
        return {"type": "object", "properties": members, "required": list(members), "additionalProperties": False}
    if isinstance(example, list):
        return {"type": "array", "items": _schema_of_items(cast("list[Any]", example))}
    if isinstance(example, str):
        text = {"type": "string"}
        return {"anyOf": [text, {"type": "null"}]} if _NAMED.fullmatch(example) else text
    return {"type": {bool: "boolean", int: "integer", float: "number"}[type(example)]}


def _schema_of_items(examples: list[Any]) -> dict[str, Any]:
    if len(examples) < 2 or not isinstance(examples[0], dict):
        return _schema_like(examples[0])
    shapes = [_schema_like(example) for example in examples]
    for name in frozenset[str].intersection(*(frozenset(example) for example in examples)):
        if len({example[name] for example in examples}) == len(examples):
            for example, shape in zip(examples, shapes, strict=True):
                shape["properties"][name] = {"type": "string", "enum": [example[name]]}
    return {"anyOf": shapes}


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text that can be read, in order; thoughts do not count."""
    for value in _values(without_thoughts(text)[1], "{"):
        if isinstance(value, dict):
            yield cast("dict[str, Any]", value)


def value_in(text: str) -> Any:
    """Return the JSON value that a whole text is, fenced or not, in the forms that `object_in` accepts.

    Raises:
        ConfigError: if it is none, or there is more after it.
    """
    text = unfenced(text).removeprefix("\ufeff")
    try:
        value, end = (
            _read(text, 0) if text[:1] in ("{", "[", *_QUOTES) else (_DECODER.decode(_constant(text)), len(text))
        )
    except (ValueError, RecursionError) as error:
        raise ConfigError(str(error)) from None
    if blank := _SKIPPED.match(text, end):
        end = blank.end()
    if end < len(text):
        raise ConfigError(f"there is more after its end: {text[end : end + 40]!r}")
    return value


def without_thoughts(text: str) -> tuple[str, str]:
    """Return the thoughts between `<think>` and `</think>` that a text begins with, and the rest.

    A text that only closes the tag, because the prompt opened it, has thoughts as well. Nothing follows thoughts that do
    not end.
    """
    if thoughts := _THOUGHTS.match(text):
        return thoughts[1] or thoughts[2] or "", text[thoughts.end() :]
    opened = text.lstrip().startswith("<think>")
    return (text.partition("<think>")[2], "") if opened else ("", text)


class WithoutThoughts:
    """The text of a stream without the thoughts in `<think>` tags that it begins with (see `without_thoughts`)."""

    _OPEN, _CLOSE = "<think>", "</think>"

    def __init__(self) -> None:
        self._held, self._state = "", "start"

    def add(self, piece: str) -> str:
        """Take a piece of the stream; return the text that it adds."""
        if self._state == "text":
            return piece
        self._held += piece
        held = self._held.lstrip()
        if self._state == "start" and not held.startswith(self._OPEN):
            return "" if self._OPEN.startswith(held) else self._text(self._held)
        if self._state == "start" and self._CLOSE in held:
            self._state, self._held = "gap", held.partition(self._CLOSE)[2]
            held = self._held.lstrip()
        return self._text(held) if self._state == "gap" and held else ""

    def rest(self) -> str:
        """Return what was held back when the stream ended."""
        return self._text(without_thoughts(self._held)[1]) if self._state == "start" else ""

    def _text(self, text: str) -> str:
        self._state, self._held = "text", ""
        return text


def fenced_in(text: str, *, unended: bool = False) -> list[tuple[str, str]]:
    """Return the fenced blocks of a text: the words after the fence, in lower case, and the content.

    Args:
        text: the text.
        unended: also return a last block whose fence is never closed.
    """
    blocks = [match for match in _FENCE.finditer(text) if unended or match[4]]
    return [(match[2].strip().lower(), match[3]) for match in blocks]


def unfenced(text: str) -> str:
    """Return a text without surrounding white space and the code fence around it, if there is one."""
    match = _WHOLE_FENCE.match(text)
    return match[2] if match else text.strip()


def _apart(text: str) -> tuple[str, dict[str, list[Any]]]:
    """Return a reply without the texts beside its object, and these: name to the text and whether it was used.

    Raises:
        ConfigError: if it is not clear where a text begins or ends.
    """
    texts: dict[str, list[Any]] = {}
    outside: list[str] = []
    while opened := _OPENED.search(text):
        name = opened[1] or opened[2]
        rest = text[opened.end() :]
        ends = list(re.finditer(rf"^[ \t]*</text[ _-]?{re.escape(name)}>[ \t]*\r?$", rest, re.MULTILINE))
        ends = ends or list(re.finditer(r"^[ \t]*</text>[ \t]*\r?$", rest, re.MULTILINE))[:1]
        if len(ends) != 1 or name in texts:
            problem = "breaks off" if not ends else "ends twice" if name not in texts else "begins twice"
            raise ConfigError(
                f"the text {name} {problem}; write it once, between the lines <text {name}> and </text {name}>"
            )
        content = rest[: ends[0].start()]
        texts[name] = [content.removesuffix("\n").removesuffix("\r"), False]
        outside.append(text[: opened.start()])
        text = rest[ends[0].end() :]
    return "\n".join([*outside, text]), texts


def _filled(value: Any, texts: Mapping[str, list[Any]]) -> Any:
    """Return a value with texts in place of their names."""
    if isinstance(value, str):
        named = _NAMED.fullmatch(value.strip())
        if named is None:
            return value
        name = named[1] or named[2]
        if name not in texts:
            raise ConfigError(
                f"it names <text {name}>, and there are no lines <text {name}> and </text {name}> with a text"
            )
        texts[name][1] = True
        return texts[name][0]
    if isinstance(value, dict):
        return {key: _filled(inner, texts) for key, inner in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_filled(inner, texts) for inner in cast("list[Any]", value)]
    return value


def _object_of(text: str, form: Mapping[str, Any]) -> Mapping[str, Any]:
    parsed: Mapping[str, Any] = {}
    problems: list[str] = []
    items: list[Any] = []
    name, example = _listed(form)
    for value in _values(text, "{", commands=True):
        if isinstance(value, ValueError):
            problems.append(str(value))
        elif value is None:
            # What came before were thoughts.
            parsed = {}
        elif (found := _fitting(value, form)) is not None:
            # An object of its other half goes on with the one before it; one with the same keys takes its place.
            parsed = {**parsed, **found} if parsed.keys().isdisjoint(found) else found
        elif len(value) > 1 and value.keys() <= example.keys():
            items.append(value)
        else:
            problems.append(f"its keys are {', '.join(map(str, value)) or 'none'}")
    if not parsed and -1 < text.find("[") < text.find("{"):
        parsed = _list_of(text, form) or {}
    elif not parsed and items and not problems:
        parsed = {name: items}
    if not parsed:
        reason = problems[0] if problems else "there is no { in it"
        raise ConfigError(f"expected a JSON object with the keys {', '.join(form)}: {reason}")
    return {**parsed, name: [parsed[name]]} if isinstance(parsed.get(name), dict) and example else parsed


def _unquoted(text: str) -> str:
    """Return the text inside a reply that is one JSON string, with or without its quotes."""
    quoted = text if text.startswith('"') else f'"{text}"'
    try:
        value = json.loads(quoted, strict=False)
    except ValueError:
        return text
    return value if isinstance(value, str) and "{" in value else text


def _values(text: str, bracket: str, *, commands: bool = False) -> Iterator[Any]:
    """Yield each value that begins with a bracket, the error where none can be read, and None where thoughts end."""
    position = scanned = 0
    for _ in range(_MOST_TRIES):
        if scanned > _MOST_SCANNED:
            return
        start = text.find(bracket, position)
        between = text[position : start if start >= 0 else len(text)]
        if (thought := _LATER_THOUGHTS.search(text, position)) and (start < 0 or thought.start() < start):
            position = thought.end()
            continue
        if "</think>" in between:
            yield None
        if start < 0:
            return
        try:
            value, position = _read(text, start, commands=commands)
            yield value
        except (ValueError, RecursionError) as error:
            yield ValueError(str(error))
            position = start + 1
            scanned += getattr(error, "reached", start) - start


def _read(text: str, position: int, *, commands: bool = False) -> tuple[Any, int]:
    """Read the value at a position, and return where it ends: as JSON if it is, else as models write it.

    With `commands`, what looks like a command of LaTeX is one in valid JSON as well.
    """
    try:
        value, end = _DECODER.raw_decode(text, position)
        if not (commands and any(pattern.search(text, position, end) for pattern in (_COMMAND, _IN_FORMULA))):
            return value, end
    except ValueError as error:
        problem = error
    else:
        problem = None
    cleaning = _Cleaning(text)
    try:
        clean, end = cleaning.value(position)
        return _DECODER.decode(clean), end
    except (ValueError, IndexError) as error:
        reached = len(text) if isinstance(error, IndexError) else cleaning.reached
        raise _UnreadableError(str(problem or "it breaks off"), reached) from None


class _UnreadableError(ValueError):
    """Text that is no value; `reached` is how far it was read."""

    def __init__(self, message: str, reached: int) -> None:
        super().__init__(message)
        self.reached = reached


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse)


def _constant(text: str) -> str:
    return _CONSTANTS.get(text, text)


class _Cleaning:
    """Rewrites values of a text as JSON; raises IndexError where one has no end."""

    def __init__(self, text: str) -> None:
        self.text, self.reached = text, 0

    def value(self, position: int) -> tuple[str, int]:
        """Return the value at a position as JSON, and where it ends."""
        out: list[str] = []
        depth = 0
        while True:
            self.reached = position = self.after_blank(position)
            here = _READ_AS.get(self.text[position], self.text[position])
            written, position = self.token(here, position)
            if written[:1] in ("{", "[", '"') and out and out[-1][-1] not in "{[,:":
                out.append(",")
            if written:
                out.append(written)
            depth += (here in "{[") - (here in "}]")
            if depth > _MOST_DEPTH:
                raise ValueError(f"it is nested more than {_MOST_DEPTH} deep")
            if depth == 0:
                return "".join(out), position

    def token(self, here: str, position: int) -> tuple[str, int]:
        """Return the next token as JSON, and where it ends."""
        if here in _QUOTES:
            return self.string(position)
        if word := _WORD.match(self.text, position):
            name = not _CONSTANTS.get(word[0]) and self.next(word.end()) == ":"
            return _CONSTANTS.get(word[0]) or (json.dumps(word[0]) if name else word[0]), word.end()
        if named := _NAMED.match(self.text, position):
            return json.dumps(named[0]), named.end()
        if here not in "{}[]:,+-.0123456789":
            raise ValueError(f"{here!r} where a value or a name is expected")
        if here == "," and self.next(position + 1) in "}],":
            return "", position + 1
        return here, position + 1

    def after_blank(self, position: int) -> int:
        blank = _SKIPPED.match(self.text, position)
        return blank.end() if blank else position

    def next(self, position: int) -> str:
        here = self.text[self.after_blank(position)]
        return _READ_AS.get(here, here)

    def string(self, position: int) -> tuple[str, int]:
        """Return the string that begins at a position as JSON, and where it ends."""
        text, start = self.text, position
        triple = text.startswith(('"""', "'''"), position)
        end = text[position : position + 3] if triple else _QUOTES[text[position]]
        position += len(end)
        out = ['"']
        while True:
            if text.startswith(end, position):
                closed = self.closed(position + len(end))
                if closed is not None:
                    written, position = closed
                    return "".join([*out, '"', written]), position
            here = text[position]
            if here == "\\":
                written, position = self.escape(start, position)
                out.append(written)
                continue
            out.append(json.dumps(here, ensure_ascii=False)[1:-1])
            position += 1

    def closed(self, position: int) -> tuple[str, int] | None:
        """Return what follows a string that ends before a position; None if its quote belongs to the text."""
        after = self.after_blank(position)
        here = self.text[after] if after < len(self.text) else "}"
        if _READ_AS.get(here, here) in ",:}]":
            return "", position
        if _NEXT_PAIR.match(self.text, position):
            return ",", position
        if (here == "+" and self.next(after + 1) in _QUOTES) or (here in "\"'" and "\n" in self.text[position:after]):
            raise ValueError("a text that is put together of several; write it as one")
        return None

    def escape(self, start: int, position: int) -> tuple[str, int]:
        """Return what a backslash in a string stands for, and where that ends."""
        text = self.text
        command = _COMMAND.match(text, position) or (
            _IN_FORMULA.match(text, position) and _in_formula(text[start:position], text[position : position + 200])
        )
        if not command and (escape := _ESCAPE.match(text, position)):
            return escape[0], escape.end()
        if text[position + 1] in "'`":
            return text[position + 1], position + 2
        return "\\\\", position + 1


def _in_formula(before: str, after: str) -> bool:
    """Return whether a formula that a text opened is still open at a place, and closed after it."""
    if before.count("$") % 2 == 1 and "$" in after.partition('"')[0]:
        return True
    return max(before.rfind("\\("), before.rfind("\\[")) > max(before.rfind("\\)"), before.rfind("\\]"))


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
    found = [fit for item in inside if depth and (fit := _fitting(_parsed(item), form, depth - 1)) is not None]
    return found[-1] if found else None


def _parsed(value: Any) -> Any:
    """Return the object that a text is, or the value itself."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return value_in(value)
    except ConfigError:
        return value


def _listed(form: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the name of a form's first list, and the example of its items; `{}` if they are no objects."""
    name = next((key for key, value in form.items() if isinstance(value, list) and value), "")
    example: Any = form[name][0] if name else None
    return name, cast("dict[str, Any]", example) if isinstance(example, dict) else {}


def _list_of(text: str, form: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the bare list of a form's first list as an object, if its items look like the form's."""
    name, example = _listed(form)
    for value in _values(text, "[", commands=True) if example else ():
        items = cast("list[Any]", value) if isinstance(value, list) else []
        if items and all(
            isinstance(item, dict) and example.keys() & cast("dict[str, Any]", item).keys() for item in items
        ):
            return {name: items}
    return None


def control_in(value: Any) -> str:
    """Return the first control character in the texts of a JSON value, tabs and line breaks apart; `""` for none."""
    if isinstance(value, str):
        match = _CONTROL.search(value)
        return match[0] if match else ""
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value)
        return _first(control_in, [*items.keys(), *items.values()])
    if isinstance(value, list):
        return _first(control_in, cast("list[Any]", value))
    return ""


def _first(found: Callable[[Any], str], values: list[Any]) -> str:
    return next(filter(None, map(found, values)), "")
