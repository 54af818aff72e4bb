"""Request bodies: models for parsing them, and messages for invalid ones."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    InstanceOf,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails
from starlette.requests import Request as HttpRequest

from heredity._core.errors import ConfigError
from heredity.models import Image, Sampling
from heredity.models.broker.fields import Wish
from heredity.models.broker.problems import Problem

MAX_BODY_BYTES = 32 << 20
MAX_BODY_S = 60.0
"""Seconds in which a body has to arrive: it holds one of the account's slots."""
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")

_DATA_URL = re.compile(r"data:([\w/+.-]+);base64,(.*)", re.DOTALL)
_NO_PICTURE = f"is not a picture; give one of {', '.join(IMAGE_TYPES)}"
_EXPECTED = {
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
    "string_type": "a string",
    "string_unicode": "Unicode text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bytes_type": "a string",
    "is_instance_of": "a string",
}


class Part(BaseModel):
    """An object of a body. Null fields count as absent. Unknown fields are kept, for `fields.unread` to find.

    Attributes:
        set_aside: whether the whole object has no counterpart in other APIs.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")
    set_aside: ClassVar[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: inner for name, inner in cast("dict[str, Any]", value).items() if inner is not None}

    @classmethod
    def read(cls, value: Any) -> Self:
        """Return a whole body that was parsed from JSON.

        Raises:
            Problem: if it is wrong; the message names the field by its path, as in `messages[0].content`.
        """
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise _problem(error.errors(include_url=False)[0], value) from error


class Body(Part):
    """A whole body that names its model."""

    model: str
    stream: bool = False
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None

    def sampling(self, max_tokens: int | None, stop: Sequence[str]) -> Sampling:
        """Return the sampling parameters; raises `Problem`."""
        return checked_sampling(self.temperature, self.top_p, max_tokens, self.seed, stop)


def checked_sampling(
    temperature: float | None, top_p: float | None, max_tokens: int | None, seed: int | None, stop: Sequence[str]
) -> Sampling:
    """Return sampling parameters; raises `Problem` if one is out of range."""
    try:
        return Sampling(temperature, top_p, max_tokens, seed, tuple(filter(None, stop)))
    except ConfigError as error:
        raise Problem("request", str(error), field=str(error).split()[0]) from error


def only(*allowed: Any, why: str) -> AfterValidator:
    """Return a validator that accepts only these values of a field, and gives the reason for refusing others."""

    def check(value: Any) -> Any:
        if value not in allowed:
            raise ValueError(f"{_short(value)} is not possible here: {why}")
        return value

    return AfterValidator(check)


def parts(kind: str) -> BeforeValidator:
    """Return a validator that wraps a text as one part of a kind, where a list of parts is expected."""
    return BeforeValidator(lambda value: [{"type": kind, "text": value}] if isinstance(value, str) else value)


def _bytes(value: Any) -> Any:
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else value
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"not base64 ({error})") from error


def _picture(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    match = _DATA_URL.fullmatch(value)
    if match is None:
        raise ValueError("give a picture as data:image/png;base64,…; no address is fetched from here")
    if match[1] not in IMAGE_TYPES:
        raise ValueError(f"{match[1][:80]!r} {_NO_PICTURE}")
    return Image(match[1], _bytes(match[2]))


Base64 = Annotated[bytes, BeforeValidator(_bytes)]
"""Bytes, given as base64."""

Picture = Annotated[InstanceOf[Image], BeforeValidator(_picture)]
"""A picture, given as a data URL."""

MediaType = Annotated[str, only(*IMAGE_TYPES, why=_NO_PICTURE)]
"""The type of a picture."""

Texts = Annotated[Sequence[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]
"""A text or a list of texts."""

AtLeastOne = Annotated[int, Field(ge=1)]


class Text(Part):
    """A part of text."""

    type: Literal["text"]
    text: str


class Schema(Part):
    """The JSON schema of an answer."""

    name: str = ""
    description: str = ""
    json_schema: dict[str, Any] = Field(alias="schema", default_factory=dict[str, Any])
    strict: bool = False

    @property
    def option(self) -> dict[str, Any]:
        """The option `format` of a request."""
        return {"name": self.name, "schema": self.json_schema, "strict": self.strict}


class TextFormat(Schema):
    """The answer's format: text, or JSON of a schema, which stands here or in `json_schema`."""

    type: Annotated[str, only("text", "json_schema", why="give a JSON schema, or describe the form in the prompt")] = (
        "text"
    )

    def wish(self, field: str, schema: Schema) -> list[Wish]:
        """Return the wish for an answer of a schema."""
        return [Wish("format", schema.option, f"{field}.type")] if self.type == "json_schema" else []


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model thinks."""


class FunctionChoice(Part):
    """Choice of the function to call."""

    type: Annotated[str, only("function", why="only functions can be called")] = "function"


Named = TypeVar("Named", bound=FunctionChoice)
Choice = Annotated[
    Annotated[Literal["none", "auto", "required"], Tag("a word")] | Annotated[Named, Tag("an object")],
    Discriminator(lambda value: "a word" if isinstance(value, str) else "an object"),
]
"""`tool_choice` in OpenAI's interfaces: a word, or an object that names a function."""


async def read_body(request: HttpRequest) -> tuple[Mapping[str, Any], int]:
    """Return a request's body and its size in bytes.

    Raises:
        Problem: if it is longer than `MAX_BODY_BYTES`, not here after `MAX_BODY_S`, or not a JSON object.
    """
    data = bytearray()
    try:
        async with asyncio.timeout(MAX_BODY_S):
            async for chunk in request.stream():
                data += chunk
                if len(data) > MAX_BODY_BYTES:
                    raise Problem("too_large", f"the body exceeds {MAX_BODY_BYTES} bytes; send a shorter one")
    except TimeoutError as error:
        raise Problem(
            "stalled", f"the body did not arrive within {MAX_BODY_S:g} s; send it whole", retry=True
        ) from error
    try:
        value = strict_json(data)
    except (ValueError, RecursionError) as error:
        raise Problem("request", f"the body is not JSON ({error}); send one object") from error
    if not isinstance(value, dict):
        raise Problem("request", f"the body is {_short(value)}; expected an object")
    return cast("dict[str, Any]", value), len(data)


def strict_json(text: str | bytes | bytearray) -> Any:
    """Return the value of a JSON text; raises ValueError, for NaN and Infinity too, or RecursionError."""
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _problem(error: ErrorDetails, body: Any) -> Problem:
    """Return a model's validation error as a problem."""
    path, kind, context = _path(error["loc"], body), error["type"], error.get("ctx", {})
    if kind.startswith("union_tag"):
        name = str(context["discriminator"]).strip("'")
        given = _short(context["tag"]) if kind == "union_tag_invalid" else "missing"
        path = f"{path}.{name}"
        expected = str(context["expected_tags"]).replace("'", "") if kind == "union_tag_invalid" else "a string"
        return Problem("request", f"{path} is {given}; expected one of: {expected}", field=path)
    if kind == "missing":
        return Problem("request", f"{path} is missing", field=path)
    if kind == "value_error":
        return Problem("request", f"{path}: {context['error']}", field=path)
    expected = _EXPECTED.get(kind) or error["msg"].removeprefix("Input should be ")
    return Problem("request", f"{path} is {_short(error['input'])}; expected {expected}", field=path)


def _path(location: tuple[int | str, ...], body: Any) -> str:
    """Return the path of an error in a body, without the names of alternatives that a model's own path has."""
    path, inside = "", body
    for position, step in enumerate(location):
        if isinstance(step, int):
            path += f"[{step}]"
            inside = inside[step] if isinstance(inside, list) else None
        elif isinstance(inside, dict) and (step in inside or position == len(location) - 1):
            path += f".{step}" if path else step
            inside = cast("dict[str, Any]", inside).get(step)
    return path


def _short(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value[:80] if isinstance(value, str) else value)
    return text if len(text) <= 90 else text[:89] + "…"
