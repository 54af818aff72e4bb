"""Anthropic's messages: `POST /v1/messages` and `POST /v1/messages/count_tokens`."""

from __future__ import annotations

import json
from typing import Any, cast

from heredity.gateway import Image, Reply, Request, ToolCall, ToolSpec, Usage
from heredity.server.broker.conversation import (
    Conversation,
    encode,
    estimated_text_tokens,
    estimated_tokens,
    event,
    finish_of,
    new_id,
    rest_of,
)
from heredity.server.broker.fields import Fields, sampling_of, strict_json
from heredity.server.broker.problems import Problem, anthropic_shape

_FINISH = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "refusal": "refusal"}


class Messages:
    """One call of the messages API (see `Exchange`).

    Tools of Anthropic's own types (web search, bash, …) are ignored, since nothing here could run or describe them; so
    are `cache_control`, `thinking` and thoughts of earlier turns, `context_management`, `metadata` and the like. A form
    demanded by `output_config.format` is refused. Where the usage of a reply is unknown, the numbers that this API
    demands are guesses (`estimated_tokens`); the account knows better.
    """

    ping = event({"type": "ping"}, "ping")

    def __init__(self, body: Fields, *, counting: bool = False) -> None:
        """Read a body; raises `Problem`.

        Args:
            body: the body.
            counting: whether only its tokens are asked for, so that `max_tokens` may be absent.
        """
        self.asked = body.text("model")
        self.streams = body.flag("stream")
        if body.get("max_tokens") is None and not counting:
            raise body.refuse("max_tokens", "missing; expected a whole number")
        config = body.inner("output_config")
        form = config.inner("format") if config is not None else None
        if form is not None:
            form.only("type", ("text",), "describe the form in the prompt, or demand a tool")
        conversation = Conversation()
        conversation.system(_text(body, "system"))
        for message in body.each("messages"):
            _read_message(conversation, message)
        self.request: Request = conversation.request(
            tuple(_tool(tool) for tool in body.each("tools") if tool.text("type", "custom") == "custom"),
            sampling_of(body, "max_tokens", "stop_sequences"),
            _choice(body),
            "messages",
        )
        self._id, self._sent, self._open = new_id("msg"), "", False

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `message`."""
        content: list[dict[str, Any]] = [{"type": "text", "text": reply.text, "citations": None}] if reply.text else []
        content += [_tool_use(call, _input(call)) for call in reply.tool_calls]
        return self._message(content, _FINISH[finish_of(reply)], self._usage(reply.usage, reply.text))

    def piece(self, text: str) -> bytes:
        """Return the events that add text."""
        events = b""
        if not self._open:
            self._open = True
            usage = {**self._usage(Usage(), ""), "output_tokens": 1}
            events += _event("message_start", message=self._message([], None, usage)) + self.ping
        if text and not self._sent:
            events += _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        if text:
            self._sent += text
            events += _event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        return events

    def closing(self, reply: Reply) -> bytes:
        """Return the events that end the text, tell the tool calls and end the message."""
        events = self.piece(rest_of(reply, self._sent))
        index = 0
        if self._sent:
            events += _event("content_block_stop", index=0)
            index = 1
        for index, call in enumerate(reply.tool_calls, index):  # noqa: B020 - the count goes on
            delta = {"type": "input_json_delta", "partial_json": encode(_input(call)).decode()}
            events += _event("content_block_start", index=index, content_block=_tool_use(call, {}))
            events += _event("content_block_delta", index=index, delta=delta)
            events += _event("content_block_stop", index=index)
        end = {"stop_reason": _FINISH[finish_of(reply)], "stop_sequence": None}
        events += _event("message_delta", delta=end, usage=self._usage(reply.usage, reply.text))
        return events + _event("message_stop")

    def failure(self, problem: Problem) -> bytes:
        """Return the `error` event."""
        return event(anthropic_shape(problem), "error")

    def _message(self, content: list[dict[str, Any]], stop: str | None, usage: dict[str, Any]) -> dict[str, Any]:
        head = {"id": self._id, "type": "message", "role": "assistant", "model": self.asked}
        return {**head, "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}

    def _usage(self, usage: Usage, text: str) -> dict[str, Any]:
        given, cached = usage.input_tokens, usage.cached_tokens or 0
        written = estimated_text_tokens(text) if usage.output_tokens is None else usage.output_tokens
        return {
            "input_tokens": estimated_tokens(self.request) if given is None else given - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": written,
        }


def _read_message(conversation: Conversation, message: Fields) -> None:
    role = message.text("role")
    if role == "user":
        _read_user(conversation, message)
    elif role == "assistant":
        _read_assistant(conversation, message)
    elif role == "system":
        conversation.system(_text(message, "content"))
    else:
        raise message.refuse("role", "expected user, assistant or system")


def _read_user(conversation: Conversation, message: Fields) -> None:
    texts: list[str] = []
    images: list[Image] = []
    results = 0
    blocks = message.parts("content")
    for block in blocks:
        kind = block.text("type")
        if kind == "tool_result":
            results += 1
            _read_result(conversation, block)
        elif kind == "text":
            texts.append(block.text("text"))
        elif kind == "image":
            images.append(_image(block))
        else:
            raise block.refuse("type", "expected text, image or tool_result")
    if texts or images or not results:
        conversation.user("\n".join(texts), images)


def _read_result(conversation: Conversation, block: Fields) -> None:
    texts: list[str] = []
    images: list[Image] = []
    for part in block.parts("content"):
        kind = part.text("type")
        if kind == "text":
            texts.append(part.text("text"))
        elif kind == "image":
            images.append(_image(part))
        else:
            raise part.refuse("type", "expected text or image")
    text = "\n".join(texts)
    if block.flag("is_error"):
        # A result has no flag of its own further on.
        text = f"error: {text}"
    conversation.tool(block.text("tool_use_id"), text, images, where=block.at("tool_use_id"))


def _read_assistant(conversation: Conversation, message: Fields) -> None:
    texts: list[str] = []
    calls: list[ToolCall] = []
    for block in message.parts("content"):
        kind = block.text("type")
        if kind == "text":
            texts.append(block.text("text"))
        elif kind == "tool_use":
            arguments = json.dumps(block.need("input").values, ensure_ascii=False)
            calls.append(ToolCall(block.text("id"), block.text("name"), arguments))
        elif kind not in ("thinking", "redacted_thinking"):
            raise block.refuse("type", "expected text, tool_use or thinking")
    conversation.assistant("\n".join(texts), calls)


def _text(body: Fields, name: str) -> str:
    parts = body.parts(name)
    for part in parts:
        part.only("type", ("text",), "expected text")
    return "\n\n".join(part.text("text") for part in parts)


def _image(block: Fields) -> Image:
    source = block.need("source")
    source.only("type", ("base64",), "send the picture itself as base64; no address is fetched from here")
    return source.picture("data", source.text("media_type"), source.text("data"))


def _tool(tool: Fields) -> ToolSpec:
    return ToolSpec(tool.text("name"), tool.text("description", ""), tool.need("input_schema").values)


def _choice(body: Fields) -> str:
    wanted = body.inner("tool_choice")
    if wanted is None:
        return "auto"
    kind = wanted.text("type")
    if kind == "tool":
        return wanted.text("name")
    if kind not in ("auto", "any", "none"):
        raise wanted.refuse("type", "expected auto, any, tool or none")
    return "required" if kind == "any" else kind


def _input(call: ToolCall) -> dict[str, Any]:
    # This API has objects where a model wrote text; what is none is handed on for the program's own check to refuse.
    try:
        value = strict_json(call.arguments or "{}")
    except (ValueError, RecursionError):
        value = None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"invalid_arguments": call.arguments}


def _tool_use(call: ToolCall, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _event(name: str, **values: Any) -> bytes:
    return event({"type": name, **values}, name)
