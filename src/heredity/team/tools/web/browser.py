"""One browser for a whole team: Chromium in a sandbox, driven through its pipe, with a separate context for each step.

It starts on first use, and restarts after it has ended or exceeded its memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import h11

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import HostError, IsolationError, MissingExtraError
from heredity.sandbox.browser_bubblewrap import DOWNLOADS, PORT, find_browser, nests, write_script
from heredity.sandbox.bubblewrap_root import available
from heredity.sandbox.hosts import AllowedHosts, ForbiddenHostError, Streams, UnreachableHostError, split_host
from heredity.sandbox.watch import Bounds, Watch
from heredity.team.lending import Seats

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, Playwright, StorageState

MOST_CONNECTIONS = 256
"""Limit on simultaneous connections; further ones are refused."""

MOST_BYTES = 256 << 20
"""Limit on the bytes of one connection, in either direction."""

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
    """An HTTP proxy; `open_proxy` runs it.

    Attributes:
        refused: requested hosts that are not allowed, with their counts, the first hundred.
    """

    def __init__(self, allowed: AllowedHosts) -> None:
        self._allowed = allowed
        self._open = 0
        self.refused: dict[str, int] = {}

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection; errors of its other end affect this connection only."""
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
    """Run a proxy on a Unix socket that only its user may open."""
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
    return [(b"host", host.encode("ascii")), *_end_to_end(headers), (b"connection", b"close")]


def _end_to_end(headers: Headers) -> list[tuple[bytes, bytes]]:
    """Return headers without those that concern a single connection."""
    named = {part.strip().lower() for name, value in headers if name == b"connection" for part in value.split(b",")}
    framing = {b"transfer-encoding", b"content-length"}
    return [(name, value) for name, value in headers if name not in _HOP and (name not in named or name in framing)]


async def _forward(connection: h11.Connection, near: Streams, head: h11.Request, far: Streams) -> None:
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
            headers = [*_end_to_end(event.headers), (b"connection", b"close")]
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


MOST_CONTEXTS = 16
"""Limit on the steps using the browser; others wait for steps that wait for another agent."""

_DISK_BYTES = 1 << 30
_LAUNCH_S = 60.0
_VIEW = {"width": 1280, "height": 800}
_ARGUMENTS = (
    # Requests to 127.0.0.1 go through the proxy too: the browser's network namespace is empty.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-gpu",
    "--no-first-run",
)


class BrowserEndedError(HostError):
    """The browser cannot be started here."""


class WebBrowser:
    """A team's browser; made by `open_browser`.

    Attributes:
        allowed: the hosts that its pages may reach.
        proxy: its proxy.
        ended: the reason the host ended the last browser; empty if it did not.
    """

    def __init__(self, allowed: AllowedHosts, proxy: WebProxy, folder: Path, script: Path, memory_bytes: int) -> None:
        self.allowed = allowed
        self.proxy = proxy
        self.ended = ""
        self.downloads = folder / DOWNLOADS
        self._script, self._pid, self._bounds = script, folder / "pid", Bounds(memory_bytes, _DISK_BYTES)
        self._starting = asyncio.Lock()
        self._seats = Seats(MOST_CONTEXTS)
        self._driver: Playwright | None = None
        self._chromium: Chromium | None = None
        self._launching: asyncio.Task[Chromium] | None = None
        self._watching: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def context(
        self, give_up: Callable[[], Awaitable[None]], state: StorageState | None = None
    ) -> AsyncGenerator[BrowserContext]:
        """Open a context, with separate cookies, storage and pages, and close it afterwards.

        Args:
            give_up: leaves it (called while the step waits for another agent and others need a context).
            state: its initial cookies and storage.

        Raises:
            BrowserEndedError: if the browser cannot be started.
        """
        from playwright.async_api import Error

        seat = await self._seats.take(give_up)
        try:
            try:
                context = await (await self._started()).new_context(
                    viewport={"width": _VIEW["width"], "height": _VIEW["height"]},
                    service_workers="block",
                    accept_downloads=True,
                    locale="en-US",
                    timezone_id="UTC",
                    storage_state=state,
                )
            except Error as error:
                raise BrowserEndedError(f"the browser opens no pages: {self.ended or error.message[:500]}") from error
            try:
                yield context
            finally:
                with contextlib.suppress(Error):
                    await context.close()
        finally:
            seat.leave()

    async def close(self) -> None:
        """End the browser."""
        from playwright.async_api import Error

        await self._seats.close()
        if self._launching:
            # The caller was cancelled meanwhile.
            await asyncio.gather(self._launching, return_exceptions=True)
            self._take_launched()
        if self._watching:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        with contextlib.suppress(Error):
            if self._chromium:
                await self._chromium.close()
        with contextlib.suppress(Error):
            if self._driver:
                await self._driver.stop()

    async def _started(self) -> Chromium:
        async with self._starting:
            if self._chromium is None or not self._chromium.is_connected():
                if self._watching:
                    self._watching.cancel()
                self.ended = ""
                # A cancelled step leaves the start to the next caller: an unknown browser would not be watched.
                self._launching = self._launching or asyncio.ensure_future(self._launch())
                await asyncio.wait({self._launching})
                launched = self._launching
                self._take_launched()
                launched.result()
            assert self._chromium is not None
            return self._chromium

    def _take_launched(self) -> None:
        launched, self._launching = self._launching, None
        if launched and not launched.cancelled() and launched.exception() is None:
            self._chromium = launched.result()
            self._watching = asyncio.ensure_future(self._watch(int(self._pid.read_text())))

    async def _launch(self) -> Chromium:
        from playwright.async_api import async_playwright

        if self._driver is None:
            self._driver = await async_playwright().start()
        return await self._driver.chromium.launch(
            executable_path=self._script,
            chromium_sandbox=nests(),
            proxy={"server": f"http://127.0.0.1:{PORT}"},
            downloads_path=self.downloads,
            args=_ARGUMENTS,
            # The browser gets none of this process's variables, which may hold keys.
            env={"PATH": "/usr/bin:/bin"},
            timeout=_LAUNCH_S * 1000,
        )

    async def _watch(self, pid: int) -> None:
        with Watch(self._bounds, self.downloads, (), pid, _child(pid)) as watch:
            reason = await watch.exceeded()
        bound = self._bounds.memory_bytes if reason == "memory_limit" else self._bounds.disk_bytes
        what = "memory" if reason == "memory_limit" else "downloads"
        self.ended = f"the browser held more than {bound >> 20} MiB of {what} and was ended"
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@asynccontextmanager
async def open_browser(
    allowed: AllowedHosts, program: str = "", memory_bytes: int = 4 << 30
) -> AsyncGenerator[WebBrowser]:
    """Prepare a browser, after checking that it can run; it starts on first use.

    Args:
        allowed: hosts its pages may reach.
        program: the path of Chromium; empty to search for it.
        memory_bytes: memory limit of all of its processes, in bytes.

    Raises:
        MissingExtraError: if Playwright is not installed.
        ConfigError: if no Chromium is installed.
        IsolationError: if it cannot be confined here.
    """
    path = check(program)
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(EngineFolder())
        proxy = await stack.enter_async_context(open_proxy(allowed, folder / "proxy.sock"))
        script = await asyncio.to_thread(write_script, folder, path, folder / "proxy.sock")
        browser = WebBrowser(allowed, proxy, folder, script, memory_bytes)
        stack.push_async_callback(browser.close)
        yield browser


def check(program: str = "") -> Path:
    """Check that a browser can be used here, without starting it, and return its program (raises as `open_browser`)."""
    if importlib.util.find_spec("playwright") is None:
        raise MissingExtraError("the tool 'browse'", "browser")
    path = find_browser(program)
    if (reason := available()) is not None:
        raise IsolationError(f"a browser cannot be confined: {reason}")
    return path


def _child(pid: int) -> int | None:
    """Return the first process of a sandbox, given bubblewrap's pid."""
    try:
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return None
