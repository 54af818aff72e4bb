"""HTTP requests of the host in a team's name: to allowed hosts only, checked at each redirect, bounded in size and time.

It uses httpx's transport (`httpcore`) with special connections: each goes to an address that the rules have just
allowed, so they cannot be bypassed. No cookies, and no keys except those a caller adds for one host.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin, urlsplit

from heredity._core.errors import CandidateError, ConfigError, MissingExtraError
from heredity._core.outside import json_value
from heredity.engine.actor import ProvidedTool
from heredity.models import ToolSpec
from heredity.sandbox.hosts import AllowedHosts, ForbiddenHostError, UnreachableHostError
from heredity.team.agent import TeamTool

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
            FetchError: if the address is malformed, or the response is late (or too large, or redirected too often).
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


# The tool `search_web`: adapters of web search services that return common results. The configuration gives the
# service's address and key. The key is read from an environment variable in this process; no model, page or sandbox
# sees it.


MOST = 10
"""Limit on the results shown."""

_SNIPPET = 400
_SPEC = ToolSpec(
    "search_web",
    "Searches the web and shows titles, addresses and extracts of what was found. They are data from outside.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 400},
            "most": {"type": "integer", "minimum": 1, "maximum": MOST},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True, slots=True)
class _Question:
    address: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class _Service:
    """Request format and result format of a service.

    Attributes:
        address: default address (empty for self-hosted services).
        needs_key: whether it takes a key.
        ask: makes the request from address, query, number of results and key.
        results: path of keys to the list of results.
        extract: the key of a result's extract.
    """

    address: str
    needs_key: bool
    ask: Callable[[str, str, int, str], _Question]
    results: tuple[str, ...]
    extract: str


def _searxng(address: str, query: str, _most: int, _key: str) -> _Question:
    return _Question(f"{address.rstrip('/')}/search?{urlencode({'q': query, 'format': 'json'})}")


def _brave(address: str, query: str, most: int, key: str) -> _Question:
    headers = {"Accept": "application/json", "X-Subscription-Token": key}
    return _Question(f"{address}?{urlencode({'q': query, 'count': most})}", headers=headers)


def _tavily(address: str, query: str, most: int, key: str) -> _Question:
    body = json.dumps({"query": query, "max_results": most}).encode()
    headers = {
        "Authorization": f"Bearer {key}",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    return _Question(address, "POST", headers, body)


SERVICES: Mapping[str, _Service] = {
    "searxng": _Service("", False, _searxng, ("results",), "content"),
    "brave": _Service(
        "https://api.search.brave.com/res/v1/web/search", True, _brave, ("web", "results"), "description"
    ),
    "tavily": _Service("https://api.tavily.com/search", True, _tavily, ("results",), "content"),
}
"""Services by their names in a configuration."""


class WebSearch:
    """Searches the web with one service.

    Args:
        service: one of `SERVICES`.
        address: its address; empty for the default.
        key: the environment variable that holds the key; empty for none.

    Raises:
        ConfigError: if a required address or key is missing.
        MissingExtraError: if a required package is not installed.
    """

    def __init__(self, service: str, address: str = "", key: str = "") -> None:
        self._name, self._service = service, SERVICES[service]
        self._address = address or self._service.address
        if not self._address:
            raise ConfigError(
                f'search.url: {service} has no address that is everybody\'s; give that of yours, "http://…"'
            )
        parts = urlsplit(self._address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"search.url: {self._address!r:.120} is no address; give one that begins with http")
        self._key = os.environ.get(key, "").strip() if key else ""
        if (key or self._service.needs_key) and not self._key:
            named = f"the environment variable {key} is not set" if key else "none is named"
            raise ConfigError(f"search.key: {service} takes a key, and {named}; name the variable that holds it")
        if not (self._key.isascii() and self._key.isprintable()):
            raise ConfigError(f"search.key: what {key} holds cannot be sent; it has letters that no key has")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        # The team's configuration names this host; agents reach nothing else through it.
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self._client = WebClient(AllowedHosts([f"{host}:{port}"], private=True))

    async def search(self, query: str, most: int = 5) -> list[dict[str, str]]:
        """Return results with `title`, `url` and `extract`, best first.

        Raises:
            FetchError: if the service refuses, or its answer has no list of results.
            UnreachableHostError: if it does not answer.
        """
        question = self._service.ask(self._address, query, most, self._key)
        response = await self._client.request(
            question.address, question.method, question.headers, question.body, redirects=False
        )
        if response.status != 200:
            raise FetchError(f"{self._name} answers with status {response.status}{_hint(self._name, response.status)}")
        try:
            results: Any = json_value(response.body)
            for name in self._service.results:
                results = results.get(name, {}) if name != self._service.results[-1] else results.get(name, [])
            return [self._result(result) for result in results if result.get("url")][:most]
        except (ValueError, TypeError, AttributeError) as error:
            raise FetchError(f"{self._name} answers with what is no list of results") from error

    def tool(self) -> TeamTool:
        """Return the tool."""

        async def run(arguments: Mapping[str, Any]) -> str:
            try:
                results = await self.search(arguments["query"], arguments.get("most", 5))
            except (FetchError, UnreachableHostError, ForbiddenHostError) as error:
                return f"error: {error}"
            return (
                "\n\n".join("{title}\n{url}\n{extract}".format(**result) for result in results) or "nothing was found"
            )

        return TeamTool(ProvidedTool(_SPEC, run))

    def _result(self, result: Mapping[str, Any]) -> dict[str, str]:
        return {
            "title": _words(result.get("title"), 200),
            "url": _words(result.get("url"), 1000),
            "extract": _words(result.get(self._service.extract), _SNIPPET),
        }


def _words(value: object, most: int) -> str:
    """Return a text without the highlighting of services."""
    return " ".join(unescape(re.sub(r"<[^>]{0,40}>", "", str(value or ""))).split())[:most]


def _hint(service: str, status: int) -> str:
    if status in (401, 403):
        why = "allow the format json in its settings" if service == "searxng" else "look whether the key holds"
        return f"; {why}"
    return "; there were too many requests" if status == 429 else ""
