"""The kind of container tasks: harnesses work with a shell in a container, and the resulting files are verified."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heredity._core.errors import ConfigError
from heredity.engine.actor import Problem, Programs, ProvidedTool, Solving, ToolResult
from heredity.engine.conversation import Conversation
from heredity.engine.kind import CONVERSING, Candidates, Kind, Needs, Opening
from heredity.engine.react import FORM
from heredity.engine.runner import Runner
from heredity.engine.solver import Solver
from heredity.engine.tools import Tool
from heredity.kinds.container.format import read_task
from heredity.kinds.container.runner import ContainerRunner, harness_solver
from heredity.kinds.container.shell import SHELL
from heredity.models import Reply, Request, ToolCall
from heredity.models.contract import NOTHING_USED
from heredity.resources import Candidate, SourceTree
from heredity.results.status import AnswerStatus
from heredity.tasks import Task

PROGRAM_SECONDS = 10.0
"""Limits of loading a part, of calling its hooks and of the trial, each."""

_SETTINGS = Solving(seconds=60.0)
_COMMAND = "ls"
_PRINTED = "notes.txt\n[exit code: 0]"
_PROBLEM = "Say in one word whether there is a file notes.txt in this folder."
_ENTRY = "heredity_probe"
_MOST = 400

_HOOKS = """\
from heredity_harness import probe


def run():
    import agent

    if not callable(getattr(agent, "solve", None)):
        raise TypeError("agent.py: it has no function solve; expected def solve(problem, host)")
    probe(agent.__file__)
"""

_TOOL = """\
import inspect


def run(names):
    import tool

    if not callable(getattr(tool, "run", None)):
        raise TypeError("tool.py: it has no function run; expected def run(...)")
    try:
        inspect.signature(tool.run).bind(**dict.fromkeys(names))
    except TypeError as error:
        raise TypeError(f"tool.py: run does not take the arguments of its schema ({error}); expected {names}") from error
"""


async def probe(candidate: Candidate, programs: Programs) -> str:
    """Check that a harness runs.

    Its parts are read, its tools and middleware loaded in the sandbox, each hook called with samples, and then one
    rollout is made with canned replies: one call of the shell, then an answer. It uses neither a model nor a
    container.

    Returns:
        `""`, or one line that describes the problem.

    Raises:
        HostError: if the sandbox fails.
        IsolationError: if a program cannot be confined.
    """
    solver = harness_solver(candidate)
    if isinstance(solver, ConfigError):
        return _line(str(solver))
    return await _loaded(solver, programs) or await _tried(solver, programs)


async def _loaded(solver: Solver, programs: Programs) -> str:
    program = solver.parts.program
    if program is not None and (wrong := await _call(programs, program, _HOOKS, {})):
        return _line(f"agent/solver: {wrong}")
    for tool in solver.parts.tools:
        if tool.tree is not None and (wrong := await _call(programs, tool.tree, _TOOL, {"names": _names(tool)})):
            return _line(f"tool/{tool.name}: {wrong}")
    return ""


async def _call(programs: Programs, tree: SourceTree, text: str, arguments: Mapping[str, Any]) -> str:
    probing = tree.with_file(f"{_ENTRY}.py", text)
    return _wrong(await programs.call(probing, f"{_ENTRY}:run", arguments, seconds=PROGRAM_SECONDS))


async def _tried(solver: Solver, programs: Programs) -> str:
    conversation = Conversation(_Canned(), replace(_SETTINGS, program_seconds=PROGRAM_SECONDS))
    answer = await solver.attempt(Problem(_PROBLEM), conversation, programs, provided=[ProvidedTool(SHELL, _shell)])
    if answer.status == AnswerStatus.OK:
        return ""
    message = (
        conversation.notes[-1].strip().splitlines()[-1]
        if answer.status == AnswerStatus.PROGRAM_ERROR and conversation.notes
        else answer.detail
    )
    return _line(f"agent/solver: a trial ended with {answer.status}: {message}")


async def _shell(_: Mapping[str, Any]) -> str:
    return _PRINTED


@dataclass
class _Canned:
    """A model that calls the shell once, then answers."""

    name: str = "probe"

    async def reply(self, request: Request) -> Reply:
        """Return the next canned reply."""
        words = "\n".join(message.content for message in request.messages)
        if any(message.role in ("assistant", "tool") for message in request.messages):
            return Reply("Yes.", usage=NOTHING_USED)
        if any(tool.name == SHELL.name for tool in request.tools):
            call = ToolCall("call-1", SHELL.name, f'{{"command": "{_COMMAND}"}}')
            return Reply("I look.", (call,), "tool_calls", NOTHING_USED)
        if FORM in words:
            action = f'{{"action": "{SHELL.name}", "params": {{"command": "{_COMMAND}"}}}}'
            return Reply(f"<action>{action}</action>", usage=NOTHING_USED)
        return Reply("Yes.", usage=NOTHING_USED)


def _names(tool: Tool) -> list[str]:
    properties: Any = tool.parameters.get("properties")
    return list(properties) if isinstance(properties, Mapping) else []


def _wrong(result: ToolResult) -> str:
    return f"{result.error}: {result.message}" if result.error else ""


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST else f"{line[:_MOST]}…"


def _open(opening: Opening) -> Runner:
    assert opening.model is not None, "required"
    assert opening.backend is not None, "needed"
    return ContainerRunner(
        opening.model,
        backend=opening.backend,
        programs=opening.programs,
        settings=opening.settings,
        concurrent=min(opening.concurrent, 2 * len(os.sched_getaffinity(0))),
    )


def _public_data(task: Task) -> Mapping[str, Any]:
    return {"prompt": read_task(Path(task.spec["folder"])).instruction}


KIND = Kind(
    "container",
    _open,
    Needs(
        model="required",
        purpose="container tasks are worked on",
        offline="offline/shell-worker",
        programs=True,
        containers=True,
        calls=(4, 60),
        reads=(*CONVERSING, "limits.act_s", "engine.containers"),
    ),
    Candidates(probe=probe),
    shown=_public_data,
)
