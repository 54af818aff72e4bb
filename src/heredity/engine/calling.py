"""Calling registered tools: arguments are checked against the manifest's schema, code runs in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.actor import Programs, ToolResult
from heredity.engine.schemas import check_arguments
from heredity.resources import Instance, Registry, SourceTree
from heredity.resources.building import MCP, SKILL
from heredity.resources.contracts import parameters_of

TOOL_SECONDS = 30.0
_ENTRY = "tool.py"


async def run_tool(
    registry: Registry,
    programs: Programs,
    name: str,
    arguments: Mapping[str, Any],
    *,
    version: str | None = None,
    seconds: float = TOOL_SECONDS,
) -> ToolResult:
    """Run a registered tool in the sandbox (the operator `run` of Autogenesis, table 7).

    Args:
        registry: the registry that holds the tool.
        programs: the sandbox.
        name: the tool's name.
        arguments: for `run` in its `tool.py`, JSON values.
        version: such as `"1.0.2"`; the head if not given.
        seconds: timeout, in wall seconds.

    Returns:
        The result; failures of the tool are results too. A tool that is only a SKILL.md returns its text.

    Raises:
        UnknownNameError: if the tool or the version does not exist.
        ConfigError: if the arguments do not fit the manifest; the message names the argument.
        HostError: if the sandbox itself fails.
        IsolationError: if this machine cannot confine it.
    """
    return await call_tool(registry.get("tool", name, version), programs, arguments, seconds=seconds)


async def call_tool(
    tool: Instance, programs: Programs, arguments: Mapping[str, Any], *, seconds: float = TOOL_SECONDS
) -> ToolResult:
    """Run a tool that has already been built; see `run_tool`."""
    label = tool.version.label
    if tool.version.type != "tool":
        raise ConfigError(f"{label} is not a tool; only tools can be called")
    check_arguments(parameters_of(label, tool.tree, tool.version.manifest), arguments, where=label)
    if MCP in tool.tree:
        raise ConfigError(f"{label} is an MCP server and cannot be called itself; the agents of a team call its tools")
    if _ENTRY not in tool.tree:
        return read_skill(tool.tree, arguments.get("file", SKILL))
    return await programs.call(tool.tree, "tool:run", arguments, seconds=seconds)


def read_skill(files: SourceTree, path: str) -> ToolResult:
    """Return the text of a skill's file; one that is missing or is no text is a result with an error that says so."""
    if path not in files:
        return ToolResult(error="missing", message=str(UnknownNameError("file of the skill", path, files)))
    text = files.texts().get(path)
    if text is None:
        return ToolResult(error="output", message=f"{path} is not text; it has {len(files[path])} bytes")
    return ToolResult(value=text)
