"""Who may look: whoever has the token, from this machine, and no web page of elsewhere.

The token is the first part of every path. No cookie carries it, since a cookie of 127.0.0.1 would be sent to servers of other users
on other ports too; and no request that a foreign page makes can hold it.
"""

from __future__ import annotations

import hmac
from typing import Any

from starlette.responses import PlainTextResponse

_READING = ("GET", "HEAD")


class Gate:
    """Lets a request through whose path starts with the token, that names this server as its host and comes from no other origin.

    The token is taken off the path, and is the application's root path. Without the check of the host a web page could reach the
    server under a name of its own (DNS rebinding).

    Args:
        app: what is behind it.
        port: the port of the server.
        token: 16 characters or more.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] != "http":
            # No web sockets here; an unanswered one is closed.
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
            return 421, "this server answers at 127.0.0.1 and localhost alone, with its port"
        if any(origin.removeprefix(b"http://") not in self._hosts for origin in origins):
            return 403, "web pages of other origins may not use this server"
        if scope["method"] not in _READING and any(site not in (b"same-origin", b"none") for site in sites):
            return 403, "web pages of other origins may not use this server"
        if not hmac.compare_digest(first.encode(), self._token.encode()):
            return 404, "unknown address; use the one that `heredity view` printed"
        return None
