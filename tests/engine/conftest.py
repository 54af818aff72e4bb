"""What the tests of sandboxed programs share: one set of them for each module, since each starts a zygote."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio

from heredity.engine.actor import ToolResult
from heredity.engine.programs import ProgramLimits, SandboxedPrograms
from heredity.resources import SourceTree

PROGRAM_LIMITS = ProgramLimits(memory_bytes=256 << 20, init_s=2.0, wall_s=20.0, result_bytes=1 << 16)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def programs() -> AsyncIterator[SandboxedPrograms]:
    async with SandboxedPrograms(2, PROGRAM_LIMITS) as running:
        yield running


@pytest.fixture
def run(programs: SandboxedPrograms) -> Callable[..., Awaitable[ToolResult]]:
    """Call the function `run` of a program with the given lines in it."""

    async def call(body: str, *, top: str = "", seconds: float = 2.0, **options: Any) -> ToolResult:
        lines = "".join(f"    {line}\n" for line in body.splitlines())
        tree = SourceTree({"tool.py": f"{top}\ndef run():\n{lines}"})
        return await programs.call(tree, "tool:run", {}, seconds=seconds, **options)

    return call
