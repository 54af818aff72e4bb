"""A team's tasks over HTTP: start, inspect, follow and cancel them, approve their plans."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from heredity import __version__
from heredity._core.errors import ConfigError, HeredityError, nearest
from heredity.agents.registry.app import answer_error, answer_http_error, json_answer, read_object
from heredity.models.broker.streaming import EVENT_HEADERS
from heredity.team.serving.office import Office
from heredity.team.serving.task_run import TaskRun

MAX_BODY = 32 << 20
_TYPES: dict[str, type] = {"task": str, "files": dict, "agent": str, "approve": bool, "plan": str}


class TeamApp:
    """Answers `/team` and `/tasks…`; everything is JSON, events are server-sent.

    Args:
        office: the team's tasks.
        more: additional routes.

    Attributes:
        asgi: the application; it belongs behind a `Gate`.
    """

    def __init__(self, office: Office, more: Sequence[BaseRoute] = ()) -> None:
        self._office = office
        one = "/tasks/{task_id}"
        routes = [
            Route("/team", self._team),
            Route("/tasks", self._list, methods=["GET"]),
            Route("/tasks", self._start, methods=["POST"]),
            Route(one, self._show),
            Route(f"{one}/events", self._follow),
            Route(f"{one}/plan.md", self._plan),
            Route(f"{one}/plan", self._approve, methods=["POST"]),
            Route(f"{one}/cancel", self._cancel, methods=["POST"]),
            Route(f"{one}/resume", self._resume, methods=["POST"]),
            *more,
        ]
        handlers = {HTTPException: answer_http_error, HeredityError: answer_error, OSError: answer_error}
        self.asgi = Starlette(routes=routes, exception_handlers=cast("Any", handlers))

    async def _team(self, request: Request) -> Response:
        return json_answer({"name": "heredity", "version": __version__, "agents": self._office.agents})

    async def _list(self, request: Request) -> Response:
        return json_answer({"tasks": [run.head() for run in reversed(self._office.runs.values())]})

    async def _start(self, request: Request) -> Response:
        given = await _read_fields(request, "task", "files", "agent", "approve")
        files = _files(given.get("files", {}))
        run = self._office.start(
            given.get("task", ""), files, agent=given.get("agent", ""), approve=given.get("approve", False)
        )
        return json_answer(run.head(), 201)

    async def _show(self, request: Request) -> Response:
        return json_answer(self._view_of(self._run(request)))

    async def _plan(self, request: Request) -> Response:
        plan = self._run(request).plan
        return PlainTextResponse(plan.to_markdown() if plan else "", media_type="text/markdown")

    async def _follow(self, request: Request) -> Response:
        run = self._run(request)

        async def events() -> AsyncIterator[bytes]:
            after = 0
            async for _ in run.changes():
                state = self._view_of(run, after)
                after = state["messages"][-1]["number"] if state["messages"] else after
                yield f"event: state\ndata: {json.dumps(state)}\n\n".encode()

        headers = {key.decode(): value.decode() for key, value in EVENT_HEADERS}
        return StreamingResponse(events(), headers=headers)

    async def _approve(self, request: Request) -> Response:
        given = await _read_fields(request, "plan")
        run = self._office.approve(request.path_params["task_id"], given.get("plan", ""))
        return json_answer(run.head())

    async def _cancel(self, request: Request) -> Response:
        return json_answer((await self._office.cancel(request.path_params["task_id"])).head())

    async def _resume(self, request: Request) -> Response:
        return json_answer(self._office.resume(request.path_params["task_id"]).head())

    def _run(self, request: Request) -> TaskRun:
        return self._office.get(request.path_params["task_id"])

    def _view_of(self, run: TaskRun, after: int = 0) -> dict[str, Any]:
        return run.to_json(after, self._office.settings.team.seconds)


def _files(given: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the files sent with a task: names to contents, decoded from base64."""
    try:
        return {name: base64.b64decode(text, validate=True) for name, text in given.items()}
    except (TypeError, ValueError) as error:
        raise ConfigError("files: it is an object of names, each with the file's content in base64") from error


async def _read_fields(request: Request, *keys: str) -> dict[str, Any]:
    """Return the fields of a request's body.

    Raises:
        ConfigError: if one is unknown or of another type.
    """
    given = await read_object(request, MAX_BODY)
    for name, value in given.items():
        if name not in keys:
            near = nearest(name, keys)
            raise ConfigError(
                f"unknown key {name!r:.80}; " + (f"did you mean {near[0]}?" if near else f"known: {', '.join(keys)}")
            )
        if not isinstance(value, _TYPES[name]):
            raise ConfigError(f"{name} is {value!r:.80}; expected {_TYPES[name].__name__}")
    return given
