"""Harnesses for tests: candidates whose program is a few lines, and models that call the shell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from heredity.models import Reply, Request, ToolCall
from heredity.models.scripted import Scripted
from heredity.resources import Candidate, SourceTree

LOOP = """
from heredity_harness import Harness, Message

def solve(problem, host):
    harness = Harness(host, __file__)
    messages = [Message("user", host["question"])]
    for _ in range(host["turns"]):
        reply = harness.model(messages)
        messages.append(reply.message)
        if not reply.tool_calls:
            return reply.text
        messages += [harness.tool(call) for call in reply.tool_calls]
    return "no turns are left"
"""


def harness(program: str | None = LOOP, middleware: str = "", **files: str) -> Candidate:
    """A candidate with a program, and a middleware whose class has the given lines; `files` are by part, `tool_x="…"`."""
    parts: dict[str, SourceTree] = {"prompt/system": SourceTree({"prompt.md": "Work in the shell."})}
    if program is not None:
        own = {"agent.py": program}
        if middleware:
            lines = "".join(f"    {line}\n" for line in middleware.splitlines())
            own["middleware/one.py"] = f"from heredity_harness import *\n\nclass One(Middleware):\n{lines}"
        parts["agent/solver"] = SourceTree(own)
    for key, text in files.items():
        kind, _, name = key.partition("_")
        tree = {"tool": "tool.py", "memory": "memory.md"}[kind]
        about = {"resource.json": json.dumps({"description": f"Does {name}."})} if kind == "tool" else {}
        parts[f"{kind}/{name}"] = SourceTree({tree: text, **about})
    return Candidate(parts)


def with_files(candidate: Candidate, files: Mapping[str, str]) -> Candidate:
    """Return a candidate with more files in agent/solver."""
    tree = SourceTree({**candidate.parts["agent/solver"], **files})
    return Candidate({**candidate.parts, "agent/solver": tree})


def calling(*commands: str, tool: str = "shell") -> Scripted:
    """A model that has these commands run, one in each turn, and then says that it is done."""

    def reply(request: Request) -> Reply | str:
        made = sum(message.role == "assistant" for message in request.messages)
        return asks(tool, {"command": commands[made]}, made) if made < len(commands) else "done"

    return Scripted(reply)


def asks(tool: str, arguments: Mapping[str, object], number: int = 0) -> Reply:
    """A reply that calls one tool."""
    return Reply("", (ToolCall(f"call-{number}", tool, json.dumps(arguments)),), "tool_calls")


def results(rows: Sequence[Mapping[str, object]]) -> list[str]:
    """What the model was told after each of its replies but the last."""
    return [str(row["obs"]).removeprefix("[tool]\n") for row in rows[1:]]
