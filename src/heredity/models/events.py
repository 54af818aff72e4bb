"""Server-sent events of the providers' APIs, and proof that an answer is whole.

A provider says itself that an answer has ended: `[DONE]`, `message_stop`, `response.completed`, a `finishReason`. A
stream without this sign was cut off, however complete its text looks.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

from heredity._core.errors import ProviderError

_BOUNDARY = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re.compile(r"\r\n|\n|\r")
_RESPONSE_ENDS = ("response.completed", "response.incomplete", "response.failed")


class Event(NamedTuple):
    """One event of a stream.

    Attributes:
        raw: its bytes, with the blank line that ends it.
        data: its data parsed as JSON; None for an event without data, such as a comment, or with other data.
        text: its data as text.
    """

    raw: bytes
    data: Mapping[str, Any] | None
    text: str


async def read_events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Event]:
    """Split a stream into events. Bytes after the last blank line are an event that was cut off, and are dropped."""
    waiting, searched = bytearray(), 0
    async for chunk in chunks:
        waiting += chunk
        while boundary := _BOUNDARY.search(waiting, searched):
            yield _event(bytes(waiting[: boundary.end()]))
            del waiting[: boundary.end()]
            searched = 0
        searched = max(0, len(waiting) - 3)


def _event(raw: bytes) -> Event:
    lines = _LINE.split(raw.decode("utf-8", "replace"))
    text = "\n".join(line[5:].removeprefix(" ") for line in lines if line.startswith("data:"))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return Event(raw, cast("dict[str, Any]", value) if isinstance(value, dict) else None, text)


def is_end(api: str, event: Event) -> bool:
    """Return whether an event says that the answer has ended."""
    data: Mapping[str, Any] = event.data or {}
    match api:
        case "chat.completions":
            return event.text.strip() == "[DONE]"
        case "responses":
            return data.get("type") in _RESPONSE_ENDS
        case "messages":
            return data.get("type") == "message_stop"
        case _:
            return any(c.get("finishReason") for c in dicts(data.get("candidates"))) or bool(data.get("promptFeedback"))


def is_error(event: Event) -> bool:
    """Return whether an event reports an error."""
    data: Mapping[str, Any] = event.data or {}
    return bool(data.get("error")) or data.get("type") == "error"


def cut_off(who: str) -> ProviderError:
    """Return the failure of a stream that ended without the provider's sign of its end."""
    message = f"{who} ended its stream without a sign that the answer is complete, so it may have been cut off"
    return ProviderError("garbage", message, transient=True)


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing of anything else."""
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def prove_ends(client: Any) -> None:
    """Make an `httpx2` client raise `ProviderError` where a streamed answer ends without its provider's sign of the end.

    Args:
        client: the client of a vendor's package. Requests with the extension `"heredity_original"` are left alone.
    """
    client.headers["accept-encoding"] = "identity"
    client.event_hooks["response"].append(_prove)


async def _prove(response: Any) -> None:
    from httpx2 import AsyncByteStream

    api = _api_at(response.request.url.path)
    if not api or response.status_code != 200 or "heredity_original" in response.request.extensions:
        return
    mend, streams = _MENDS.get(api), "event-stream" in response.headers.get("content-type", "")
    if not streams and mend is None:
        return
    stream = response.stream

    async def proven() -> AsyncGenerator[bytes]:
        if not streams:
            yield _mended_body(b"".join([chunk async for chunk in stream]), mend)
            return
        ended = False
        async for event in read_events(aiter(stream)):
            ended = ended or is_end(api, event) or is_error(event)
            yield _mended_event(event, mend)
        if not ended:
            raise cut_off(response.request.url.host)

    class Proven(AsyncByteStream):
        # Packages read on after the end, to free the connection.
        pieces = proven()

        def __aiter__(self) -> AsyncGenerator[bytes]:
            return self.pieces

        async def aclose(self) -> None:
            await stream.aclose()

    response.stream = Proven()


_PATHS = {"/chat/completions": "chat.completions", "/responses": "responses", "/messages": "messages"}


def _api_at(path: str) -> str:
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return "generate_content"
    return next((api for end, api in _PATHS.items() if path.endswith(end)), "")


Mend = Callable[[dict[str, Any]], dict[str, Any] | None]


def _with_usage(answer: dict[str, Any]) -> dict[str, Any]:
    """Fill in the usage that Anthropic's package takes for granted; 0 tokens stand for an unknown usage."""
    inside = answer.get("message")
    if isinstance(inside, dict):
        return {**answer, "message": _with_usage(cast("dict[str, Any]", inside))}
    if answer.get("type") not in ("message", "message_delta"):
        return answer
    given = cast("dict[str, Any]", answer["usage"]) if isinstance(answer.get("usage"), dict) else {}
    known = {name: value for name, value in given.items() if value is not None}
    needed = {"output_tokens": 0, **({"input_tokens": 0} if answer["type"] == "message" else {})}
    return {**answer, "usage": {**needed, **known}}


def _known_to_google(answer: dict[str, Any]) -> dict[str, Any] | None:
    """Drop an event of a kind that Google's package does not know."""
    return answer if answer.keys() & {"candidates", "usageMetadata", "promptFeedback", "error"} else None


def _with_calls(answer: dict[str, Any]) -> dict[str, Any]:
    """Give tool calls the id and the arguments in text that OpenAI's package takes for granted."""
    for choice in dicts(answer.get("choices")):
        for place, whole in (("message", True), ("delta", False)):
            inside = choice.get(place)
            calls = dicts(cast("dict[str, Any]", inside).get("tool_calls")) if isinstance(inside, dict) else []
            for number, call in enumerate(calls):
                if whole and call.get("id") is None:
                    call["id"] = f"call_{number}"
                function = call.get("function")
                if isinstance(function, dict) and isinstance(function.get("arguments"), dict | list):
                    function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    return answer


def _known_to_google_with_arguments(answer: dict[str, Any]) -> dict[str, Any] | None:
    """As `_known_to_google`, and with the arguments of calls as the objects that its package takes for granted."""
    for candidate in dicts(answer.get("candidates")):
        content = candidate.get("content")
        for part in dicts(cast("dict[str, Any]", content).get("parts")) if isinstance(content, dict) else []:
            call = part.get("functionCall")
            if isinstance(call, dict) and isinstance(text := cast("dict[str, Any]", call).get("args"), str):
                with suppress(ValueError):
                    call["args"] = json.loads(text)
    return _known_to_google(answer)


_MENDS: Mapping[str, Mend] = {
    "chat.completions": _with_calls,
    "messages": _with_usage,
    "generate_content": _known_to_google_with_arguments,
}


def _mended_event(event: Event, mend: Mend | None) -> bytes:
    if mend is None or event.data is None:
        return event.raw
    mended = mend(copy.deepcopy(dict(event.data)))
    if mended == event.data:
        return event.raw
    if mended is None:
        return b""
    name = f"event: {mended['type']}\n" if "type" in mended else ""
    return f"{name}data: {json.dumps(mended)}\n\n".encode()


def _mended_body(body: bytes, mend: Mend | None) -> bytes:
    try:
        value = json.loads(body)
    except ValueError:
        return body
    mended = mend(copy.deepcopy(cast("dict[str, Any]", value))) if mend and isinstance(value, dict) else None
    if mended is not None and any(
        "finish_reason" in c and c["finish_reason"] is None for c in dicts(mended.get("choices"))
    ):
        raise cut_off("the provider")
    return body if mended is None or mended == value else json.dumps(mended).encode()
