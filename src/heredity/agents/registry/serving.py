"""Serve a store of resources: on 127.0.0.1 over HTTP, with the Model Context Protocol under `/mcp`, or on stdin and stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import AsyncGenerator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from heredity._core.errors import MissingExtraError
from heredity._core.http import listening, tcp_socket
from heredity.agents.registry.connections import Connections
from heredity.engine.resource_runs import ResourceRuns

_MAX_LINE = 64 << 20


@contextlib.asynccontextmanager
async def serve_resources(
    store: Path,
    runs: ResourceRuns,
    *,
    port: int = 0,
    token: str | None = None,
    mcp: bool = True,
    operators: bool = False,
) -> AsyncGenerator[str]:
    """Serve `/resources`, and `/mcp`, until the block ends; yields the base URL.

    Args:
        store: the file, created if missing.
        runs: runs resources.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        token: required in every request as `Authorization: Bearer TOKEN`; None for no token.
        mcp: serve the Model Context Protocol (streamable HTTP) too.
        operators: offer the registry's operators over it as well, as tools.

    Raises:
        ConfigError: if the port is in use.
        DamagedRecordError: if the store is damaged.
        MissingExtraError: if the protocol's package is not installed.
    """
    from starlette.routing import Route

    from heredity.agents.registry.app import ResourceApp

    if mcp:
        need_mcp()
    async with contextlib.AsyncExitStack() as stack:
        # Before opening the store, which creates a missing one.
        tcp = stack.enter_context(tcp_socket(port))
        connections = stack.enter_context(Connections(store))
        routes: tuple[Route, ...] = ()
        if mcp:
            server = _mcp_server(connections, runs, operators=operators)
            from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

            # Sessions are off: between requests only the store persists.
            manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
            await stack.enter_async_context(manager.run())
            routes = (Route("/mcp", StreamableHTTPASGIApp(manager)),)
        app = ResourceApp(connections, runs, token=token, more=routes)
        await stack.enter_async_context(listening([(app.asgi, tcp)]))
        yield f"http://127.0.0.1:{tcp.getsockname()[1]}"


async def serve_stdio(store: Path, runs: ResourceRuns, *, operators: bool = False) -> None:
    """Speak the Model Context Protocol on stdin and stdout until stdin ends; see `serve_resources`."""
    need_mcp()
    with Connections(store) as connections:
        server = _mcp_server(connections, runs, operators=operators)
        await run_on_stdio(server)


async def run_on_stdio(server: Any) -> None:
    """Run a server of the package `mcp` on stdin and stdout until stdin ends."""
    from mcp.server.stdio import stdio_server

    async with _stdin_lines() as lines, stdio_server(stdin=lines) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


@contextlib.asynccontextmanager
async def _stdin_lines() -> AsyncGenerator[Any]:
    """Yield the lines of stdin if it is a pipe; None, for the package's thread, if it is a terminal or a file.

    A reading thread cannot be cancelled, and the server would not end before its client sends something.
    """
    given, other = os.fstat(0), os.fstat(1)
    if not (stat.S_ISFIFO(given.st_mode) or stat.S_ISSOCK(given.st_mode)) or given.st_ino == other.st_ino:
        yield None
        return
    reader = asyncio.StreamReader(limit=_MAX_LINE)
    pipe = os.fdopen(os.dup(0), "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        yield _decoded(reader)
    finally:
        transport.close()


async def _decoded(reader: asyncio.StreamReader) -> AsyncGenerator[str]:
    async for line in reader:
        yield line.decode("utf-8", "replace")


def need_mcp() -> None:
    """Raise MissingExtraError where the protocol's package is not installed."""
    if find_spec("mcp") is None:
        raise MissingExtraError("serving the Model Context Protocol", "mcp")


def _mcp_server(connections: Connections, runs: ResourceRuns, *, operators: bool) -> Any:
    from heredity.agents.registry.mcp_server import mcp_server

    return mcp_server(connections, runs, operators=operators)
