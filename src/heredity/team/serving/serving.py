"""Serve a team on 127.0.0.1: its tasks, a page, a language model, the Model Context Protocol and A2A, all behind one token."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hmac
import json
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route

from heredity import __version__
from heredity._core.errors import (
    ConfigError,
    HeredityError,
    MissingExtraError,
    ProviderError,
    RecordError,
    RejectedError,
    nearest,
)
from heredity._core.http import listening, tcp_socket
from heredity.agents.registry.serving import (
    answer_error,
    answer_http_error,
    json_answer,
    need_mcp,
    problem_answer,
    read_object,
    run_on_stdio,
)
from heredity.models import Message, Model, Reply
from heredity.models import Request as ModelRequest
from heredity.models.broker.accounts import Account
from heredity.models.broker.app import BrokerApp
from heredity.models.broker.calls import Patience
from heredity.models.broker.streaming import EVENT_HEADERS
from heredity.team.participant import Outcome
from heredity.team.serving.office import Office, TaskRun

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


TEAM = "team"


def models_of(office: Office) -> dict[str, Model]:
    """Return the models offered by a team: `"team"`, and `"team/AGENT"` for each of its agents alone."""
    agents = {f"{TEAM}/{name}": TeamModel(office, name) for name in office.agents}
    return {TEAM: TeamModel(office), **agents}


class TeamModel:
    """A model whose replies are a team's answers, each a separate task; raises as `Model` does.

    A caller that hangs up cancels its task.

    Args:
        office: the team's tasks.
        agent: the agent that answers alone; the whole team if empty.
    """

    def __init__(self, office: Office, agent: str = "") -> None:
        self._office, self._agent = office, agent
        self._ending: set[asyncio.Task[TaskRun]] = set()

    @property
    def name(self) -> str:
        """The model's name."""
        return f"{TEAM}/{self._agent}" if self._agent else TEAM

    async def reply(self, request: ModelRequest) -> Reply:
        """Return the team's answer.

        Raises:
            ProviderError: if the team has no answer, or does not support the request; the message says which.
        """
        if request.tools:
            raise ProviderError(
                "request", "a team uses its own tools, and none of who asks it; leave `tools` out", transient=False
            )
        if any(message.images for message in request.messages):
            raise ProviderError(
                "request", "a team is given words and no pictures; leave the pictures out", transient=False
            )
        try:
            run = self._office.start(as_task(request.messages), agent=self._agent)
        except (ConfigError, RejectedError) as error:
            raise ProviderError("request", str(error), transient=False) from error
        try:
            result = await run.ended()
        except RecordError as error:
            raise ProviderError("server", str(error), transient=False) from error
        except asyncio.CancelledError:
            if not self._office.closing:
                ending = asyncio.create_task(self._office.cancel(run.id))
                self._ending.add(ending)
                ending.add_done_callback(self._ending.discard)
            raise
        if result.outcome is not Outcome.OK:
            raise ProviderError("request", f"there is no answer ({result.outcome}): {result.error}", transient=False)
        return Reply(result.answer, usage=run.view.used, model=self.name, seconds=result.seconds)


def as_task(messages: tuple[Message, ...]) -> str:
    """Return a conversation as a task: its last message alone if it is the first, else with the earlier ones."""
    words = {
        "system": "Instructions",
        "user": "Asked before",
        "assistant": "Answered before",
        "tool": "Result of a tool",
    }
    turns = [message for message in messages if message.content.strip()]
    if not turns or turns[-1].role != "user":
        raise ProviderError("request", "the last message has to be the user's, and not empty", transient=False)
    earlier = [f"{words[message.role]}:\n{message.content}" for message in turns[:-1]]
    return "\n\n".join([*earlier, f"Asked now:\n{turns[-1].content}" if earlier else turns[-1].content])


OPEN = ("/", "/page.css", "/page.js")
"""Paths served without a token: the page, which contains no task data and asks for the token."""

_OWN = ("/v1/", "/v1beta/")
"""Paths that check the token themselves, with errors in the format of their API."""


class Gate:
    """Admits requests that name this server as their host, come from no other origin, and bring the token.

    Without the host check a web page could reach the server under the page's host name (DNS rebinding). The token is
    compared in constant time.

    Args:
        app: the application behind it.
        port: the server's port.
        token: the token that requests bring as `Authorization: Bearer TOKEN`.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or pass it to the application."""
        if scope["type"] != "http":
            # Web sockets are not supported; an unanswered one is closed.
            return
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts, origins, tokens = (
            [v for k, v in headers if k == name] for name in (b"host", b"origin", b"authorization")
        )
        path = str(scope["path"])
        open_page = path in OPEN and scope["method"] in ("GET", "HEAD")
        given = tokens[0] if len(tokens) == 1 else b""
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            response = problem_answer(
                421, "Host", "this server answers at 127.0.0.1 and localhost alone, with its port"
            )
        elif any(origin.removeprefix(b"http://") not in self._hosts for origin in origins):
            response = problem_answer(403, "Origin", "web pages of other origins may not use this server")
        elif not (open_page or path.startswith(_OWN) or hmac.compare_digest(given, self._token)):
            response = problem_answer(401, "Token", "send the server's token: Authorization: Bearer TOKEN")
            response.headers["www-authenticate"] = "Bearer"
        else:
            await self._app(scope, receive, send)
            return
        await response(scope, receive, send)


@dataclass(frozen=True, slots=True)
class Door:
    """Address and token of a team.

    Attributes:
        url: base URL on 127.0.0.1, without a trailing slash.
        token: required in every request.
    """

    url: str
    token: str

    @property
    def page(self) -> str:
        """Address of the page, with the token in the fragment, which browsers do not send."""
        return f"{self.url}/#token={self.token}"


@contextlib.asynccontextmanager
async def serve_team(
    office: Office,
    *,
    port: int = 0,
    token: str = "",
    mcp: bool = True,
    a2a: bool = True,
    more: Callable[[Office], Sequence[BaseRoute]] = lambda _: (),
) -> AsyncGenerator[Door]:
    """Serve an open office until the block ends.

    Args:
        office: the team's tasks.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        token: 16 to 128 letters, digits, `-` and `_`; a new one by default.
        mcp: serve the Model Context Protocol at `/mcp`.
        a2a: serve A2A at `/a2a`, with an agent card.
        more: returns further routes, such as those of a page.

    Raises:
        ConfigError: if the port is in use, or the token is malformed.
        MissingExtraError: if a protocol's package is not installed.
    """
    # Checked before anything is opened.
    account = Account("team", None, token=token or secrets.token_urlsafe(24))
    async with contextlib.AsyncExitStack() as stack:
        tcp = stack.enter_context(tcp_socket(port))
        number = tcp.getsockname()[1]
        url = f"http://127.0.0.1:{number}"
        broker = BrokerApp(models_of(office), [account], patience=Patience())
        routes: list[BaseRoute] = [*more(office)]
        if mcp:
            routes.append(Route("/mcp", await _mcp(office, stack)))
        if a2a:
            routes += _a2a(office, url)
        routes.append(Mount("/", broker.asgi))
        app = TeamApp(office, routes)
        await stack.enter_async_context(listening([(Gate(app.asgi, number, account.token), tcp)]))
        yield Door(url, account.token)


async def serve_team_stdio(office: Office) -> None:
    """Speak the Model Context Protocol on stdin and stdout until stdin ends; raises MissingExtraError without its package."""
    need_mcp()
    from heredity.team.serving.mcp_server import mcp_server

    await run_on_stdio(mcp_server(office))


async def _mcp(office: Office, stack: contextlib.AsyncExitStack) -> Any:
    need_mcp()
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    from heredity.team.serving.mcp_server import mcp_server

    # Events instead of one JSON answer, because progress is reported on the way.
    manager = StreamableHTTPSessionManager(mcp_server(office), json_response=False, stateless=True)
    await stack.enter_async_context(manager.run())
    return StreamableHTTPASGIApp(manager)


def _a2a(office: Office, url: str) -> list[BaseRoute]:
    if find_spec("a2a") is None:
        raise MissingExtraError("serving A2A", "a2a")
    from heredity.team.serving.a2a_server import a2a_routes

    return a2a_routes(office, url)
