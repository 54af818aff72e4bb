"""Where questions are looked up: documents on this machine, or a SearXNG instance, of which only what it found is shown."""

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

from heredity.errors import ConfigError, HostError
from heredity.outside import ANY_SIZE, json_value, read_text
from heredity.posttraining.tasks.env.search import Library
from heredity.refusals import quoted

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
    """Something that a search found: its title, its text, and its address if it has one."""

    title: str
    text: str
    url: str = ""


class Search(Protocol):
    """A way to look things up."""

    async def find(self, words: str) -> Sequence[Result]:
        """Return what is found, best first.

        Raises:
            HostError: if the search fails, which is another thing than finding nothing.
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
        """Return the documents that fit best (see `Search.find`)."""
        return [Result(document.title, document.text) for document in self._library.search(words)]


class Web:
    """A SearXNG instance, asked over HTTP by `GET /search?q=…&format=json`.

    Redirections are not followed: nobody but who set the address up says which hosts are asked.

    Args:
        url: of the instance.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    async def find(self, words: str) -> Sequence[Result]:
        """Return what the instance found (see `Search.find`), after another try if it fails."""
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
    """Follows no redirection, so that it is an error."""

    def redirect_request(self, *args: Any, **named: Any) -> None:
        """Return no request to follow."""


def _fetched(request: Request) -> bytes:
    """Return the body of an answer; raises `TimeoutError` if it is not there in time, and `ValueError` if it is too long."""
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
    """Read an answer; raises `ValueError` if it is not SearXNG's, or its engines found nothing because they did not answer."""
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
        ConfigError: if it is none of http or https, or has a user in it, whom reports would name.
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
        ConfigError: if it cannot be read, or has other lines.
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
