"""The registry over HTTP: `POST /resources/OPERATOR` with a JSON object, the operator's result as JSON."""

from __future__ import annotations

import hmac
import json
from http import HTTPStatus
from typing import Any, cast

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
from heredity.agents.registry.connections import Connections
from heredity.agents.registry.operators import (
    MAX_BODY_BYTES,
    READING,
    ToolFailedError,
    parse_argument,
    perform,
    schema_of,
)
from heredity.engine.resource_runs import ResourceRuns
from heredity.resources import OPERATORS

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
