"""Serve a broker on 127.0.0.1 and optionally on a Unix socket, inside the running event loop."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

from heredity._core.http import listening, tcp_socket, unix_socket
from heredity.models.broker.app import BrokerApp
from heredity.sandbox.relay import broker_addresses, broker_keys


@dataclass(frozen=True, slots=True)
class Broker:
    """Addresses of a broker while it is served.

    Attributes:
        url: base URL on 127.0.0.1, without a trailing slash.
        socket: path of the Unix socket, which only this user can open; None without one. Tokens are required there
            too: the accounts differ by them.
    """

    url: str
    socket: Path | None = None


def environment(url: str, token: str) -> dict[str, str]:
    """Return the environment variables by which OpenAI's, Anthropic's and Google's clients find a broker.

    Args:
        url: the broker's base URL as the program sees it: inside of a sandbox that is its relay's.
        token: the account's token.
    """
    return {**broker_addresses(url), **broker_keys(token)}


@contextlib.asynccontextmanager
async def serve_broker(app: BrokerApp, *, port: int = 0, socket: Path | None = None) -> AsyncGenerator[Broker]:
    """Serve a broker until the block ends; calls in flight are then given a few seconds, and cancelled.

    Args:
        app: the broker.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        socket: path of a Unix socket to serve as well; removed at the end. A path has at most about 100 characters.

    Raises:
        ConfigError: if the port or the socket cannot be used.
    """
    with contextlib.ExitStack() as stack:
        tcp = stack.enter_context(tcp_socket(port))
        served = [(app.asgi, tcp)]
        if socket is not None:
            served.append((app.asgi, stack.enter_context(unix_socket(socket))))
            stack.callback(socket.unlink, missing_ok=True)
        async with listening(served):
            yield Broker(f"http://127.0.0.1:{tcp.getsockname()[1]}", socket)
