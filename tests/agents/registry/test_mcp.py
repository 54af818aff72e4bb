"""The `mcp` package's own client against the server: in this process, over HTTP, and over the pipes of a real one."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from tests.agents.registry.fakes import NUMBERS, OpenPrograms, filled

from heredity._core.errors import IsolationError
from heredity.agents.registry import Connections, serve_resources
from heredity.agents.registry.mcp_server import mcp_server
from heredity.engine.programs import SandboxedPrograms
from heredity.engine.resource_runs import ResourceRuns
from heredity.resources import Registry, Store
from heredity.sandbox import isolation


def confined() -> bool:
    try:
        isolation.resolve()
    except IsolationError:
        return False
    return True


needs_a_sandbox = pytest.mark.skipif(not confined(), reason="programs cannot be confined on this machine")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return filled(tmp_path / "s.db")


@asynccontextmanager
async def connected(store: Path, programs: Any = None, seconds: float = 3) -> AsyncGenerator[Client]:
    with Connections(store, threads=1) as connections:
        async with Client(mcp_server(connections, ResourceRuns(programs or OpenPrograms(), seconds=seconds))) as client:
            yield client


def said(result: Any) -> str:
    return "".join(block.text for block in result.content)


async def test_tools_are_listed_with_their_schema(store: Path) -> None:
    async with connected(store) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert sorted(tools) == ["add", "care", "hang", "odd", "print", "raise", "say", "vast"]
        assert (tools["add"].description, tools["add"].title) == ("does add", "tool/add@1.0.0")
        assert tools["add"].input_schema == NUMBERS
        assert tools["raise"].input_schema["properties"] == {}


async def test_a_tool_is_called(store: Path) -> None:
    async with connected(store) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
        assert (result.is_error, said(result), result.structured_content) == (False, '{"sum": 3}', {"sum": 3})
        result = await client.call_tool("say", {"text": "grüß"})
        assert (said(result), result.structured_content) == ("grüß", None)
        assert said(await client.call_tool("odd")) == "half a pair: ?"
        assert "Look twice." in said(await client.call_tool("care"))


async def test_what_goes_wrong_in_a_tool_is_a_result_for_the_model(store: Path) -> None:
    async with connected(store) as client:
        result = await client.call_tool("raise")
        assert result.is_error
        assert said(result) == "tool/raise@1.0.0: tool_error: ValueError: not today\ntool.py, line 2\nstdout: hm"
        result = await client.call_tool("add", {"a": "one"})
        assert (result.is_error, "add@1.0.0 has no b" in said(result)) == (True, True)


async def test_what_is_not_there_is_an_error_of_the_protocol(store: Path) -> None:
    async with connected(store) as client:
        with pytest.raises(MCPError, match="did you mean add"):
            await client.call_tool("ad")
        with pytest.raises(MCPError, match="did you mean solver"):
            await client.get_prompt("solvr")
        with pytest.raises(MCPError, match="takes question, unit, and was given question"):
            await client.get_prompt("solver", {"question": "2+2"})
        with pytest.raises(MCPError, match="unknown file of memory/notes"):
            await client.read_resource("heredity://memory/notes/none")
        with pytest.raises(MCPError, match="unknown resource"):
            await client.read_resource("file:///etc/passwd")


async def test_prompts_have_their_places_as_arguments(store: Path) -> None:
    async with connected(store) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.description) == ("solver", "solves")
        assert [(a.name, a.required) for a in prompt.arguments or []] == [("question", True), ("unit", True)]
        filled_in = await client.get_prompt("solver", {"question": "2+2", "unit": "m"})
        assert filled_in.messages[0].role == "user"
        assert getattr(filled_in.messages[0].content, "text", "") == "Solve 2+2 in m; m only."


async def test_memories_are_resources(store: Path) -> None:
    async with connected(store) as client:
        resources = {resource.name: resource for resource in (await client.list_resources()).resources}
        assert sorted(resources) == ["notes/a b/é.md", "notes/raw.bin"]
        (content,) = (await client.read_resource(resources["notes/a b/é.md"].uri)).contents
        assert getattr(content, "text", "") == "check the units"
        (content,) = (await client.read_resource(resources["notes/raw.bin"].uri)).contents
        assert getattr(content, "blob", "") == "/wA="


async def test_what_changes_in_the_store_is_seen_by_the_next_list(store: Path) -> None:
    async with connected(store) as client:
        assert said(await client.call_tool("say", {"text": "x"})) == "x"
        with Store(store) as opened:
            registry = Registry(opened)
            registry.unregister("tool", "add")
            registry.update(
                "tool", "say", {"tool.py": "def run(text):\n    return text + '!'\n"}, {"description": "shouts"}
            )
            registry.register("tool", "new", {"tool.py": "def run():\n    return 1\n"}, {"description": "is new"})
            registry.register("prompt", "fresh", "Now {{then}}")
        tools = {tool.name: tool.description for tool in (await client.list_tools()).tools}
        assert "add" not in tools
        assert (tools["new"], tools["say"]) == ("is new", "shouts")
        assert said(await client.call_tool("say", {"text": "x"})) == "x!"
        with pytest.raises(MCPError, match="unregistered"):
            await client.call_tool("add", {"a": 1, "b": 2})
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["fresh", "solver"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_over_http_with_a_token(store: Path, mode: str) -> None:
    async with (
        serve_resources(store, ResourceRuns(OpenPrograms()), token="secret") as url,
        httpx2.AsyncClient(headers={"authorization": "Bearer secret"}) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        assert len((await client.list_tools()).tools) == 8
        assert said(await client.call_tool("add", {"a": 1, "b": 2})) == '{"sum": 3}'
        assert (await client.call_tool("raise")).is_error


@needs_a_sandbox
async def test_tools_of_all_kinds_are_confined_and_bounded(store: Path, tmp_path: Path) -> None:
    with Store(store) as opened:
        code = f"import os\n\ndef run():\n    open({str(tmp_path / 'mark')!r}, 'w')\n"
        Registry(opened).register("tool", "escape", {"tool.py": code}, {"description": "writes where it may not"})
    async with SandboxedPrograms() as programs, connected(store, programs) as client:
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"sum": 3}
        failed = await client.call_tool("raise")
        assert failed.is_error
        assert "tool_error: ValueError: not today" in said(failed)
        assert "line 2, in run" in said(failed)
        hanging = await client.call_tool("hang")
        assert (hanging.is_error, "timeout" in said(hanging)) == (True, True)
        printed = await client.call_tool("print")
        assert (printed.is_error, said(printed)) == (False, "printed")
        escaped = await client.call_tool("escape")
        assert (escaped.is_error, "Error" in said(escaped)) == (True, True)
    async with SandboxedPrograms() as programs, connected(store, programs, seconds=300) as client:
        vast = await client.call_tool("vast")
        assert (vast.is_error, "output" in said(vast), len(said(vast)) < 10_000) == (True, True, True)
    assert not (tmp_path / "mark").exists()


@needs_a_sandbox
async def test_over_the_pipes_of_a_real_server(store: Path) -> None:
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parents[3] / "src"), os.environ.get("PYTHONPATH")]))
    command = ["-m", "heredity", "resources", "serve", "--mcp", "stdio", "--store", str(store)]
    server = StdioServerParameters(command=sys.executable, args=command, env={"PYTHONPATH": paths})
    async with Client(server) as client:
        assert len((await client.list_tools()).tools) == 8
        assert (await client.call_tool("add", {"a": 1, "b": 2})).structured_content == {"sum": 3}
        assert "not today" in said(await client.call_tool("raise"))
        assert (await client.call_tool("vast")).is_error
        assert (await client.list_prompts()).prompts[0].name == "solver"
        with Store(store) as opened:
            Registry(opened).unregister("tool", "add")
        assert len((await client.list_tools()).tools) == 7
