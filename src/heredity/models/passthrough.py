"""Requests that reach a provider as their programs wrote them, and answers that come back as the provider wrote them.

A program that speaks the API of the model's own provider loses nothing on the way: the body passes unchanged but for
the model's name and what metering needs, and the answer's bytes pass back. Beside them the answer is read for its text,
tool calls, usage and end, so that budgets, caches, recordings and transcripts work as for any other request.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote

from heredity._core.errors import ProviderError
from heredity.models.contract import Finish, Original, ToolCall
from heredity.models.events import Event, cut_off, dicts, is_end, is_error, read_events

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelHTTPError

BETA_HEADERS = ("anthropic-beta", "openai-beta")
PASSED_HEADERS = (*BETA_HEADERS, "anthropic-version")
"""Headers of a program's request that change what its body means."""
CLIENT_HEADERS = re.compile("user-agent|originator|version|x-app|x-goog-api-client|x-stainless-.+")
"""Headers that name the program: coding agents' providers count, and at times serve, by them."""

_MOST_TOKENS = 10**9
"""Upper limit on a plausible number of tokens; a larger one is a provider's mistake."""


_SAMPLING = {
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
    "top_p": ("top_p", "topP"),
    "stop": ("stop", "stop_sequences", "stopSequences"),
}
"""Names of a sampling parameter in the APIs, where there are several."""


def without_sampling(body: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return a body without the sampling parameters of these names, which a configuration omits."""
    omitted = {spelled for name in names for spelled in _SAMPLING.get(name, (name,))}
    kept = {name: value for name, value in body.items() if name not in omitted}
    if isinstance(inside := kept.get("generationConfig"), dict) and omitted:
        kept["generationConfig"] = without_sampling(cast("dict[str, Any]", inside), names)
    return kept


class Answer(NamedTuple):
    """What an answer says.

    Attributes:
        text: the text of the first choice.
        tool_calls: its tool calls.
        finish: reason of its end.
        reasoning: the reasoning, where shown.
        tokens: by the names of pydantic-ai's `RequestUsage`; empty if the provider did not count.
        model: the model's name as the provider gave it.
        original: the whole answer, as the provider gave it.
    """

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish: Finish
    reasoning: str
    tokens: Mapping[str, int]
    model: str
    original: str = ""


class Passed(NamedTuple):
    """A piece of an answer on its way back: text, events, and with the last piece the answer."""

    text: str = ""
    events: bytes = b""
    answer: Answer | None = None


async def pass_through(
    client: Any, address: str, key: str, model: str, original: Original, *, timeout_s: float
) -> AsyncGenerator[Passed]:
    """Send an original request to its provider and pass back the answer, whole in one piece or event by event.

    Nothing is passed back before the first event with content, so that a call that fails earlier can be repeated.

    Args:
        client: an `httpx2.AsyncClient`.
        address: the provider's address, as its own package takes it.
        key: the provider's key; empty for none.
        model: the model's name at the provider.
        original: the request.
        timeout_s: timeout of the connection and of every silence, in seconds.

    Raises:
        ProviderError: `"garbage"` if the answer is not of the API, or ended without the provider's sign of its end.
        ModelHTTPError: if the provider refused the request or reported an error in its stream.
        httpx2.HTTPError: if the connection failed.
    """
    api = _APIS[original.api]
    request = client.build_request(
        "POST",
        address.rstrip("/") + api.path(quote(model, safe="/:@.-"), original.stream),
        json=api.body(original, model),
        headers={**original.client, **original.headers, **api.headers(key, original)},
        timeout=timeout_s,
        extensions={"heredity_original": True},
    )
    response = await client.send(request, stream=True)
    try:
        if response.status_code != 200:
            raise refused(
                response.status_code, (await response.aread()).decode("utf-8", "replace"), model, response.headers
            )
        if original.stream and "event-stream" in response.headers.get("content-type", ""):
            async for piece in _events(api, original, model, response.aiter_bytes()):
                yield piece
        else:
            text = (await response.aread()).decode("utf-8", "replace")
            answer = _read(api, lambda: json.loads(text), text, model)
            if original.stream:
                message = f"{model} answered without a stream where one was asked for; check the endpoint"
                raise ProviderError("garbage", message, transient=True)
            yield Passed(answer=answer._replace(original=text))
    finally:
        await response.aclose()


async def _events(api: _Api, original: Original, model: str, chunks: AsyncGenerator[bytes]) -> AsyncGenerator[Passed]:
    seen: list[dict[str, Any]] = []
    passed, waiting, ended = bytearray(), bytearray(), False
    async for event in read_events(chunks):
        if is_error(event) or (event.data or {}).get("type") == "response.failed":
            raise refused(_status_in(event), event.text, model, {}, in_stream=True)
        if event.data is not None:
            seen.append(dict(event.data))
        ended = ended or is_end(original.api, event)
        if not _wanted(original, event):
            continue
        waiting += event.raw
        passed += event.raw
        # The end waits for its record, so that no answer is whole before it is charged.
        if not ended and (event.data is not None and api.has_content(event.data)):
            yield Passed(api.text_of(event.data), bytes(waiting))
            waiting.clear()
    if not ended:
        raise cut_off(model)
    whole = passed.decode("utf-8", "replace")
    answer = _read(api, lambda: api.gathered(seen), whole, model)
    yield Passed(events=bytes(waiting), answer=answer._replace(original=whole))


def _wanted(original: Original, event: Event) -> bool:
    """Return whether the program asked for an event: not for the usage that only the meter asked for."""
    if original.api != "chat.completions" or event.data is None or event.data.get("choices") != []:
        return True
    options: Any = original.body.get("stream_options")
    return not event.data.get("usage") or (isinstance(options, dict) and bool(options.get("include_usage")))


def _read(api: _Api, answer: Callable[[], Any], text: str, model: str) -> Answer:
    """Read an answer that must be whole; `text` is for errors."""
    try:
        value = answer()
        if isinstance(value, dict):
            if value.get("error"):
                raise refused(_status_of(value["error"]), text, model, {}, in_stream=True)
            return api.read(cast("dict[str, Any]", value))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        message = f"{model} gave an answer that is not one of its API, or is not whole ({error}): {text[:200]!r}"
        raise ProviderError("garbage", message, transient=True) from error
    raise ProviderError("garbage", f"{model} gave no answer but {text[:200]!r}; check the endpoint", transient=True)


def refused(
    status: int, text: str, model: str, headers: Mapping[str, str], *, in_stream: bool = False
) -> ModelHTTPError:
    """Return a provider's error as pydantic-ai raises it.

    Args:
        status: the HTTP status, or the one that an error inside an answer stands for.
        text: the body, or the data of the event.
        model: the model's name.
        headers: the headers of the answer.
        in_stream: whether the status of the answer itself was good.
    """
    from pydantic_ai.exceptions import ModelHTTPError

    body: Any = text
    with suppress(ValueError, RecursionError):
        body = json.loads(text)
    delay = _DELAY.search(text)
    return ModelHTTPError(
        status,
        model,
        body,
        headers=dict(headers),
        retry_after=float(delay[1]) if delay else None,
        in_stream=in_stream,
    )


_DELAY = re.compile(r'"retryDelay":\s*"([\d.]+)s"')


def _status_in(event: Event) -> int:
    data: Mapping[str, Any] = event.data or {}
    inside: Any = data.get("response") or {}
    return _status_of(data.get("error") or inside.get("error") or data)


def _status_of(error: Any) -> int:
    """Return the HTTP status that an error inside an answer stands for; 500 if it does not say."""
    words = json.dumps(error)
    code: Any = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
    if str(code).isdigit() and 400 <= int(str(code)) < 600:
        return int(str(code))
    return next((status for status, words_of in _STATUSES if words_of.search(words)), 500)


_STATUSES = (
    (529, re.compile("overloaded", re.IGNORECASE)),
    (429, re.compile("rate_limit|insufficient_quota|RESOURCE_EXHAUSTED", re.IGNORECASE)),
    (400, re.compile("invalid_request|INVALID_ARGUMENT|context_length", re.IGNORECASE)),
    (401, re.compile("authentication_error|invalid_api_key|UNAUTHENTICATED", re.IGNORECASE)),
)


# --- APIs


@dataclass(frozen=True, slots=True)
class _Api:
    """How one API is called and read."""

    path: Callable[[str, bool], str]
    body: Callable[[Original, str], dict[str, Any]]
    headers: Callable[[str, Original], dict[str, str]]
    read: Callable[[dict[str, Any]], Answer]
    gathered: Callable[[Sequence[dict[str, Any]]], dict[str, Any]]
    text_of: Callable[[Mapping[str, Any]], str]
    has_content: Callable[[Mapping[str, Any]], bool]


def _bearer(key: str, original: Original) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


def _named(original: Original, model: str) -> dict[str, Any]:
    return {**original.body, "model": model, **({"stream": True} if original.stream else {})}


def _chat_body(original: Original, model: str) -> dict[str, Any]:
    body = _named(original, model)
    if original.stream:
        options: Any = body.get("stream_options")
        body["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
    return body


def _tokens(**counted: Any) -> dict[str, int]:
    """Return counts of tokens; none at all if one that must be there is missing or impossible."""
    plausible = {
        name: value
        for name, value in counted.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    }
    return plausible if {"input_tokens", "output_tokens"} <= plausible.keys() else {}


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _joined(items: Iterable[Any]) -> str:
    return "".join(item for item in items if isinstance(item, str))


def _finish(reason: str, calls: Sequence[ToolCall], lengths: Sequence[str], refusals: Sequence[str]) -> Finish:
    if reason in lengths:
        return "length"
    if reason in refusals:
        return "refusal"
    return "tool_calls" if calls else "stop"


def _text_arguments(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value if value is not None else {}, ensure_ascii=False)


def _read_chat(body: dict[str, Any]) -> Answer:
    choices = dicts(body["choices"])
    if not choices or any(choice.get("finish_reason") is None for choice in choices):
        raise ValueError("no choice with a finish_reason")
    message, reason = _object(choices[0].get("message")), str(choices[0]["finish_reason"])
    made = [(call.get("id"), _object(call.get("function"))) for call in dicts(message.get("tool_calls"))]
    calls = tuple(
        ToolCall(str(name or f"call_{i}"), str(function.get("name", "")), _text_arguments(function.get("arguments")))
        for i, (name, function) in enumerate(made)
    )
    content = message.get("content")
    text = content if isinstance(content, str) else _joined(part.get("text") for part in dicts(content))
    finish = "refusal" if message.get("refusal") else _finish(reason, calls, ("length",), ("content_filter",))
    used = _object(body.get("usage"))
    details = _object(used.get("prompt_tokens_details"))
    return Answer(
        text or str(message.get("refusal") or ""),
        calls,
        finish,
        str(message.get("reasoning_content") or message.get("reasoning") or ""),
        _tokens(
            input_tokens=used.get("prompt_tokens"),
            output_tokens=used.get("completion_tokens"),
            cache_read_tokens=details.get("cached_tokens"),
            cache_write_tokens=details.get("cache_write_tokens"),
        ),
        str(body.get("model") or ""),
    )


def _gather_chat(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    choices: dict[int, dict[str, Any]] = {}
    for event in events:
        for piece in dicts(event.get("choices")):
            choice = choices.setdefault(int(piece.get("index") or 0), {"message": {}, "finish_reason": None})
            _add_delta(choice["message"], _object(piece.get("delta")))
            choice["finish_reason"] = piece.get("finish_reason") or choice["finish_reason"]
    used = [event["usage"] for event in events if event.get("usage")]
    ordered = [choices[index] for index in sorted(choices)]
    model = next((event["model"] for event in events if event.get("model")), "")
    return {"choices": ordered, "usage": used[-1] if used else None, "model": model}


def _add_delta(message: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name in ("content", "refusal", "reasoning_content", "reasoning"):
        if isinstance(delta.get(name), str):
            message[name] = (message.get(name) or "") + delta[name]
    calls: list[dict[str, Any]] = message.setdefault("tool_calls", [])
    for piece in dicts(delta.get("tool_calls")):
        index = int(piece.get("index") or 0)
        while len(calls) <= index:
            calls.append({"id": None, "function": {"name": "", "arguments": ""}})
        function = _object(piece.get("function"))
        calls[index]["id"] = piece.get("id") or calls[index]["id"]
        for name in ("name", "arguments"):
            given = function.get(name)
            calls[index]["function"][name] += "" if given is None else _text_arguments(given)


def _chat_text(event: Mapping[str, Any]) -> str:
    first = [choice for choice in dicts(event.get("choices")) if not choice.get("index")]
    return _joined(_object(choice.get("delta")).get("content") for choice in first)


def _chat_content(event: Mapping[str, Any]) -> bool:
    return any(
        choice.get("finish_reason")
        or any(value for name, value in _object(choice.get("delta")).items() if name != "role")
        for choice in dicts(event.get("choices"))
    )


def _read_response(body: dict[str, Any]) -> Answer:
    if body["status"] not in ("completed", "incomplete"):
        raise ValueError(f"its status is {body['status']!r}")
    items = dicts(body["output"])
    if not items and body["status"] == "completed":
        raise ValueError("it has no output")
    parts = [part for item in items if item.get("type") == "message" for part in dicts(item.get("content"))]
    calls = tuple(
        ToolCall(
            str(item.get("call_id") or ""),
            str(item.get("name") or ""),
            _text_arguments(item.get("arguments", item.get("input"))),
        )
        for item in items
        if item.get("type") in ("function_call", "custom_tool_call")
    )
    reason = str(_object(body.get("incomplete_details")).get("reason") or "")
    refusal = _joined(part.get("refusal") for part in parts)
    summaries = [part for item in items if item.get("type") == "reasoning" for part in dicts(item.get("summary"))]
    used = _object(body.get("usage"))
    details = _object(used.get("input_tokens_details"))
    return Answer(
        _joined(part.get("text") for part in parts) or refusal,
        calls,
        "refusal" if refusal else _finish(reason, calls, ("max_output_tokens",), ("content_filter",)),
        _joined(part.get("text") for part in summaries),
        _tokens(
            input_tokens=used.get("input_tokens"),
            output_tokens=used.get("output_tokens"),
            cache_read_tokens=details.get("cached_tokens"),
            cache_write_tokens=details.get("cache_write_tokens"),
        ),
        str(body.get("model") or ""),
    )


def _gather_response(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    whole = _object(events[-1].get("response"))
    # Some servers leave the last event's output empty.
    items = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
    return {**whole, "output": whole.get("output") or items}


def _response_text(event: Mapping[str, Any]) -> str:
    return _joined([event.get("delta")]) if event.get("type") == "response.output_text.delta" else ""


def _read_message(body: dict[str, Any]) -> Answer:
    if body["stop_reason"] is None:
        raise ValueError("its stop_reason is null")
    blocks = dicts(body["content"])
    if not blocks and body["stop_reason"] not in ("end_turn", "max_tokens", "refusal", "stop_sequence", "pause_turn"):
        raise ValueError("it has no content")
    calls = tuple(
        ToolCall(str(block.get("id") or ""), str(block.get("name") or ""), _text_arguments(block.get("input")))
        for block in blocks
        if block.get("type") == "tool_use"
    )
    used = _object(body.get("usage"))
    cached, written = used.get("cache_read_input_tokens") or 0, used.get("cache_creation_input_tokens") or 0
    fresh = used.get("input_tokens")
    return Answer(
        _joined(block.get("text") for block in blocks if block.get("type") == "text"),
        calls,
        _finish(str(body["stop_reason"]), calls, ("max_tokens", "model_context_window_exceeded"), ("refusal",)),
        _joined(block.get("thinking") for block in blocks),
        _tokens(
            input_tokens=fresh + cached + written if isinstance(fresh, int) and fresh >= 0 else None,
            output_tokens=used.get("output_tokens"),
            cache_read_tokens=cached,
            cache_write_tokens=written,
        ),
        str(body.get("model") or ""),
    )


def _gather_message(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    start = next((_object(event.get("message")) for event in events if event.get("type") == "message_start"), {})
    blocks: dict[int, dict[str, Any]] = {}
    end, used = dict[str, Any](), dict[str, Any](_object(start.get("usage")))
    for event in events:
        index = int(event.get("index") or 0)
        match event.get("type"):
            case "content_block_start":
                blocks[index] = {**_object(event.get("content_block")), "json": ""}
            case "content_block_delta":
                _add_block_delta(blocks.setdefault(index, {"json": ""}), _object(event.get("delta")))
            case "message_delta":
                end |= _object(event.get("delta"))
                used |= {name: value for name, value in _object(event.get("usage")).items() if value is not None}
            case _:
                pass
    content = [
        {**block, "input": block["json"] or block.get("input")} if block.get("type") == "tool_use" else block
        for _, block in sorted(blocks.items())
    ]
    return {**start, "stop_reason": None, **end, "content": content, "usage": used}


def _add_block_delta(block: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name, target in (("text", "text"), ("thinking", "thinking"), ("partial_json", "json")):
        if isinstance(delta.get(name), str):
            block[target] = (block.get(target) or "") + delta[name]


def _message_text(event: Mapping[str, Any]) -> str:
    return _joined([_object(event.get("delta")).get("text")]) if event.get("type") == "content_block_delta" else ""


def _read_content(body: dict[str, Any]) -> Answer:
    candidates = dicts(body.get("candidates"))
    blocked = _object(body.get("promptFeedback")).get("blockReason")
    if not blocked and (not candidates or any(not c.get("finishReason") for c in candidates)):
        raise ValueError("no candidate with a finishReason")
    parts = dicts(_object(candidates[0].get("content")).get("parts")) if candidates else []
    made = [_object(part["functionCall"]) for part in parts if part.get("functionCall")]
    calls = tuple(
        ToolCall(str(call.get("id") or f"call_{i}"), str(call.get("name") or ""), _text_arguments(call.get("args")))
        for i, call in enumerate(made)
    )
    reason = str(blocked or candidates[0]["finishReason"])
    used = _object(body.get("usageMetadata"))
    prompt, written = used.get("promptTokenCount"), used.get("candidatesTokenCount") or 0
    return Answer(
        _joined(part.get("text") for part in parts if not part.get("thought")),
        calls,
        "refusal" if blocked else _finish(reason, calls, ("MAX_TOKENS",), _BLOCKED),
        _joined(part.get("text") for part in parts if part.get("thought")),
        _tokens(
            input_tokens=prompt + (used.get("toolUsePromptTokenCount") or 0) if isinstance(prompt, int) else None,
            output_tokens=written + (used.get("thoughtsTokenCount") or 0),
            cache_read_tokens=used.get("cachedContentTokenCount"),
        ),
        str(body.get("modelVersion") or ""),
    )


_BLOCKED = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY")


def _gather_content(events: Sequence[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    by_index: dict[int, dict[str, Any]] = {}
    for event in events:
        whole |= {name: value for name, value in event.items() if name != "candidates"}
        for piece in dicts(event.get("candidates")):
            candidate = by_index.setdefault(int(piece.get("index") or 0), {"content": {"parts": []}})
            candidate["content"]["parts"] += dicts(_object(piece.get("content")).get("parts"))
            candidate["finishReason"] = piece.get("finishReason") or candidate.get("finishReason")
    return {**whole, "candidates": [by_index[index] for index in sorted(by_index)]}


def _content_text(event: Mapping[str, Any]) -> str:
    first = [candidate for candidate in dicts(event.get("candidates")) if not candidate.get("index")]
    parts = [part for candidate in first for part in dicts(_object(candidate.get("content")).get("parts"))]
    return _joined(part.get("text") for part in parts if not part.get("thought"))


def _content_path(model: str, stream: bool) -> str:
    return f"/v1beta/models/{model}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"


def _google_key(key: str, original: Original) -> dict[str, str]:
    return {"x-goog-api-key": key}


def _embedding_body(original: Original, model: str) -> dict[str, Any]:
    """Return a body of Google's in which each request of a batch names its model again."""
    named = {"model": f"models/{model}"}
    batch = [{**request, **named} for request in dicts(original.body.get("requests"))]
    return {**original.body, **({"requests": batch} if batch else named)}


def _read_vectors(body: dict[str, Any], field: str) -> Answer:
    if not dicts(body[field]):
        raise ValueError("it has no vectors")
    used = _object(body.get("usage"))
    tokens = _tokens(input_tokens=used.get("prompt_tokens"), output_tokens=0)
    return Answer("", (), "stop", "", tokens, str(body.get("model") or ""))


_WHOLE_ONLY: tuple[
    Callable[[Sequence[dict[str, Any]]], dict[str, Any]],
    Callable[[Mapping[str, Any]], str],
    Callable[[Mapping[str, Any]], bool],
] = (lambda events: {}, lambda event: "", lambda event: False)
"""How the events of an API without streams are read."""


_APIS: Mapping[str, _Api] = {
    "chat.completions": _Api(
        lambda model, stream: "/chat/completions",
        _chat_body,
        _bearer,
        _read_chat,
        _gather_chat,
        _chat_text,
        _chat_content,
    ),
    "responses": _Api(
        lambda model, stream: "/responses",
        _named,
        _bearer,
        _read_response,
        _gather_response,
        _response_text,
        lambda event: event.get("type") not in ("response.created", "response.in_progress", "response.queued"),
    ),
    "messages": _Api(
        lambda model, stream: "/v1/messages",
        _named,
        lambda key, original: {
            "x-api-key": key,
            "anthropic-version": original.headers.get("anthropic-version", "2023-06-01"),
        },
        _read_message,
        _gather_message,
        _message_text,
        lambda event: event.get("type") not in ("message_start", "ping"),
    ),
    "embeddings": _Api(
        lambda model, stream: "/embeddings",
        _named,
        _bearer,
        lambda body: _read_vectors(body, "data"),
        *_WHOLE_ONLY,
    ),
    "embed_content": _Api(
        lambda model, stream: f"/v1beta/models/{model}:embedContent",
        _embedding_body,
        _google_key,
        lambda body: _read_vectors({**body, "embedding": [body["embedding"]]}, "embedding"),
        *_WHOLE_ONLY,
    ),
    "batch_embed_contents": _Api(
        lambda model, stream: f"/v1beta/models/{model}:batchEmbedContents",
        _embedding_body,
        _google_key,
        lambda body: _read_vectors(body, "embeddings"),
        *_WHOLE_ONLY,
    ),
    "generate_content": _Api(
        _content_path,
        lambda original, model: dict(original.body),
        _google_key,
        _read_content,
        _gather_content,
        _content_text,
        lambda event: bool(event.get("candidates")),
    ),
}
