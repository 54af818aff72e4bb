"""OpenAI's responses: `POST /v1/responses`."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Discriminator, Field, Tag

from heredity.gateway import Image, Message, Reply, ToolCall, ToolSpec, Usage
from heredity.server.broker.body import (
    AtLeastOne,
    Body,
    Choice,
    FunctionChoice,
    Part,
    Picture,
    TextFormat,
    Texts,
    only,
    parts,
)
from heredity.server.broker.conversation import Conversation, event, finish_of, new_id, rest_of
from heredity.server.broker.problems import Problem, openai_shape

MAX_REMEMBERED_BYTES = 64 << 20
HOSTED_TOOLS = ("web_search", "file_search", "code_interpreter", "computer", "image_generation", "mcp", "local_shell")

_ECHOED = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p")
_CUT_SHORT = {"length": "max_output_tokens", "refusal": "content_filter"}


class _Words(Part):
    type: Literal["text", "input_text", "output_text"]
    text: str


class _Refusal(Part):
    type: Literal["refusal"]
    refusal: str


class _Picture(Part):
    type: Literal["input_image"]
    image_url: Picture


_Plain = Annotated[Sequence[Annotated[_Words | _Refusal, Field(discriminator="type")]], parts("text")]
_Shown = Annotated[Sequence[Annotated[_Words | _Refusal | _Picture, Field(discriminator="type")]], parts("text")]


class _Message(Part):
    type: Literal["message"]


class _Instructions(_Message):
    role: Literal["system", "developer"]
    content: _Plain = ()


class _User(_Message):
    role: Literal["user"]
    content: _Shown = ()


class _Assistant(_Message):
    role: Literal["assistant"]
    content: _Plain = ()


class _FunctionCall(Part):
    type: Literal["function_call"]
    call_id: str
    name: str
    arguments: str = ""


class _FunctionCallOutput(Part):
    type: Literal["function_call_output"]
    call_id: str
    output: _Shown = ()


class _Skipped(Part):
    type: Literal["reasoning", "web_search_call"]


def _with_type(value: Any) -> Any:
    """Return an item with what may be left out of a message: its type, and the role of a bare text."""
    if not isinstance(value, dict):
        return value
    item = cast("dict[str, Any]", value)
    if item.get("type") is None:
        item = {**item, "type": "message"}
    if item["type"] == "message" and "role" not in item and "text" in item:
        item = {**item, "role": "user", "content": item["text"]}
    return item


_Item = (
    Annotated[_Instructions | _User | _Assistant, Field(discriminator="role")]
    | _FunctionCall
    | _FunctionCallOutput
    | _Skipped
)


class _Tool(Part):
    type: Literal["function"]
    name: str
    description: str = ""
    parameters: Annotated[dict[str, Any], Field(default_factory=dict)]


class _OtherTool(Part):
    type: str


def _kind_of_tool(value: Any) -> str:
    inside = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return "a function" if inside.get("type") == "function" else "another"


class _NamedChoice(FunctionChoice):
    name: str


class _Form(Part):
    format: TextFormat = TextFormat()


class _ResponsesBody(Body):
    instructions: str = ""
    input: Annotated[
        Sequence[Annotated[_Item, Field(discriminator="type"), BeforeValidator(_with_type)]], parts("message")
    ]
    tools: Sequence[
        Annotated[
            Annotated[_Tool, Tag("a function")] | Annotated[_OtherTool, Tag("another")], Discriminator(_kind_of_tool)
        ]
    ] = ()
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

    Tools that are no functions (web search, custom tools, namespaces, …) are ignored: nothing here could run them, and
    coding agents offer them unasked. Demanding one by `tool_choice` is refused, as are a `text.format` other than text,
    `background`, `conversation` and `prompt`. Reasoning of earlier turns is left out. `previous_response_id` works for
    the same account, unless that response was asked for with `store: false`.
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
            _add(conversation, item, f"input[{position}]")
        offered = [tool for tool in asked.tools if isinstance(tool, _Tool)]
        tools = tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in offered)
        choice = asked.tool_choice if isinstance(asked.tool_choice, str) else asked.tool_choice.name
        sampling = asked.sampling(asked.max_output_tokens, asked.stop)
        self.request = conversation.request(tools, sampling, choice, "input")
        # Instructions hold for one call only: a response that continues this one brings its own.
        self._lasting = self.request.messages[1 if asked.instructions else 0 :]
        self._echoed = {
            **{name: body.get(name) for name in _ECHOED},
            "metadata": body.get("metadata") or {},
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": [tool for tool in body.get("tools") or () if tool["type"] == "function"],
        }
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

    def _call_events(self, index: int, item: dict[str, Any]) -> bytes:
        position = {"item_id": item["id"], "output_index": index}
        started = {**item, "arguments": "", "status": "in_progress"}
        events = self._event("response.output_item.added", output_index=index, item=started)
        events += self._event("response.function_call_arguments.delta", **position, delta=item["arguments"])
        events += self._event(
            "response.function_call_arguments.done", **position, arguments=item["arguments"], name=item["name"]
        )
        return events + self._event("response.output_item.done", output_index=index, item=item)

    def _place(self) -> dict[str, Any]:
        return {"item_id": self._item, "output_index": 0, "content_index": 0}

    def _event(self, name: str, /, **values: Any) -> bytes:
        # The type comes last: an error has a type of its own.
        encoded = event({"sequence_number": self._number, **values, "type": name}, name)
        self._number += 1
        return encoded


def _add(conversation: Conversation, item: _Item, where: str) -> None:
    match item:
        case _Instructions():
            conversation.system(_lines(item.content))
        case _User():
            conversation.user(_lines(item.content), _images(item.content))
        case _Assistant():
            conversation.assistant(_lines(item.content))
        case _FunctionCall():
            conversation.assistant("", [ToolCall(item.call_id, item.name, item.arguments)])
        case _FunctionCallOutput():
            at = f"{where}.call_id"
            conversation.tool(item.call_id, _lines(item.output), _images(item.output), where=at)
        case _Skipped():
            pass


def _lines(content: Sequence[_Words | _Refusal | _Picture]) -> str:
    texts = (
        part.refusal if isinstance(part, _Refusal) else part.text for part in content if not isinstance(part, _Picture)
    )
    return "\n".join(texts)


def _images(content: Sequence[Part]) -> list[Image]:
    return [part.image_url for part in content if isinstance(part, _Picture)]


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
