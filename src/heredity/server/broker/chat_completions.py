"""OpenAI's chat completions: `POST /v1/chat/completions`."""

from __future__ import annotations

import time
from typing import Any

from heredity.gateway import Image, Reply, ToolCall, ToolSpec, Usage
from heredity.server.broker.conversation import Conversation, encode, event, finish_of, new_id, rest_of
from heredity.server.broker.fields import Fields, sampling_of, tool_choice
from heredity.server.broker.problems import Problem, openai_shape

_FINISH = {"stop": "stop", "length": "length", "tool_calls": "tool_calls", "refusal": "content_filter"}


class ChatCompletion:
    """One call of chat completions (see `Exchange`).

    Refused, because an answer would not be what was asked for: `n` above 1, a `response_format` other than text, audio,
    `logprobs`, `functions` (their successor is `tools`), tools that are no functions. Other fields that a gateway does
    not know, such as penalties, are ignored.
    """

    ping = b": ping\n\n"

    def __init__(self, body: Fields) -> None:
        """Read a body; raises `Problem`."""
        self.asked = body.text("model")
        self.streams = body.flag("stream")
        options = body.inner("stream_options")
        self._tells_usage = options is not None and options.flag("include_usage")
        _refuse_unsupported(body)
        conversation = Conversation()
        for message in body.each("messages"):
            _read_message(conversation, message)
        limit = "max_tokens" if body.get("max_completion_tokens") is None else "max_completion_tokens"
        tools = tuple(_tool(tool) for tool in body.each("tools"))
        self.request = conversation.request(tools, sampling_of(body, limit, "stop"), _choice(body), "messages")
        self._id, self._created, self._sent, self._open = new_id("chatcmpl"), int(time.time()), "", False

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `chat.completion`."""
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.tool_calls:
            message["tool_calls"] = [_told(call) for call in reply.tool_calls]
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
            events += self._chunk({"tool_calls": [{"index": index, **_told(call)}]})
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


def _refuse_unsupported(body: Fields) -> None:
    body.only("n", (1,), "one answer per call")
    body.only("logprobs", (False,), "log-probabilities are not passed on")
    body.only("functions", ([],), "give tools")
    body.only("modalities", (["text"],), "text only")
    form = body.inner("response_format")
    if form is not None:
        form.only("type", ("text",), "describe the form in the prompt, or demand a tool")


def _read_message(conversation: Conversation, message: Fields) -> None:
    role = message.text("role")
    text, images = _content(message)
    if images and role != "user":
        raise message.refuse("content", "only a user's message may hold pictures")
    if role in ("system", "developer"):
        conversation.system(text)
    elif role == "user":
        conversation.user(text, images)
    elif role == "assistant":
        conversation.assistant(text, [_call(call) for call in message.each("tool_calls")])
    elif role == "tool":
        conversation.tool(message.text("tool_call_id"), text, where=message.at("tool_call_id"))
    else:
        raise message.refuse("role", "expected system, developer, user, assistant or tool")


def _content(message: Fields) -> tuple[str, list[Image]]:
    texts: list[str] = []
    images: list[Image] = []
    for part in message.parts("content"):
        kind = part.text("type")
        if kind == "text":
            texts.append(part.text("text"))
        elif kind == "refusal":
            texts.append(part.text("refusal"))
        elif kind == "image_url":
            images.append(part.need("image_url").image("url"))
        else:
            raise part.refuse("type", "expected text or image_url")
    return "\n".join(texts), images


def _call(call: Fields) -> ToolCall:
    call.only("type", ("function",), "tools are functions")
    function = call.need("function")
    return ToolCall(call.text("id"), function.text("name"), function.text("arguments", ""))


def _tool(tool: Fields) -> ToolSpec:
    tool.only("type", ("function",), "tools are functions")
    function = tool.need("function")
    parameters = function.inner("parameters")
    return ToolSpec(function.text("name"), function.text("description", ""), parameters.values if parameters else {})


def _choice(body: Fields) -> str:
    wanted = tool_choice(body)
    return wanted if isinstance(wanted, str) else wanted.need("function").text("name")


def _told(call: ToolCall) -> dict[str, Any]:
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
