"""The tools that a server of the Model Context Protocol lists, each checked alone: an odd one is refused and hides no other."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any, cast

MOST_SCHEMA = 16_384
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_SHOWN = 200


@asynccontextmanager
async def sifted(streams: Any, refused: dict[str, str]) -> AsyncGenerator[Any]:
    """Yield the streams of a server whose lists of tools have no tool that is none.

    Args:
        streams: what the server says and what it is told.
        refused: filled with the tools that are left out: name to reason.
    """
    import anyio

    read, write = streams
    send, receive = anyio.create_memory_object_stream[Any](16)

    async def pump() -> None:
        with send, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for message in read:
                _sift(message, refused)
                await send.send(message)

    task = asyncio.ensure_future(pump())
    try:
        yield receive, write
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        receive.close()


def parsed_line(line: bytes) -> Any:
    """Return a message of the protocol; half of a surrogate pair in it becomes a question mark.

    Raises:
        ValueError: if the line is none.
    """
    from mcp.types import jsonrpc_message_adapter

    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        whole = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace")
        return jsonrpc_message_adapter.validate_json(whole, by_name=False)


def _sift(message: Any, refused: dict[str, str]) -> None:
    result: Any = getattr(getattr(message, "message", None), "result", None)
    if not isinstance(result, dict) or "content" in result or not isinstance(result.get("tools"), list):
        return
    listing, kept = cast("dict[str, Any]", result), list[dict[str, Any]]()
    for number, tool in enumerate(listing["tools"], 1):
        if reason := _fault(tool):
            name = tool.get("name") if isinstance(tool, dict) else None
            printable = "".join(c if c.isprintable() else " " for c in reason)
            refused[name[:80] if isinstance(name, str) and name else f"number {number}"] = printable
        else:
            kept.append(_well_formed(tool))
    listing["tools"] = kept


def _fault(tool: Any) -> str:
    """Return what keeps a tool from being offered; nothing if nothing does."""
    if not isinstance(tool, dict):
        return "it is no object"
    about = cast("dict[str, Any]", tool)
    if not isinstance(about.get("name"), str) or not about["name"].strip():
        return "it has no name"
    if "inputSchema" not in about:
        return "it has no inputSchema"
    for key in ("inputSchema", "outputSchema"):
        schema = about.get(key)
        if schema is None and key == "outputSchema":
            continue
        if not isinstance(schema, dict) or cast("dict[str, Any]", schema).get("type") != "object":
            return f"its {key} is no schema of an object"
        if reason := _schema_fault(cast("dict[str, Any]", schema)):
            return f"its {key} {reason}"
    return ""


def _schema_fault(schema: dict[str, Any]) -> str:
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    try:
        if len(json.dumps(schema)) > MOST_SCHEMA:
            return f"is larger than {MOST_SCHEMA} bytes"
        checker: Any = validator_for(schema)
        checker.check_schema(schema)
        resource: Any = Resource.from_contents(schema, default_specification=DRAFT202012)
        resolver: Any = Registry[Any]().with_resource("", resource).resolver()
        for reference in _references(schema):
            resolver.lookup(reference)
    except SchemaError as error:
        return f"is no JSON schema: {error.message:.{_SHOWN}}"
    except RecursionError:
        return "is nested too deeply"
    except Exception as error:  # noqa: BLE001 - a reference that leads nowhere, or whatever else it may hold
        return f"has what cannot be followed: {error!s:.{_SHOWN}}"
    return ""


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            if key == "$ref" and isinstance(inner, str):
                yield inner
            elif key not in _DATA:
                yield from _references(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _references(inner)


def _well_formed(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool with what is used of it; whatever else it has cannot make it none."""
    kept = {key: tool[key] for key in ("name", "inputSchema", "outputSchema") if tool.get(key) is not None}
    if isinstance(tool.get("description"), str):
        kept["description"] = tool["description"]
    if isinstance(hints := tool.get("annotations"), dict):
        kept["annotations"] = {name: hints[name] for name in _HINTS if isinstance(hints.get(name), bool)}
    return kept
