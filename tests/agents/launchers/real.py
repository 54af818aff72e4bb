"""Real coding agents with the tools that their makers' models know: how each runs a command, writes a file and edits one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.agents.launchers.scripts import Call, write_turns

from heredity.agents.launchers.registry import programs

Edit = tuple[str, str]
"""A text of a file, and what is to stand in its place; both are whole lines."""


@dataclass(frozen=True)
class Real:
    """A program under a model's name, which decides the tools that it offers.

    Attributes:
        launcher: its launcher.
        model: the model's name.
        tool: a tool that it always offers.
        shell: a call that runs a command.
        write: a call that writes a new file of the workspace.
        edit: calls that edit a file of the workspace.
    """

    launcher: str
    model: str
    tool: str
    shell: Callable[[str], Call]
    write: Callable[[str, str], Call]
    edit: Callable[[str, Sequence[Edit]], list[Call]]

    def driven_by(self, turns: Sequence[Call | str], folder: Path) -> str:
        """Write a model that takes these turns; return its name for the gateway. Skip the test where the program is missing."""
        if not programs()[self.launcher].installed:
            pytest.skip(f"{self.launcher} is not installed; heredity agents install {self.launcher}")
        write_turns(folder / self.model, turns, self.tool)
        return f"scripted/{folder}/{self.model}"


def _marked(mark: str, text: str) -> str:
    return "".join(f"{mark}{line}\n" for line in text.splitlines())


def _added(path: str, text: str) -> str:
    return f"*** Begin Patch\n*** Add File: {path}\n{_marked('+', text)}*** End Patch\n"


def _patched(path: str, edits: Sequence[Edit]) -> str:
    hunks = "".join(f"@@\n{_marked('-', old)}{_marked('+', new)}" for old, new in edits)
    return f"*** Begin Patch\n*** Update File: {path}\n{hunks}*** End Patch\n"


def _bash(text: str) -> Call:
    return "Bash", {"command": text, "description": "one step"}


def _claude_edits(path: str, edits: Sequence[Edit]) -> list[Call]:
    place = {"file_path": f"/workspace/{path}"}
    return [("Read", place), *(("Edit", {**place, "old_string": old, "new_string": new}) for old, new in edits)]


def _script(name: str, given: object) -> Call:
    """Return a call of Codex's `exec`, whose input is a program that calls the other tools."""
    source = f"const r = await tools.{name}({json.dumps(given)}); text(typeof r === 'string' ? r : r.output ?? '');"
    return "functions__exec", {"input": source}


REAL = {
    "claude-code": Real(
        "claude-code",
        "claude-sonnet-4-5",
        "Bash",
        _bash,
        lambda path, text: ("Write", {"file_path": f"/workspace/{path}", "content": text}),
        _claude_edits,
    ),
    "codex, patches": Real(
        "codex",
        "gpt-5.5",
        "exec_command",
        lambda text: ("exec_command", {"cmd": text, "yield_time_ms": 30_000}),
        lambda path, text: ("apply_patch", {"input": _added(path, text)}),
        lambda path, edits: [("apply_patch", {"input": _patched(path, edits)})],
    ),
    "codex, scripts": Real(
        "codex",
        "gpt-6.1-sol",
        "functions__exec",
        lambda text: _script("exec_command", {"cmd": text, "yield_time_ms": 25_000}),
        lambda path, text: _script("apply_patch", _added(path, text)),
        lambda path, edits: [_script("apply_patch", _patched(path, edits))],
    ),
}
each_real = pytest.mark.parametrize("real", REAL.values(), ids=REAL.keys())
