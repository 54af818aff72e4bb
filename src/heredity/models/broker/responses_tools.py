"""Tools of the responses API: functions, custom tools whose input is plain text, namespaces of both, and a search for more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, cast

from pydantic import Discriminator, Field, Tag

from heredity.models import ToolCall, ToolSpec
from heredity.models.broker.body import Part, strict_json
from heredity.models.broker.conversation import encode, new_id

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
