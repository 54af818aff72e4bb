"""Tools that every team has: asking another agent (Autogenesis, section 4), and running Python in the sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity._core.ids import digest_json
from heredity.engine.actor import Programs, ProvidedTool
from heredity.models import ToolSpec
from heredity.resources import SourceTree
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


_SECONDS = 120.0
_MOST = 200_000

_RUNNER = SourceTree(
    {
        "run_code.py": """
import ast


def run(code: str) -> str:
    tree, scope = ast.parse(code, "<code>"), {"__name__": "__main__"}
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<code>", "exec"), scope)
    value = eval(compile(ast.Expression(last.value), "<code>", "eval"), scope) if last else None
    return "" if value is None else repr(value)[:20000]
"""
    }
)

_SPEC = ToolSpec(
    "python",
    "Runs Python code in a fresh process without network or files, numpy at hand; returns what it printed and the value of its "
    "last expression.",
    {
        "type": "object",
        "properties": {"code": {"type": "string", "maxLength": _MOST}},
        "required": ["code"],
        "additionalProperties": False,
    },
)


def python_tool(programs: Programs) -> TeamTool:
    """Return the tool `python`, which runs code in this sandbox."""

    async def run(arguments: Mapping[str, Any]) -> str:
        result = await programs.call(_RUNNER, "run_code:run", {"code": arguments["code"]}, seconds=_SECONDS)
        parts = [part for part in (result.stdout.rstrip(), result.value) if part]
        if result.error:
            parts.append(f"error: {result.error}: {result.message}\n{result.traceback}".rstrip())
        return "\n".join(parts) or "(no output)"

    return TeamTool(ProvidedTool(_SPEC, run))
