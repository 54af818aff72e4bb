"""A store of resources, and a sandbox that is none: it runs the tools of these tests in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heredity.engine.actor import Service, ToolResult
from heredity.resources import Registry, SourceTree, Store

NUMBERS = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
TOOLS = {
    "add": ("def run(a, b):\n    return {'sum': a + b}\n", NUMBERS),
    "raise": ("def run():\n    raise ValueError('not today')\n", {}),
    "hang": ("def run():\n    while True:\n        pass\n", {}),
    "print": ("def run():\n    for _ in range(100):\n        print('x' * 1_000_000)\n    return 'printed'\n", {}),
    "vast": ("def run():\n    return 'x' * 100_000_000\n", {}),
    "odd": ("def run():\n    return 'half a pair: ' + chr(0xD800)\n", {}),
    "say": ("def run(text):\n    return text\n", {"type": "object", "properties": {"text": {"type": "string"}}}),
}


class OpenPrograms:
    """Runs functions without any confinement, and keeps what was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any], float]] = []

    async def call(
        self,
        tree: SourceTree,
        function: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        services: Mapping[str, Service] | None = None,
    ) -> ToolResult:
        self.calls.append((function, dict(arguments), seconds))
        space: dict[str, Any] = {}
        exec(tree.text(f"{function.split(':')[0]}.py"), space)
        try:
            return ToolResult(value=space[function.split(":")[1]](**arguments))
        except ValueError as error:
            return ToolResult(
                error="tool_error", message=f"ValueError: {error}", traceback="tool.py, line 2", stdout="hm"
            )


def filled(path: Path) -> Path:
    with Store(path) as store:
        registry = Registry(store)
        for name, (code, arguments) in TOOLS.items():
            registry.register("tool", name, {"tool.py": code}, {"description": f"does {name}", "arguments": arguments})
        skill = "---\nname: care\ndescription: how to take care\n---\n\nLook twice.\n"
        registry.register("tool", "care", {"SKILL.md": skill}, {"description": "how to take care"})
        registry.register(
            "prompt", "solver", "Solve {{question}} in {{unit}}; {{unit}} only.", {"description": "solves"}
        )
        registry.register("memory", "notes", {"a b/é.md": "check the units", "raw.bin": b"\xff\x00"})
    return path
