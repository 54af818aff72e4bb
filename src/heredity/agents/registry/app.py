"""The registry over HTTP: `POST /resources/OPERATOR` with a JSON object, the operator's result as JSON."""

from __future__ import annotations

import base64
import binascii
import hmac
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
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
from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import (
    ConfigError,
    DamagedRecordError,
    HeredityError,
    HostError,
    IsolationError,
    MissingExtraError,
    RecordError,
    RejectedError,
    UnknownNameError,
)
from heredity.agents.registry.connections import Connections
from heredity.engine.actor import Programs
from heredity.engine.calling import call_tool
from heredity.engine.schemas import check_arguments
from heredity.resources import OPERATORS, TYPES, Instance, Registry, SourceTree, Version

READING = ("get", "get_info", "list", "retrieve", "get_state", "get_variables")
"""Read-only operators, also available by GET."""

_TEXT: dict[str, Any] = {"type": "string"}
_OBJECT: dict[str, Any] = {"type": "object"}
_FILES = {
    "type": ["object", "string"],
    "description": 'path to text or {"base64": …}; a text alone is that of a prompt',
    "additionalProperties": {"type": ["string", "object"]},
}
_PARAMETERS: dict[str, dict[str, Any]] = {
    "type": {"type": "string", "enum": list(TYPES)},
    "files": _FILES,
    "manifest": _OBJECT,
    "variables": _OBJECT,
    "inputs": _OBJECT,
    "hidden": {"type": "boolean"},
    "intact": {"type": "boolean"},
    "limit": {"type": "integer", "minimum": 1},
    "part": {"type": "string", "enum": ["major", "minor", "patch"]},
    "by": {"type": "string", "enum": ["words", "embeddings"]},
}
"""Schemas of parameters; unlisted ones are texts."""

_CONTENT: dict[str, dict[str, Any]] = {
    "init": {"files": _FILES},
    "load_from_json": {"export": _OBJECT},
    "load_contract": {"name": _TEXT, "text": _TEXT},
}
"""Schemas of content that replaces a path."""

_SERVERS_OWN = {"folder", "path", "model"}
"""Parameters that name files of the server, which a client cannot choose."""


def schema_of(operator: str) -> dict[str, Any]:
    """Return the JSON schema of an operator's parameters.

    Raises:
        UnknownNameError: if the operator does not exist.
    """
    if operator not in OPERATORS:
        raise UnknownNameError("operator", operator, OPERATORS)
    taken = [p for p in inspect.signature(getattr(Registry, operator)).parameters.values() if p.name != "self"]
    own = {p.name.rstrip("_"): p for p in taken if p.name not in _SERVERS_OWN}
    properties = {name: _PARAMETERS.get(name, _TEXT) for name in own} | _CONTENT.get(operator, {})
    required = [name for name, p in own.items() if p.default is p.empty] + list(_CONTENT.get(operator, {}))
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def operate(registry: Registry, operator: str, given: Mapping[str, Any]) -> Any:
    """Call an operator with JSON and return JSON; tools are not run here (see `heredity.engine.calling`).

    Args:
        registry: the registry.
        operator: one of `OPERATORS`.
        given: parameters as in `schema_of`; null ones count as missing.

    Raises:
        UnknownNameError: if the operator, resource, version and so on does not exist.
        ConfigError: if an argument is wrong, or the operator refuses.
        RecordError: if the store cannot be used.
    """
    given = {key: value for key, value in given.items() if value is not None}
    check_arguments(schema_of(operator), given, where=operator)
    special = _WITH_CONTENT.get(operator)
    if special is not None:
        return _encoded(special(registry, given))
    arguments = {"type_" if key == "type" else key: value for key, value in given.items()}
    if "files" in arguments:
        arguments["files"] = _files(arguments["files"])
    return _encoded(registry.operate(operator, **arguments))


def _init(registry: Registry, given: Mapping[str, Any]) -> list[Version]:
    with EngineFolder() as folder:
        _files(given["files"]).write_to(folder / "files")
        return registry.init(folder / "files")


def _load_from_json(registry: Registry, given: Mapping[str, Any]) -> int:
    with EngineFolder() as folder:
        path = folder / "export.json"
        path.write_text(json.dumps(given["export"]), encoding="utf-8")
        try:
            return registry.load_from_json(path)
        except DamagedRecordError as error:
            raise ConfigError(f"the export cannot be loaded: {error}") from error


def _save_to_json(registry: Registry, given: Mapping[str, Any]) -> dict[str, Any]:
    with EngineFolder() as folder:
        path = folder / "export.json"
        count = registry.save_to_json(path, **given)
        return {"versions": count, "export": json.loads(path.read_text(encoding="utf-8"))}


def _save_contract(registry: Registry, given: Mapping[str, Any]) -> dict[str, str]:
    with EngineFolder() as folder:
        path = registry.save_contract(given["type"], given["name"], folder, version=given.get("version"))
        return {"name": given["name"], "text": path.read_text(encoding="utf-8")}


def _load_contract(registry: Registry, given: Mapping[str, Any]) -> Version:
    with EngineFolder() as folder:
        SourceTree({f"{given['name']}/SKILL.md": given["text"]}).write_to(folder)
        return registry.load_contract(folder / given["name"])


_WITH_CONTENT: dict[str, Callable[[Registry, Mapping[str, Any]], Any]] = {
    "init": _init,
    "load_from_json": _load_from_json,
    "save_to_json": _save_to_json,
    "save_contract": _save_contract,
    "load_contract": _load_contract,
}


def _files(given: Any) -> SourceTree:
    if isinstance(given, str):
        given = {"prompt.md": given}
    return SourceTree({path: _content(path, value) for path, value in given.items()})


def _content(path: str, value: Any) -> str | bytes:
    if isinstance(value, str):
        return value
    match value:
        case {"text": str(text), **others} if not others:
            return text
        case {"base64": str(encoded), **others} if not others:
            try:
                return base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError) as error:
                raise ConfigError(f"{path} is not base64: {error}") from error
        case _:
            pass
    raise ConfigError(f'{path} must be a text, {{"text": …}} or {{"base64": …}}, not {value!r:.80}')


def _encoded(value: Any) -> Any:
    if isinstance(value, Version):
        return {**value.to_json(), "digest": value.digest}
    if isinstance(value, Instance):
        own = value.value if not isinstance(value.value, SourceTree) else None
        return {"version": _encoded(value.version), "files": _encoded(value.tree), "value": _encoded(own)}
    if isinstance(value, SourceTree):
        texts = value.texts()
        return {p: texts.get(p, {"base64": base64.b64encode(data).decode()}) for p, data in value.items()}
    if isinstance(value, tuple):
        version, score = cast("tuple[Version, float]", value)
        return {"version": _encoded(version), "score": score}
    if isinstance(value, list):
        return [_encoded(entry) for entry in cast("list[Any]", value)]
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value


MAX_BODY_BYTES = 64 << 20
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


class ToolFailedError(HeredityError):
    """A tool failed; its result says how."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        self.result = result
        super().__init__(str(result["message"]))


class ResourceApp:
    """Answers `/resources` and `/resources/OPERATOR`.

    Attributes:
        asgi: the application to serve on 127.0.0.1.
    """

    def __init__(
        self,
        connections: Connections,
        programs: Programs,
        *,
        token: str | None = None,
        more: tuple[BaseRoute, ...] = (),
    ) -> None:
        """Build the application.

        Args:
            connections: the store.
            programs: the sandbox for tools.
            token: required in requests as `Authorization: Bearer TOKEN`; None for no token.
            more: other routes, behind the same gate.
        """
        self._connections = connections
        self._programs = programs
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
        schema = schema_of(operator)
        if operator not in READING:
            raise HTTPException(405, f"{operator} changes or runs something; use POST", {"allow": "POST"})
        kinds = {name: inner.get("type") for name, inner in schema["properties"].items()}
        given = {key: _parsed(value, kinds.get(key)) for key, value in request.query_params.items()}
        return json_answer(await self._connections.work(lambda registry: operate(registry, operator, given)))

    async def _do(self, request: Request) -> Response:
        operator = request.path_params["operator"]
        given = await read_object(request)
        if operator == "run" and given.get("type") == "tool":
            return json_answer(await self._run_tool(given))
        return json_answer(await self._connections.work(lambda registry: operate(registry, operator, given)))

    async def _run_tool(self, given: dict[str, Any]) -> dict[str, Any]:
        given = {key: value for key, value in given.items() if value is not None}
        check_arguments(schema_of("run"), given, where="run")
        tool = await self._connections.work(
            lambda registry: registry.get(given["type"], given["name"], given.get("version"))
        )
        result = asdict(await call_tool(tool, self._programs, given.get("inputs", {})))
        if result["error"]:
            raise ToolFailedError(result)
        return result


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


def _parsed(value: str, kind: Any) -> Any:
    if kind == "boolean" and value in ("true", "false", "1", "0"):
        return value in ("true", "1")
    return int(value) if kind == "integer" and value.isascii() and value.isdigit() and len(value) < 10 else value


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
