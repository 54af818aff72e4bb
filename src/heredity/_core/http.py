"""HTTP server for one run's application on 127.0.0.1 and a Unix socket, inside the running event loop."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
import socket
from collections.abc import AsyncGenerator, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import ConfigError

MOST_CONNECTIONS = 256
"""Maximum simultaneous connections to one socket."""

_BACKLOG = 128
_STOP_S = 5


@dataclass(frozen=True, slots=True)
class Endpoints:
    """Addresses of a served application.

    Attributes:
        url: base URL on 127.0.0.1 with the run's token as its path, without a trailing slash.
        unix: path of the Unix socket, which only this user can open; it needs no token.
    """

    url: str
    unix: Path


@contextlib.asynccontextmanager
async def serve(app: Any, *, port: int = 0) -> AsyncGenerator[Endpoints]:
    """Serve an ASGI application until the block ends; requests in flight then get a few seconds.

    Args:
        app: the application.
        port: TCP port on 127.0.0.1 (0 takes a free one).

    Raises:
        ConfigError: if the port is in use or not permitted.
    """
    token = secrets.token_urlsafe(18)
    # The path of a Unix socket is limited to about 100 characters, so it is not in the run's folder.
    with EngineFolder() as folder, tcp_socket(port) as tcp, unix_socket(folder / "session.sock") as unix:
        async with listening([(_TokenGate(app, token), tcp), (app, unix)]):
            yield Endpoints(f"http://127.0.0.1:{tcp.getsockname()[1]}/{token}", folder / "session.sock")


@contextlib.asynccontextmanager
async def listening(served: Sequence[tuple[Any, socket.socket]]) -> AsyncGenerator[None]:
    """Serve ASGI applications, each on its socket, until the block ends; requests in flight then get a few seconds."""
    servers = [_Server(_config(app)) for app, _ in served]
    tasks = [
        asyncio.create_task(server.serve(sockets=[sock])) for server, (_, sock) in zip(servers, served, strict=True)
    ]
    try:
        await _until_started(servers, tasks)
        yield
    finally:
        for server in servers:
            server.should_exit = True
        await asyncio.gather(*tasks)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:  # pyright: ignore[reportIncompatibleMethodOverride]
        # The program that owns the loop handles interrupts.
        yield


class _Connection(H11Protocol):
    """Connection. With too many, the one that is idle longest is closed, or else the newest.

    Otherwise clients that connect without a request, or never finish one, would exhaust the program's descriptors.
    """

    heard = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)  # pyright: ignore[reportArgumentType]
        self.heard = self.loop.time()
        connections: set[_Connection] = cast(Any, self.connections)
        if len(connections) > MOST_CONNECTIONS:
            idle = [other for other in connections if other is not self and other.asks_nothing]
            min(idle, key=lambda other: other.heard, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        self.heard = self.loop.time()
        super().data_received(data)

    @property
    def asks_nothing(self) -> bool:
        """True if it is not answering a complete request."""
        cycle: Any = self.cycle
        return cycle is None or cycle.response_complete or cycle.more_body


class _TokenGate:
    """Gate that passes requests whose path starts with the token, and removes the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        first, _, rest = str(scope.get("path", "")).removeprefix("/").partition("/")
        if scope["type"] != "http" or not hmac.compare_digest(first.encode(), self._token.encode()):
            await _refuse(scope, send)
            return
        await self._app({**scope, "path": "/" + rest, "raw_path": ("/" + rest).encode()}, receive, send)


async def _refuse(scope: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    body = b'{"status": "invalid_request", "error": {"message": "unknown address; use the URL of the run"}}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 404, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _config(app: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Connection,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=_STOP_S,
    )


def tcp_socket(port: int) -> socket.socket:
    """Return a socket that listens on 127.0.0.1; port 0 takes a free one.

    Raises:
        ConfigError: if the port is in use or not permitted.
    """
    # IPPROTO_TCP is explicit, as asyncio sets TCP_NODELAY only then: small answers would take 40 ms.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(("127.0.0.1", port))
        sock.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        sock.close()
        raise ConfigError(f"port {port} on 127.0.0.1 cannot be used ({error}); choose another, or 0 for any") from error
    sock.setblocking(False)
    return sock


def unix_socket(path: Path) -> socket.socket:
    """Return a listening Unix socket that only its owner may use."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(str(path))
        os.chmod(path, 0o600)
        sock.listen(_BACKLOG)
    except OSError as error:
        sock.close()
        raise ConfigError(f"the socket {path} cannot be used ({error}); point TMPDIR to a shorter path") from error
    sock.setblocking(False)
    return sock


async def _until_started(servers: list[_Server], tasks: list[asyncio.Task[None]]) -> None:
    while not all(server.started for server in servers):
        for task in tasks:
            if task.done():
                await task
                raise ConfigError("the server ended before it started")
        await asyncio.sleep(0.002)
