"""Search backends for questions: documents on this machine, or a SearXNG instance, whose results alone are shown."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPException
from pathlib import Path
from typing import Any, Protocol
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from heredity._core.errors import ConfigError, HostError
from heredity._core.outside import ANY_SIZE, json_value, read_text
from heredity._core.refusals import quoted
from heredity.kinds.checkpoint.tasks.env.search import Library

RESULTS = 5
"""How many results of the web a search shows; documents on this machine are as many as `env.search` shows."""

_SECONDS = 20.0
_BYTES = 4_000_000
_TRIES = 2
_PAUSE = 0.5
_CHUNK = 1 << 16
_TITLE = 150
_MARKS = re.compile(r"(?<!\S)[!:?<>]+")
_JSON_OFF = "the instance allows no JSON: add json to search.formats in its settings.yml"
_LIMITED = "the instance limits how often it is asked: turn its limiter off for this machine"
_HINTS: Mapping[int, str] = {403: _JSON_OFF, 429: _LIMITED}


@dataclass(frozen=True, slots=True)
class Result:
    """A search result: its title, its text, and its address if any."""

    title: str
    text: str
    url: str = ""


class Search(Protocol):
    """A search backend."""

    async def find(self, words: str) -> Sequence[Result]:
        """Return the results, best first.

        Raises:
            HostError: if the search fails, as opposed to finding nothing.
        """
        ...


class Corpus:
    """Documents on this machine, ranked by BM25.

    Args:
        library: the documents.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    async def find(self, words: str) -> Sequence[Result]:
        """Return the best matching documents (see `Search.find`)."""
        return [Result(document.title, document.text) for document in self._library.search(words)]


class Web:
    """A SearXNG instance, queried over HTTP by `GET /search?q=…&format=json`.

    Redirects are not followed: only the configured address decides which hosts are contacted.

    Args:
        url: URL of the instance.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    async def find(self, words: str) -> Sequence[Result]:
        """Return the instance's results (see `Search.find`), with one retry on failure."""
        # Signs before a word choose engines, languages or other sites there; here all are words.
        plain = " ".join(_MARKS.sub(" ", words).split())
        if not plain:
            return ()
        failed = HostError("it was not asked")
        for attempt in range(_TRIES):
            await asyncio.sleep(_PAUSE * attempt)
            try:
                return await asyncio.to_thread(self._asked, plain)
            except HostError as error:
                failed = error
        raise failed

    def _asked(self, words: str) -> Sequence[Result]:
        query = urlencode({"q": words, "format": "json"})
        request = Request(f"{self._url.rstrip('/')}/search?{query}", headers={"Accept": "application/json"})
        try:
            return _read(_fetched(request))
        except HTTPError as error:
            error.close()
            hint = _HINTS.get(error.code, "expected 200" if error.code >= 400 else "name the address it redirects to")
            raise HostError(f"the search at {self._url} answered {error.code}; {hint}") from error
        except (OSError, HTTPException) as error:
            raise HostError(f"the search at {self._url} failed: {error}") from error
        except (ValueError, RecursionError) as error:
            raise HostError(f"the search at {self._url} gave no answer that can be read: {error}") from error


class _Stay(HTTPRedirectHandler):
    """Treats redirects as errors."""

    def redirect_request(self, *args: Any, **named: Any) -> None:
        """Return None, to follow no redirect."""


def _fetched(request: Request) -> bytes:
    """Return the body of a response; raises `TimeoutError` if it is late, and `ValueError` if it is too long."""
    end, body = time.monotonic() + _SECONDS, bytearray()
    with build_opener(_Stay).open(request, timeout=_SECONDS) as answer:
        while chunk := answer.read1(_CHUNK):
            body += chunk
            if len(body) > _BYTES:
                raise ValueError(f"more than {_BYTES} bytes")
            if time.monotonic() > end:
                raise TimeoutError(f"not all of it came within {_SECONDS:g} seconds")
    return bytes(body)


def _read(body: bytes) -> Sequence[Result]:
    """Parse a response; raises `ValueError` if it is not SearXNG's, or is empty because its engines did not answer."""
    answer: Any = json_value(body)
    results: Any = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise ValueError("expected a JSON object with a list of results")  # noqa: TRY004 - all is one kind of error here
    silent: Any = answer.get("unresponsive_engines")
    if not results and silent:
        raise ValueError(f"its engines did not answer: {str(silent)[:200]}")
    hits = [_result(entry) for entry in results if isinstance(entry, dict)]
    return [entry for entry in hits if entry.title or entry.url][:RESULTS]


def _result(row: Mapping[str, Any]) -> Result:
    title, text, url = (" ".join(str(row.get(name) or "").split()) for name in ("title", "content", "url"))
    return Result((title or url)[:_TITLE], text, url)


def check_url(url: str, variable: str) -> str:
    """Return a URL.

    Raises:
        ConfigError: if it is not http or https, or contains a user, which reports would reveal.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ConfigError(f"{variable} is {url!r}: {error}; expected such as http://127.0.0.1:8080") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ConfigError(
            f"{variable} is {url!r}; expected the address of a SearXNG instance, such as http://127.0.0.1:8080"
        )
    return url


@lru_cache(maxsize=2)
def corpus(path: Path) -> Corpus:
    """Return the documents of a `.jsonl` file, whose lines have `title` and `text`.

    Raises:
        ConfigError: if it cannot be read, or a line is invalid.
    """
    rows: list[Mapping[str, Any]] = []
    try:
        for number, line in enumerate(read_text(path, ANY_SIZE).split("\n"), 1):
            if line.strip():
                rows.append(_document(json_value(line), path, number))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read: {error}; expected a .jsonl file of documents") from error
    if not rows:
        raise ConfigError(f"{path} has no documents; expected a line for each, with title and text")
    return Corpus(Library.of(rows))


def _document(row: Any, path: Path, number: int) -> Mapping[str, Any]:
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("title", "text")):
        raise ConfigError(
            f"line {number} of {path} is {quoted(row)}; expected an object with title and text, two strings"
        )
    return row
