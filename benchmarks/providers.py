"""What the gateway and the broker carry: fields of requests and answers, ways in which providers fail, streams cut short.

python benchmarks/providers.py [--server FILE] [--json] [--quick]

The counterpart is a server that behaves as providers do and logs what arrives (`--server`). Three parts:

- Fields: each goes through the broker to a model of the same API and must arrive unchanged; and to a model of another API, where
  it must arrive translated, be named in `heredity-dropped`, or be refused with 400 by its name. Fields of answers come back.
- Modes: each way to fail or to differ, over four APIs, whole and streamed, passed through and by the gateway's own request; the
  outcome must be the right answer or the right kind of failure.
- Cuts: streams of four APIs, cut after every event and at random bytes. None may be accepted.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import json
import os
import random
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import uvicorn

from heredity._core.errors import ProviderError
from heredity.models import Message, Reply, Request, Sampling, ToolSpec
from heredity.models.broker import Account, BrokerApp, serve_broker
from heredity.models.contract import Original
from heredity.models.gateway import ProviderModel, provider_model
from heredity.models.settings import ProviderSettings

KEY = "sk-secret-of-the-benchmark"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
PDF = "JVBERi0xLjQKJSVFT0YK"
ASK = "2 + 40"


# --- the counterpart and the models


def load_server(path: Path) -> Any:
    """Return the counterpart as a module; raises SystemExit if there is none."""
    spec = importlib.util.spec_from_file_location("providers_server", path) if path.is_file() else None
    if spec is None or spec.loader is None:
        sys.exit(f"there is no server of providers at {path}; give its path with --server")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@contextlib.contextmanager
def serving(app: Any) -> Any:
    """Serve an application in a thread; give its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = server.force_exit = True
        thread.join(5)


APIS = ("chat.completions", "responses", "messages", "generate_content")
PATHS = {"chat.completions": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
OTHER = {
    "chat.completions": "messages",
    "responses": "messages",
    "messages": "chat.completions",
    "generate_content": "messages",
}


def model_of(api: str, base: str, mode: str = "ok", timeout_s: float = 20.0) -> ProviderModel:
    """Return a model of the counterpart in a mode."""
    match api:
        case "messages":
            name, settings = "claude-opus-4-6", ProviderSettings(kind="anthropic", base_url=base)
        case "generate_content":
            name, settings = "gemini-2.5-pro", ProviderSettings(kind="google", base_url=base)
        case _:
            name, settings = "gpt-5", ProviderSettings(base_url=f"{base}/v1", apis=("chat.completions", "responses"))
    return provider_model(
        f"lab/{name}@{mode}", settings.model_copy(update={"api_key_env": "LAB_KEY", "timeout_s": timeout_s})
    )


# --- fields

SAID = [{"role": "user", "content": ASK}]
TOOL = {"type": "function", "function": {"name": "look", "description": "d", "parameters": SCHEMA}}
PLAIN: dict[str, dict[str, Any]] = {
    "chat.completions": {"messages": SAID},
    "responses": {"input": ASK},
    "messages": {"messages": SAID, "max_tokens": 9000},
    "generate_content": {"contents": [{"role": "user", "parts": [{"text": ASK}]}]},
}


def chat_part(**part: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": ASK}, part]}]}


def item(*items: dict[str, Any]) -> dict[str, Any]:
    return {"input": [*items, {"role": "user", "content": ASK}]}


def response_part(**part: Any) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [{"type": "input_text", "text": ASK}, part]}]}


def block(**part: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "text", "text": ASK}, part]}]}


def called(**result: Any) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "t1", "name": "look", "input": {"city": "Rome"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "no", **result}
    tools = [{"name": "look", "input_schema": SCHEMA}]
    return {
        "messages": [*SAID, {"role": "assistant", "content": [use]}, {"role": "user", "content": [back]}],
        "tools": tools,
    }


def gemini_part(**part: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": ASK}, part]}]}


def generation(**config: Any) -> dict[str, Any]:
    return {"generationConfig": config}


def thoughts_of(server: Any) -> dict[str, Any]:
    """Return thoughts of an earlier turn with the counterpart's signature."""
    text = "Let me see."
    earlier = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": text, "signature": server.digest(text)}],
    }
    return {"messages": [*SAID, earlier, *SAID]}


def fields_of(server: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """Return fields by API: their names as in an error, and the body's part that holds them."""
    custom = {"type": "custom", "custom": {"name": "patch"}}
    return {
        "chat.completions": {
            "reasoning_effort": {"reasoning_effort": "high"},
            "response_format": {
                "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}
            },
            "json_object": {"response_format": {"type": "json_object"}},
            "parallel_tool_calls": {"parallel_tool_calls": False, "tools": [TOOL]},
            "strict": {"tools": [{**TOOL, "function": {**TOOL["function"], "strict": True}}]},  # pyright: ignore[reportGeneralTypeIssues]
            "tools": {"tools": [custom]},
            "n": {"n": 2},
            "logprobs": {"logprobs": True, "top_logprobs": 3},
            "top_logprobs": {"top_logprobs": 3},
            "logit_bias": {"logit_bias": {"42": 5}},
            "presence_penalty": {"presence_penalty": 0.5},
            "frequency_penalty": {"frequency_penalty": 0.5},
            "seed": {"seed": 7},
            "stop": {"stop": ["END"]},
            "temperature": {"temperature": 0.5},
            "top_p": {"top_p": 0.9},
            "max_completion_tokens": {"max_completion_tokens": 77},
            "user": {"user": "u"},
            "metadata": {"metadata": {"k": "v"}},
            "service_tier": {"service_tier": "flex"},
            "prompt_cache_key": {"prompt_cache_key": "k"},
            "prompt_cache_retention": {"prompt_cache_retention": "24h"},
            "safety_identifier": {"safety_identifier": "s"},
            "store": {"store": True},
            "verbosity": {"verbosity": "low"},
            "prediction": {"prediction": {"type": "content", "content": "a"}},
            "modalities": {"modalities": ["text", "audio"]},
            "audio": {"audio": {"voice": "alloy", "format": "wav"}},
            "web_search_options": {"web_search_options": {"search_context_size": "low"}},
            "functions": {"functions": [{"name": "f"}]},
            "name": {"messages": [{"role": "user", "content": ASK, "name": "ada"}]},
            "image_url": chat_part(type="image_url", image_url={"url": "https://example.org/a.png"}),
            "image_url.detail": chat_part(
                type="image_url", image_url={"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}
            ),
            "file": chat_part(
                type="file", file={"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}
            ),
            "input_audio": chat_part(type="input_audio", input_audio={"data": "AAAA", "format": "wav"}),
            "reasoning_content": {
                "messages": [*SAID, {"role": "assistant", "content": "a", "reasoning_content": "hm"}, *SAID]
            },
            "a_vendors_own": {"a_vendors_own": {"deep": [1, {"x": "y"}]}},
        },
        "responses": {
            "reasoning.effort": {"reasoning": {"effort": "high"}},
            "reasoning.summary": {"reasoning": {"summary": "auto"}},
            "reasoning": item({"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "gA"}),
            "include": {"include": ["reasoning.encrypted_content"]},
            "text.format": {"text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA, "strict": True}}},
            "text.verbosity": {"text": {"verbosity": "low"}},
            "truncation": {"truncation": "auto"},
            "max_tool_calls": {"max_tool_calls": 3},
            "parallel_tool_calls": {
                "parallel_tool_calls": False,
                "tools": [{"type": "function", "name": "look", "parameters": SCHEMA}],
            },
            "previous_response_id": {"previous_response_id": "resp_0"},
            "prompt_cache_key": {"prompt_cache_key": "k"},
            "service_tier": {"service_tier": "flex"},
            "metadata": {"metadata": {"k": "v"}},
            "safety_identifier": {"safety_identifier": "s"},
            "top_logprobs": {"top_logprobs": 2},
            "tools": {"tools": [{"type": "web_search"}]},
            "strict": {"tools": [{"type": "function", "name": "look", "parameters": SCHEMA, "strict": True}]},
            "image_url": response_part(type="input_image", image_url="https://example.org/a.png"),
            "file_id": response_part(type="input_file", file_id="file_1"),
            "input_file": response_part(
                type="input_file", filename="a.pdf", file_data=f"data:application/pdf;base64,{PDF}"
            ),
            "phase": item({"type": "message", "role": "assistant", "content": "a", "phase": "commentary"}),
            "item_reference": item({"type": "item_reference", "id": "x"}),
            "prompt": {"prompt": {"id": "pmpt_1"}},
            "background": {"background": True},
        },
        "messages": {
            "thinking": {"thinking": {"type": "enabled", "budget_tokens": 1024}},
            "signature": thoughts_of(server),
            "redacted_thinking": {
                "messages": [
                    *SAID,
                    {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
                    *SAID,
                ]
            },
            "output_config.effort": {"output_config": {"effort": "low"}},
            "output_config.format": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            "cache_control": {
                "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]
            },
            "messages.cache_control": block(type="text", text="x", cache_control={"type": "ephemeral"}),
            "tools.cache_control": {
                "tools": [{"name": "look", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}}],
            },
            "top_k": {"top_k": 5},
            "top_p": {"top_p": 0.9},
            "temperature": {"temperature": 0.5},
            "stop_sequences": {"stop_sequences": ["END"]},
            "metadata": {"metadata": {"user_id": "u"}},
            "service_tier": {"service_tier": "standard_only"},
            "context_management": {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
            "container": {"container": "c_1"},
            "mcp_servers": {"mcp_servers": [{"type": "url", "url": "https://example.org", "name": "m"}]},
            "disable_parallel_tool_use": {
                "tools": [{"name": "look", "input_schema": SCHEMA}],
                "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            },
            "tools": {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
            "image.source": block(type="image", source={"type": "url", "url": "https://example.org/a.png"}),
            "image": block(type="image", source={"type": "base64", "media_type": "image/png", "data": PIXEL}),
            "document": block(
                type="document",
                source={"type": "base64", "media_type": "application/pdf", "data": PDF},
                citations={"enabled": True},
            ),
            "document.source": block(type="document", source={"type": "url", "url": "https://example.org/a.pdf"}),
            "is_error": called(is_error=True),
            "a_vendors_own": {"a_vendors_own": {"deep": [1]}},
        },
        "generate_content": {
            "safetySettings": {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]},
            "thinkingConfig": generation(thinkingConfig={"includeThoughts": True, "thinkingBudget": 512}),
            "responseJsonSchema": generation(responseMimeType="application/json", responseJsonSchema=SCHEMA),
            "topK": generation(topK=5),
            "candidateCount": generation(candidateCount=2),
            "responseLogprobs": generation(responseLogprobs=True, logprobs=2),
            "presencePenalty": generation(presencePenalty=0.5),
            "responseModalities": generation(responseModalities=["IMAGE"]),
            "fileData": gemini_part(fileData={"mimeType": "application/pdf", "fileUri": "https://example.org/a.pdf"}),
            "inlineData": gemini_part(inlineData={"mimeType": "application/pdf", "data": PDF}),
            "cachedContent": {"cachedContent": "cachedContents/1"},
            "tools": {"tools": [{"googleSearch": {"a": 1}}]},
            "labels": {"labels": {"k": "v"}},
        },
    }


ANSWERS: dict[str, list[tuple[str, dict[str, Any], str]]] = {
    "chat.completions": [
        ("ok", {}, '"system_fingerprint"|"id": "chatcmpl-'),
        ("ok", {}, '"finish_reason": "stop"'),
        ("think", {}, '"reasoning_content"'),
        ("refusal", {}, '"refusal": "I'),
        ("extra-fields", {}, '"x_unknown'),
        ("cache-write", {}, '"cache_write_tokens": 1800'),
    ],
    "responses": [
        ("think", {}, '"summary_text"'),
        ("refusal", {}, '"type": "refusal"'),
        ("length", {}, '"max_output_tokens"'),
        ("extra-fields", {}, '"x_unknown'),
        ("cached", {}, '"cached_tokens": 1800'),
        ("ok", {}, '"annotations"'),
    ],
    "messages": [
        ("think", {}, '"signature"'),
        ("cache-write", {}, '"cache_creation_input_tokens": 1800'),
        ("cached", {}, '"cache_read_input_tokens": 1800'),
        ("ok", {}, '"service_tier": "standard"'),
        ("extra-fields", {}, '"x_unknown'),
        ("snapshot", {}, "-2026-01-01"),
    ],
}
"""Fields of answers: the mode in which the counterpart sends them, the request, and their text."""


class Sent(NamedTuple):
    """What came of a request through the broker."""

    status: int
    text: str
    dropped: str
    arrived: dict[str, Any]


class FieldBench:
    """A broker before the counterpart."""

    def __init__(self, url: str, token: str, server: Any) -> None:
        self._server = server
        self._client = httpx.AsyncClient(base_url=url, headers={"x-api-key": token}, timeout=30)

    async def send(self, api: str, model: str, body: Mapping[str, Any], stream: bool = False) -> Sent:
        """Send a body, and say what the counterpart saw."""
        before = len(self._server.asks)
        if api == "generate_content":
            answer = await self._client.post(f"/v1beta/models/{model}:generateContent", json=dict(body))
        else:
            more = {"stream": True} if stream else {}
            answer = await self._client.post(PATHS[api], json={**body, "model": model, **more})
        asks = self._server.asks[before:]
        arrived = {name: value for name, value in asks[-1].body.items() if name != "model"} if asks else {}
        return Sent(answer.status_code, answer.text, answer.headers.get("heredity-dropped", ""), arrived)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


async def measure_fields(server: Any, app: Any, base: str, quick: bool) -> tuple[int, list[str]]:
    """Return the number of checks, and those that failed."""
    models = {f"{api}@{mode}": model_of(api, base, mode) for api in APIS for mode in server.MODES}
    account = Account("benchmark")
    failed, total = list[str](), 0
    async with serve_broker(BrokerApp(models, [account])) as at:
        bench = FieldBench(at.url, account.token, app)
        gemini = (await bench.send("generate_content", "generate_content@ok", PLAIN["generate_content"])).status == 200
        for api, fields in fields_of(server).items():
            if api == "generate_content" and not gemini:
                total += await _gemini_fields(models["generate_content@ok"], app, fields, failed)
                continue
            plain = await bench.send(api, f"{OTHER[api]}@ok", PLAIN[api])
            for name, part in list(fields.items())[: 6 if quick else None]:
                total += 2
                body = {**PLAIN[api], **part}
                same = await bench.send(api, f"{api}@ok", body)
                if same.arrived != body and not (same.status == 400 and _names(same.text, name)):
                    failed.append(f"{api} {name}: {same.status} {same.text[:200]}")
                other = await bench.send(api, f"{OTHER[api]}@ok", body)
                if not _carried(other, plain, name):
                    failed.append(f"{api} {name} to {OTHER[api]}: {other.status} {other.dropped} {other.text[:200]}")
        for api, answers in ANSWERS.items():
            for mode, more, text in answers:
                for stream in (False, True):
                    total += 1
                    counted = {"stream_options": {"include_usage": True}} if stream and "chat" in api else {}
                    answer = await bench.send(api, f"{api}@{mode}", {**PLAIN[api], **more, **counted}, stream)
                    if not any(piece in answer.text for piece in text.split("|")):
                        failed.append(f"{api} answers in mode {mode}, stream {stream}: {text} is missing")
        await bench.close()
    for model in models.values():
        await model.close()
    return total, failed


async def _gemini_fields(
    model: ProviderModel, app: Any, fields: Mapping[str, dict[str, Any]], failed: list[str]
) -> int:
    """Send Gemini's fields by the gateway, where the broker does not serve this API."""
    for name, part in fields.items():
        body = {**PLAIN["generate_content"], **part}
        await model.reply(Request((Message("user", ASK),), original=Original("generate_content", body)))
        if app.asks[-1].body != body:
            failed.append(f"generate_content {name}: {app.asks[-1].body}")
    return len(fields)


def _names(text: str, name: str) -> bool:
    """Return whether an error names a field: its path, or the kind of its part."""
    return any(part in text for part in (name, name.rpartition(".")[2], _KINDS.get(name, name)))


_KINDS = {
    "file_id": "input_file",
    "json_object": "response_format",
    "document.source": "document",
    "messages.cache_control": "cache_control",
}


def _carried(other: Sent, plain: Sent, name: str) -> bool:
    leaf = name.rpartition(".")[2]
    if other.status == 400:
        return _names(other.text, name)
    named = (
        leaf in other.dropped or "messages" in other.dropped or "input[" in other.dropped or "tools[" in other.dropped
    )
    return other.status == 200 and (named or other.arrived != plain.arrived)


# --- modes


class Outcome(NamedTuple):
    """What a mode led to: a reply or a failure."""

    reply: Reply | None
    error: ProviderError | None

    def says(self) -> str:
        """Return it in a few words."""
        if self.error is not None:
            return f"{self.error.kind}, transient {self.error.transient}: {str(self.error)[:160]}"
        return repr(self.reply)[:300]


Check = Callable[[Outcome], bool]


def fails(*kinds: str, transient: bool) -> Check:
    """Return a check for a failure of one of these kinds."""
    return lambda o: o.error is not None and o.error.kind in kinds and o.error.transient == transient


def answers(check: Callable[[Reply], bool] = lambda r: "42" in r.text) -> Check:
    """Return a check for a reply."""
    return lambda o: o.reply is not None and check(o.reply)


def _unknown(reply: Reply) -> bool:
    return "42" in reply.text and reply.usage.tokens is None


def _calls(count: int) -> Check:
    return answers(lambda r: len(r.tool_calls) == count and r.finish == "tool_calls")


LIMITED = fails("rate_limit", transient=True)
SPENT = fails("rate_limit", transient=False)
BROKEN = fails("server", "garbage", "connection", transient=True)
ANY_TEXT = answers(lambda r: bool(r.text))
EXPECTED: dict[str, Check] = {
    **dict.fromkeys(("429", "429-seconds", "429-ms", "429-date", "429-reset"), LIMITED),
    **dict.fromkeys(("quota", "402"), SPENT),
    **dict.fromkeys(("529", "500", "500-html", "502-html"), fails("server", transient=True)),
    **dict.fromkeys(("200-html", "200-error", "reset", "cut", "stream-error", "finish-null"), BROKEN),
    "stall": fails("timeout", "connection", transient=True),
    "401": lambda o: fails("auth", transient=False)(o) and KEY not in str(o.error),
    "context": fails("context", transient=False),
    "length": answers(lambda r: r.finish == "length"),
    "think-length": answers(lambda r: r.finish == "length"),
    **dict.fromkeys(("filter", "refusal"), answers(lambda r: r.finish == "refusal")),
    "think": answers(lambda r: "42" in r.text and "numbers" in r.reasoning),
    "cached": answers(lambda r: r.usage.cached_tokens == 1800),
    **dict.fromkeys(("no-usage", "null-usage", "wrong-usage"), answers(_unknown)),
    "parallel": _calls(3),
    "duplicate-ids": _calls(2),
    **dict.fromkeys(("bad-args", "object-args", "unknown-tool", "missing-id"), _calls(1)),
    **dict.fromkeys(
        (
            "big",
            "big-line",
            "truncated",
            "search-replace",
            "unified-diff",
            "whole-program",
            "two-blocks",
            "wrong-language",
        ),
        ANY_TEXT,
    ),
}
WITH_TOOLS = ("parallel", "bad-args", "object-args", "unknown-tool", "duplicate-ids", "missing-id", "no-tools")
EMPTY = ("empty", "null-content")
WHOLE_ONLY, STREAM_ONLY = ("no-choices",), ("stream-error",)
REFUSES = {
    "no-seed": "seed",
    "no-temperature": "temperature",
    "no-max-tokens": "max_tokens",
    "only-max-tokens": "max_completion_tokens",
    "no-response-format": "response_format",
}


def expected(mode: str, api: str, own: bool, stream: bool) -> Check:
    """Return the check of a mode; `own` for the gateway's own request, which asks again without what is refused."""
    if mode == "no-max-tokens" and api == "messages":
        # This API demands the parameter.
        return lambda o: fails("request", transient=False)(o) and "max_tokens" in str(o.error)
    if mode == "finish-null" and api == "responses":
        # This API has a status instead, which says that the answer ended.
        return answers()
    if mode == "no-choices" and api == "messages" and not own and not stream:
        # Nothing but an end is an answer of this API.
        return answers(lambda r: not r.text)
    # The package asks this API for a stream in any case.
    stream = stream or (own and api == "messages")
    if mode in EMPTY:
        # A program gets what its provider gave; the gateway's own callers can do nothing with an empty answer.
        return fails("empty", transient=True) if own else answers(lambda r: not r.text)
    if mode in WHOLE_ONLY:
        return answers() if stream else BROKEN
    if mode in STREAM_ONLY:
        return BROKEN if stream else answers()
    return EXPECTED.get(mode, answers())


TOOL_BODIES: dict[str, Any] = {
    "chat.completions": [TOOL],
    "responses": [{"type": "function", "name": "look", "parameters": SCHEMA}],
    "messages": [{"name": "look", "input_schema": SCHEMA}],
    "generate_content": [{"functionDeclarations": [{"name": "look", "parametersJsonSchema": SCHEMA}]}],
}


def request_of(api: str, mode: str, own: bool, stream: bool) -> Request:
    """Return the request of a mode."""
    sampling = Sampling(temperature=0.0, seed=7, max_tokens=99) if own and mode in REFUSES else Sampling()
    tools = (ToolSpec("look", "d", SCHEMA),) if mode in WITH_TOOLS else ()
    request = Request((Message("user", ASK),), tools, sampling)
    if own:
        return request
    body = {**PLAIN[api], **({"tools": TOOL_BODIES[api]} if tools else {})}
    if stream and api != "generate_content":
        body["stream"] = True
    return replace(request, original=Original(api, body, stream))


async def outcome_of(model: ProviderModel, request: Request, stream: bool) -> Outcome:
    """Ask a model."""
    try:
        if not stream:
            return Outcome(await model.reply(request), None)
        reply: Reply | None = None
        async with contextlib.aclosing(model.stream(request)) as deltas:
            async for delta in deltas:
                reply = delta.reply or reply
        return Outcome(reply, None)
    except ProviderError as error:
        return Outcome(None, error)


async def measure_modes(server: Any, base: str, names: Sequence[str]) -> list[str]:
    """Return what was wrong in any mode."""
    wrong: list[str] = []
    for mode in names:
        for api in APIS:
            for own, stream in [(own, stream) for own in (False, True) for stream in (False, True)]:
                if own and api == "responses":
                    continue
                given = "slow:0.05" if mode == "slow" else mode
                model = model_of(api, base, given, timeout_s=0.5 if mode == "stall" else 20.0)
                result = await outcome_of(model, request_of(api, mode, own, stream), stream)
                await model.close()
                if not expected(mode, api, own, stream)(result):
                    kind = "own" if own else "passed through"
                    wrong.append(f"{mode}, {api}, {kind}, stream {stream}: {result.says()}")
    return wrong


# --- cuts


class CutServer:
    """Sends the beginning of a recorded stream, and ends cleanly."""

    def __init__(self) -> None:
        self.data = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            size = next(
                (int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("content-length:")), 0
            )
            await reader.readexactly(size)
            chunk = f"{len(self.data):x}\r\n".encode() + self.data + b"\r\n" if self.data else b""
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
                + chunk
                + b"0\r\n\r\n"
            )
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def cut_server() -> AsyncGenerator[tuple[CutServer, str]]:
    """Serve cut streams."""
    cut = CutServer()
    server = await asyncio.start_server(cut.serve, "127.0.0.1", 0)
    async with server:
        yield cut, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def recorded(base: str) -> dict[str, bytes]:
    """Return one stream of each API, with thoughts before the text."""
    streams: dict[str, bytes] = {}
    async with httpx.AsyncClient(timeout=30) as client:
        for api in APIS:
            body = PLAIN[api]
            if api == "generate_content":
                url = f"{base}/v1beta/models/g@think:streamGenerateContent?alt=sse"
            else:
                url, body = base + PATHS[api], {**body, "model": "m@think", "stream": True}
            if api == "chat.completions":
                body = {**body, "stream_options": {"include_usage": True}}
            streams[api] = (await client.post(url, json=body)).content
    return streams


async def measure_cuts(base: str, random_cuts: int) -> tuple[int, list[str]]:
    """Return the number of cut streams, and those that were accepted."""
    cuts, accepted = 0, list[str]()
    streams = await recorded(base)
    async with cut_server() as (server, url):
        for api, data in streams.items():
            events = [0, *(i + 2 for i in range(len(data) - 2) if data[i : i + 2] == b"\n\n")]
            chance = random.Random(f"cuts of {api}")
            ends = sorted(
                {*(e for e in events if e < len(data)), *(chance.randrange(len(data)) for _ in range(random_cuts))}
            )
            for own in (False, True)[: 1 if api == "responses" else 2]:
                model = model_of(api, url)
                server.data = data
                whole = await outcome_of(model, request_of(api, "think", own, True), True)
                if whole.reply is None or "42" not in whole.reply.text:
                    accepted.append(f"{api}: the whole stream gives {whole.says()}")
                for end in ends:
                    server.data = data[:end]
                    cuts += 1
                    result = await outcome_of(model, request_of(api, "think", own, True), True)
                    if result.reply is not None:
                        accepted.append(f"{api}, {end} of {len(data)} bytes, {'own' if own else 'passed through'}")
                await model.close()
    return cuts, accepted


# --- all


async def measure(server: Any, quick: bool) -> dict[str, Any]:
    """Return the figures and what was wrong."""
    os.environ["LAB_KEY"] = KEY
    app = server.Server()
    with serving(app) as base:
        names = [name for name in server.MODES if not quick or name in QUICK_MODES]
        total, lost = await measure_fields(server, app, base, quick)
        wrong = await measure_modes(server, base, names)
        cuts, accepted = await measure_cuts(base, 10 if quick else 500)
    bad = {line.split(",")[0] for line in wrong}
    return {
        "fields": total,
        "kept_or_refused_by_name": total - len(lost),
        "modes": len(names),
        "right": len(names) - len(bad),
        "cuts": cuts,
        "accepted_cuts": len(accepted),
        "lost": lost,
        "wrong": wrong,
        "accepted": accepted,
    }


QUICK_MODES = ("ok", "429-seconds", "quota", "cut", "no-usage", "extra-events", "finish-null", "think", "parallel")


def main() -> int:
    """Run from the command line; 0 if all is right."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = Path("../shared/tools/providers.py")
    parser.add_argument("--server", type=Path, default=default, help=f"the counterpart (default {default})")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--quick", action="store_true", help="a few fields, modes and cuts")
    given = parser.parse_args()
    figures = asyncio.run(measure(load_server(given.server), given.quick))
    if given.json:
        print(json.dumps(figures, indent=2))
    else:
        for good, of, what in (
            ("kept_or_refused_by_name", "fields", "fields kept, or refused by name"),
            ("right", "modes", "modes right"),
            ("accepted_cuts", "cuts", "cut streams accepted"),
        ):
            print(f"{figures[good]} of {figures[of]} {what}")
        print("\n".join([*figures["lost"], *figures["wrong"], *figures["accepted"]]))
    return int(bool(figures["lost"] or figures["wrong"] or figures["accepted"]))


if __name__ == "__main__":
    sys.exit(main())
