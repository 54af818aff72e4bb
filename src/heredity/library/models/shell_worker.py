"""`offline/shell-worker`: attempts the library's container tasks with a shell, well or badly depending on its harness.

It works on the 26 container tasks of the library through the tool `shell`, in two to four turns, and knows a script for
each. Its commands really run. It recognises a task by the words of its instruction; for any other it does nothing. Each
script fails in a specific way unless the worker has the lessons that the task needs (`heredity.library.models.lessons`):

- Words count anywhere in the system message. One clause has to hold the words of a lesson, such as `file names can
  contain spaces: always quote them`. Of more than 300 words it reads the first and the last 150;
  `offline/shell-worker-narrow`, of more than 100 the first and the last 50.
- A tool whose name or description mentions tables or CSV is called with the path of the table. It helps if its result
  says that cells are quoted (`"quoted": true`).
- A result of more than 1200 characters makes it lose all lessons. Middleware that shortens results fixes that.
- With probability 0.15, drawn from the task and the request's seed, it has all lessons of a task untaught.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from heredity._core.ids import generator
from heredity.library.models.follower import words_of
from heredity.library.models.lessons import BRIEF, LESSONS, TABLES, lessons_in, report
from heredity.models.contract import Message, Reply, Request, ToolCall, ToolSpec, Usage

SHELL = "shell"
"""The tool that it works through."""
SWAMPED = 1200
"""Characters of a tool's result beyond which it loses sight of every lesson."""
ATTENTION = 300
NARROW_ATTENTION = 100
LUCK = 0.15
"""Probability with which it takes care by itself, and has all lessons of a task: for each task and seed of the request."""

_MARK = re.compile(r" #([+-])(\w+)$")
_BEGUN = "# Work on"
_TABLE_TOOL = re.compile(r"\b(tables?|csv)\b", re.IGNORECASE)
_QUOTED = re.compile(r"quoted\W+(true|yes|[1-9])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Known:
    """A task that the worker knows.

    Attributes:
        name: its name.
        cues: words that all occur in its instruction.
        script: the marked lines of its script.
        looks: command that inspects the data first, `""` for none.
        table: the table that a tool may inspect, `""` for none.
        aside: an irrelevant assumption that it reports.
    """

    name: str
    cues: tuple[str, ...]
    script: str
    looks: str = ""
    table: str = ""
    aside: tuple[str, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:
        """The lessons that the task needs: those that change the script."""
        marked = {name for line in self.script.splitlines() for _, name in _split(line)[1]} - {"blunt"}
        return tuple(name for name in LESSONS if name in marked)

    def rendered(self, lessons: frozenset[str]) -> str:
        """Return the script for these lessons."""
        had = lessons | ({"blunt"} if "sort" in lessons and "order" not in lessons else set())
        split = map(_split, self.script.strip().splitlines())
        lines = (text for text, marks in split if all((name in had) == (sign == "+") for sign, name in marks))
        return "\n".join([f"{_BEGUN} {self.name}.", *lines]) + "\n"


@cache
def task_table() -> Mapping[str, Known]:
    """Return the tasks that the worker knows, by name."""
    text = files("heredity.library.models").joinpath("shell_tasks.toml").read_text(encoding="utf-8")
    given: dict[str, dict[str, Any]] = tomllib.loads(text)
    return {
        name: Known(
            name,
            tuple(task["cues"]),
            task["script"],
            task.get("looks", ""),
            task.get("table", ""),
            tuple(task.get("aside", ())),
        )
        for name, task in given.items()
    }


class ShellWorker:
    """Attempts the library's container tasks through the tool `shell`, in two to four turns.

    It knows a script for each, but has bad habits: scripts also need the lessons of `heredity.library.models.lessons`.
    It has a lesson if the system message teaches it (in its first or last words, if the message is long), and `tables`
    if it is offered a tool for tables that reports quoted cells. After an overlong tool result it has none. With some
    seeds it takes care unprompted.

    It declines unknown tasks. Deterministic in the request. Usage counts words.
    """

    name = "offline/shell-worker"
    attention = ATTENTION
    """Words of the system message that it takes in: the first half of them and the last half, where there are more."""

    async def reply(self, request: Request) -> Reply:
        """Answer a request."""
        text, calls = _answer(request, self.attention)
        usage = Usage(
            words_of(request.messages), len(text.split()) + sum(len(c.arguments.split()) for c in calls), 0, 0.0
        )
        return Reply(text, calls, "tool_calls" if calls else "stop", usage, self.name)


class NarrowShellWorker(ShellWorker):
    """The same with less attention: a second model for studies of harness transfer."""

    name = "offline/shell-worker-narrow"
    attention = NARROW_ATTENTION


def _answer(request: Request, attention: int) -> tuple[str, tuple[ToolCall, ...]]:
    asked = "\n".join(m.content for m in request.messages if m.role == "user")
    task = next((task for task in task_table().values() if all(cue in asked for cue in task.cues)), None)
    if task is None:
        return "I do not know this task, so I leave everything as it is.", ()
    if not any(tool.name == SHELL for tool in request.tools):
        return "I have no shell here, so I can do nothing.", ()
    called = [call for message in request.messages for call in message.tool_calls]
    commands = [_command(call) for call in called if call.name == SHELL]
    number = len(called) + 1
    if task.looks and task.looks not in commands:
        return "I look at the data.", (_call(number, SHELL, command=task.looks),)
    tool, argument = _table_tool(request.tools) if task.table else ("", "")
    if tool and all(call.name != tool for call in called):
        return "I have the table looked at.", (_call(number, tool, **{argument: task.table}),)
    lessons, swamped = _lessons(request, task, attention), _swamped(request.messages)
    if not any(command.startswith(_BEGUN) for command in commands):
        return "I do the work.", (_call(number, SHELL, command=task.rendered(lessons)),)
    lacked = [name for name in LESSONS if name in {*task.needs, *task.aside} and name not in lessons]
    blunt = "#+blunt" in task.script and "sort" in lessons and "order" not in lessons
    lacked += [BRIEF] if swamped else []
    return report(lacked, [name for name in task.needs if name in lessons], blunt), ()


def _lessons(request: Request, task: Known, attention: int) -> frozenset[str]:
    """Return the worker's lessons at this point of a conversation."""
    if _swamped(request.messages):
        return frozenset()
    system = " ".join(m.content for m in request.messages if m.role == "system")
    lessons = set(lessons_in(_attended(system, attention)))
    if any(m.role == "tool" and _QUOTED.search(m.content) for m in request.messages):
        lessons.add(TABLES)
    seed = request.sampling.seed
    if seed is not None:
        careful = generator(seed, "offline", "shell-worker", task.name).random() < LUCK
        lessons |= set(task.needs) if careful else set()
    return frozenset(lessons)


def _attended(text: str, attention: int) -> str:
    words = list(re.finditer(r"\S+", text))
    if len(words) <= attention:
        return text
    half = attention // 2
    return f"{text[: words[half - 1].end()]}\n{text[words[-half].start() :]}"


def _swamped(messages: tuple[Message, ...]) -> bool:
    return any(m.role == "tool" and len(m.content) > SWAMPED for m in messages)


def _table_tool(tools: tuple[ToolSpec, ...]) -> tuple[str, str]:
    """Return the name of a tool for tables, and of its first text argument; `""` if there is none."""
    for tool in tools:
        if tool.name != SHELL and _TABLE_TOOL.search(f"{tool.name} {tool.description}"):
            properties: Mapping[str, Any] = tool.parameters.get("properties") or {}
            for name, schema in properties.items():
                if isinstance(schema, dict) and schema.get("type", "string") == "string":  # type: ignore[reportUnknownMemberType]
                    return tool.name, name
    return "", ""


def _call(number: int, tool: str, **arguments: str) -> ToolCall:
    return ToolCall(f"call-{number}", tool, json.dumps(arguments, ensure_ascii=False))


def _command(call: ToolCall) -> str:
    try:
        given: Any = json.loads(call.arguments)
    except ValueError:
        return ""
    return str(given.get("command", "")) if isinstance(given, dict) else ""  # type: ignore[reportUnknownMemberType]


def _split(line: str) -> tuple[str, list[tuple[str, str]]]:
    """Return a line of a script without its marks, and the marks as sign and lesson."""
    marks: list[tuple[str, str]] = []
    while mark := _MARK.search(line):
        marks.append((mark[1], mark[2]))
        line = line[: mark.start()]
    return line, marks
