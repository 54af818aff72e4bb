"""A request to a model of the same API reaches its provider as it is, and the answer comes back as it is."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from tests.models.broker.fakes import TOKEN, Bench, FakeModel, bench
from tests.models.broker.programs import ChatProgram
from tests.models.endpoint import Answer, Endpoint, anthropic, anthropic_stream, chunks, completion, endpoint, failure

from heredity._core.errors import ProviderError
from heredity.models import Delta, Message, Request, Usage
from heredity.models.broker import Account, Limits
from heredity.models.contract import Original, apis_of
from heredity.models.gateway import Gateway, ProviderModel, provider_model
from heredity.models.replay import Recording, Replayed
from heredity.models.settings import GatewaySettings, ProviderSettings

SAID: list[Any] = [{"role": "user", "content": "hi"}]
PRICES = {"*": {"input": 1.0, "output": 10.0}}
CHAT: dict[str, Any] = {
    "messages": SAID,
    "n": 2,
    "logprobs": True,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": True},
    },
    "reasoning_effort": "low",
    "parallel_tool_calls": False,
    "prompt_cache_key": "k",
    "a_vendors_own": {"deep": [1, None]},
}
RESPONSES: dict[str, Any] = {
    "input": [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.org/a.png"}]},
    ],
    "include": ["reasoning.encrypted_content"],
    "reasoning": {"effort": "high", "summary": "auto"},
    "store": False,
}
MESSAGES: dict[str, Any] = {
    "max_tokens": 4000,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "sig"}]},
        {
            "role": "user",
            "content": [{"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}}],
        },
    ],
}
RESPONSE = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "model": "m-dated",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "hello", "annotations": []}]}],
    "usage": {"input_tokens": 12, "output_tokens": 3, "total_tokens": 15},
}
RESPONSE_EVENTS = [
    {"type": "response.created", "response": {**RESPONSE, "status": "in_progress", "output": []}},
    {"type": "response.output_text.delta", "delta": "hello"},
    {"type": "response.completed", "response": RESPONSE},
]
TEXT = {"type": "text", "text": ""}
AGENT_HEADERS = {
    "anthropic-beta": "b-1",
    "openai-beta": "b-2",
    "user-agent": "claude-cli/2.1 (external, cli)",
    "originator": "codex_exec",
    "x-app": "cli",
    "x-stainless-lang": "js",
}
CONTENT: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"fileData": {"fileUri": "https://example.org/a.pdf"}}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "So.", "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"text": "hi"}]},
    ],
    "tools": [{"googleSearch": {}}],
    "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    "generationConfig": {"thinkingConfig": {"thinkingBudget": 100}, "responseSchema": {"type": "OBJECT"}, "topK": 3},
}
CONTENT_ANSWER: dict[str, Any] = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "hello", "thoughtSignature": "bW9yZQ=="}]},
            "finishReason": "STOP",
            "groundingMetadata": {},
        }
    ],
    "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15},
    "modelVersion": "m-dated",
}
CALLS = {
    "/v1/chat/completions": (
        CHAT,
        completion("hello"),
        Answer(events=chunks({"role": "assistant"}, {"content": "hello"})),
    ),
    "/v1/responses": (RESPONSES, RESPONSE, Answer(events=RESPONSE_EVENTS, named=True)),
    "/v1/messages": (
        MESSAGES,
        anthropic({"type": "thinking", "thinking": "hm", "signature": "sig"}, {"type": "text", "text": "hello"}),
        anthropic_stream((TEXT, [{"type": "text_delta", "text": "hello"}])),
    ),
}
each_api = pytest.mark.parametrize("path", CALLS)
each_way = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


@pytest.fixture
async def server() -> AsyncGenerator[Endpoint]:
    async with endpoint() as played:
        yield played


def settings_of(server: Endpoint, path: str) -> ProviderSettings:
    prices: Any = PRICES
    if "messages" in path:
        return ProviderSettings(kind="anthropic", base_url=server.url.removesuffix("/v1"), prices=prices, timeout_s=5.0)
    apis = ("chat.completions", "responses", "embeddings")
    return ProviderSettings(base_url=server.url, apis=apis, prices=prices, timeout_s=5.0)


def model_of(server: Endpoint, path: str) -> ProviderModel:
    return provider_model("lab/m", settings_of(server, path))


async def post(table: Bench, path: str, body: dict[str, Any], **headers: str) -> httpx.Response:
    given = {"authorization": f"Bearer {TOKEN}", **headers}
    async with httpx.AsyncClient(base_url=table.url, headers=given) as client:
        return await client.post(path, json={"model": "fake", **body})


def sent_by(answer: Answer) -> str:
    """Return the bytes of a stream as text."""
    named = ((f"event: {e['type']}\n" if answer.named else "", e) for e in answer.events or [])
    return "".join(f"{name}data: {e if isinstance(e, str) else json.dumps(e)}\n\n" for name, e in named)


@each_api
@each_way
async def test_body_and_answer_pass_untouched_and_are_metered(server: Endpoint, path: str, streamed: bool) -> None:
    body, whole, events = CALLS[path]
    asked = {**body, "stream": True} if streamed else body
    if streamed and "chat" in path:
        asked["stream_options"] = {"include_usage": True}
    server.play(events if streamed else Answer(json.dumps(whole).encode()))
    async with bench(model_of(server, path)) as table:
        answer = await post(table, path, asked, **AGENT_HEADERS, **{"x-forwarded-for": "10.0.0.1", "cookie": "c=1"})
        assert (answer.status_code, answer.text) == (200, sent_by(events) if streamed else json.dumps(whole))
        assert server.asked[0].path == path
        assert server.asked[0].body == {**asked, "model": "m"}
        arrived = server.asked[0].headers
        assert {name: arrived.get(name) for name in AGENT_HEADERS} == AGENT_HEADERS
        assert arrived.keys().isdisjoint({"x-forwarded-for", "cookie"})
        assert TOKEN not in str(server.asked[0].headers)
        record = table.records[0]
        assert (record.usage.input_tokens, record.usage.output_tokens) == (12, 3)
        assert record.usage.cost_usd == pytest.approx(42e-6)
        assert record.finish == "stop"


async def test_the_name_of_a_program_does_not_make_another_request_of_the_same(server: Endpoint) -> None:
    given = [Original("messages", MESSAGES, client={"user-agent": agent}) for agent in ("a/1", "a/2")]
    one, other = (Request((Message("user", "hi"),), original=original) for original in given)
    beta = Request((Message("user", "hi"),), original=Original("messages", MESSAGES, headers={"anthropic-beta": "b"}))
    assert one.digest == other.digest != beta.digest


async def test_the_headers_of_another_vendor_are_named_as_dropped() -> None:
    async with bench(FakeModel()) as table:
        said = {"messages": SAID, "max_tokens": 9}
        answer = await post(table, "/v1/messages", said, **AGENT_HEADERS)
    assert answer.headers["heredity-dropped"] == "anthropic-beta, openai-beta"


FAILED = {
    "openai": lambda body: [m["content"] for m in body["messages"] if m["role"] == "tool"],
    "anthropic": lambda body: [
        (part["is_error"], part["content"][0]["text"] if isinstance(part["content"], list) else part["content"])
        for message in body["messages"]
        for part in (message["content"] if isinstance(message["content"], list) else [])
        if part["type"] == "tool_result"
    ],
}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("openai", ['{"error":"no such city"}', "cold"]),
        ("anthropic", [(True, "no such city"), (False, "cold")]),
    ],
)
async def test_a_failed_result_of_a_tool_is_one_at_every_provider(server: Endpoint, kind: str, told: list[Any]) -> None:
    call = {"type": "tool_use", "name": "weather", "input": {}}
    results = [
        {"type": "tool_result", "tool_use_id": "a", "content": "no such city", "is_error": True},
        {"type": "tool_result", "tool_use_id": "b", "content": "cold"},
    ]
    messages = [
        *SAID,
        {"role": "assistant", "content": [{**call, "id": "a"}, {**call, "id": "b"}]},
        {"role": "user", "content": results},
    ]
    server.play(Answer(completion("x") if kind == "openai" else anthropic({"type": "text", "text": "x"})))
    path = "/v1/messages" if kind == "anthropic" else "/v1/chat/completions"
    model = provider_model("lab/m", settings_of(server, path).model_copy(update={"apis": ()}))
    async with bench(model) as table:
        answer = await post(table, "/v1/messages", {"messages": messages, "max_tokens": 9})
    assert answer.status_code == 200, answer.text
    assert FAILED[kind](server.asked[0].body) == told


async def test_the_usage_that_only_the_meter_asked_for_is_not_passed_back(server: Endpoint) -> None:
    server.play(Answer(events=chunks({"content": "hello"})))
    async with bench(model_of(server, "chat")) as table:
        answer = await post(table, "/v1/chat/completions", {"messages": SAID, "stream": True})
        assert server.asked[0].body["stream_options"] == {"include_usage": True}
        assert ('"usage"' in answer.text, "[DONE]" in answer.text) == (False, True)
        assert table.records[0].usage.tokens == 15


@each_api
async def test_an_answer_that_is_cut_anywhere_is_none(server: Endpoint, path: str) -> None:
    body, _, answer = CALLS[path]
    events = answer.events or []
    async with bench(model_of(server, path)) as table:
        for end in range(len(events)):
            server.play(Answer(events=events[:end], named=answer.named))
            got = await post(table, path, {**body, "stream": True})
            assert got.status_code == 502 or '"error"' in got.text
        server.play(answer)
        await post(table, path, {**body, "stream": True})
        assert [record.outcome for record in table.records] == ["failed"] * len(events) + ["answered"]


@each_api
@each_way
async def test_an_equal_request_comes_from_the_cache_as_it_was(
    server: Endpoint, path: str, streamed: bool, tmp_path: Path
) -> None:
    body, whole, events = CALLS[path]
    server.play(events if streamed else Answer(whole))
    settings = GatewaySettings(providers={"lab": settings_of(server, path)}, cache=str(tmp_path / "replies"))
    async with Gateway(settings) as gateway, bench(gateway.model("lab/m")) as table:
        asked = {**body, "stream": streamed, "temperature": 0}
        first, again, other = [await post(table, path, {**asked, "x": x}) for x in (1, 1, 2)]
        assert (first.text, len(server.asked)) == (again.text, 2)
        assert other.status_code == 200
        assert table.records[1].usage == Usage(0, 0, 0, 0.0)


@each_way
async def test_a_recording_gives_the_same_answer_back(server: Endpoint, streamed: bool, tmp_path: Path) -> None:
    path = "/v1/messages"
    body, whole, events = CALLS[path]
    server.play(events if streamed else Answer(whole))
    recording = Recording(model_of(server, path), tmp_path / "calls")
    answers: list[str] = []
    for open_model in (lambda: recording, lambda: Replayed(tmp_path / "calls")):
        async with bench(open_model()) as table:
            answers.append((await post(table, path, {**body, "stream": streamed})).text)
    assert answers[0] == answers[1]
    assert len(server.asked) == 1


async def test_a_stream_that_fails_before_its_first_words_is_asked_again(server: Endpoint) -> None:
    path = "/v1/messages"
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    good = CALLS[path][2]
    server.play(Answer(events=[(good.events or [])[0], overloaded], named=True), good)
    settings = GatewaySettings(providers={"lab": settings_of(server, path)})
    async with Gateway(settings) as gateway, bench(gateway.model("lab/m")) as table:
        answer = await post(table, path, {**MESSAGES, "stream": True})
        assert (answer.text, len(server.asked)) == (sent_by(good), 2)


async def test_what_the_provider_refuses_is_refused_in_the_form_of_the_api(server: Endpoint) -> None:
    server.play(failure(400, "thinking: not today", kind="invalid_request_error"))
    async with bench(model_of(server, "messages")) as table:
        answer = await post(table, "/v1/messages", MESSAGES)
        assert (answer.status_code, answer.json()["type"]) == (400, "error")
        assert "thinking: not today" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("status", "message", "headers", "kind", "transient"),
    [
        (400, "Your credit balance is too low", {}, "rate_limit", False),
        (429, "You exceeded your current quota", {}, "rate_limit", False),
        (429, "You exceeded your current quota", {"retry-after": "7"}, "rate_limit", True),
        (402, "Add credits", {}, "rate_limit", False),
        (429, "Slow down", {"retry-after": "7"}, "rate_limit", True),
        (400, "prompt is too long: 9 tokens > 8", {}, "context", False),
        (529, "Overloaded", {}, "server", True),
    ],
)
async def test_failures_mean_the_same_as_without_passing(
    server: Endpoint, status: int, message: str, headers: dict[str, str], kind: str, transient: bool
) -> None:
    server.play(failure(status, message, **headers))
    model = model_of(server, "messages")
    for original in (Original("messages", MESSAGES), None):
        with pytest.raises(ProviderError) as caught:
            await model.reply(Request((Message("user", "hi"),), original=original))
        assert (caught.value.kind, caught.value.transient) == (kind, transient)
        assert caught.value.retry_after_s == (7 if headers else None)
    await model.close()


async def test_a_layer_takes_what_all_of_its_models_take(server: Endpoint) -> None:
    chat, messages = settings_of(server, "chat"), settings_of(server, "messages")
    routes: Any = {"both": {"models": ["chat/m", "messages/m"]}}
    settings = GatewaySettings(providers={"chat": chat, "messages": messages}, routes=routes)
    async with Gateway(settings) as gateway:
        taken = {name: apis_of(gateway.model(name)) for name in ("chat/m", "messages/m", "both")}
    chat_apis = {"chat.completions", "responses", "embeddings"}
    assert taken == {"chat/m": chat_apis, "messages/m": {"messages"}, "both": frozenset()}


async def test_gemini_passes_too(server: Endpoint) -> None:
    model = provider_model("lab/m", ProviderSettings(kind="google", base_url=server.url.removesuffix("/v1")))
    end = {"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP"}
    used = {"promptTokenCount": 12, "candidatesTokenCount": 2, "thoughtsTokenCount": 1}
    answer = {"candidates": [end], "usageMetadata": used}
    body = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "safetySettings": [{"category": "x"}]}
    for stream in (False, True):
        server.play(Answer(events=[answer]) if stream else Answer(answer))
        request = Request((Message("user", "hi"),), original=Original("generate_content", body, stream))
        received: list[Delta] = [delta async for delta in model.stream(request)]
        assert received[-1].reply is not None
        assert (received[-1].reply.text, received[-1].reply.usage.tokens) == ("hello", 15)
        assert server.asked[-1].body == body
    assert server.asked[-1].path == "/v1beta/models/m:streamGenerateContent?alt=sse"


@each_way
async def test_a_gemini_model_gets_and_gives_gemini_content_as_it_is(server: Endpoint, streamed: bool) -> None:
    server.play(Answer(events=[CONTENT_ANSWER]) if streamed else Answer(body=CONTENT_ANSWER))
    settings = ProviderSettings(kind="google", base_url=server.url.removesuffix("/v1"), prices=PRICES, timeout_s=5.0)  # pyright: ignore[reportArgumentType]
    action = "streamGenerateContent?alt=sse" if streamed else "generateContent"
    async with bench({"fake": provider_model("lab/m", settings)}) as table:
        answer = await post(table, f"/v1beta/models/fake:{action}", CONTENT)
    text = answer.text.removeprefix("data: ") if streamed else answer.text
    assert json.loads(text) == CONTENT_ANSWER
    assert server.asked[0].body == CONTENT
    assert server.asked[0].path.rpartition("/")[2] == f"m:{action}"
    assert (table.records[0].endpoint, table.records[0].finish) == ("generate_content", "stop")
    assert table.ledger.total.usage.tokens == 15


async def test_an_array_of_a_gemini_models_pieces_is_refused_by_name(server: Endpoint) -> None:
    settings = ProviderSettings(kind="google", base_url=server.url.removesuffix("/v1"))
    async with bench({"fake": provider_model("lab/m", settings)}) as table:
        answer = await post(table, "/v1beta/models/fake:streamGenerateContent", CONTENT)
    assert (answer.status_code, "alt=sse" in answer.json()["error"]["message"]) == (400, True)
    assert not server.asked


@each_way
async def test_a_response_that_its_provider_made_is_retrieved(server: Endpoint, streamed: bool) -> None:
    body, whole, events = CALLS["/v1/responses"]
    server.play(events if streamed else Answer(body=whole))
    async with bench({"fake": model_of(server, "/v1/responses")}) as table:
        for store, status in ((True, 200), (False, 404)):
            await post(table, "/v1/responses", {**body, "model": "fake", "stream": streamed, "store": store})
            async with httpx.AsyncClient(base_url=f"{table.url}/t/{TOKEN}") as client:
                again = await client.get("/v1/responses/resp_1")
                items = await client.get("/v1/responses/resp_1/input_items?order=asc")
                await client.delete("/v1/responses/resp_1")
            assert (again.status_code, items.status_code) == (status, status)
            if store:
                assert again.json() == RESPONSE
                assert [item["type"] for item in items.json()["data"]] == ["reasoning", "message"]


VECTORS: dict[str, Any] = {
    "object": "list",
    "data": [{"object": "embedding", "index": 0, "embedding": "AACAPwAAAEA="}],
    "model": "m-dated",
    "usage": {"prompt_tokens": 4, "total_tokens": 4},
}


async def test_embeddings_of_openais_package_are_passed_and_charged(server: Endpoint) -> None:
    server.play(Answer(body=VECTORS))
    accounts = [Account("run", limits=Limits(calls=1), token=TOKEN)]
    async with bench({"fake": model_of(server, "")}, *accounts) as table:
        client = ChatProgram(table.url, TOKEN).parallel.embeddings
        got = await client.create(model="fake", input=["a", "b"], dimensions=2)
        assert got.data[0].embedding == [1.0, 2.0]
        assert table.ledger.total.usage == Usage(4, 0, 0, 4e-6)
        with pytest.raises(openai.RateLimitError, match="budget"):
            await client.create(model="fake", input="a")
    assert server.asked[0].path == "/v1/embeddings"
    assert server.asked[0].body == {"model": "m", "input": ["a", "b"], "dimensions": 2, "encoding_format": "base64"}


@pytest.mark.parametrize("batch", [False, True])
async def test_embeddings_of_gemini_are_passed(server: Endpoint, batch: bool) -> None:
    one: dict[str, Any] = {"content": {"parts": [{"text": "a"}]}, "outputDimensionality": 2}
    vector = {"values": [1.0, 2.0]}
    answer: dict[str, Any] = {"embeddings": [vector]} if batch else {"embedding": vector}
    server.play(Answer(body=answer))
    action = "batchEmbedContents" if batch else "embedContent"
    settings = ProviderSettings(kind="google", base_url=server.url.removesuffix("/v1"))
    async with bench({"fake": provider_model("lab/m", settings)}) as table:
        asked = {"requests": [{"model": "models/fake", **one}]} if batch else {"model": "models/fake", **one}
        assert (await post(table, f"/v1beta/models/fake:{action}", asked)).json() == answer
    named = {"model": "models/m", **one}
    assert server.asked[0].body == ({"requests": [named]} if batch else named)
    assert server.asked[0].path == f"/v1beta/models/m:{action}"
    assert table.ledger.total.usage.tokens is None
    assert table.ledger.charged["tokens"] > 0


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1beta/models/fake:embedContent"])
async def test_a_model_without_embeddings_says_so_and_is_not_called(path: str) -> None:
    model = FakeModel()
    async with bench(model) as table:
        answer = await post(table, path, {"input": "a", "content": {}})
    assert (answer.status_code, "no embeddings" in answer.json()["error"]["message"]) == (400, True)
    assert not model.requests
