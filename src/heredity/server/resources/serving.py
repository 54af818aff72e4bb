"""Serve a store of resources: on 127.0.0.1 over HTTP, with the Model Context Protocol under `/mcp`, or on stdin and stdout."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from heredity.actors.contract import Programs
from heredity.errors import MissingExtraError
from heredity.server.resources.connections import Connections
from heredity.server.serve import listening, tcp_socket


@contextlib.asynccontextmanager
async def serve_resources(
    store: Path, programs: Programs, *, port: int = 0, token: str | None = None, mcp: bool = True
) -> AsyncGenerator[str]:
    """Serve `/resources`, and `/mcp`, until the block ends; yields the base URL.

    Args:
        store: the file, which is created if there is none.
        programs: the sandbox that tools run in.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        token: what every request must bring as `Authorization: Bearer TOKEN`; None to ask for nothing.
        mcp: whether to serve the Model Context Protocol (streamable HTTP) too.

    Raises:
        ConfigError: if the port is in use.
        DamagedRecordError: if the store is damaged.
        MissingExtraError: if the protocol's package is not installed.
    """
    from starlette.routing import Route

    from heredity.server.resources.app import ResourceApp

    async with contextlib.AsyncExitStack() as stack:
        connections = stack.enter_context(Connections(store))
        routes: tuple[Route, ...] = ()
        if mcp:
            server = _mcp_server(connections, programs)
            from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

            # No sessions: nothing is kept between requests but the store.
            manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
            await stack.enter_async_context(manager.run())
            routes = (Route("/mcp", StreamableHTTPASGIApp(manager)),)
        app = ResourceApp(connections, programs, token=token, more=routes)
        tcp = stack.enter_context(tcp_socket(port))
        await stack.enter_async_context(listening([(app.asgi, tcp)]))
        yield f"http://127.0.0.1:{tcp.getsockname()[1]}"


async def serve_stdio(store: Path, programs: Programs) -> None:
    """Speak the Model Context Protocol on stdin and stdout until stdin ends; see `serve_resources`."""
    with Connections(store) as connections:
        server = _mcp_server(connections, programs)
        from mcp.server.stdio import stdio_server

        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


def _mcp_server(connections: Connections, programs: Programs) -> Any:
    try:
        from heredity.server.resources.mcp_server import mcp_server
    except ImportError as error:
        raise MissingExtraError("serving the Model Context Protocol", "mcp") from error
    return mcp_server(connections, programs)
