"""Serve a team on 127.0.0.1: its tasks, a page, a language model, the Model Context Protocol and A2A, all behind one token."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from starlette.routing import BaseRoute, Mount, Route

from heredity.errors import MissingExtraError
from heredity.server.broker.accounts import Account
from heredity.server.broker.app import BrokerApp
from heredity.server.broker.calls import Patience
from heredity.server.resources.serving import need_mcp, run_on_stdio
from heredity.server.serve import listening, tcp_socket
from heredity.server.team.app import TeamApp
from heredity.server.team.conversation import models_of
from heredity.server.team.gate import Gate
from heredity.server.team.office import Office


@dataclass(frozen=True, slots=True)
class Door:
    """Where a team can be reached.

    Attributes:
        url: base URL on 127.0.0.1, without a trailing slash.
        token: what every request brings.
    """

    url: str
    token: str

    @property
    def page(self) -> str:
        """The address of the page, with the token where browsers send it to nobody."""
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
    """Serve an office that is open, until the block ends.

    Args:
        office: the team's tasks.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        token: 16 to 128 letters, digits, `-` and `_`; a new one by default.
        mcp: whether to serve the Model Context Protocol at `/mcp`.
        a2a: whether to serve A2A at `/a2a`, with an agent card.
        more: gives further routes, such as those of a page.

    Raises:
        ConfigError: if the port is in use, or the token cannot be one.
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
    from heredity.server.team.mcp_server import mcp_server

    await run_on_stdio(mcp_server(office))


async def _mcp(office: Office, stack: contextlib.AsyncExitStack) -> Any:
    need_mcp()
    from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

    from heredity.server.team.mcp_server import mcp_server

    # Events and not one JSON answer, since what has been reached is told on the way.
    manager = StreamableHTTPSessionManager(mcp_server(office), json_response=False, stateless=True)
    await stack.enter_async_context(manager.run())
    return StreamableHTTPASGIApp(manager)


def _a2a(office: Office, url: str) -> list[BaseRoute]:
    if find_spec("a2a") is None:
        raise MissingExtraError("serving A2A", "a2a")
    from heredity.server.team.a2a_server import a2a_routes

    return a2a_routes(office, url)
