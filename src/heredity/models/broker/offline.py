"""Requests of programs that have no network: what a provider would fetch or run for them is taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from heredity.models.broker.problems import Problem

_OWN = {
    "chat.completions": ("function", "custom"),
    "responses": ("function", "custom", "local_shell", "apply_patch", "tool_search", "namespace"),
    "messages": ("custom", "bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_"),
}
"""Beginnings of the types of tools that the program runs itself or that only find its own; every other type reaches out."""
_DECLARED = "functionDeclarations"
"""The only key of Google's tools whose calls the program answers."""
_REACHING = ("web_search_options", "search_parameters", "enable_search", "plugins", "mcp_servers", "container")
"""Fields that let a provider search, fetch or run."""
_CALLED = re.compile(r"\bfunction(?:Call|_call)\.args\b|\bfunction(?:Response|_response)\.response\b")
"""Where Google's API holds the arguments and results of a program's own functions."""


def offline(api: str, body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Take out the tools that the provider would run, and refuse addresses that it would fetch.

    Args:
        api: the API of the request (see `heredity.models.contract.Original`).
        body: its body.

    Returns:
        The body, and the paths of what was taken out.

    Raises:
        Problem: if the conversation holds an address.
    """
    for path, address in _addresses({name: body[name] for name in body if name not in ("tools", *_REACHING)}, ""):
        raise Problem(
            "request",
            f"{path}: {address[:80]} would be fetched by the provider, and this program has no network; send its bytes",
            field=path,
        )
    dropped = [name for name in _REACHING if name in body]
    kept = _with_own_tools(api, {name: value for name, value in body.items() if name not in _REACHING}, "", dropped)
    if api == "responses" and isinstance(items := kept.get("input"), list):
        # Tools may also be offered within the conversation.
        kept["input"] = [
            _with_own_tools(api, cast("dict[str, Any]", item), f"input[{index}].", dropped)
            if isinstance(item, dict)
            else item
            for index, item in enumerate(cast("list[Any]", items))
        ]
    if kept.get("tools") == [] and body["tools"]:
        # A choice among no tools is refused by providers.
        for name in ("tools", "tool_choice", "toolConfig", "tool_config", "parallel_tool_calls"):
            kept.pop(name, None)
    return kept, dropped


def _with_own_tools(api: str, holder: Mapping[str, Any], place: str, dropped: list[str]) -> dict[str, Any]:
    """Return an object whose list `tools` has only those that the program runs; the paths of others join `dropped`."""
    if not isinstance(tools := holder.get("tools"), list):
        return dict(holder)
    own: list[Any] = []
    for index, tool in enumerate(cast("list[Any]", tools)):
        if (kept := _own(api, tool)) is None:
            dropped.append(f"{place}tools[{index}]")
        elif api == "responses" and isinstance(kept, dict):
            own.append(_with_own_tools(api, cast("dict[str, Any]", kept), f"{place}tools[{index}].", dropped))
        else:
            own.append(kept)
    return {**holder, "tools": own}


def _own(api: str, tool: Any) -> Any:
    """Return a tool as far as the program runs it; None if it does not. What is malformed is the provider's to refuse."""
    if not isinstance(tool, dict):
        return tool
    given = cast("dict[str, Any]", tool)
    if api == "generate_content":
        declared = {name: value for name, value in given.items() if name in (_DECLARED, "function_declarations")}
        return declared or None
    kind = given.get("type", "custom" if api == "messages" else "function")
    return tool if isinstance(kind, str) and kind.startswith(_OWN.get(api, ())) else None


def _addresses(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each address in a conversation that a provider fetches."""
    if isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            yield from _addresses(item, f"{path}[{index}]")
    elif isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        called = given.get("type") in ("tool_use", "function_call") or _CALLED.search(path) is not None
        for name, item in given.items():
            place = f"{path}.{name}" if path else name
            address = _address(given, name, item)
            if address and not called:
                yield place, address
            elif not (called and name == "input"):
                yield from _addresses(item, place)


def _address(given: Mapping[str, Any], name: str, item: Any) -> str:
    """Return the address in a field that names something to fetch; empty for other fields and for data."""
    if name in ("image_url", "video_url", "fileData", "file_data") and isinstance(item, Mapping):
        inner = cast("Mapping[str, Any]", item)
        item = next((inner[key] for key in ("url", "fileUri", "file_uri") if key in inner), "")
    elif not (name in ("image_url", "file_url") or (name == "url" and given.get("type") == "url")):
        return ""
    return item if isinstance(item, str) and not item.startswith("data:") else ""
