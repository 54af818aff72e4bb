"""Agents as tools: one agent asks another, as it would call any tool (Autogenesis, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity._core.ids import digest_json
from heredity.engine.actor import ProvidedTool
from heredity.models import ToolSpec
from heredity.team.agent import TeamTool
from heredity.team.participant import Context


def tool_name(agent: str) -> str:
    """Return the name of the tool that asks an agent: models' APIs take letters, digits, `_` and `-`."""
    return f"ask_{agent.replace('-', '_').replace('.', '_')}"


def asking(name: str, description: str, context: Context) -> TeamTool:
    """Return the tool `ask_NAME`, which gives a task to another participant and returns its answer or its failure."""
    schema = {
        "type": "object",
        "properties": {"task": {"type": "string"}},
        "required": ["task"],
        "additionalProperties": False,
    }

    async def ask(arguments: Mapping[str, Any]) -> str:
        key = f"{name}-{digest_json(dict(arguments))[:12]}"
        result = await context.request(name, {"task": arguments["task"]}, key=key)
        if not result.ok:
            return f"error: {name} did not answer ({result.outcome}): {result.error}"
        return str(result.value["answer"] if isinstance(result.value, dict) else result.value)

    spec = ToolSpec(tool_name(name), f"Gives a task to the agent {name}: {description}", schema)
    return TeamTool(ProvidedTool(spec, ask))
