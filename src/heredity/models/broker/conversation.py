"""Conversion between the parts common to all APIs' conversations and a gateway's request."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from heredity._core.errors import ConfigError
from heredity.models import Image, Message, Reply, Request, Sampling, ToolCall, ToolSpec
from heredity.models.broker.body import strict_json
from heredity.models.broker.fields import Wish
from heredity.models.broker.problems import Problem

_IMAGE_TOKENS = 1000
_BYTES_PER_TOKEN = 4


class Exchange(Protocol):
    """One call in the format of one API: its request and its answer.

    Attributes:
        asked: the model's name as the program gave it.
        request: the request.
        streams: whether it wants events.
        wishes: options that only some models take.
        dropped: paths of fields that have no counterpart and cannot change what the answer says.
        media_type: type of a streamed answer.
        ping: an event without content, to keep a connection alive.
    """

    asked: str
    request: Request
    streams: bool
    wishes: Sequence[Wish]
    dropped: list[str]

    @property
    def media_type(self) -> str: ...  # noqa: D102 - see the class

    @property
    def ping(self) -> bytes: ...  # noqa: D102 - see the class

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return the body of an answer in one piece."""
        ...

    def piece(self, text: str) -> bytes:
        """Return the events that add text; the first ones, even of an empty text, open the answer."""
        ...

    def closing(self, reply: Reply) -> bytes:
        """Return the events that end an answer whose text may have been sent in pieces before."""
        ...

    def failure(self, problem: Problem) -> bytes:
        """Return the events that end an unfinished answer."""
        ...


@dataclass(slots=True)
class Conversation:
    """Messages as they are read. Neighbouring pieces of an assistant's turn become one message."""

    messages: list[Message] = field(default_factory=list[Message])
    _seen: list[Image] = field(default_factory=list[Image])
    _asked: set[str] = field(default_factory=set[str])

    def earlier(self, messages: Iterable[Message]) -> None:
        """Start with messages read before."""
        self.messages += messages
        self._asked.update(call.id for message in self.messages for call in message.tool_calls)

    def system(self, text: str) -> None:
        """Add instructions; empty ones are left out."""
        if text:
            self._add(Message("system", text))

    def user(self, text: str, images: Iterable[Image] = ()) -> None:
        """Add a user's text and images."""
        self._add(Message("user", text, (*self._take_images(), *images)))

    def assistant(self, text: str, calls: Iterable[ToolCall] = ()) -> None:
        """Add the assistant's text and calls, or more of them."""
        calls = tuple(calls)
        self._asked.update(call.id for call in calls)
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "assistant" and not self._seen:
            self.messages.pop()
            text, calls = "\n".join(t for t in (last.content, text) if t), (*last.tool_calls, *calls)
        self._add(Message("assistant", text, tool_calls=calls))

    def tool(self, call_id: str, text: str, images: Iterable[Image] = (), *, where: str, failed: bool = False) -> None:
        """Add a tool's result, or its error; its pictures follow as a user's, behind the results of the same turn.

        Raises:
            Problem: if no call of that id came before.
        """
        if call_id not in self._asked:
            raise Problem(
                "request", f"{where} answers the call {call_id[:80]!r}, which no message asks for", field=where
            )
        text = f"error: {text}" if failed else text
        self.messages.append(Message("tool", text, tool_call_id=call_id, failed=failed))
        self._seen += images

    def request(self, tools: tuple[ToolSpec, ...], sampling: Sampling, choice: str, field: str) -> Request:
        """Return the whole as a request; `field` is where the messages stood.

        Raises:
            Problem: if there are no messages, a required tool is not offered, or a text is not Unicode.
        """
        if self._seen:
            self.user("")
        if choice not in ("auto", "none", "required", *(tool.name for tool in tools)):
            raise Problem(
                "request", f"tool_choice names {choice[:80]!r}; it is not one of the tools", field="tool_choice"
            )
        if choice == "required" and not tools:
            raise Problem("request", "tool_choice demands a tool, and there are none", field="tool_choice")
        try:
            request = Request(tuple(self.messages), tools, sampling, choice)
            # Read once here, so that an encoding error is the program's and not the record's.
            _ = request.digest
        except ConfigError as error:
            raise Problem("request", f"{field}: {error}", field=field) from error
        except (ValueError, RecursionError) as error:
            raise Problem("request", f"the body is not Unicode text or not JSON ({error})") from error
        return request

    def _add(self, message: Message) -> None:
        if self._seen and message.role != "user":
            self.messages.append(Message("user", "", self._take_images()))
        self.messages.append(message)

    def _take_images(self) -> tuple[Image, ...]:
        taken, self._seen = tuple(self._seen), []
        return taken


def new_id(prefix: str) -> str:
    """Return a fresh id, `"msg_3f…"`."""
    return f"{prefix}_{secrets.token_hex(12)}"


def encode(value: Mapping[str, Any]) -> bytes:
    """Return a JSON object in ASCII, which holds for any text of a model."""
    return json.dumps(value, separators=(",", ":")).encode()


def event(value: Mapping[str, Any], name: str = "") -> bytes:
    """Return a server-sent event."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + encode(value) + b"\n\n"


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """Return a call's arguments as an object.

    Text that is not an object is passed on as `invalid_arguments`, for the program's own check to refuse.
    """
    try:
        value = strict_json(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"invalid_arguments": call.arguments}


def estimated_tokens(request: Request) -> int:
    """Guess the tokens of a request: a quarter of its text's UTF-8 bytes, and 1,000 for each picture; at least 1."""
    size = sum(
        _size(m.content) + sum(_size(c.name) + _size(c.arguments) for c in m.tool_calls) for m in request.messages
    )
    size += sum(_size(t.name) + _size(t.description) + _size(json.dumps(dict(t.parameters))) for t in request.tools)
    images = sum(len(m.images) for m in request.messages)
    return max(1, math.ceil(size / _BYTES_PER_TOKEN)) + _IMAGE_TOKENS * images


def estimated_text_tokens(text: str) -> int:
    """Guess the tokens of a text: a quarter of its UTF-8 bytes."""
    return math.ceil(_size(text) / _BYTES_PER_TOKEN)


def rest_of(reply: Reply, sent: str) -> str:
    """Return the unsent rest of a reply's text."""
    return reply.text[len(sent) :] if reply.text.startswith(sent) else ""


def finish_of(reply: Reply) -> str:
    """Return the reason a reply ended; tool calls take precedence."""
    return "tool_calls" if reply.tool_calls and reply.finish == "stop" else reply.finish


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
