"""Serve the pages of a folder on 127.0.0.1."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import AsyncGenerator

from heredity.errors import ConfigError
from heredity.server.serve import listening, tcp_socket
from heredity.view.app import ViewApp
from heredity.view.gate import Gate

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")


@contextlib.asynccontextmanager
async def serve_view(app: ViewApp, *, port: int = 0, token: str = "") -> AsyncGenerator[str]:
    """Serve pages until the block ends, and give their address, which has the token in it.

    Args:
        app: the pages.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        token: 16 to 128 letters, digits, `-` and `_`; a new one by default.

    Raises:
        ConfigError: if the port is in use, or the token cannot be one.
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
