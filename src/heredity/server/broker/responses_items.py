"""Items of the responses API's `input`: what they may be, and how they become a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field

from heredity.gateway import Image
from heredity.server.broker.body import Part, Picture, parts
from heredity.server.broker.conversation import Conversation
from heredity.server.broker.responses_tools import SEARCH, Tool, called, tools_named


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
    arguments: Any = None


class _CallOutput(Part):
    type: Literal["function_call_output", "custom_tool_call_output"]
    call_id: str = ""
    name: str = ""
    output: _Shown = ()


class _ToolSearchOutput(Part):
    type: Literal["tool_search_output"]
    call_id: str
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
    type: Literal["reasoning", "web_search_call", "configuration_update"]


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
    """Return the tools that items bring beside those of the request."""
    return [tool for item in items if isinstance(item, _AdditionalTools | _ToolSearchOutput) for tool in item.tools]


def add(conversation: Conversation, item: Item, where: str) -> None:
    """Add what an item says to a conversation; raises `Problem`, naming `where` it stood."""
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
            # What a program says by itself in the form of a result: no call of the model asks for it.
            conversation.system("\n".join(filter(None, (item.name, _lines(item.output)))))
        case _AgentMessage():
            # Nothing is encrypted here, so that what one agent of a program tells another is what the model wrote.
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
