"""Tools: offering a candidate's tools to a model, and checking and running its calls."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from heredity._core.errors import CandidateError, ConfigError, UnknownNameError, nearest
from heredity._core.spans import span
from heredity.engine.actor import Programs, ProvidedTool, Service, ToolResult
from heredity.engine.conversation import Conversation
from heredity.engine.schemas import check_arguments
from heredity.models import ToolCall, ToolSpec
from heredity.models.replies import value_in
from heredity.resources import Instance, Registry, SourceTree
from heredity.resources.assembly import files_of, manifest_of
from heredity.resources.building import MCP, SKILL
from heredity.resources.contracts import SKILL_FILE, parameters_of

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
        The result (failures of the tool are results too). A tool that is only a SKILL.md returns its text.

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
    """Return the text of a skill's file; one that is missing or not text gives an error as its result."""
    if path not in files:
        return ToolResult(error="missing", message=str(UnknownNameError("file of the skill", path, files)))
    text = files.texts().get(path)
    if text is None:
        return ToolResult(error="output", message=f"{path} is not text; it has {len(files[path])} bytes")
    return ToolResult(value=text)


READ_SKILL = "read_skill"
"""The tool that shows the texts of SKILL.md tools; its underscore rules out a clash with others."""

_CODE = "tool.py"
_RUN = "tool:run"
_CALLS_PER_REPLY = 32


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a candidate.

    Attributes:
        name: its name.
        description: its purpose and when to use it.
        parameters: JSON schema of its arguments (of type "object").
        tree: the program; None for a text alone.
        skill: the files of a skill, which agents read; None for a program.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    tree: SourceTree | None = None
    skill: SourceTree | None = None

    @property
    def spec(self) -> ToolSpec:
        """The tool's description for a model."""
        return ToolSpec(self.name, self.description, self.parameters)


def read_tool(name: str, part: SourceTree) -> Tool:
    """Return the tool in a part `tool/NAME`. Its program is parsed, not run.

    Raises:
        ConfigError: if neither its manifest nor the signature of `run` describes its arguments.
    """
    manifest = manifest_of(part, f"tool/{name}")
    if MCP in part:
        raise ConfigError(
            f"tool/{name} is an MCP server ({MCP}), whose tools agents of teams have; take it out, or use a team"
        )
    if _CODE not in part:
        return Tool(name, manifest.description, {}, None, files_of(part))
    return Tool(name, manifest.description, parameters_of(f"tool/{name}", part, manifest), files_of(part))


def specs_of(tools: Sequence[Tool]) -> tuple[ToolSpec, ...]:
    """Return the descriptions of tools for a model: one per program, and one tool that reads all the texts."""
    specs = [tool.spec for tool in tools if tool.tree is not None]
    skills = [tool for tool in tools if tool.tree is None]
    if skills:
        listed = "".join(f"\n- {tool.name}: {tool.description}" for tool in skills)
        names: dict[str, Any] = {"type": "string", "enum": [tool.name for tool in skills]}
        read = {"name": names, **(SKILL_FILE if any(len(tool.skill or ()) > 1 for tool in skills) else {})}
        schema = {"type": "object", "properties": read, "required": ["name"], "additionalProperties": False}
        specs.append(ToolSpec(READ_SKILL, f"Shows the instructions that are kept under a name:{listed}", schema))
    return tuple(specs)


ARGUMENTS = "arguments"
"""Category of calls to a missing tool or with wrong arguments."""


@dataclass(frozen=True)
class Toolbox:
    """The tools of one rollout; every call returns a text to the model.

    Attributes:
        tools: the tools.
        programs: runs the programs (None without any).
        conversation: the conversation that uses them; its settings limit each call.
        provided: tools that the task provides.

    Raises:
        ConfigError: if a tool has the name of a provided one.
    """

    tools: Sequence[Tool]
    programs: Programs | None
    conversation: Conversation
    provided: Sequence[ProvidedTool] = ()

    def __post_init__(self) -> None:
        taken = {tool.spec.name for tool in self.provided} & {tool.name for tool in self.tools}
        if taken:
            raise ConfigError(f"tool/{min(taken)} has the name of a tool that the task provides; give it another name")

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Descriptions of all of them for a model."""
        return (*(tool.spec for tool in self.provided), *specs_of(self.tools))

    @cached_property
    def services(self) -> dict[str, Service]:
        """Services that programs may request by name: the provided tools."""
        return {tool.spec.name: partial(self._serve, tool.spec.name) for tool in self.provided}

    async def answer_all(self, calls: Sequence[ToolCall]) -> list[str]:
        """Run the calls of one reply concurrently and return the texts for the model, in their order.

        Raises:
            HostError: if the sandbox fails.
            IsolationError: if a program cannot be confined.
        """
        running = [asyncio.ensure_future(self.answer(call)) for call in calls[:_CALLS_PER_REPLY]]
        try:
            answers = list(await asyncio.gather(*running))
        finally:
            for task in running:
                task.cancel()
        left_out = len(calls) - len(answers)
        return answers + [f"error: not called; at most {_CALLS_PER_REPLY} tools are called at once"] * left_out

    async def answer(self, call: ToolCall) -> str:
        """Run one call and return the text for the model: the result as JSON, or the error. Raises as `answer_all`."""
        try:
            arguments = value_in(call.arguments) if call.arguments.strip() else {}
        except ConfigError as error:
            result = ToolResult(error=ARGUMENTS, message=f"the arguments of {call.name} are not JSON: {error}")
        else:
            result = await self.run(call.name, arguments)
        return self._text_of(call.name, result)

    async def run(self, name: str, arguments: Any) -> ToolResult:
        """Check arguments and run a tool; errors of either are returned as a result. Raises as `answer_all`."""
        with span("tool", kind="tool", tool=name, arguments=arguments) as step:
            self.conversation.tool_calls += 1
            result = await self._run(name, arguments)
            step.set(error=result.error, message=result.message, seconds=result.seconds, value=result.value)
            return result

    async def _run(self, name: str, arguments: Any) -> ToolResult:
        specs = {spec.name: spec for spec in self.specs}
        if name not in specs:
            hint = f"; did you mean {' or '.join(near)}?" if (near := nearest(name, specs)) else ""
            available = ", ".join(specs) or "none"
            return ToolResult(error=ARGUMENTS, message=f"there is no tool {name!r:.80}{hint} (there is: {available})")
        try:
            check_arguments({**specs[name].parameters, "type": "object"}, arguments, where=name)
        except ConfigError as error:
            return ToolResult(error=ARGUMENTS, message=str(error))
        for tool in self.provided:
            if tool.spec.name == name:
                started = time.monotonic()
                return ToolResult(await tool.run(arguments), seconds=time.monotonic() - started)
        by_name = {tool.name: tool for tool in self.tools}
        if name == READ_SKILL:
            return read_skill(by_name[arguments["name"]].skill or SourceTree({}), arguments.get("file", SKILL))
        tree = by_name[name].tree
        if tree is None or self.programs is None:
            raise ConfigError(f"tool/{name} is a program; give the solver a sandbox to run it in (programs)")
        seconds = self.conversation.settings.tool_seconds
        return await self.programs.call(tree, _RUN, arguments, seconds=seconds, services=self.services)

    async def _serve(self, name: str, arguments: Any) -> Any:
        result = await self.run(name, arguments)
        if result.error:
            raise CandidateError(result.message)
        return result.value

    def _text_of(self, name: str, result: ToolResult) -> str:
        limit = self.conversation.settings.tool_output_chars
        if result.error:
            trace = f"\n{result.traceback.strip()}" if result.traceback else ""
            return _cut(f"error: {result.error}: {result.message}{trace}", limit)
        if name in self.services:
            return _cut(result.value, limit)
        return _cut(json.dumps(result.value, ensure_ascii=False), limit)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {len(text) - limit} of {len(text)} characters are not shown]"
