"""The parts of a solver's candidate, read and put into words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Any

from heredity.actors.contract import SOLVER, Problem
from heredity.actors.react import instructions
from heredity.actors.tools import Tool, read_tool, specs_of
from heredity.errors import ConfigError, UnknownNameError
from heredity.gateway import ToolSpec
from heredity.resources import Candidate, SourceTree
from heredity.resources.assembly import check_candidate, files_of, manifest_of
from heredity.resources.building import PROMPT

STYLES = ("tools", "react")
"""How a model calls tools: through its provider's interface, or in plain text (`heredity.actors.react`)."""

_PLACE = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_HEADINGS = {"memory": "Notes from earlier tasks:\n", "answer": "The answer to review:\n"}


@dataclass(frozen=True)
class Parts:
    """What a solver is made of.

    Attributes:
        prompts: each prompt's own name to its text.
        memories: each memory's own name to its text; those that hold nothing are left out.
        tools: its tools, by name.
        program: what drives the conversation; None leaves it to the model.
        style: one of `STYLES`.
    """

    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    memories: Mapping[str, str] = field(default_factory=dict[str, str])
    tools: tuple[Tool, ...] = ()
    program: SourceTree | None = None
    style: str = "tools"

    @property
    def system(self) -> str:
        """The system message: prompt, memories, and in the style `"react"` how to call tools; `""` for none."""
        return self.system_for(specs_of(self.tools))

    def system_for(self, tools: Sequence[ToolSpec]) -> str:
        """Return the system message where these are the tools, those that a task provides among them."""
        text = fill(self.prompts.get("system", ""), {"memory": "\n\n".join(self.memories.values())})
        if self.style == "react" and tools:
            return "\n\n".join(part for part in (text, instructions(tools)) if part)
        return text

    def question(self, problem: Problem) -> str:
        """Return the user's message that asks a problem."""
        return fill(self.prompts.get("question", ""), {"question": render(problem)})


def read_parts(candidate: Candidate) -> Parts:
    """Read a candidate. Nothing of it is run.

    Raises:
        ConfigError: if a part cannot be built, or is none that a solver has.
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
    """Put values into the `{{places}}` of a template; those without a place follow at its end, if they are not empty.

    Places that no value is meant for stay as they are, and so does what looks like a place inside of a value.
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
    """Return what names an option: A to Z, and numbers from 27 on."""
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
