"""Serve a team on 127.0.0.1: its tasks, a page, a language model, the Model Context Protocol and A2A, all behind one token."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from starlette.routing import BaseRoute, Mount, Route

from heredity._core.errors import ConfigError, MissingExtraError, ProviderError, RecordError, RejectedError
from heredity._core.http import listening, tcp_socket
from heredity.agents.registry.app import problem_answer
from heredity.agents.registry.serving import need_mcp, run_on_stdio
from heredity.models import Message, Model, Reply, Request
from heredity.models.broker.accounts import Account
from heredity.models.broker.app import BrokerApp
from heredity.models.broker.calls import Patience
from heredity.team.messages import Outcome
from heredity.team.serving.app import TeamApp
from heredity.team.serving.office import Office
from heredity.team.serving.task_run import TaskRun

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

    async def reply(self, request: Request) -> Reply:
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

_OWN = ("/v1/",)
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
