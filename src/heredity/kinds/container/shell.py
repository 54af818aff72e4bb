"""The shell of a container task as a tool, for models and programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heredity.engine.actor import ProvidedTool, Solving
from heredity.models import ToolSpec
from heredity.sandbox.containers import ContainerSandbox, ExecResult

SHELL = ToolSpec(
    "shell",
    "Runs a command with bash in the environment of the task, and shows what it printed and its exit code. Every command is a "
    "new shell that starts in the same folder: a `cd` or a variable does not last, files do.",
    {
        "type": "object",
        "properties": {"command": {"type": "string", "description": "the command line"}},
        "required": ["command"],
        "additionalProperties": False,
    },
)
"""The tool's description for models."""


def shell_tool(sandbox: ContainerSandbox, settings: Solving) -> ProvidedTool:
    """Return the shell of a running sandbox; `settings` limit the time and the shown output of each command."""

    async def run(arguments: Mapping[str, Any]) -> str:
        done = await sandbox.exec(arguments["command"], timeout_s=settings.shell_seconds)
        return shown(done, settings.tool_output_chars)

    return ProvidedTool(SHELL, run)


def shown(done: ExecResult, limit: int) -> str:
    """Format a command's result: stdout, `[stderr]` and stderr if any, `[exit code: N]` as the last line.

    Args:
        done: the result.
        limit: approximate maximum of characters; longer output keeps its beginning and end.
    """
    why = "" if done.reason in ("exited", "not_started") else f", ended: {_ENDED[done.reason]}"
    last = f"[exit code: {done.code}{why}]"
    room = max(limit - len(last) - 60, 0)
    errors = shortened(done.stderr, max(room // 2, room - len(done.stdout)))
    parts = [shortened(done.stdout, room - len(errors)), f"[stderr]\n{errors}" if errors else "", last]
    return "\n".join(part.rstrip("\n") for part in parts if part)


def shortened(text: str, limit: int) -> str:
    """Return a text cut to about `limit` characters: its beginning, its end, and the number left out between them."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[len(text) - half :]}"


_ENDED = {
    "timeout": "it took too long",
    "memory": "all processes together took too much memory",
    "processes": "there were too many processes",
}
