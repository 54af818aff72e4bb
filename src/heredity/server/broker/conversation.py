"""From the parts that every API's conversations have to a gateway's request, and back to the same small words."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from heredity.errors import ConfigError
from heredity.gateway import Image, Message, Reply, Request, Sampling, ToolCall, ToolSpec
from heredity.server.broker.problems import Problem

_IMAGE_TOKENS = 1000
_BYTES_PER_TOKEN = 4


class Exchange(Protocol):
    """One call in the words of one API: what is asked, and how the answer is told.

    Attributes:
        asked: the model's name as the program gave it.
        request: what it asks.
        streams: whether it wants events.
        ping: an event that says nothing, to keep a connection alive.
    """

    asked: str
    request: Request
    streams: bool
    ping: bytes

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
        """Return the events that end an answer in its midst."""
        ...


@dataclass(slots=True)
class Conversation:
    """Messages as they are read. Neighbouring pieces of an assistant's turn become one message."""

    messages: list[Message] = field(default_factory=list[Message])
    _seen: list[Image] = field(default_factory=list[Image])
    _asked: set[str] = field(default_factory=set[str])

    def earlier(self, messages: Iterable[Message]) -> None:
        """Begin with messages that were read before."""
        self.messages += messages
        self._asked.update(call.id for message in self.messages for call in message.tool_calls)

    def system(self, text: str) -> None:
        """Add instructions; empty ones are left out."""
        if text:
            self._add(Message("system", text))

    def user(self, text: str, images: Iterable[Image] = ()) -> None:
        """Add what the user says and shows."""
        self._add(Message("user", text, (*self._taken(), *images)))

    def assistant(self, text: str, calls: Iterable[ToolCall] = ()) -> None:
        """Add what the assistant said and asked for, or more of it."""
        calls = tuple(calls)
        self._asked.update(call.id for call in calls)
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "assistant" and not self._seen:
            self.messages.pop()
            text, calls = "\n".join(t for t in (last.content, text) if t), (*last.tool_calls, *calls)
        self._add(Message("assistant", text, tool_calls=calls))

    def tool(self, call_id: str, text: str, images: Iterable[Image] = (), *, where: str) -> None:
        """Add a tool's result; its pictures follow as a user's, behind the results of the same turn.

        Raises:
            Problem: if no call of that id came before.
        """
        if call_id not in self._asked:
            raise Problem(
                "request", f"{where} answers the call {call_id[:80]!r}, which no message asks for", field=where
            )
        self.messages.append(Message("tool", text, tool_call_id=call_id))
        self._seen += images

    def request(self, tools: tuple[ToolSpec, ...], sampling: Sampling, choice: str, field: str) -> Request:
        """Return the whole as a request; `field` is where the messages stood.

        Raises:
            Problem: if there are no messages, a tool is demanded that is not offered, or a text is not Unicode.
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
            # Read once here, so that what cannot be encoded is the program's error and not the record's.
            _ = request.digest
        except ConfigError as error:
            raise Problem("request", f"{field}: {error}", field=field) from error
        except (ValueError, RecursionError) as error:
            raise Problem("request", f"the body holds what is no Unicode text or no JSON ({error})") from error
        return request

    def _add(self, message: Message) -> None:
        if self._seen and message.role != "user":
            self.messages.append(Message("user", "", self._taken()))
        self.messages.append(message)

    def _taken(self) -> tuple[Image, ...]:
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
    """Return what of a reply's text was not sent yet."""
    return reply.text[len(sent) :] if reply.text.startswith(sent) else ""


def finish_of(reply: Reply) -> str:
    """Return why a reply ended; one that asks for tools ended for that."""
    return "tool_calls" if reply.tool_calls and reply.finish == "stop" else reply.finish


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
