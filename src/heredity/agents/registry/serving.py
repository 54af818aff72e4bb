"""Serve a store of resources: on 127.0.0.1 over HTTP, with the Model Context Protocol under `/mcp`, or on stdin and stdout.

Over HTTP, `POST /resources/OPERATOR` with a JSON object returns the operator's result as JSON.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
import stat
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heredity import __version__
from heredity._core.errors import (
    ConfigError,
    HeredityError,
    HostError,
    IsolationError,
    MissingExtraError,
    RecordError,
    RejectedError,
    UnknownNameError,
)
from heredity._core.http import listening, tcp_socket
from heredity.agents.registry.operators import (
    MAX_BODY_BYTES,
    READING,
    ToolFailedError,
    parse_argument,
    perform,
    schema_of,
)
from heredity.engine.resource_runs import ResourceRuns
from heredity.resources import OPERATORS, Registry, Store

T = TypeVar("T")
THREADS = 4


class Connections:
    """A registry for an event loop, on threads that each have the store open.

    Changes by other processes are visible to the next task.
    """

    def __init__(self, path: Path, *, threads: int = THREADS) -> None:
        """Open the store in every thread; it is created if missing.

        Raises:
            DamagedRecordError: if it is not a store, or damaged.
        """
        self._own = threading.local()
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="resources")

        def open_store() -> None:
            self._own.registry = Registry(Store(path))

        try:
            self._everywhere(open_store)
        except BaseException:
            self.close()
            raise

    async def work(self, task: Callable[[Registry], T]) -> T:
        """Run a task on one of the threads and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: task(self._own.registry))

    def close(self) -> None:
        """Close the store in every thread, after the tasks in progress."""

        def close_store() -> None:
            if hasattr(self._own, "registry"):
                self._own.registry.store.close()

        self._everywhere(close_store)
        self._pool.shutdown()

    def __enter__(self) -> Connections:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _everywhere(self, task: Callable[[], None]) -> None:
        # A thread waiting for the others cannot take the same task twice.
        together = threading.Barrier(self._threads)

        def once() -> None:
            together.wait()
            task()

        futures = [self._pool.submit(once) for _ in range(self._threads)]
        for future in futures:
            future.result()


_LOCAL = ("127.0.0.1", "localhost")
_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (UnknownNameError, 404),
    (ConfigError, 400),
    (RejectedError, 409),
    (MissingExtraError, 501),
    (IsolationError, 501),
    (RecordError, 500),
    (HostError, 503),
)


class ResourceApp:
    """Answers `/resources` and `/resources/OPERATOR`.

    Attributes:
        asgi: the application to serve on 127.0.0.1.
    """

    def __init__(
        self,
        connections: Connections,
        runs: ResourceRuns,
        *,
        token: str | None = None,
        more: tuple[BaseRoute, ...] = (),
    ) -> None:
        """Build the application.

        Args:
            connections: the store.
            runs: runs resources.
            token: required in requests as `Authorization: Bearer TOKEN`; None for no token.
            more: other routes, behind the same gate.
        """
        self._connections = connections
        self._runs = runs
        routes = [
            Route("/resources", _describe),
            Route("/resources/{operator}", self._ask, methods=["GET"]),
            Route("/resources/{operator}", self._do, methods=["POST"]),
            *more,
        ]
        gate = [Middleware(TrustedHostMiddleware, allowed_hosts=list(_LOCAL)), Middleware(_Gate, token=token)]
        handlers = {HTTPException: answer_http_error, HeredityError: answer_error, OSError: answer_error}
        self.asgi = Starlette(routes=routes, middleware=gate, exception_handlers=cast("Any", handlers))

    async def _ask(self, request: Request) -> Response:
        operator = request.path_params["operator"]
        schema_of(operator)
        if operator not in READING:
            raise HTTPException(405, f"{operator} changes or runs something; use POST", {"allow": "POST"})
        given = {key: parse_argument(operator, key, value) for key, value in request.query_params.items()}
        return json_answer(await perform(self._connections.work, self._runs, operator, given))

    async def _do(self, request: Request) -> Response:
        operator = request.path_params["operator"]
        given = await read_object(request)
        return json_answer(await perform(self._connections.work, self._runs, operator, given))


class _Gate:
    """Refuses web pages of other origins, and requests without the token."""

    def __init__(self, app: Any, token: str | None) -> None:
        self._app = app
        self._token = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        origin = headers.get(b"origin", b"").decode("latin-1")
        response: Response | None = None
        if origin and origin.removeprefix("http://").partition(":")[0] not in _LOCAL:
            response = problem_answer(403, "Origin", f"web pages of {origin[:80]} may not use this server")
        elif self._token and not hmac.compare_digest(headers.get(b"authorization", b""), self._token):
            response = problem_answer(401, "Token", "send the server's token: Authorization: Bearer TOKEN")
            response.headers["www-authenticate"] = "Bearer"
        await (response or self._app)(scope, receive, send)


async def _describe(request: Request) -> Response:
    """Answer with the available operators, as OpenAPI 3.1."""
    paths: dict[str, Any] = {}
    for operator in OPERATORS:
        schema = schema_of(operator)
        answers = {"200": {"description": "the result"}, "default": {"description": "{error, kind, message}"}}
        body = {"content": {"application/json": {"schema": schema}}}
        entry: dict[str, Any] = {"post": {"operationId": operator, "requestBody": body, "responses": answers}}
        if operator in READING:
            required = schema["required"]
            entry["get"] = {
                "parameters": [
                    {"name": name, "in": "query", "required": name in required, "schema": inner}
                    for name, inner in schema["properties"].items()
                ],
                "responses": answers,
            }
        paths[f"/resources/{operator}"] = entry
    info = {"title": "Heredity resources", "version": __version__}
    return json_answer({"openapi": "3.1.0", "info": info, "paths": paths})


async def read_object(request: Request, most: int = MAX_BODY_BYTES) -> dict[str, Any]:
    """Return the JSON object in a request's body.

    Raises:
        HTTPException: 413 if it has more than `most` bytes.
        ConfigError: if it is not a JSON object that can be stored.
    """
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise HTTPException(413, f"the body exceeds {most} bytes")
    try:
        value = json.loads(data or b"{}", parse_constant=_no_number)
        # Half of a surrogate pair can be written in JSON, but not stored.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the body is not JSON that can be stored: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"the body must be an object of what is asked for, not {value!r:.80}")
    return cast("dict[str, Any]", value)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def json_answer(value: Any, code: int = 200) -> Response:
    """Return a value as JSON."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return Response(text, status_code=code, media_type="application/json")


def problem_answer(code: int, kind: str, message: str, **more: Any) -> Response:
    """Return an error as JSON: `error`, `kind`, `message`."""
    return json_answer({"error": HTTPStatus(code).phrase, "kind": kind, "message": message, **more}, code)


async def answer_error(request: Request, error: Exception) -> Response:
    """Return an error of a request, or of this server, with a matching status."""
    if isinstance(error, ToolFailedError):
        rest = {key: value for key, value in error.result.items() if key not in ("value", "error", "message")}
        return problem_answer(422, error.result["error"], str(error), **rest)
    code = next((code for type_, code in _STATUS if isinstance(error, type_)), 500)
    return problem_answer(code, type(error).__name__, str(error))


async def answer_http_error(request: Request, error: HTTPException) -> Response:
    """Return an error in an address, a method or a length."""
    response = problem_answer(error.status_code, "Request", f"{request.method} {request.url.path}: {error.detail}")
    response.headers.update(error.headers or {})
    return response


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
    """Yield the lines of stdin if it is a pipe; None (for the package's thread) if it is a terminal or a file.

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
