"""Reading a request's body: each field is checked where it is read, and an error names its path."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from typing import Any, cast

from starlette.requests import Request as HttpRequest

from heredity.errors import ConfigError
from heredity.gateway import Image, Sampling
from heredity.server.broker.problems import Problem

MAX_BODY_BYTES = 32 << 20
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_DATA_URL = re.compile(r"data:([\w/+.-]+);base64,(.*)", re.DOTALL)


class Fields:
    """One object of a body. What is null counts as absent; what is wrong raises a `Problem` with status 400."""

    def __init__(self, value: Any, path: str = "") -> None:
        self.path = path
        if not isinstance(value, dict):
            raise _wrong(path, value, "an object")
        self.values = cast("dict[str, Any]", value)

    def at(self, name: str) -> str:
        """Return the path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def get(self, name: str) -> Any:
        """Return a field as it is; None if it is absent."""
        return self.values.get(name)

    def refuse(self, name: str, why: str) -> Problem:
        """Return the problem that a field is."""
        return Problem("request", f"{self.at(name)}: {why}", field=self.at(name))

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; without a default it must be there."""
        found = self._typed(name, (str,), "a string")
        found = default if found is None else found
        if found is None:
            raise _wrong(self.at(name), None, "a string")
        return found

    def number(self, name: str) -> float | None:
        """Return a number, or None."""
        return self._typed(name, (int, float), "a number")

    def integer(self, name: str) -> int | None:
        """Return a whole number, or None."""
        return self._typed(name, (int,), "a whole number")

    def flag(self, name: str) -> bool:
        """Return a boolean; an absent one is false."""
        return bool(self._typed(name, (bool,), "true or false"))

    def inner(self, name: str) -> Fields | None:
        """Return an object, or None."""
        found = self.get(name)
        return None if found is None else Fields(found, self.at(name))

    def need(self, name: str) -> Fields:
        """Return an object that must be there."""
        return Fields(self.get(name), self.at(name))

    def each(self, name: str) -> list[Fields]:
        """Return the objects of a list; none if it is absent."""
        found = self._typed(name, (list,), "a list of objects")
        return [Fields(value, f"{self.at(name)}[{i}]") for i, value in enumerate(found or ())]

    def parts(self, name: str, kind: str = "text") -> list[Fields]:
        """Return content: a list of parts, or a text, which stands for one part of `kind`."""
        found = self.get(name)
        if isinstance(found, str):
            return [Fields({"type": kind, "text": found}, self.at(name))]
        return self.each(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a text or a list of texts as a tuple."""
        found = self._typed(name, (str, list), "a string or a list of strings") or ()
        values: list[Any] = [found] if isinstance(found, str) else list(found)
        for i, value in enumerate(values):
            if not isinstance(value, str):
                raise _wrong(f"{self.at(name)}[{i}]", value, "a string")
        return tuple(values)

    def image(self, name: str) -> Image:
        """Return the picture of a data URL."""
        match = _DATA_URL.fullmatch(self.text(name))
        if match is None:
            raise self.refuse(name, "give a picture as data:image/png;base64,…; no address is fetched from here")
        return self.picture(name, match[1], match[2])

    def picture(self, name: str, media_type: str, data: str) -> Image:
        """Return a picture from base64."""
        if media_type not in IMAGE_TYPES:
            raise self.refuse(name, f"{media_type[:80]!r} is no picture; give one of {', '.join(IMAGE_TYPES)}")
        try:
            return Image(media_type, base64.b64decode(data, validate=True))
        except (binascii.Error, ValueError) as error:
            raise self.refuse(name, f"not base64 ({error})") from error

    def only(self, name: str, allowed: Sequence[Any], why: str) -> None:
        """Refuse a field that has any other value than the allowed ones; it may be absent."""
        found = self.get(name)
        if found is not None and found not in allowed:
            raise self.refuse(name, f"{_short(found)} is not possible here: {why}")

    def _typed(self, name: str, types: tuple[type, ...], expected: str) -> Any:
        found = self.get(name)
        # A boolean is an int to Python, and never meant as one here.
        if found is not None and (not isinstance(found, types) or (isinstance(found, bool) and bool not in types)):
            raise _wrong(self.at(name), found, expected)
        return found


def sampling_of(body: Fields, limit: str, stop: str) -> Sampling:
    """Return how the model is to answer; `limit` names the field with the most tokens, `stop` that with texts that end a reply."""
    texts = tuple(text for text in body.texts(stop) if text)
    max_tokens = body.integer(limit)
    if max_tokens is not None and max_tokens < 1:
        raise body.refuse(limit, f"{max_tokens} is too few; expected 1 or more")
    try:
        return Sampling(body.number("temperature"), body.number("top_p"), max_tokens, body.integer("seed"), texts)
    except ConfigError as error:
        raise Problem("request", str(error), field=str(error).split()[0]) from error


def tool_choice(body: Fields) -> str | Fields:
    """Return which tool is to be called, as OpenAI's interfaces say it: `none`, `auto`, `required`, or what names a function."""
    if isinstance(body.get("tool_choice"), str):
        choice = body.text("tool_choice")
        if choice not in ("none", "auto", "required"):
            raise body.refuse("tool_choice", "expected none, auto, required, or a function")
        return choice
    wanted = body.inner("tool_choice")
    if wanted is None:
        return "auto"
    wanted.only("type", ("function",), "only functions can be called")
    return wanted


async def read_body(request: HttpRequest) -> tuple[Fields, int]:
    """Return a request's body and its size in bytes.

    Raises:
        Problem: if it is longer than `MAX_BODY_BYTES`, or no JSON object.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_BODY_BYTES:
            raise Problem("too_large", f"the body exceeds {MAX_BODY_BYTES} bytes; send a shorter one")
    try:
        value = strict_json(data)
    except (ValueError, RecursionError) as error:
        raise Problem("request", f"the body is not JSON ({error}); send one object") from error
    return Fields(value), len(data)


def strict_json(text: str | bytes | bytearray) -> Any:
    """Return the value of a JSON text; raises ValueError, for NaN and Infinity too, or RecursionError."""
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _wrong(path: str, value: Any, expected: str) -> Problem:
    given = "missing" if value is None else _short(value)
    return Problem("request", f"{path or 'the body'} is {given}; expected {expected}", field=path)


def _short(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 90 else text[:89] + "…"
