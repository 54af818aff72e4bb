"""Serve the pages of a folder on 127.0.0.1."""

from __future__ import annotations

import contextlib
import hmac
import re
import secrets
from collections.abc import AsyncGenerator
from typing import Any

from starlette.responses import PlainTextResponse

from heredity._core.errors import ConfigError
from heredity._core.http import listening, tcp_socket
from heredity.pages.live.app import ViewApp

_READING = ("GET", "HEAD")


class Gate:
    """Gate that passes requests with the right token, host and origin.

    The token is removed from the path, and is the application's root path. Without the check of the host, a web page
    could
    reach the server under another host name (DNS rebinding).

    Args:
        app: the application behind it.
        port: port of the server.
        token: 16 characters or more.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse a request, or pass it to the application."""
        if scope["type"] != "http":
            # Web sockets are not supported; an unanswered one is closed.
            return
        problem = self._problem(scope)
        if problem:
            status, text = problem
            await PlainTextResponse(f"{text}\n", status, {"cache-control": "no-store"})(scope, receive, send)
            return
        rest = "/" + str(scope["path"]).removeprefix("/").partition("/")[2]
        inner = {**scope, "path": f"/{self._token}{rest}", "root_path": f"/{self._token}"}
        await self._app(inner, receive, send)

    def _problem(self, scope: Any) -> tuple[int, str] | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts, origins, sites = (
            [v for k, v in headers if k == name] for name in (b"host", b"origin", b"sec-fetch-site")
        )
        first = str(scope["path"]).removeprefix("/").partition("/")[0]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "this server answers only at 127.0.0.1 and localhost, with its port"
        if any(origin.removeprefix(b"http://") not in self._hosts for origin in origins):
            return 403, "web pages of other origins may not use this server"
        if scope["method"] not in _READING and any(site not in (b"same-origin", b"none") for site in sites):
            return 403, "web pages of other origins may not use this server"
        if not hmac.compare_digest(first.encode(), self._token.encode()):
            return 404, "unknown address; use the one that `heredity view` printed"
        return None


_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")


@contextlib.asynccontextmanager
async def serve_view(app: ViewApp, *, port: int = 0, token: str = "") -> AsyncGenerator[str]:
    """Serve pages until the block ends, and yield their address, which contains the token.

    Args:
        app: the pages.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        token: 16 to 128 letters, digits, `-` and `_`; a new one by default.

    Raises:
        ConfigError: if the port is in use, or the token is invalid.
    """
    token = token or secrets.token_urlsafe(24)
    if not _TOKEN.fullmatch(token):
        raise ConfigError(f"the token has {len(token)} characters; expected 16 to 128 letters, digits, - and _")
    with tcp_socket(port) as tcp:
        number = tcp.getsockname()[1]
        async with listening([(Gate(app.asgi, number, token), tcp)]):
            try:
                yield f"http://127.0.0.1:{number}/{token}/"
            finally:
                app.close()
