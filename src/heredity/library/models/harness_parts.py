"""The parts of harnesses that `offline/harness-writer` writes: lessons in prompts and memories, a tool, and a middleware."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from heredity.library.models.lessons import LESSONS

PROMPT = "prompt/system:prompt.md"
TOOL = "tool/tables:tool.py"
TOOL_ABOUT = "tool/tables:resource.json"
MIDDLEWARE = "agent/solver:middleware/brief.py"
MOST = 5
"""How many lessons a prompt that is rewritten as a whole keeps."""

_SAYS = {lesson.says for lesson in LESSONS.values() if lesson.says}

TOOL_TEXT = '''"""Looks at a table in the task's container."""

import json
import shlex

from heredity_harness import shell


def run(path: str):
    """Say what a table is like: its first lines, how many lines there are, and whether cells are quoted."""
    program = (
        "import json, sys; lines = open(sys.argv[1], encoding='utf-8-sig').read().splitlines(); "
        "print(json.dumps({'first': lines[:3], 'lines': len(lines), 'quoted': any(chr(34) in line for line in lines)}))"
    )
    printed = shell(f"python3 -c {shlex.quote(program)} {shlex.quote(path)}")
    return next((json.loads(line) for line in printed.splitlines() if line.startswith("{")), {"problem": printed})
'''

TOOL_ABOUT_TEXT = json.dumps(
    {"description": "Looks at a table (CSV) in a file: says how it begins and whether cells are quoted."}
)

MIDDLEWARE_TEXT = '''"""Keeps the results of tools short: a long one makes the model lose sight of its notes."""

from heredity_harness import Middleware

MOST = 800


class Brief(Middleware):
    """Cuts the middle out of long results."""

    def after_tool(self, call, result):
        """Return the beginning and the end of a result."""
        if len(result) > MOST:
            result = f"{result[: MOST // 2]}\\n[…]\\n{result[-MOST // 2 :]}"
        return result
'''

CARELESS_TEXT = MIDDLEWARE_TEXT.replace("        return result\n", "")
"""The same without its last line, so that the hook returns nothing."""


def rewritten(text: str, fresh: Sequence[str], heeded: Sequence[str], chars: int) -> tuple[str, list[str]]:
    """Return a system prompt rewritten as a whole, and the lessons it holds: at most `MOST`, and no more than fit.

    Args:
        text: the current prompt.
        fresh: lessons to add, the most important first.
        heeded: lessons that rollouts applied; the prompt keeps these first.
        chars: maximum characters of the new text.
    """
    lines = text.rstrip().splitlines()
    old = [
        name for name, lesson in LESSONS.items() if lesson.says and any(_bare(line) == lesson.says for line in lines)
    ]
    base = "\n".join(line for line in lines if _bare(line) not in _SAYS)
    order = [*fresh, *(name for name in old if name in heeded), *old]
    kept: list[str] = []
    for name in dict.fromkeys(order):
        longer = "\n".join([base, *map(_bullet, [*kept, name])]) + "\n"
        if len(kept) < MOST and len(longer) <= chars:
            kept.append(name)
    return "\n".join([base, *map(_bullet, kept)]).lstrip("\n") + "\n", kept


def appended(variable: str, text: str, names: Sequence[str]) -> str:
    """Return the text of a prompt or memory with lessons appended in the file's form."""
    old = text.rstrip() + "\n" if text.strip() else ""
    if variable.endswith(".jsonl"):
        return old + "".join(json.dumps({"text": LESSONS[name].says}) + "\n" for name in names)
    return old + "".join(f"{_bullet(name)}\n" for name in names)


def place_of(texts: Mapping[str, str], new: Sequence[str]) -> str:
    """Return the variable to append lessons to: a memory, if one exists or may be added, else the system prompt."""
    memories = [name for name in texts if name.startswith("memory/") and name.endswith((".md", ".jsonl"))]
    if memories:
        return memories[0]
    return "memory/lessons:memory.md" if "memory/NAME:memory.md" in new and PROMPT not in texts else PROMPT


def edit(variable: str, value: str | None, why: str) -> dict[str, Any]:
    """Return one edit of a reply; None removes the file."""
    return {"variable": variable, "value": value, "why": why}


def because(names: Sequence[str]) -> str:
    """Return the reason for adding lessons, on one line."""
    return "attempts took it that " + ", or that ".join(LESSONS[name].lacked or "sorting never hurts" for name in names)


def _bullet(name: str) -> str:
    return f"- {LESSONS[name].says}"


def _bare(line: str) -> str:
    return line.strip().removeprefix("- ")
