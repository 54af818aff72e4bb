"""Probing: whether a harness can be run at all, found out before it costs a rollout.

The first half of the contract gate: the harness is loaded, its hooks are called with samples, and it is run once with a model
and a shell that are not there. That finds the paper's worst events (SEAGym, appendix C.3 and C.4): a middleware that breaks the
message contract fails every task from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from heredity.actors.contract import Problem, Programs, ProvidedTool, Solving, ToolResult
from heredity.actors.conversation import Conversation
from heredity.actors.react import FORM
from heredity.actors.solver import Solver
from heredity.actors.tools import Tool
from heredity.errors import ConfigError
from heredity.gateway import Reply, Request, ToolCall
from heredity.gateway.contract import NOTHING_USED
from heredity.resources import Candidate, SourceTree
from heredity.results.status import AnswerStatus
from heredity.rollouts.container.runner import harness_solver
from heredity.rollouts.container.shell import SHELL

PROGRAM_SECONDS = 10.0
"""What loading a part, calling its hooks and the trial may each take."""

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
    """Find out whether a harness can be run.

    Its parts are read, its tools and middleware loaded in the sandbox, each hook called with samples, and then one rollout is
    made in which the model calls the shell once and says that it is done. No model and no container is used.

    Returns:
        `""` if nothing is wrong, or one line that says what is.

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
    """Calls the shell once, and then is done."""

    name: str = "probe"

    async def reply(self, request: Request) -> Reply:
        """Answer as a model would that has little to do."""
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
