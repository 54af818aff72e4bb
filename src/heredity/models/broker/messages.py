"""Anthropic's messages: `POST /v1/messages` and `POST /v1/messages/count_tokens`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, Tag

from heredity.models import Image, Reply, Request, ToolCall, ToolSpec, Usage
from heredity.models.broker.body import (
    AtLeastOne,
    Base64,
    Body,
    Effort,
    MediaType,
    Part,
    Text,
    TextFormat,
    Texts,
    only,
    parts,
)
from heredity.models.broker.conversation import (
    Conversation,
    arguments_of,
    encode,
    estimated_text_tokens,
    estimated_tokens,
    event,
    finish_of,
    new_id,
    rest_of,
)
from heredity.models.broker.fields import Wish, dropped_of, thinking
from heredity.models.broker.problems import Problem, anthropic_shape

_Texts = Annotated[Sequence[Text], parts("text")]
_FINISH = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use", "refusal": "refusal"}


class _Source(Part):
    type: Annotated[str, only("base64", why="send the picture itself as base64; no address is fetched from here")]
    media_type: MediaType
    data: Base64


class _Image(Part):
    type: Literal["image"]
    source: _Source


class _DocumentSource(Part):
    type: str
    media_type: str = "unknown"
    data: str = ""


class _Document(Part):
    type: Literal["document"]
    source: _DocumentSource


class _ToolReference(Part):
    type: Literal["tool_reference"]
    tool_name: str


_Result = Annotated[Text | _Image | _Document | _ToolReference, Field(discriminator="type")]


class _ToolResult(Part):
    type: Literal["tool_result"]
    tool_use_id: str
    content: Annotated[Sequence[_Result], parts("text")] = ()
    is_error: bool = False


class _ToolUse(Part):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class _Thoughts(Part):
    set_aside = True
    type: Literal["thinking", "redacted_thinking"]


class _System(Part):
    role: Literal["system"]
    content: _Texts = ()


class _User(Part):
    role: Literal["user"]
    content: Annotated[
        Sequence[Annotated[Text | _Image | _ToolResult, Field(discriminator="type")]], parts("text")
    ] = ()


class _Assistant(Part):
    role: Literal["assistant"]
    content: Annotated[
        Sequence[Annotated[Text | _ToolUse | _Thoughts, Field(discriminator="type")]], parts("text")
    ] = ()


_Message = _System | _User | _Assistant


class _Tool(Part):
    name: str
    description: str = ""
    input_schema: dict[str, Any]
    defer_loading: bool = False


class _VendorsTool(Part):
    set_aside = True
    type: str


def _kind_of_tool(value: Any) -> str:
    inside = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    return "a function" if inside.get("type") in (None, "custom") else "a vendor's"


class _EitherChoice(Part):
    disable_parallel_tool_use: bool = False


class _PlainChoice(_EitherChoice):
    type: Literal["auto", "any", "none"]


class _ToolChoice(_EitherChoice):
    type: Literal["tool"]
    name: str


_Choice = _PlainChoice | _ToolChoice


class _OutputConfig(Part):
    format: TextFormat = TextFormat()
    effort: Effort | None = None


class _Thinking(Part):
    type: Literal["enabled", "adaptive", "disabled"]
    budget_tokens: int = 0


class _MessagesBody(Body):
    system: _Texts = ()
    messages: Sequence[Annotated[_Message, Field(discriminator="role")]] = ()
    tools: Sequence[
        Annotated[
            Annotated[_Tool, Tag("a function")] | Annotated[_VendorsTool, Tag("a vendor's")],
            Discriminator(_kind_of_tool),
        ]
    ] = ()
    tool_choice: Annotated[_Choice, Field(discriminator="type")] = _PlainChoice(type="auto")
    stop_sequences: Texts = ()
    output_config: _OutputConfig = _OutputConfig()
    thinking: _Thinking | None = None
    top_k: int | None = None


class _AskBody(_MessagesBody):
    max_tokens: AtLeastOne


class _CountBody(_MessagesBody):
    max_tokens: AtLeastOne | None = None


class Messages:
    """One call of the messages API (see `Exchange`).

    Tools of Anthropic's own types (web search, bash, …) are dropped, since they cannot run here, and so are
    `cache_control`, thoughts of earlier turns, `context_management`, `metadata` and the like (`fields.py`). A tool with
    `defer_loading` is offered as soon as a result refers to it.
    A document in a tool's result is passed on as text; any other document is replaced by a note. Where the
    usage of a reply is unknown, the numbers required by this API are guesses (`estimated_tokens`); the account has
    the accurate state.
    """

    media_type = "text/event-stream"
    ping = event({"type": "ping"}, "ping")

    def __init__(self, body: Mapping[str, Any], *, counting: bool = False) -> None:
        """Read a body; raises `Problem`.

        Args:
            body: the body.
            counting: only count tokens, so `max_tokens` may be absent.
        """
        asked = (_CountBody if counting else _AskBody).read(body)
        self.asked, self.streams = asked.model, asked.stream
        conversation = Conversation()
        conversation.system(_paragraphs(asked.system))
        for position, message in enumerate(asked.messages):
            _add(conversation, message, f"messages[{position}]")
        discovered = {part.tool_name for part in _results(asked.messages) if isinstance(part, _ToolReference)}
        own = [tool for tool in asked.tools if isinstance(tool, _Tool)]
        offered = [tool for tool in own if not tool.defer_loading or tool.name in discovered]
        tools = tuple(ToolSpec(tool.name, tool.description, tool.input_schema) for tool in offered)
        sampling = asked.sampling(asked.max_tokens, asked.stop_sequences)
        self.request: Request = conversation.request(tools, sampling, _choice(asked.tool_choice), "messages")
        self.dropped = dropped_of(asked)
        self.wishes: Sequence[Wish] = _wishes(asked)
        self._id, self._sent, self._open = new_id("msg"), "", False

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return a `message`."""
        content: list[dict[str, Any]] = [{"type": "text", "text": reply.text}] if reply.text else []
        content += [_tool_use(call, arguments_of(call)) for call in reply.tool_calls]
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
        """Return the events that end the text, add the tool calls and end the message."""
        events = self.piece(rest_of(reply, self._sent))
        index = 0
        if self._sent:
            events += _event("content_block_stop", index=0)
            index = 1
        for index, call in enumerate(reply.tool_calls, index):  # noqa: B020 - the count goes on
            delta = {"type": "input_json_delta", "partial_json": encode(arguments_of(call)).decode()}
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


def _add(conversation: Conversation, message: _Message, where: str) -> None:
    match message:
        case _System():
            conversation.system(_paragraphs(message.content))
        case _User():
            _add_user(conversation, message.content, where)
        case _Assistant():
            calls = [
                ToolCall(p.id, p.name, json.dumps(p.input, ensure_ascii=False))
                for p in message.content
                if isinstance(p, _ToolUse)
            ]
            conversation.assistant(_lines(message.content), calls)


def _add_user(conversation: Conversation, content: Sequence[Text | _Image | _ToolResult], where: str) -> None:
    results = [(position, part) for position, part in enumerate(content) if isinstance(part, _ToolResult)]
    for position, result in results:
        at = f"{where}.content[{position}].tool_use_id"
        images = _images(result.content)
        conversation.tool(result.tool_use_id, _lines(result.content), images, where=at, failed=result.is_error)
    if len(results) < len(content) or not content:
        conversation.user(_lines(content), _images(content))


def _results(messages: Sequence[_Message]) -> list[Part]:
    """Return the parts of all results of tools."""
    content = [part for message in messages if isinstance(message, _User) for part in message.content]
    return [inner for part in content if isinstance(part, _ToolResult) for inner in part.content]


def _lines(content: Sequence[Part]) -> str:
    return "\n".join(text for text in map(_words, content) if text is not None)


def _words(part: Part) -> str | None:
    """Return a part as text; None if it has none."""
    match part:
        case Text():
            return part.text
        case _Document(source=_DocumentSource(type="text", data=text)):
            return text
        case _Document(source=source):
            return f"[a document ({source.media_type}) that cannot be shown here; take its text out with a program]"
        case _ToolReference():
            return f"[the tool {part.tool_name} can be called now]"
        case _:
            return None


def _paragraphs(content: Sequence[Text]) -> str:
    return "\n\n".join(part.text for part in content)


def _images(content: Sequence[Part]) -> list[Image]:
    return [Image(part.source.media_type, part.source.data) for part in content if isinstance(part, _Image)]


def _wishes(asked: _MessagesBody) -> list[Wish]:
    config, wishes = asked.output_config, list[Wish]()
    if asked.thinking is not None:
        # A budget is a number of this API; whether to think is not.
        wants = asked.thinking.type != "disabled"
        wishes.append(Wish("thinking", (config.effort or True) if wants else False, "thinking"))
    else:
        wishes += thinking(config.effort, "output_config.effort")
    wishes += config.format.wish("output_config.format", config.format)
    if asked.top_k is not None:
        wishes.append(Wish("top_k", asked.top_k, "top_k"))
    if asked.tool_choice.disable_parallel_tool_use:
        wishes.append(Wish("parallel_tool_calls", False, "tool_choice.disable_parallel_tool_use"))
    return wishes


def _choice(wanted: _Choice) -> str:
    if isinstance(wanted, _ToolChoice):
        return wanted.name
    return "required" if wanted.type == "any" else wanted.type


def _tool_use(call: ToolCall, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": given}


def _event(name: str, **values: Any) -> bytes:
    return event({"type": name, **values}, name)
