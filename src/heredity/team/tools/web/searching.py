"""The tool `search_web`: adapters of web search services that return common results.

The configuration gives the service's address and key. The key is read from an environment variable in this process;
no model, page or sandbox sees it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import urlencode, urlsplit

from heredity._core.errors import ConfigError
from heredity._core.outside import json_value
from heredity.engine.actor import ProvidedTool
from heredity.models import ToolSpec
from heredity.sandbox.hosts import AllowedHosts, ForbiddenHostError, UnreachableHostError
from heredity.team.agent import TeamTool
from heredity.team.tools.web.client import FetchError, WebClient

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
    """One request to a service."""

    address: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class _Service:
    """Request format and result format of a service.

    Attributes:
        address: default address; empty for self-hosted services.
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
