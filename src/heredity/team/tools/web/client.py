"""HTTP requests of the host in a team's name: to allowed hosts only, checked at each redirect, bounded in size and time.

It uses httpx's transport (`httpcore`) with its own connections: each goes to an address that the rules have just
allowed, so they cannot be bypassed. No cookies, and no keys except those a caller adds for one host.
"""

from __future__ import annotations

import asyncio
import importlib.util
import zlib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from heredity._core.errors import CandidateError, MissingExtraError
from heredity.sandbox.hosts import AllowedHosts

if TYPE_CHECKING:
    import httpcore

MOST_BYTES = 20 << 20
"""Size limit of a response, unpacked, in bytes."""

_HOPS = 5
_SECONDS = 30.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class FetchError(CandidateError):
    """The request failed; the message says why."""


@dataclass(frozen=True)
class Response:
    """A response.

    Attributes:
        status: HTTP status.
        address: final address, after redirects.
        headers: names in lower case.
        body: unpacked.
    """

    status: int
    address: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""


class WebClient:
    """Sends requests to allowed hosts.

    Raises:
        MissingExtraError: if a required package is not installed.
    """

    def __init__(self, allowed: AllowedHosts) -> None:
        check()
        self._allowed = allowed

    async def request(
        self,
        address: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        *,
        redirects: bool = True,
    ) -> Response:
        """Request an address, following redirects; without `redirects` these are refused, because keys would be sent along.

        Raises:
            FetchError: if the address is malformed, or the response is late, too large or redirected too often.
            ForbiddenHostError: if it, or a redirect, is not allowed.
            UnreachableHostError: if the host does not answer.
        """
        import httpcore

        sent = {"User-Agent": "heredity", "Accept": "*/*", "Accept-Encoding": "gzip, identity", **(headers or {})}
        try:
            async with asyncio.timeout(_SECONDS), _pool(self._allowed) as pool:
                for _ in range(_HOPS + 1):
                    self._check(address)
                    response = await _request_once(pool, method, address, sent, body)
                    target = response.headers.get("location")
                    if response.status not in _REDIRECTS or not target:
                        return response
                    if not redirects:
                        raise FetchError(f"{_plain(address)} redirects elsewhere, and is not followed")
                    address = _joined(address, target)
        except TimeoutError as error:
            raise FetchError(f"{_plain(address)} did not come within {_SECONDS:g} s") from error
        except (httpcore.ProtocolError, httpcore.NetworkError, httpcore.UnsupportedProtocol, OSError) as error:
            raise FetchError(f"{_plain(address)} does not come: {str(error)[:200] or type(error).__name__}") from error
        raise FetchError(f"{_plain(address)} redirects more than {_HOPS} times")

    def _check(self, address: str) -> None:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise FetchError(f"{address!r:.200} is no address: {error}") from error
        if parts.scheme not in ("http", "https") or not host or parts.username is not None or not address.isascii():
            raise FetchError(
                f"{address!r:.200} cannot be fetched; only http:// and https:// can, without a name of a user"
            )
        self._allowed.check(host, port or (443 if parts.scheme == "https" else 80))


def check() -> None:
    """Check that requests can be made.

    Raises:
        MissingExtraError: if not.
    """
    if importlib.util.find_spec("httpcore") is None:
        raise MissingExtraError("fetching and searching the web", "web")


def _pool(allowed: AllowedHosts) -> httpcore.AsyncConnectionPool:
    import httpcore

    class Guarded(httpcore.AsyncNetworkBackend):
        """Connects to addresses allowed by the rules."""

        def __init__(self) -> None:
            self._real: Any = httpcore.AnyIOBackend()

        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,  # noqa: ASYNC109
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore.AsyncNetworkStream:
            failed: Exception | None = None
            for address in await allowed.addresses(host, port):
                try:
                    return await self._real.connect_tcp(address, port, timeout, local_address, socket_options)
                except httpcore.ConnectError as error:
                    failed = error
            raise failed or httpcore.ConnectError("no address")

        async def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
            raise httpcore.ConnectError(f"{path} is no host")

        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(seconds)

    return httpcore.AsyncConnectionPool(network_backend=Guarded(), max_connections=4)


async def _request_once(
    pool: httpcore.AsyncConnectionPool, method: str, address: str, headers: Mapping[str, str], body: bytes
) -> Response:
    async with pool.stream(method, address, headers=list(headers.items()), content=body or None) as response:
        headers_received = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
        unpacked = await _unpacked(response.aiter_stream(), headers_received.get("content-encoding", ""))
        return Response(response.status, address, headers_received, unpacked)


async def _unpacked(stream: AsyncIterator[bytes], encoding: str) -> bytes:
    if encoding.lower() not in ("", "identity", "gzip"):
        raise FetchError(f"it is packed in a way that was not asked for ({encoding[:40]})")
    unpack = zlib.decompressobj(wbits=31) if encoding.lower() == "gzip" else None
    body, came = bytearray(), 0
    async for chunk in stream:
        came += len(chunk)
        # Also data that unpacks to nothing, or follows the end of the packed data.
        if came > MOST_BYTES or (unpack and unpack.eof):
            raise FetchError(f"it is larger than {MOST_BYTES >> 20} MiB, or goes on behind its end")
        try:
            body += unpack.decompress(chunk, MOST_BYTES + 1 - len(body)) if unpack else chunk
        except zlib.error as error:
            raise FetchError(f"what came is damaged: {error}") from error
        if len(body) > MOST_BYTES:
            raise FetchError(f"it is larger than {MOST_BYTES >> 20} MiB")
    if unpack and came and not unpack.eof:
        raise FetchError("what came is damaged: it is cut off")
    return bytes(body)


def _joined(address: str, target: str) -> str:
    try:
        return urljoin(address, target)
    except ValueError as error:
        raise FetchError(f"{_plain(address)} redirects to what is no address: {error}") from error


def _plain(address: str) -> str:
    """Return an address for a message, without its query."""
    return address.partition("?")[0][:200]
