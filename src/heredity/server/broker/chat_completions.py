"""OpenAI's chat completions: `POST /v1/chat/completions`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from heredity.gateway import Reply, ToolCall, ToolSpec, Usage
from heredity.server.broker.body import (
    AtLeastOne,
    Body,
    Choice,
    FunctionChoice,
    Part,
    Picture,
    Text,
    TextFormat,
    Texts,
    only,
    parts,
)
from heredity.server.broker.conversation import Conversation, encode, event, finish_of, new_id, rest_of
from heredity.server.broker.problems import Problem, openai_shape

_FINISH = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "refusal": "content_filter"}
_IsFunction = Annotated[str, only("function", why="tools are functions")]


class _Refusal(Part):
    type: Literal["refusal"]
    refusal: str


class _Address(Part):
    url: Picture


class _Picture(Part):
    type: Literal["image_url"]
    image_url: _Address


class _NamedFunction(Part):
    name: str


class _CalledFunction(_NamedFunction):
    arguments: str = ""


class _Call(Part):
    id: str
    type: _IsFunction = "function"
    function: _CalledFunction


_Words = Annotated[Sequence[Annotated[Text | _Refusal, Field(discriminator="type")]], parts("text")]


class _Instructions(Part):
    role: Literal["system", "developer"]
    content: _Words = ()


class _User(Part):
    role: Literal["user"]
    content: Annotated[Sequence[Annotated[Text | _Refusal | _Picture, Field(discriminator="type")]], parts("text")] = ()


class _Assistant(Part):
    role: Literal["assistant"]
    content: _Words = ()
    tool_calls: Sequence[_Call] = ()


class _ToolResult(Part):
    role: Literal["tool"]
    content: _Words = ()
    tool_call_id: str


_Message = _Instructions | _User | _Assistant | _ToolResult


class _OfferedFunction(_NamedFunction):
    description: str = ""
    parameters: Annotated[dict[str, Any], Field(default_factory=dict)]


class _Tool(Part):
    type: _IsFunction = "function"
    function: _OfferedFunction


class _NamedChoice(FunctionChoice):
    function: _NamedFunction


class _StreamOptions(Part):
    include_usage: bool = False


class _ChatBody(Body):
    messages: Sequence[Annotated[_Message, Field(discriminator="role")]] = ()
    tools: Sequence[_Tool] = ()
    tool_choice: Choice[_NamedChoice] = "auto"
    stop: Texts = ()
    max_tokens: AtLeastOne | None = None
    max_completion_tokens: AtLeastOne | None = None
    stream_options: _StreamOptions = _StreamOptions()
    response_format: TextFormat = TextFormat()
    n: Annotated[int, only(1, why="one answer per call")] = 1
    logprobs: Annotated[bool, only(False, why="log-probabilities are not passed on")] = False
    functions: Annotated[Sequence[Any], only([], why="give tools")] = ()
    modalities: Annotated[Sequence[Any], only(["text"], why="text only")] = ("text",)


class ChatCompletion:
    """One call of chat completions (see `Exchange`).

    Refused, because an answer would not be what was asked for: `n` above 1, a `response_format` other than text, audio,
    `logprobs`, `functions` (their successor is `tools`), tools that are no functions. Other fields that a gateway does
    not know, such as penalties, are ignored.
    """

    ping = b": ping\n\n"

    def __init__(self, body: Mapping[str, Any]) -> None:
        """Read a body; raises `Problem`."""
        asked = _ChatBody.read(body)
        self.asked, self.streams, self._tells_usage = asked.model, asked.stream, asked.stream_options.include_usage
        conversation = Conversation()
        for position, message in enumerate(asked.messages):
            _add(conversation, message, f"messages[{position}]")
        limit = asked.max_tokens if asked.max_completion_tokens is None else asked.max_completion_tokens
        tools = tuple(ToolSpec(t.function.name, t.function.description, t.function.parameters) for t in asked.tools)
        choice = asked.tool_choice if isinstance(asked.tool_choice, str) else asked.tool_choice.function.name
        self.request = conversation.request(tools, asked.sampling(limit, asked.stop), choice, "messages")
        self._id, self._created, self._sent, self._open = new_id("chatcmpl"), int(time.time()), "", False

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `chat.completion`."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.tool_calls:
            message["tool_calls"] = [_call_json(call) for call in reply.tool_calls]
        choice = {"index": 0, "message": message, "finish_reason": _FINISH[finish_of(reply)], "logprobs": None}
        return {**self._head("chat.completion"), "choices": [choice], "usage": _usage(reply.usage)}

    def piece(self, text: str) -> bytes:
        """Return chunks that add text."""
        opening = b"" if self._open else self._chunk({"role": "assistant", "content": ""})
        self._open = True
        self._sent += text
        return opening + (self._chunk({"content": text}) if text else b"")

    def closing(self, reply: Reply) -> bytes:
        """Return the chunks with tool calls, the reason of the end and, where asked for, the usage."""
        events = self.piece(rest_of(reply, self._sent))
        for index, call in enumerate(reply.tool_calls):
            events += self._chunk({"tool_calls": [{"index": index, **_call_json(call)}]})
        events += self._chunk({}, _FINISH[finish_of(reply)])
        if self._tells_usage:
            events += event({**self._head("chat.completion.chunk"), "choices": [], "usage": _usage(reply.usage)})
        return events + b"data: [DONE]\n\n"

    def failure(self, problem: Problem) -> bytes:
        """Return the error as the last chunk; no `[DONE]` follows."""
        return b"data: " + encode(openai_shape(problem)) + b"\n\n"

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self.asked}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return event({**self._head("chat.completion.chunk"), "choices": [choice]})


def _add(conversation: Conversation, message: _Message, where: str) -> None:
    text = "\n".join(_text(part) for part in message.content if not isinstance(part, _Picture))
    match message:
        case _Instructions():
            conversation.system(text)
        case _User():
            shown = (part for part in message.content if isinstance(part, _Picture))
            conversation.user(text, [part.image_url.url for part in shown])
        case _Assistant():
            calls = [ToolCall(call.id, call.function.name, call.function.arguments) for call in message.tool_calls]
            conversation.assistant(text, calls)
        case _ToolResult():
            conversation.tool(message.tool_call_id, text, where=f"{where}.tool_call_id")


def _text(part: Text | _Refusal) -> str:
    return part.text if isinstance(part, Text) else part.refusal


def _call_json(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _usage(usage: Usage) -> dict[str, Any] | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
    }
