"""OpenAI's responses: `POST /v1/responses`."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from heredity.gateway import Message, Reply, Usage
from heredity.server.broker.body import (
    AtLeastOne,
    Body,
    Choice,
    FunctionChoice,
    Part,
    TextFormat,
    Texts,
    only,
)
from heredity.server.broker.conversation import Conversation, event, finish_of, new_id, rest_of
from heredity.server.broker.problems import Problem, openai_shape
from heredity.server.broker.responses_items import Items, add, tools_of
from heredity.server.broker.responses_tools import Offer, Tool, events_of

MAX_REMEMBERED_BYTES = 64 << 20

_ECHOED = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p")
_CUT_SHORT = {"length": "max_output_tokens", "refusal": "content_filter"}


class _NamedChoice(FunctionChoice):
    name: str


class _Form(Part):
    format: TextFormat = TextFormat()


class _ResponsesBody(Body):
    instructions: str = ""
    input: Items
    tools: Sequence[Tool] = ()
    tool_choice: Choice[_NamedChoice] = "auto"
    stop: Texts = ()
    max_output_tokens: AtLeastOne | None = None
    previous_response_id: str = ""
    store: bool = True
    text: _Form = _Form()
    background: Annotated[bool, only(False, why="answers are given at once")] = False
    conversation: Annotated[Any, only(why="send the conversation, or previous_response_id")] = None
    prompt: Annotated[Any, only(why="send the text")] = None


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

    Custom tools become functions with the one argument `input`, tools of a namespace functions named
    `namespace__name`; both are answered as what they are. `additional_tools` and what a program's own `tool_search`
    found are offered with the others. Hosted tools (web search, …) are ignored: nothing here could run them, and
    coding agents offer them unasked. Demanding one by `tool_choice` is refused, as are a `text.format` other than
    text, `background`, `conversation` and `prompt`. Reasoning of earlier turns is left out. `previous_response_id`
    works for the same account, unless that response was asked for with `store: false`.
    """

    ping = b": ping\n\n"

    def __init__(self, body: Mapping[str, Any], size: int, memory: Memory) -> None:
        """Read a body of `size` bytes; raises `Problem`."""
        asked = _ResponsesBody.read(body)
        self._store, self._memory, self._size = asked.store, memory, size
        self.asked, self.streams = asked.model, asked.stream
        conversation = Conversation()
        conversation.system(asked.instructions)
        self._recall(conversation, asked.previous_response_id)
        for position, item in enumerate(asked.input):
            add(conversation, item, f"input[{position}]")
        self._offer = Offer([*asked.tools, *tools_of(asked.input)])
        choice = asked.tool_choice if isinstance(asked.tool_choice, str) else asked.tool_choice.name
        sampling = asked.sampling(asked.max_output_tokens, asked.stop)
        self.request = conversation.request(self._offer.specs, sampling, choice, "input")
        # Instructions hold for one call only: a response that continues this one brings its own.
        self._lasting = self.request.messages[1 if asked.instructions else 0 :]
        self._echoed = {
            **{name: body.get(name) for name in _ECHOED},
            "metadata": body.get("metadata") or {},
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": [tool for tool in body.get("tools") or () if tool["type"] in ("function", "custom")],
        }
        self._id, self._item, self._created = new_id("resp"), new_id("msg"), int(time.time())
        self._sent, self._open, self._began, self._number = "", False, False, 0

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `response`, and remember it."""
        output = [_message(self._item, reply.text, _status(reply))] if reply.text or not reply.tool_calls else []
        output += [self._offer.item(call) for call in reply.tool_calls]
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
            events += self._event("response.content_part.added", **self._indices(), part=_part(""))
        if text:
            self._sent += text
            events += self._event("response.output_text.delta", **self._indices(), delta=text, logprobs=[])
        return events

    def closing(self, reply: Reply) -> bytes:
        """Return the events that end the message, tell the tool calls and complete the response; remember it."""
        events = self.piece(rest_of(reply, self._sent))
        output: list[dict[str, Any]] = []
        if self._began:
            message = _message(self._item, self._sent, _status(reply))
            events += self._event("response.output_text.done", **self._indices(), text=self._sent, logprobs=[])
            events += self._event("response.content_part.done", **self._indices(), part=_part(self._sent))
            events += self._event("response.output_item.done", output_index=0, item=message)
            output.append(message)
        for call in reply.tool_calls:
            item = self._offer.item(call)
            events += b"".join(self._event(name, **values) for name, values in events_of(item, len(output)))
            output.append(item)
        response = self._finished(reply, output)
        return events + self._event(f"response.{response['status']}", response=response)

    def failure(self, problem: Problem) -> bytes:
        """Return `response.failed` and `error`: some clients know the one, some the other."""
        error = openai_shape(problem)["error"]
        failed = {**self._response("failed"), "error": {"code": error["code"], "message": error["message"]}}
        events = self.piece("") + self._event("response.failed", response=failed)
        return events + self._event("error", **error, error=error)

    def _recall(self, conversation: Conversation, name: str) -> None:
        if not name:
            return
        remembered = self._memory.recall(name)
        if remembered is None:
            field = "previous_response_id"
            message = f"{field}: this response is not known; send the whole conversation"
            raise Problem("request", message, field=field)
        messages, size = remembered
        conversation.earlier(messages)
        self._size += size

    def _finished(self, reply: Reply, output: list[dict[str, Any]]) -> dict[str, Any]:
        if self._store:
            self._memory.keep(self._id, (*self._lasting, reply.message), self._size + len(reply.text))
        status, reason = _status(reply), _CUT_SHORT.get(finish_of(reply))
        return {
            **self._response(status),
            "output": output,
            "usage": _usage(reply.usage),
            "incomplete_details": {"reason": reason} if reason else None,
        }

    def _response(self, status: str) -> dict[str, Any]:
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
            **self._echoed,
            "parallel_tool_calls": True,
            "store": self._store,
            "text": {"format": {"type": "text"}},
            "truncation": "disabled",
        }

    def _indices(self) -> dict[str, Any]:
        return {"item_id": self._item, "output_index": 0, "content_index": 0}

    def _event(self, name: str, /, **values: Any) -> bytes:
        # The type comes last: an error has a type of its own.
        encoded = event({"sequence_number": self._number, **values, "type": name}, name)
        self._number += 1
        return encoded


def _status(reply: Reply) -> str:
    return "incomplete" if finish_of(reply) in _CUT_SHORT else "completed"


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _message(name: str, text: str, status: str) -> dict[str, Any]:
    return {"id": name, "type": "message", "role": "assistant", "status": status, "content": [_part(text)]}


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
