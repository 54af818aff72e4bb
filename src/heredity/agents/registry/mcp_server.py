"""Registered tools and prompts for any client of the Model Context Protocol; memories as its resources.

Every request reads the store anew, so the next list shows registered, restored and hidden resources.
"""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Awaitable
from typing import Any, TypeVar
from urllib.parse import quote, unquote

import mcp.types as types
from mcp.server import Server
from mcp.shared.exceptions import MCPError

from heredity import __version__
from heredity._core.errors import ConfigError, HeredityError, UnknownNameError
from heredity.agents.registry.operators import READING, ToolFailedError, perform, schema_of
from heredity.agents.registry.serving import Connections
from heredity.engine.actor import ToolResult
from heredity.engine.resource_runs import ResourceRuns
from heredity.resources import OPERATORS, Instance, Registry, Version
from heredity.resources.contracts import parameters_of

T = TypeVar("T")
_SCHEME = "heredity://"
_SHOWN_OUTPUT = 2000


_OPERATOR = "resources_"
"""Prefix of the operators' names; the underscore rules out a clash with registered tools."""


def mcp_server(connections: Connections, runs: ResourceRuns, *, operators: bool = False) -> Server[Any]:
    """Return a server of a store's tools, prompts and memories, for one of the package's transports.

    Args:
        connections: the store.
        runs: runs resources.
        operators: also offer the registry's operators as tools, `resources_update` and so on, with which clients change the store.
    """
    face = _Face(connections, runs, operators=operators)
    return Server(
        "heredity",
        version=__version__,
        instructions="Tools and prompts of a store of versioned resources; the lists change as they evolve.",
        on_list_tools=face.list_tools,
        on_call_tool=face.call_tool,
        on_list_prompts=face.list_prompts,
        on_get_prompt=face.get_prompt,
        on_list_resources=face.list_resources,
        on_read_resource=face.read_resource,
    )


def _tools(registry: Registry) -> list[tuple[Version, dict[str, Any]]]:
    """Return the tools with their argument schemas; one with an uninformative signature is still listed."""
    tools: list[tuple[Version, dict[str, Any]]] = []
    for head in registry.store.list("tool"):
        try:
            schema = dict(parameters_of(head.label, registry.store.tree(head), head.manifest))
        except ConfigError:
            schema = {"type": "object"}
        tools.append((head, schema))
    return tools


def _operator_tool(operator: str) -> types.Tool:
    documented = (inspect.getdoc(getattr(Registry, operator)) or "").partition("\n\n")[0]
    return types.Tool(
        name=_OPERATOR + operator,
        description=" ".join(documented.split()),
        input_schema=schema_of(operator),
        annotations=types.ToolAnnotations(read_only_hint=operator in READING),
    )


class _Face:
    def __init__(self, connections: Connections, runs: ResourceRuns, *, operators: bool) -> None:
        self._connections = connections
        self._runs = runs
        self._operators = tuple(map(_operator_tool, OPERATORS)) if operators else ()

    async def list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        heads = await _answered(self._connections.work(_tools))
        tools = [
            types.Tool(
                name=head.name,
                title=head.label,
                description=head.manifest.description,
                input_schema=schema,
            )
            for head, schema in heads
        ]
        return types.ListToolsResult(tools=[*tools, *self._operators])

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if self._operators and params.name.startswith(_OPERATOR):
            return await self._operate(params.name.removeprefix(_OPERATOR), params.arguments or {})
        tool = await _answered(self._connections.work(lambda registry: registry.get("tool", params.name)))
        try:
            result = await self._runs.call(tool, params.arguments or {})
        except HeredityError as error:
            return _failed(str(error))
        if result.error:
            return _failed(_explained(tool, result))
        text = result.value if isinstance(result.value, str) else json.dumps(result.value, ensure_ascii=False)
        structured = json.loads(_clean(text)) if isinstance(result.value, dict) else None
        return types.CallToolResult(content=[_text(text)], structured_content=structured)

    async def _operate(self, operator: str, given: dict[str, Any]) -> types.CallToolResult:
        try:
            result = await perform(self._connections.work, self._runs, operator, given)
        except ToolFailedError as error:
            return _failed(f"{error.result['error']}: {error}\n{error.result['traceback']}".strip())
        except HeredityError as error:
            return _failed(str(error))
        text = _clean(json.dumps(result, ensure_ascii=False))
        return types.CallToolResult(content=[_text(text)], structured_content={"result": json.loads(text)})

    async def list_prompts(self, context: Any, params: Any) -> types.ListPromptsResult:
        def read(registry: Registry) -> list[Instance]:
            return [registry.get("prompt", head.name) for head in registry.store.list("prompt")]

        prompts = [
            types.Prompt(
                name=prompt.version.name,
                title=prompt.version.label,
                description=prompt.version.manifest.description or None,
                arguments=[types.PromptArgument(name=placeholder, required=True) for placeholder in prompt.places],
            )
            for prompt in await _answered(self._connections.work(read))
        ]
        return types.ListPromptsResult(prompts=prompts)

    async def get_prompt(self, context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = await _answered(self._connections.work(lambda registry: registry.get("prompt", params.name)))
        try:
            text = prompt.run(params.arguments or {})
        except ConfigError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return types.GetPromptResult(
            description=prompt.version.manifest.description or None,
            messages=[types.PromptMessage(role="user", content=_text(text))],
        )

    async def list_resources(self, context: Any, params: Any) -> types.ListResourcesResult:
        def read(registry: Registry) -> list[Instance]:
            return [registry.get("memory", head.name) for head in registry.store.list("memory")]

        resources = [
            types.Resource(
                name=f"{memory.version.name}/{path}",
                uri=f"{_SCHEME}memory/{memory.version.name}/{quote(path)}",
                description=memory.version.manifest.description or None,
                size=len(data),
            )
            for memory in await _answered(self._connections.work(read))
            for path, data in memory.tree.items()
        ]
        return types.ListResourcesResult(resources=resources)

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        kind, _, rest = params.uri.removeprefix(_SCHEME).partition("/")
        name, _, path = rest.partition("/")
        if not params.uri.startswith(_SCHEME) or kind != "memory":
            raise MCPError(
                types.INVALID_PARAMS, f"unknown resource {params.uri!r:.200}; resources/list gives what there is"
            )
        memory = await _answered(self._connections.work(lambda registry: registry.get("memory", name)))
        data = memory.tree.get(unquote(path))
        if data is None:
            missing = UnknownNameError(f"file of memory/{name}", unquote(path), memory.tree)
            raise MCPError(types.INVALID_PARAMS, _clean(str(missing))) from missing
        text = memory.tree.texts().get(unquote(path))
        if text is None:
            blob = base64.b64encode(data).decode()
            return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=params.uri, blob=blob)])
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text=text)])


async def _answered(work: Awaitable[T]) -> T:
    """Await work on the store; its errors become protocol errors with the message."""
    try:
        return await work
    except HeredityError as error:
        code = types.INVALID_PARAMS if isinstance(error, ConfigError) else types.INTERNAL_ERROR
        raise MCPError(code, _clean(str(error))) from error


def _failed(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[_text(message)], is_error=True)


def _explained(tool: Instance, result: ToolResult) -> str:
    lines = [f"{tool.version.label}: {result.error}: {result.message}", result.traceback.strip()]
    for name, output in (("stdout", result.stdout), ("stderr", result.stderr)):
        if output.strip():
            lines.append(f"{name}: {output[-_SHOWN_OUTPUT:].strip()}")
    return "\n".join(line for line in lines if line)


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=_clean(text))


def _clean(text: str) -> str:
    # Half of a surrogate pair cannot be sent, and would end the transport.
    return text.encode("utf-8", "replace").decode()
