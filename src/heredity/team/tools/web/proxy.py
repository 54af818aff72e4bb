"""The one way out of the browser's network namespace: a proxy that knows the allowed hosts.

It listens on a Unix socket. Each connection is one request: `CONNECT` for what is encrypted and for web sockets, or a plain HTTP
request, which is parsed, checked and written anew, so that nothing that two readers could read differently gets through.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import h11

from heredity.sandbox.hosts import AllowedHosts, ForbiddenHostError, Streams, UnreachableHostError, split_host

MOST_CONNECTIONS = 256
"""Connections at once; further ones are refused."""

MOST_BYTES = 256 << 20
"""Bytes that one connection may carry, either way."""

_HEAD = 64 << 10
_CHUNK = 64 << 10
_HEAD_S = 30.0
_IDLE_S = 300.0
_REFUSED = 100
_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authorization",
        b"proxy-authenticate",
        b"te",
        b"trailer",
    }
    | {b"upgrade", b"host"}
)
_REASONS = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway", 503: "Service Unavailable"}

Headers = Sequence[tuple[bytes, bytes]]


class _RefusedError(Exception):
    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


@dataclass
class _Carried:
    bytes: int = 0

    def add(self, count: int) -> None:
        self.bytes += count
        if self.bytes > MOST_BYTES:
            raise ConnectionError("a connection carries no more than this")


class WebProxy:
    """The proxy; `open_proxy` runs it.

    Attributes:
        refused: hosts that were asked for and are not allowed, with how often, the first hundred.
    """

    def __init__(self, allowed: AllowedHosts) -> None:
        self._allowed = allowed
        self._open = 0
        self.refused: dict[str, int] = {}

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; whatever its other end does ends this connection alone."""
        self._open += 1
        try:
            if self._open > MOST_CONNECTIONS:
                raise _RefusedError(503, f"there are {MOST_CONNECTIONS} connections already")
            await self._serve(reader, writer)
        except _RefusedError as error:
            await _tell(writer, error.status, str(error))
        except (OSError, EOFError, TimeoutError, h11.ProtocolError, asyncio.LimitOverrunError):
            pass  # Both ends see that the connection has ended.
        finally:
            self._open -= 1
            await _close(writer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection, request = await _request(reader)
        if request.method == b"CONNECT":
            host, port = _target(request.target.decode("ascii", "replace"))
            async with self._upstream(host, port) as upstream:
                writer.write(b"HTTP/1.1 200 Connection Established\r\n\r\n")
                await _tunnel((reader, writer), upstream)
            return
        try:
            url = urlsplit(request.target.decode("ascii", "replace"))
        except ValueError as error:
            raise _RefusedError(400, f"this is no address: {error}") from error
        if url.scheme != "http" or not url.netloc:
            raise _RefusedError(400, "only http:// and CONNECT are forwarded")
        host, port = _target(url.netloc, 80)
        async with self._upstream(host, port) as upstream:
            path = f"{url.path or '/'}{'?' + url.query if url.query else ''}"
            head = h11.Request(
                method=request.method, target=path, headers=_request_headers(request.headers, url.netloc)
            )
            await _forward(connection, (reader, writer), head, upstream)

    @asynccontextmanager
    async def _upstream(self, host: str, port: int) -> AsyncGenerator[Streams]:
        try:
            streams = await self._allowed.connect(host, port)
        except ForbiddenHostError as error:
            name = f"{host}:{port}"
            if name in self.refused or len(self.refused) < _REFUSED:
                self.refused[name] = self.refused.get(name, 0) + 1
            raise _RefusedError(403, str(error)) from error
        except UnreachableHostError as error:
            raise _RefusedError(502, str(error)) from error
        try:
            yield streams
        finally:
            await _close(streams[1])


@asynccontextmanager
async def open_proxy(allowed: AllowedHosts, socket: Path) -> AsyncGenerator[WebProxy]:
    """Run a proxy on a Unix socket that its user alone may open."""
    proxy = WebProxy(allowed)
    running: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(proxy.handle(reader, writer))
        running.add(task)
        task.add_done_callback(running.discard)

    server = await asyncio.start_unix_server(accept, socket, limit=_HEAD)
    os.chmod(socket, 0o600)
    try:
        yield proxy
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _request(reader: asyncio.StreamReader) -> tuple[h11.Connection, h11.Request]:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_HEAD)
    try:
        async with asyncio.timeout(_HEAD_S):
            connection.receive_data(await reader.readuntil(b"\r\n\r\n"))
        request = connection.next_event()
    except (h11.RemoteProtocolError, asyncio.LimitOverrunError) as error:
        raise _RefusedError(400, f"this is no request: {error}") from error
    if not isinstance(request, h11.Request):
        raise _RefusedError(400, "this is no request")
    return connection, request


def _target(text: str, port: int | None = None) -> tuple[str, int]:
    try:
        host, own = split_host(text)
    except ValueError as error:
        raise _RefusedError(400, str(error)) from error
    if (number := own or port) is None:
        raise _RefusedError(400, f"{text!r:.120} names no port")
    return host, number


def _request_headers(headers: Headers, host: str) -> list[tuple[bytes, bytes]]:
    return [(b"host", host.encode("ascii")), *_kept(headers), (b"connection", b"close")]


def _kept(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return headers without those that concern one connection alone."""
    named = {part.strip().lower() for name, value in headers if name == b"connection" for part in value.split(b",")}
    framing = {b"transfer-encoding", b"content-length"}
    return [(name, value) for name, value in headers if name not in _HOP and (name not in named or name in framing)]


async def _forward(connection: h11.Connection, near: Streams, head: h11.Request, far: Streams) -> None:
    """Send one request on and its response back."""
    (reader, writer), (far_reader, far_writer) = near, far
    upstream, carried = h11.Connection(h11.CLIENT, max_incomplete_event_size=_HEAD), _Carried()
    far_writer.write(upstream.send(head) or b"")
    while True:
        event = await _next(connection, reader, carried)
        if isinstance(event, h11.Data | h11.EndOfMessage):
            far_writer.write(upstream.send(event) or b"")
            await far_writer.drain()
        if not isinstance(event, h11.Data):
            break
    while True:
        event = await _next(upstream, far_reader, carried)
        if isinstance(event, h11.Response):
            headers = [*_kept(event.headers), (b"connection", b"close")]
            event = h11.Response(status_code=event.status_code, headers=headers, reason=event.reason)
        elif not isinstance(event, h11.Data | h11.EndOfMessage):
            if isinstance(event, h11.InformationalResponse):
                continue
            break
        writer.write(connection.send(event) or b"")
        await writer.drain()
        if isinstance(event, h11.EndOfMessage):
            break


async def _next(connection: h11.Connection, reader: asyncio.StreamReader, carried: _Carried) -> object:
    while (event := connection.next_event()) is h11.NEED_DATA:
        async with asyncio.timeout(_IDLE_S):
            data = await reader.read(_CHUNK)
        carried.add(len(data))
        connection.receive_data(data)
    return event


async def _tunnel(near: Streams, far: Streams) -> None:
    carried = _Carried()

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while True:
            async with asyncio.timeout(_IDLE_S):
                data = await source.read(_CHUNK)
            if not data:
                break
            carried.add(len(data))
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()

    copying = [asyncio.ensure_future(copy(near[0], far[1])), asyncio.ensure_future(copy(far[0], near[1]))]
    try:
        await asyncio.gather(*copying)
    finally:
        for task in copying:
            task.cancel()


async def _tell(writer: asyncio.StreamWriter, status: int, reason: str) -> None:
    body = f"{reason}\n".encode()
    headers = f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with contextlib.suppress(OSError):
        writer.write(f"HTTP/1.1 {status} {_REASONS[status]}\r\n{headers}".encode() + body)
        await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(5):
            await writer.wait_closed()
