"""A team as tools of the Model Context Protocol: `team`, and `ask_AGENT` for each of its agents, with progress."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp.types as types
from mcp.server import Server

from heredity import __version__
from heredity._core.errors import ConfigError, HeredityError, UnknownNameError
from heredity.team.participant import Outcome
from heredity.team.planning import State
from heredity.team.serving.office import Office, TaskRun
from heredity.team.tools.own_tools import tool_name

_OVER = (State.DONE, State.FAILED, State.SKIPPED)


def mcp_server(office: Office) -> Server[Any]:
    """Return a server of a team's tools, for one of the package's transports.

    A call is a task; cancelling the call cancels the task. Each step that ends meanwhile is reported as progress.
    """
    agents = {tool_name(name): name for name in office.agents}

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        described = {"team": "Does a task with a team of agents that plans and works in parallel; returns its answer."}
        described |= {tool: f"Asks one agent of the team, who {office.agents[name]}" for tool, name in agents.items()}
        return types.ListToolsResult(
            tools=[types.Tool(name=tool, description=what, input_schema=_SCHEMA) for tool, what in described.items()]
        )

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        given = params.arguments or {}
        try:
            if params.name not in ("team", *agents):
                raise UnknownNameError("tool", params.name, ("team", *agents))
            task = given.get("task")
            if not isinstance(task, str) or set(given) - {"task"}:
                raise ConfigError("task is a text, and there is nothing else to give")
            run = office.start(task, agent=agents.get(params.name, ""))
            return await _answered(office, run, context)
        except HeredityError as error:
            return _text(str(error), failed=True)

    return Server("heredity-team", version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)


async def _answered(office: Office, run: TaskRun, context: Any) -> types.CallToolResult:
    reported = 0
    try:
        async for _ in run.changes():
            steps = run.plan.steps if run.plan else ()
            over = [step for step in steps if step.state in _OVER]
            if len(over) > reported:
                reported = len(over)
                last = over[-1]
                await context.session.report_progress(reported, len(steps), f"{last.id} ({last.agent}): {last.state}")
        result = await run.ended()
    except asyncio.CancelledError:
        if not office.closing:
            await asyncio.shield(office.cancel(run.id))
        raise
    if result.outcome is not Outcome.OK:
        return _text(f"no answer ({result.outcome}): {result.error}", failed=True)
    return _text(result.answer)


def _text(text: str, *, failed: bool = False) -> types.CallToolResult:
    content = text.encode("utf-8", "replace").decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=content)], is_error=failed)


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"task": {"type": "string", "description": "What is to be done, complete in itself."}},
    "required": ["task"],
    "additionalProperties": False,
}
