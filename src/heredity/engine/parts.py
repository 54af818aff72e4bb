"""Reading and rendering the parts of a solver's candidate."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from heredity._core.errors import ConfigError, UnknownNameError
from heredity.engine.actor import SOLVER, Problem
from heredity.engine.react import instructions
from heredity.engine.tools import Tool, read_tool, specs_of
from heredity.models import ToolSpec
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import check_candidate, files_of, manifest_of
from heredity.resources.building import PROMPT

STYLES = ("tools", "react")
"""Styles of calling tools: the provider's interface, or plain text (`heredity.engine.react`)."""

_PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_HEADINGS = {"memory": "Notes from earlier tasks:\n", "answer": "The answer to review:\n"}


@dataclass(frozen=True)
class Parts:
    """The parts of a solver.

    Attributes:
        prompts: texts by prompt name.
        memories: texts by memory name (without empty ones).
        tools: its tools, by name.
        program: the program that drives the conversation; None leaves it to the model.
        style: one of `STYLES`.
    """

    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    memories: Mapping[str, str] = field(default_factory=dict[str, str])
    tools: tuple[Tool, ...] = ()
    program: SourceTree | None = None
    style: str = "tools"

    @property
    def system(self) -> str:
        """The system message: prompt, memories, and in the style `"react"` instructions for calling tools; may be `""`."""
        return self.system_for(specs_of(self.tools))

    def system_for(self, tools: Sequence[ToolSpec]) -> str:
        """Return the system message for these tools, including those that a task provides."""
        text = fill(self.prompts.get("system", ""), {"memory": "\n\n".join(self.memories.values())})
        if self.style == "react" and tools:
            return "\n\n".join(part for part in (text, instructions(tools)) if part)
        return text

    def question(self, problem: Problem) -> str:
        """Return the user's message with the problem."""
        return fill(self.prompts.get("question", ""), {"question": render(problem)})


def read_parts(candidate: Candidate) -> Parts:
    """Read a candidate without running any of it.

    Raises:
        ConfigError: if a part is malformed or unknown to solvers.
    """
    check_candidate(candidate)
    prompts: dict[str, str] = {}
    memories: dict[str, str] = {}
    tools: list[Tool] = []
    for name, part in candidate.parts.items():
        type_, _, own = name.partition("/")
        if type_ == "prompt":
            prompts[own] = part.text(PROMPT).strip()
        elif type_ == "tool":
            tools.append(read_tool(own, part))
        elif type_ == "memory":
            memories[own] = _memory(name, part)
        elif name != SOLVER:
            raise ConfigError(f"a solver has no part {name!r}; it has prompt/…, tool/…, memory/… and {SOLVER}")
    program = candidate.parts.get(SOLVER)
    if program is not None and "agent.py" not in program:
        raise ConfigError(f"{SOLVER} has no agent.py (it has {', '.join(program)}); add it, with solve(problem, host)")
    style = (
        manifest_of(candidate.parts["prompt/system"]).parameters.get("style", "tools")
        if "system" in prompts
        else "tools"
    )
    if style not in STYLES:
        raise UnknownNameError("style of prompt/system", str(style), STYLES)
    filled = {name: text for name, text in memories.items() if text}
    return Parts(prompts, filled, tuple(tools), files_of(program) if program else None, str(style))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Replace the `{{placeholders}}` of a template; non-empty values without a placeholder are appended.

    Placeholders without a value stay as they are, and so do placeholders inside values.
    """
    places = set(_PLACE.findall(template))
    text = _PLACE.sub(lambda match: values.get(match[1], match[0]), template)
    rest = [_HEADINGS.get(name, "") + value for name, value in values.items() if value and name not in places]
    return "\n\n".join(part for part in (text, *rest) if part)


def render(problem: Problem) -> str:
    """Return a problem as text: the question, the options as lines `A) …`, the instructions."""
    options = "\n".join(f"{letter_of(i)}) {choice}" for i, choice in enumerate(problem.choices))
    return "\n\n".join(part for part in (problem.text, options, problem.instructions) if part)


def letter_of(index: int) -> str:
    """Return an option's label: A to Z, then numbers from 27 on."""
    return ascii_uppercase[index] if index < len(ascii_uppercase) else str(index + 1)


def _memory(label: str, part: SourceTree) -> str:
    if "memory.jsonl" not in part and "memory.md" not in part:
        raise ConfigError(f"{label} has neither memory.jsonl nor memory.md (it has {', '.join(part)}); add one of them")
    lines = [
        f"- {_entry(f'memory.jsonl:{number} of {label}', line)}"
        for number, line in enumerate(part.text("memory.jsonl").splitlines() if "memory.jsonl" in part else (), 1)
    ]
    text = part.text("memory.md").strip() if "memory.md" in part else ""
    return "\n\n".join(piece for piece in (text, "\n".join(lines)) if piece)


def _entry(where: str, line: str) -> str:
    value: Any = json.loads(line)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise ConfigError(f'{where} is {line[:80]!r}; expected an object with a text, {{"text": "…"}}')
    return value["text"]
