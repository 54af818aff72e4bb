"""Who may use a team that is served: whoever has the token, from this machine, and no web page of elsewhere."""

from __future__ import annotations

import hmac
from typing import Any

from heredity.server.resources.app import problem_answer

OPEN = ("/", "/page.css", "/page.js")
"""What is answered without a token: the page itself, which holds nothing of any task and asks for the token."""

_OWN = ("/v1/",)
"""What asks for the token itself, in the words of its API."""


class Gate:
    """Lets through what names this server as its host, comes from no other origin, and brings the token.

    Without the check of the host a web page could reach the server under a name of its own (DNS rebinding). The token is compared
    in constant time.

    Args:
        app: what is behind it.
        port: the port of the server.
        token: what requests bring as `Authorization: Bearer TOKEN`.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or let the application answer it."""
        if scope["type"] != "http":
            # No web sockets here; an unanswered one is closed.
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
