"""OpenAI's responses: `POST /v1/responses`."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Discriminator, Field, Tag

from heredity.models import Image, Message, Reply, Request, ToolCall, ToolSpec, Usage
from heredity.models.broker.body import (
    AtLeastOne,
    Body,
    Choice,
    Effort,
    FunctionChoice,
    Part,
    Picture,
    TextFormat,
    Texts,
    only,
    parts,
    strict_json,
)
from heredity.models.broker.conversation import Conversation, encode, event, finish_of, new_id, rest_of
from heredity.models.broker.fields import Wish, dropped_of, thinking
from heredity.models.broker.problems import Problem, openai_shape

SEARCH = "tool_search"
_INPUT = "input"
"""The only argument of the function that a model sees in place of a custom tool."""


class FunctionTool(Part):
    """A function with arguments."""

    type: Literal["function"]
    name: str
    description: str = ""
    parameters: Annotated[dict[str, Any], Field(default_factory=dict)]


class _Format(Part):
    type: str = ""
    syntax: str = ""
    definition: str = ""


class CustomTool(Part):
    """A tool that takes one text, optionally of a given grammar."""

    type: Literal["custom"]
    name: str
    description: str = ""
    format: _Format = _Format()


class SearchTool(Part):
    """A search for tools that are not offered yet; the program itself searches if `execution` is `"client"`."""

    type: Literal["tool_search"]
    execution: str = "server"
    description: str = ""
    parameters: Annotated[dict[str, Any], Field(default_factory=dict)]


class OtherTool(Part):
    """A tool that cannot run here."""

    set_aside = True

    type: str


def _kind(value: Any) -> str:
    kind = str(cast("dict[str, Any]", value).get("type")) if isinstance(value, dict) else ""
    return kind if kind in ("function", "custom", SEARCH, "namespace") else "another"


_Inner = Annotated[
    Annotated[FunctionTool, Tag("function")]
    | Annotated[CustomTool, Tag("custom")]
    | Annotated[OtherTool, Tag("another")],
    Discriminator(lambda value: kind if (kind := _kind(value)) in ("function", "custom") else "another"),
]


class Namespace(Part):
    """Several tools under one name."""

    type: Literal["namespace"]
    name: str
    description: str = ""
    tools: Sequence[_Inner] = ()


Tool = Annotated[
    Annotated[FunctionTool, Tag("function")]
    | Annotated[CustomTool, Tag("custom")]
    | Annotated[SearchTool, Tag(SEARCH)]
    | Annotated[Namespace, Tag("namespace")]
    | Annotated[OtherTool, Tag("another")],
    Discriminator(_kind),
]
"""A tool that a program offers."""


@dataclass(frozen=True, slots=True)
class _Offered:
    kind: str
    name: str
    namespace: str
    spec: ToolSpec


class Offer:
    """A program's tools as the functions shown to a model, and the model's calls of them as items.

    Attributes:
        specs: the functions, in the order of the tools; the first of two with the same name.
    """

    def __init__(self, tools: Iterable[Part]) -> None:
        """Take the tools of a request and of its items; tools that cannot run here are left out."""
        self._by_name: dict[str, _Offered] = {}
        for tool in tools:
            inner, namespace = (tool.tools, tool.name) if isinstance(tool, Namespace) else ((tool,), "")
            for offered in filter(None, (_offered(one, namespace) for one in inner)):
                self._by_name.setdefault(offered.spec.name, offered)
        self.specs = tuple(offered.spec for offered in self._by_name.values())

    def item(self, call: ToolCall) -> dict[str, Any]:
        """Return a model's call as an item of the answer."""
        offered = self._by_name.get(call.name)
        kind, name, namespace = (offered.kind, offered.name, offered.namespace) if offered else ("", call.name, "")
        common = {"call_id": call.id, "status": "completed"}
        if kind == SEARCH:
            given = {"execution": "client", "arguments": _object(call.arguments) or {}}
            return {"id": new_id("ts"), "type": "tool_search_call", **common, **given}
        named = {"name": name, **({"namespace": namespace} if namespace else {})}
        if kind == "custom":
            return {"id": new_id("ctc"), "type": "custom_tool_call", **common, **named, "input": _text(call.arguments)}
        return {"id": new_id("fc"), "type": "function_call", **common, **named, "arguments": call.arguments}


def called(call_id: str, name: str, namespace: str, arguments: str | None, text: str = "") -> ToolCall:
    """Return a call of an earlier turn as the model made it; `text` is a custom tool's, which has no arguments."""
    given = encode({_INPUT: text}).decode() if arguments is None else arguments
    return ToolCall(call_id, _flat(name, namespace), given)


def tools_named(tools: Sequence[Part]) -> str:
    """Say which tools a search has found."""
    names = [spec.name for spec in Offer(tools).specs]
    return f"[these tools can be called now: {', '.join(names)}]" if names else "[no tool was found]"


def events_of(item: Mapping[str, Any], index: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the names and values of the events for one call."""
    at = {"output_index": index}
    field, event = _STREAMED.get(item["type"], ("", ""))
    started = {**item, **({field: ""} if field else {}), "status": "in_progress"}
    between: list[tuple[str, dict[str, Any]]] = []
    if field:
        ids = {"item_id": item["id"], **at}
        named = {"name": item["name"]} if field == "arguments" else {}
        between = [
            (f"response.{event}.delta", {**ids, "delta": item[field]}),
            (f"response.{event}.done", {**ids, field: item[field], **named}),
        ]
    return [
        ("response.output_item.added", {**at, "item": started}),
        *between,
        ("response.output_item.done", {**at, "item": dict(item)}),
    ]


_STREAMED = {
    "function_call": ("arguments", "function_call_arguments"),
    "custom_tool_call": (_INPUT, "custom_tool_call_input"),
}


def _offered(tool: Part, namespace: str) -> _Offered | None:
    match tool:
        case FunctionTool():
            spec = ToolSpec(_flat(tool.name, namespace), tool.description, tool.parameters)
            return _Offered("function", tool.name, namespace, spec)
        case CustomTool():
            spec = ToolSpec(_flat(tool.name, namespace), _described(tool), _TEXT)
            return _Offered("custom", tool.name, namespace, spec)
        case SearchTool(execution="client"):
            return _Offered(SEARCH, SEARCH, "", ToolSpec(SEARCH, tool.description, tool.parameters))
        case _:
            return None


_TEXT: Mapping[str, Any] = {
    "type": "object",
    "properties": {_INPUT: {"type": "string", "description": "The tool's input, as it is."}},
    "required": [_INPUT],
    "additionalProperties": False,
}


def _described(tool: CustomTool) -> str:
    form = tool.format
    grammar = f"The input follows this grammar ({form.syntax}):\n{form.definition}" if form.definition else ""
    return "\n\n".join(filter(None, (tool.description, grammar)))


def _flat(name: str, namespace: str) -> str:
    return f"{namespace}__{name}" if namespace else name


def _object(arguments: str) -> dict[str, Any] | None:
    try:
        value = strict_json(arguments or "{}")
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _text(arguments: str) -> str:
    # A call without that one argument is passed on unchanged; the program's own check refuses it.
    text = (_object(arguments) or {}).get(_INPUT, arguments)
    return text if isinstance(text, str) else json.dumps(text)


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
    namespace: str = ""
    arguments: str = ""


class _CustomToolCall(Part):
    type: Literal["custom_tool_call"]
    call_id: str
    name: str
    namespace: str = ""
    input: str = ""


class _ToolSearchCall(Part):
    type: Literal["tool_search_call"]
    call_id: str
    execution: str = ""
    arguments: Any = None


class _CallOutput(Part):
    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: str = ""
    name: str = ""
    namespace: str = ""
    output: _Shown = ()


class _ToolSearchOutput(Part):
    type: Literal["tool_search_output"]
    call_id: str
    execution: str = ""
    tools: Sequence[Tool] = ()


class _AdditionalTools(Part):
    type: Literal["additional_tools"]
    tools: Sequence[Tool] = ()


class _Secret(Part):
    type: Literal["encrypted_content"]
    encrypted_content: str


class _AgentMessage(Part):
    type: Literal["agent_message"]
    author: str = ""
    recipient: str = ""
    content: Sequence[Annotated[_Words | _Secret, Field(discriminator="type")]] = ()


class _Skipped(Part):
    set_aside = True
    type: Literal["reasoning", "web_search_call", "configuration_update"]


def _with_type(value: Any) -> Any:
    """Return an item with the optional fields of a message filled in: its type, and the role of a bare text."""
    if not isinstance(value, dict):
        return value
    item = cast("dict[str, Any]", value)
    if item.get("type") is None:
        item = {**item, "type": "message"}
    if item["type"] == "message" and "role" not in item and "text" in item:
        item = {"type": "message", "role": "user", "content": item["text"]}
    return item


Item = (
    Annotated[_Instructions | _User | _Assistant, Field(discriminator="role")]
    | _FunctionCall
    | _CustomToolCall
    | _ToolSearchCall
    | _CallOutput
    | _ToolSearchOutput
    | _AdditionalTools
    | _AgentMessage
    | _Skipped
)

Items = Annotated[Sequence[Annotated[Item, Field(discriminator="type"), BeforeValidator(_with_type)]], parts("message")]
"""The items of a request."""


def tools_of(items: Iterable[Part]) -> list[Part]:
    """Return the tools added by items to those of the request."""
    return [tool for item in items if isinstance(item, _AdditionalTools | _ToolSearchOutput) for tool in item.tools]


def add(conversation: Conversation, item: Item, where: str) -> None:
    """Add an item to a conversation; raises `Problem`, which names its place, `where`."""
    match item:
        case _Instructions():
            conversation.system(_lines(item.content))
        case _User():
            conversation.user(_lines(item.content), _images(item.content))
        case _Assistant():
            conversation.assistant(_lines(item.content))
        case _FunctionCall():
            conversation.assistant("", [called(item.call_id, item.name, item.namespace, item.arguments)])
        case _CustomToolCall():
            conversation.assistant("", [called(item.call_id, item.name, item.namespace, None, item.input)])
        case _ToolSearchCall():
            conversation.assistant("", [called(item.call_id, SEARCH, "", json.dumps(item.arguments or {}))])
        case _ToolSearchOutput():
            conversation.tool(item.call_id, tools_named(item.tools), where=f"{where}.call_id")
        case _CallOutput(call_id=""):
            # A message of the program in the form of a result: it answers no call of the model.
            conversation.system("\n".join(filter(None, (item.name, _lines(item.output)))))
        case _AgentMessage():
            # Nothing is encrypted here, so one agent of a program passes on to another exactly the model's text.
            texts = [part.encrypted_content if isinstance(part, _Secret) else part.text for part in item.content]
            conversation.user("\n".join([f"[message from {item.author} to {item.recipient}]", *texts]))
        case _CallOutput():
            at = f"{where}.call_id"
            conversation.tool(item.call_id, _lines(item.output), _images(item.output), where=at)
        case _AdditionalTools() | _Skipped():
            pass


def _lines(content: Sequence[_Words | _Refusal | _Picture]) -> str:
    texts = (
        part.refusal if isinstance(part, _Refusal) else part.text for part in content if not isinstance(part, _Picture)
    )
    return "\n".join(texts)


def _images(content: Sequence[Part]) -> list[Image]:
    return [part.image_url for part in content if isinstance(part, _Picture)]


MAX_REMEMBERED_BYTES = 64 << 20

_ECHOED = ("instructions", "max_output_tokens", "previous_response_id", "temperature", "top_p")
_CUT_SHORT = {"length": "max_output_tokens", "refusal": "content_filter"}


class _NamedChoice(FunctionChoice):
    name: str


class _Form(Part):
    format: TextFormat = TextFormat()


class _Reasoning(Part):
    effort: Effort | None = None


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
    reasoning: _Reasoning = _Reasoning()
    parallel_tool_calls: bool = True
    background: Annotated[bool, only(False, why="answers are given at once")] = False
    conversation: Annotated[Any, only(why="send the conversation, or previous_response_id")] = None
    prompt: Annotated[Any, only(why="send the text")] = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A response that was given.

    Attributes:
        response: the response.
        messages: the conversation, its answer included and without the call's instructions.
        items: the items that this call added.
        size: bytes of the conversation.
    """

    response: dict[str, Any]
    messages: tuple[Message, ...]
    items: tuple[dict[str, Any], ...]
    size: int


class Memory:
    """The conversations that `previous_response_id` can continue; drops the oldest when they grow too large."""

    def __init__(self, limit: int = MAX_REMEMBERED_BYTES) -> None:
        """Remember up to `limit` bytes of requests."""
        self._limit, self._total = limit, 0
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def recall(self, name: str) -> Kept | None:
        """Return a response; None if it is not known (any more)."""
        return self._kept.get(name)

    def keep(self, kept: Kept) -> None:
        """Remember a conversation under its last response's id."""
        self._kept[kept.response["id"]] = kept
        self._total += kept.size
        while self._total > self._limit:
            self._total -= self._kept.popitem(last=False)[1].size

    def keep_passed(self, request: Request, reply: Reply) -> None:
        """Remember a response that its provider made, unless the request has `store: false`."""
        body = request.original.body if request.original else {}
        if body.get("store") is False:
            return
        # The last event of a stream has the whole response.
        text = reply.original.rstrip().rpartition("\ndata:")[2]
        value = json.loads(text)
        response = value.get("response", value)
        messages = (*request.messages, reply.message)
        items = _items(body.get("input", ""), response["id"])
        self.keep(Kept(response, messages, items, len(reply.original) + len(encode(body))))

    def forget(self, name: str) -> None:
        """Forget a response."""
        self._total -= self._kept.pop(name).size


class Responses:
    """One call of the responses API (see `Exchange`).

    Custom tools become functions with the one argument `input`, tools of a namespace functions named
    `namespace__name`; calls of both are returned in their original form. `additional_tools` and the results of a
    program's own `tool_search` are offered with the others. Hosted tools (web search, …) are ignored: they cannot run
    here, and coding agents offer them by default. Demanding one by `tool_choice` is refused, as are a `text.format`
    other than text, `background`, `conversation` and `prompt`. Reasoning of earlier turns is left out.
    `previous_response_id` works within one account, unless that response had `store: false`.
    """

    media_type = "text/event-stream"
    ping = b": ping\n\n"

    def __init__(self, body: Mapping[str, Any], size: int, memory: Memory) -> None:
        """Read a body of `size` bytes; raises `Problem`."""
        asked = _ResponsesBody.read(body)
        self._store, self._memory, self._size, self._id = asked.store, memory, size, new_id("resp")
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
        self._items = _items(body["input"], self._id)
        self.dropped = dropped_of(asked)
        self.wishes: Sequence[Wish] = [
            *thinking(asked.reasoning.effort, "reasoning.effort"),
            *asked.text.format.wish("text.format", asked.text.format),
            *([] if asked.parallel_tool_calls else [Wish("parallel_tool_calls", False, "parallel_tool_calls")]),
        ]
        # Instructions hold for one call only: a continuation has new ones.
        self._lasting = self.request.messages[1 if asked.instructions else 0 :]
        self._echoed = {
            **{name: body.get(name) for name in _ECHOED},
            "metadata": body.get("metadata") or {},
            "tool_choice": body.get("tool_choice") or "auto",
            "tools": [tool for tool in body.get("tools") or () if tool["type"] in ("function", "custom")],
        }
        self._item, self._created = new_id("msg"), int(time.time())
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
        """Return the events that end the message, add the tool calls and complete the response; remember it."""
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
        """Return `response.failed` and `error`: clients differ in which they understand."""
        error = openai_shape(problem)["error"]
        failed = {**self._response("failed"), "error": {"code": error["code"], "message": error["message"]}}
        events = self.piece("") + self._event("response.failed", response=failed)
        return events + self._event("error", **error, error=error)

    def _recall(self, conversation: Conversation, name: str) -> None:
        if not name:
            return
        kept = self._memory.recall(name)
        if kept is None:
            field = "previous_response_id"
            message = f"{field}: this response is not known; send the whole conversation"
            raise Problem("request", message, field=field)
        conversation.earlier(kept.messages)
        self._size += kept.size

    def _finished(self, reply: Reply, output: list[dict[str, Any]]) -> dict[str, Any]:
        status, reason = _status(reply), _CUT_SHORT.get(finish_of(reply))
        response = {
            **self._response(status),
            "output": output,
            "usage": _usage(reply.usage),
            "incomplete_details": {"reason": reason} if reason else None,
        }
        if self._store:
            messages = (*self._lasting, reply.message)
            self._memory.keep(Kept(response, messages, self._items, self._size + len(reply.text)))
        return response

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
        # The type comes last: errors also have a field `type`.
        encoded = event({"sequence_number": self._number, **values, "type": name}, name)
        self._number += 1
        return encoded


def _items(given: Any, response: str) -> tuple[dict[str, Any], ...]:
    """Return the items of a body as `input_items` lists them: each with a type and an id."""
    texts = given if isinstance(given, list) else [{"role": "user", "content": [{"type": "input_text", "text": given}]}]
    items = (dict(_with_type(item)) for item in cast("list[Any]", texts))
    return tuple({"id": f"{item['type']}_{response}_{i}", **item} for i, item in enumerate(items))


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
