"""OpenAI's responses: `POST /v1/responses`."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any

from heredity.gateway import Image, Message, Reply, ToolCall, ToolSpec, Usage
from heredity.server.broker.conversation import Conversation, event, finish_of, new_id, rest_of
from heredity.server.broker.fields import Fields, sampling_of, tool_choice
from heredity.server.broker.problems import Problem, openai_shape

MAX_REMEMBERED_BYTES = 64 << 20
HOSTED_TOOLS = ("web_search", "file_search", "code_interpreter", "computer", "image_generation", "mcp", "local_shell")

_SKIPPED_ITEMS = ("reasoning", "web_search_call")
_CUT_SHORT = {"length": "max_output_tokens", "refusal": "content_filter"}


class Memory:
    """The conversations that `previous_response_id` can continue; the oldest are forgotten when they grow too large."""

    def __init__(self, limit: int = MAX_REMEMBERED_BYTES) -> None:
        """Remember up to `limit` bytes of requests."""
        self._limit, self._total = limit, 0
        self._kept: OrderedDict[str, tuple[tuple[Message, ...], int]] = OrderedDict()

    def recall(self, name: str) -> tuple[tuple[Message, ...], int] | None:
        """Return a response's conversation and size, its answer included; None if it is not known."""
        return self._kept.get(name)

    def keep(self, name: str, messages: tuple[Message, ...], size: int) -> None:
        """Remember a conversation of `size` bytes under its last response's id."""
        self._kept[name] = (messages, size)
        self._total += size
        while self._total > self._limit:
            self._total -= self._kept.popitem(last=False)[1][1]


class Responses:
    """One call of the responses API (see `Exchange`).

    Tools that are no functions (web search, custom tools, namespaces, …) are ignored: nothing here could run them, and
    coding agents offer them unasked. Demanding one by `tool_choice` is refused, as are a `text.format` other than text,
    `background`, `conversation` and `prompt`. Reasoning of earlier turns is left out. `previous_response_id` works for
    the same account, unless that response was asked for with `store: false`.
    """

    ping = b": ping\n\n"

    def __init__(self, body: Fields, size: int, memory: Memory) -> None:
        """Read a body of `size` bytes; raises `Problem`."""
        self._body, self._memory, self._size = body, memory, size
        self.asked = body.text("model")
        self.streams = body.flag("stream")
        _refuse_unsupported(body)
        instructions = body.text("instructions", "")
        conversation = Conversation()
        conversation.system(instructions)
        self._recall(conversation)
        for item in body.parts("input", "message"):
            _read_item(conversation, item)
        tools = [tool for tool in body.each("tools") if tool.text("type") == "function"]
        specs = tuple(_tool(tool) for tool in tools)
        sampling = sampling_of(body, "max_output_tokens", "stop")
        self.request = conversation.request(specs, sampling, _choice(body), "input")
        # Instructions hold for one call only: a response that continues this one brings its own.
        self._lasting = self.request.messages[1 if instructions else 0 :]
        self._tools = [tool.values for tool in tools]
        self._id, self._item, self._created = new_id("resp"), new_id("msg"), int(time.time())
        self._sent, self._open, self._began, self._number = "", False, False, 0

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `response`, and remember it."""
        output = [_message(self._item, reply.text, _status(reply))] if reply.text or not reply.tool_calls else []
        output += [_function_call(new_id("fc"), call) for call in reply.tool_calls]
        return self._finished(reply, output)

    def piece(self, text: str) -> bytes:
        """Return the events that add text to the message."""
        events = b""
        if not self._open:
            self._open = True
            events += self._event("response.created", response=self._response("in_progress"))
            events += self._event("response.in_progress", response=self._response("in_progress"))
        if text and not self._began:
            self._began = True
            item = {**_message(self._item, "", "in_progress"), "content": []}
            events += self._event("response.output_item.added", output_index=0, item=item)
            events += self._event("response.content_part.added", **self._place(), part=_part(""))
        if text:
            self._sent += text
            events += self._event("response.output_text.delta", **self._place(), delta=text, logprobs=[])
        return events

    def closing(self, reply: Reply) -> bytes:
        """Return the events that end the message, tell the tool calls and complete the response; remember it."""
        events = self.piece(rest_of(reply, self._sent))
        output: list[dict[str, Any]] = []
        if self._began:
            message = _message(self._item, self._sent, _status(reply))
            events += self._event("response.output_text.done", **self._place(), text=self._sent, logprobs=[])
            events += self._event("response.content_part.done", **self._place(), part=_part(self._sent))
            events += self._event("response.output_item.done", output_index=0, item=message)
            output.append(message)
        for call in reply.tool_calls:
            events += self._call_events(len(output), item := _function_call(new_id("fc"), call))
            output.append(item)
        response = self._finished(reply, output)
        return events + self._event(f"response.{response['status']}", response=response)

    def failure(self, problem: Problem) -> bytes:
        """Return `response.failed` and `error`: some clients know the one, some the other."""
        error = openai_shape(problem)["error"]
        failed = {**self._response("failed"), "error": {"code": error["code"], "message": error["message"]}}
        events = self.piece("") + self._event("response.failed", response=failed)
        return events + self._event("error", **error, error=error)

    def _recall(self, conversation: Conversation) -> None:
        name = self._body.text("previous_response_id", "")
        if not name:
            return
        found = self._memory.recall(name)
        if found is None:
            raise self._body.refuse("previous_response_id", "this response is not known; send the whole conversation")
        conversation.earlier(found[0])
        self._size += found[1]

    def _finished(self, reply: Reply, output: list[dict[str, Any]]) -> dict[str, Any]:
        if self._body.get("store") is not False:
            self._memory.keep(self._id, (*self._lasting, reply.message), self._size + len(reply.text))
        status, reason = _status(reply), _CUT_SHORT.get(finish_of(reply))
        return {
            **self._response(status),
            "output": output,
            "usage": _usage(reply.usage),
            "incomplete_details": {"reason": reason} if reason else None,
        }

    def _response(self, status: str) -> dict[str, Any]:
        told = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p")
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._created,
            "status": status,
            "model": self.asked,
            "output": [],
            "usage": None,
            "error": None,
            "incomplete_details": None,
            **{name: self._body.get(name) for name in told},
            "metadata": self._body.get("metadata") or {},
            "parallel_tool_calls": True,
            "store": self._body.get("store") is not False,
            "text": {"format": {"type": "text"}},
            "tool_choice": self._body.get("tool_choice") or "auto",
            "tools": self._tools,
            "truncation": "disabled",
        }

    def _call_events(self, index: int, item: dict[str, Any]) -> bytes:
        place = {"item_id": item["id"], "output_index": index}
        started = {**item, "arguments": "", "status": "in_progress"}
        events = self._event("response.output_item.added", output_index=index, item=started)
        events += self._event("response.function_call_arguments.delta", **place, delta=item["arguments"])
        events += self._event(
            "response.function_call_arguments.done", **place, arguments=item["arguments"], name=item["name"]
        )
        return events + self._event("response.output_item.done", output_index=index, item=item)

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._item, "output_index": 0, "content_index": 0}

    def _event(self, name: str, /, **values: Any) -> bytes:
        # The type comes last: an error has a type of its own.
        encoded = event({"sequence_number": self._number, **values, "type": name}, name)
        self._number += 1
        return encoded


def _refuse_unsupported(body: Fields) -> None:
    body.only("background", (False,), "answers are given at once")
    body.only("conversation", (), "send the conversation, or previous_response_id")
    body.only("prompt", (), "send the text")
    text = body.inner("text")
    form = text.inner("format") if text is not None else None
    if form is not None:
        form.only("type", ("text",), "describe the form in the prompt, or demand a tool")


def _read_item(conversation: Conversation, item: Fields) -> None:
    kind = item.text("type", "message")
    if kind == "message":
        _read_message(conversation, item)
    elif kind == "function_call":
        conversation.assistant("", [ToolCall(item.text("call_id"), item.text("name"), item.text("arguments", ""))])
    elif kind == "function_call_output":
        text, images = _content(item, "output")
        conversation.tool(item.text("call_id"), text, images, where=item.at("call_id"))
    elif kind not in _SKIPPED_ITEMS:
        raise item.refuse("type", f"{kind[:80]!r} is not known here; send messages, function calls and their outputs")


def _read_message(conversation: Conversation, item: Fields) -> None:
    if "role" not in item.values and "text" in item.values:
        conversation.user(item.text("text"))
        return
    role = item.text("role")
    text, images = _content(item, "content")
    if images and role != "user":
        raise item.refuse("content", "only a user's message may hold pictures")
    if role in ("system", "developer"):
        conversation.system(text)
    elif role == "user":
        conversation.user(text, images)
    elif role == "assistant":
        conversation.assistant(text)
    else:
        raise item.refuse("role", "expected system, developer, user or assistant")


def _content(item: Fields, name: str) -> tuple[str, list[Image]]:
    texts: list[str] = []
    images: list[Image] = []
    for part in item.parts(name):
        kind = part.text("type")
        if kind in ("text", "input_text", "output_text"):
            texts.append(part.text("text"))
        elif kind == "refusal":
            texts.append(part.text("refusal"))
        elif kind == "input_image":
            images.append(part.image("image_url"))
        else:
            raise part.refuse("type", "expected input_text, output_text or input_image")
    return "\n".join(texts), images


def _tool(tool: Fields) -> ToolSpec:
    parameters = tool.inner("parameters")
    return ToolSpec(tool.text("name"), tool.text("description", ""), parameters.values if parameters else {})


def _choice(body: Fields) -> str:
    wanted = tool_choice(body)
    return wanted if isinstance(wanted, str) else wanted.text("name")


def _status(reply: Reply) -> str:
    return "incomplete" if finish_of(reply) in _CUT_SHORT else "completed"


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _message(name: str, text: str, status: str) -> dict[str, Any]:
    return {"id": name, "type": "message", "role": "assistant", "status": status, "content": [_part(text)]}


def _function_call(name: str, call: ToolCall) -> dict[str, Any]:
    return {
        "id": name,
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
        "status": "completed",
    }


def _usage(usage: Usage) -> dict[str, Any] | None:
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens or 0, "cache_write_tokens": 0},
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }
