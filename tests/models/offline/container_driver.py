"""Lets the shell worker attempt a container task without a runner: each call of the tool `shell` is run in its sandbox."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from heredity import library
from heredity.kinds.container.format import read_task
from heredity.kinds.container.verification import ContainerRollout, attempt
from heredity.library.models.shell_worker import ShellWorker
from heredity.models import Message, Request, Sampling, ToolSpec
from heredity.sandbox.containers import BubblewrapBackend, ContainerSandbox
from heredity.sandbox.containers.task import ContainerTask

TASKS = Path(library.__path__[0]) / "tasks" / "containers"
COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
SHELL = ToolSpec("shell", "Runs a command.", COMMAND)
TABLE = ToolSpec("table", "Looks at a table.", PATH)


def folder_of(name: str) -> Path:
    (folder,) = TASKS.glob(f"*/{name}")
    return folder


async def attempted(
    backend: BubblewrapBackend,
    name: str,
    system: str,
    *,
    tool: bool = False,
    brief: bool = False,
    seed: int | None = None,
) -> tuple[ContainerRollout, tuple[Message, ...]]:
    """Return the attempt and what was said in it; `brief` cuts results as middleware would."""
    talk: list[Message] = []

    async def agent(sandbox: ContainerSandbox, task: ContainerTask) -> None:
        talk.extend([Message("system", system), Message("user", task.instruction)])
        for _ in range(6):
            request = Request(tuple(talk), (SHELL, *([TABLE] if tool else [])), Sampling(seed=seed))
            reply = await ShellWorker().reply(request)
            talk.append(reply.message)
            if not reply.tool_calls:
                return
            for call in reply.tool_calls:
                given = json.loads(call.arguments)
                if call.name == "shell":
                    done = await sandbox.exec(given["command"])
                    text = f"{done.stdout}{done.stderr}[exit code {done.code}]"
                else:
                    done = await sandbox.exec(f"grep -c '\"' {given['path']}")
                    text = json.dumps({"quoted": done.stdout.strip() != "0"})
                talk.append(Message("tool", text[-600:] if brief else text, tool_call_id=call.id))

    return await attempt(backend, read_task(folder_of(name)), agent), tuple(talk)


async def rewards(backend: BubblewrapBackend, trials: list[tuple[str, str, bool, bool]]) -> list[float | None]:
    """Return the rewards of trials (task, system message, tool, brief), two at a time."""
    gate = asyncio.Semaphore(2)

    async def one(name: str, system: str, tool: bool, brief: bool) -> float | None:
        async with gate:
            return (await attempted(backend, name, system, tool=tool, brief=brief))[0].verdict.reward

    return list(await asyncio.gather(*(one(*trial) for trial in trials)))
