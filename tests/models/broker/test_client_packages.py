"""A matrix of client packages and what they do: every cell is green, or refused with a reason that the manual gives.

Packages that are not installed are skipped. `HEREDITY_CLIENTS` names a folder of environments, one for each package,
since they cannot all live in one: `FOLDER/PACKAGE/bin/python`; and `FOLDER/node` for the packages of npm.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.models.broker.client_programs import CELLS, PACKAGES, importable, main
from tests.models.broker.fakes import TOKEN, USED, Bench, FakeModel, bench

from heredity.models import Reply, Request, ToolCall
from heredity.models.broker import Account

FOLDER = Path(os.environ.get("HEREDITY_CLIENTS", "/nonexistent"))
PROGRAM = Path(__file__).parent / "client_programs.py"
NODE_PROGRAM = PROGRAM.with_suffix(".mjs")
NODE_PACKAGES = ("ai-openai", "ai-openai-responses", "ai-anthropic", "ai-google", "google-genai-js")
SIMPLE = ("openai", "openai-responses", "anthropic", "google-genai")
"""Programs that the environment of the tests can run quickly."""


def answer(request: Request) -> Reply:
    """Answer any of the programs' questions in the form that was asked for."""
    images = sum(len(message.images) for message in request.messages)
    # Packages wrap results in their own ways, some as a user's text.
    told = any("cold in Oslo" in message.content for message in request.messages)
    forecast = json.dumps({"city": "Oslo", "degrees": 4 + images})
    tools = {tool.name for tool in request.tools}
    if "format" in request.options:
        return Reply(forecast, usage=USED)
    if "Forecast" in tools:
        return _calling("Forecast", forecast)
    if "weather" in tools and not told:
        return _calling("weather", '{"city": "Oslo"}')
    if "final_answer" in tools:
        return _calling("final_answer", '{"answer": "It is cold in Oslo."}')
    if told:
        return Reply("It is cold in Oslo.", usage=USED)
    return Reply(f"I see {images} pictures." if images else "It is cold today.", usage=USED)


def _calling(name: str, arguments: str) -> Reply:
    return Reply("", (ToolCall("call_1", name, arguments),), "tool_calls", USED)


class Answering(FakeModel):
    options = frozenset(("format", "thinking", "parallel_tool_calls"))

    def __init__(self) -> None:
        super().__init__(answer)


def expected(package: str, cell: str) -> Any:
    if cell == "structured" or package == "instructor":
        return {"city": "Oslo", "degrees": 5 if cell == "images" else 4}
    return {"tools": "It is cold in Oslo.", "images": "I see 1 pictures."}.get(cell, "It is cold today.")


@pytest.fixture
async def table() -> AsyncGenerator[Bench]:
    async with bench({"m": Answering()}, Account("run", {"*": "m"}, token=TOKEN)) as served:
        yield served


async def run(*command: str) -> Any:
    """Run a program; return what it printed."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "NODE_NO_WARNINGS": "1"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe, env=environment)
    out, err = await process.communicate()
    assert process.returncode == 0, err.decode()[-3000:]
    return json.loads(out.decode().splitlines()[-1])


def python_of(package: str) -> str:
    installed = FOLDER / package / "bin" / "python"
    if installed.exists():
        return str(installed)
    if not importable(package):
        pytest.skip(f"{package}: {PACKAGES[package]} is not installed, and HEREDITY_CLIENTS has no environment of it")
    return sys.executable


@pytest.mark.parametrize("package", SIMPLE)
async def test_the_vendors_packages_do_what_they_do_elsewhere(table: Bench, package: str) -> None:
    if not importable(package):
        pytest.skip(f"{PACKAGES[package]} is not installed")
    got = {cell: await asyncio.to_thread(main, package, cell, table.url, TOKEN) for cell in CELLS}
    assert got == {cell: expected(package, cell) for cell in CELLS}


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("package", [package for package in PACKAGES if package not in SIMPLE])
async def test_other_packages_do_what_they_do_elsewhere(table: Bench, package: str, cell: str) -> None:
    got = await run(python_of(package), str(PROGRAM), package, cell, table.url, TOKEN)
    assert got == expected(package, cell)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("package", NODE_PACKAGES)
async def test_packages_of_npm_do_what_they_do_elsewhere(table: Bench, package: str, cell: str, tmp_path: Path) -> None:
    modules, node = FOLDER / "node" / "node_modules", shutil.which("node")
    if node is None or not modules.is_dir():
        pytest.skip("node is not installed, or HEREDITY_CLIENTS has no folder node with the packages")
    (tmp_path / "node_modules").symlink_to(modules)
    program = shutil.copy(NODE_PROGRAM, tmp_path)
    assert await run(node, str(program), package, cell, table.url, TOKEN) == expected(package, cell)
