"""Calls of a model by the API of its own provider: nothing of the request or of the answer is changed or lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from heredity._core.errors import ConfigError
from heredity.models import Message, Reply, Request, Sampling
from heredity.models.broker.conversation import encode, event
from heredity.models.broker.fields import Wish
from heredity.models.broker.problems import Problem, anthropic_shape, google_shape, openai_shape
from heredity.models.contract import Original
from heredity.models.passthrough import CLIENT_HEADERS, PASSED_HEADERS

_PINGS = {
    "messages": event({"type": "ping"}, "ping"),
    # Not every client of Google's passes over comments.
    "generate_content": event({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "index": 0}]}),
}


class PassedThrough:
    """One call that passes unchanged (see `Exchange`).

    The provider checks the request. The broker reads it only for its records.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        api: str,
        asked: str,
        body: Mapping[str, Any],
        headers: Mapping[str, str],
        streams: bool,
        describe: Callable[[], Request],
        *,
        dropped: Sequence[str] = (),
    ) -> None:
        """Take a request.

        Args:
            api: its API (see `Original`).
            asked: the model's name as the program gave it.
            body: the body.
            headers: the headers, in lower case; those that change the body's meaning or name the program are passed.
            streams: whether the program wants events.
            describe: reads the request as for any other model; raises `Problem` for what only this API has.
            dropped: paths of what was taken out of the body.

        Raises:
            Problem: if the body is not Unicode text, or asks for an answer in the background.
        """
        if body.get("background"):
            raise Problem("request", "background: nobody would meter an answer in the background", field="background")
        self.asked, self.streams, self._api = asked, streams, api
        self.wishes: Sequence[Wish] = ()
        self.dropped = list(dropped)
        self.ping = _PINGS.get(api, b": ping\n\n")
        passed = {name: headers[name] for name in PASSED_HEADERS if name in headers}
        client = {name: value for name, value in headers.items() if CLIENT_HEADERS.fullmatch(name)}
        own = {name: value for name, value in body.items() if name != "model"}
        original = Original(api, own, streams, passed, client)
        try:
            described = describe()
        except Problem:
            described = _described(body)
        try:
            self.request = Request(
                described.messages, described.tools, described.sampling, described.tool_choice, original=original
            )
            # Read once here, so that an encoding error is the program's and not the record's.
            _ = self.request.digest
        except (ValueError, RecursionError) as error:
            raise Problem("request", f"the body is not Unicode text or not JSON ({error})") from error

    def answer(self, reply: Reply) -> dict[str, Any]:
        """Return the provider's answer."""
        return json.loads(reply.original)

    def piece(self, text: str) -> bytes:
        """Return an event without content to open the stream; text comes in the provider's own events."""
        return b"" if text else self.ping

    def closing(self, reply: Reply) -> bytes:
        """Return all the events of an answer that was recorded or cached."""
        return reply.original.encode()

    def failure(self, problem: Problem) -> bytes:
        """Return the error event of the API."""
        if self._api == "messages":
            return event(anthropic_shape(problem), "error")
        if self._api == "generate_content":
            return event(google_shape(problem))
        error = openai_shape(problem)
        if self._api == "responses":
            return event({**error["error"], "error": error["error"], "type": "error"}, "error")
        return b"data: " + encode(error) + b"\n\n"


_SAID = ("messages", "input", "contents", "content", "requests")


def _described(body: Mapping[str, Any]) -> Request:
    """Describe a request that only its own API can express: its conversation as JSON text."""
    said = next((body[name] for name in _SAID if name in body), "")
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return Request((Message("user", text),), sampling=_sampling(body))


def _sampling(body: Mapping[str, Any]) -> Sampling:
    inside = body.get("generationConfig")
    given = {**body, **(cast("dict[str, Any]", inside) if isinstance(inside, dict) else {})}
    seed, temperature = given.get("seed"), given.get("temperature")
    try:
        return Sampling(
            temperature=float(temperature) if isinstance(temperature, int | float) else None,
            seed=seed if isinstance(seed, int) else None,
        )
    except ConfigError:
        return Sampling()
