"""Providers over real HTTP: what is sent, what comes back, and what every failure means."""

from __future__ import annotations

import asyncio
import contextlib
import json
import pickle
import sys
import traceback
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from heredity._core.errors import ConfigError, MissingExtraError, ProviderError, UnknownNameError
from heredity.models import Delta, Image, Message, Reply, Request, Sampling, ToolCall, ToolSpec, Usage
from heredity.models.events import is_end, read_events
from heredity.models.gateway import ProviderModel, provider_model
from heredity.models.prices import Prices
from heredity.models.replies import WithoutThoughts, without_thoughts
from heredity.models.settings import ProviderSettings
from heredity.models.waiting import noticing

from .endpoint import (
    Answer,
    Endpoint,
    anthropic,
    anthropic_stream,
    chunks,
    completion,
    endpoint,
    failure,
)

KEY = "sk-very-secret-0123456789"
TOOL = ToolSpec(
    "look",
    "Look something up",
    {"type": "object", "properties": {"word": {"type": "string", "maxLength": 9}}, "required": ["word"]},
)
ASK = Request.of("hi", system="be brief")


@pytest.fixture
async def server() -> AsyncGenerator[Endpoint]:
    async with endpoint() as played:
        yield played


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)


def openai(server: Endpoint, **settings: Any) -> ProviderModel:
    given = {"base_url": server.url, "api_key_env": "LAB_KEY", "timeout_s": 5.0, **settings}
    return provider_model("lab/m", ProviderSettings(**given))


def claude(server: Endpoint, **settings: Any) -> ProviderModel:
    return openai(server, kind="anthropic", **{"base_url": server.url.removesuffix("/v1"), **settings})


async def deltas(model: ProviderModel, request: Request) -> tuple[list[str], Reply]:
    received: list[Delta] = [delta async for delta in model.stream(request)]
    assert received[-1].reply is not None
    return [d.text for d in received[:-1]], received[-1].reply


async def failing(model: ProviderModel, request: Request = ASK) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await model.reply(request)
    return caught.value


# --- answers


async def test_an_answer_is_read_and_the_request_arrives_as_it_was_meant(server: Endpoint) -> None:
    server.play(Answer(completion("hello")))
    sampling = Sampling(temperature=0.5, top_p=0.9, max_tokens=7, seed=3, stop=("END",))
    reply = await openai(server, extra_body={"min_p": 0.1}).reply(
        Request.of("hi", system="be brief", sampling=sampling)
    )
    assert (reply.text, reply.finish, reply.model, reply.attempts) == ("hello", "stop", "lab/m", 1)
    assert reply.usage == Usage(12, 3, 0, None)
    asked = server.asked[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
    ]
    sent = {k: asked.body[k] for k in ("model", "temperature", "top_p", "seed", "stop", "min_p")}
    assert sent == {"model": "m", "temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": ["END"], "min_p": 0.1}
    assert 7 in (asked.body.get("max_tokens"), asked.body.get("max_completion_tokens"))
    assert "tools" not in asked.body


async def test_a_conversation_with_pictures_and_tools_arrives_whole(server: Endpoint) -> None:
    server.play(Answer(completion("done")))
    conversation = (
        Message("user", "what is this?", images=(Image("image/png", b"\x89PNG"),)),
        Message(
            "assistant", "", tool_calls=(ToolCall("t1", "look", '{"word": "cat"}'), ToolCall("t2", "look", "{oops"))
        ),
        Message("tool", "a small animal", tool_call_id="t1"),
        Message("tool", "arguments are not JSON", tool_call_id="t2"),
    )
    await openai(server).reply(Request(conversation, tools=(TOOL,), tool_choice="look"))
    body = server.asked[0].body
    user, assistant, first, second = body["messages"]
    assert user["content"][0] == {"type": "text", "text": "what is this?"}
    assert user["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="
    valid, invalid = (c["function"]["arguments"] for c in assistant["tool_calls"])
    assert json.loads(valid) == {"word": "cat"}
    # Servers refuse arguments that are not JSON, so they travel inside of some that are.
    assert "{oops" in json.loads(invalid).values()
    assert (first["tool_call_id"], first["content"]) == ("t1", "a small animal")
    assert (second["tool_call_id"], second["content"]) == ("t2", "arguments are not JSON")
    assert body["tools"][0]["function"]["parameters"] == dict(TOOL.parameters)
    assert body["tools"][0]["function"]["description"] == "Look something up"
    assert body["tool_choice"] in ("required", {"type": "function", "function": {"name": "look"}})


async def test_tool_calls_come_back_exactly_as_the_model_wrote_them(server: Endpoint) -> None:
    server.play(Answer(completion(None, calls=[("t1", "look", '{"word":'), ("t2", "look", "{}")], finish="tool_calls")))
    reply = await openai(server).reply(Request.of("hi", tools=(TOOL,)))
    assert reply.tool_calls == (ToolCall("t1", "look", '{"word":'), ToolCall("t2", "look", "{}"))
    assert (reply.finish, reply.text) == ("tool_calls", "")


async def test_a_stream_gives_its_text_in_pieces_and_then_the_reply(server: Endpoint) -> None:
    server.play(Answer(events=chunks({"role": "assistant", "content": "hel"}, {"content": "lo"})))
    pieces, reply = await deltas(openai(server), ASK)
    assert "".join(pieces) == reply.text == "hello"
    assert len(pieces) == 2
    assert reply.usage == Usage(12, 3, 0, None)


async def test_a_stream_gathers_tool_calls_from_pieces(server: Endpoint) -> None:
    def piece(index: int, arguments: str, **head: Any) -> dict[str, Any]:
        name = {"name": head.pop("name")} if "name" in head else {}
        return {"tool_calls": [{"index": index, **head, "function": {**name, "arguments": arguments}}]}

    parts = [
        {"content": "let me see"},
        piece(0, '{"wo', id="t1", type="function", name="look"),
        piece(0, 'rd": "cat"}'),
        piece(1, "{}", id="t2", type="function", name="look"),
    ]
    server.play(Answer(events=chunks(*parts, finish="tool_calls")))
    pieces, reply = await deltas(openai(server), Request.of("hi", tools=(TOOL,)))
    assert "".join(pieces) == reply.text == "let me see"
    assert reply.tool_calls == (ToolCall("t1", "look", '{"word": "cat"}'), ToolCall("t2", "look", "{}"))
    assert reply.finish == "tool_calls"


async def test_an_answer_at_its_limit_says_so(server: Endpoint) -> None:
    server.play(Answer(completion("half", finish="length")))
    assert (await openai(server).reply(ASK)).finish == "length"


@pytest.mark.parametrize("refusal", [{"finish": "content_filter"}, {"refusal": "I will not"}])
async def test_a_refusal_is_a_reply_and_no_failure(server: Endpoint, refusal: dict[str, Any]) -> None:
    server.play(Answer(completion("", **refusal)))
    reply = await openai(server).reply(ASK)
    assert (reply.finish, reply.text) == ("refusal", refusal.get("refusal", ""))


async def test_thoughts_are_kept_apart_from_the_text(server: Endpoint) -> None:
    server.play(Answer(completion("4", reasoning_content="2 and 2")))
    reply = await openai(server).reply(ASK)
    assert (reply.text, reply.reasoning) == ("4", "2 and 2")


async def test_a_usage_that_is_not_given_stays_unknown(server: Endpoint) -> None:
    server.play(Answer(completion("hello", usage={})))
    reply = await openai(server, prices={"*": Prices(input=1, output=1)}).reply(ASK)
    assert reply.usage == Usage(None, None, None, None)


async def test_configured_prices_give_the_cost_cached_tokens_apart(server: Endpoint) -> None:
    used = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    server.play(Answer(completion("hello", usage={**used, "prompt_tokens_details": {"cached_tokens": 400}})))
    reply = await openai(server, prices={"m": Prices(input=2, output=10, cached=0.5)}).reply(ASK)
    assert reply.usage == Usage(1000, 100, 400, pytest.approx((600 * 2 + 400 * 0.5 + 100 * 10) / 1e6))


async def test_listed_prices_give_the_cost_of_known_models(server: Endpoint) -> None:
    answer = completion("hello")
    server.play(Answer({**answer, "model": "gpt-4o-mini"}))
    settings = ProviderSettings(base_url=server.url, api_key_env="LAB_KEY")
    model = provider_model("openai/gpt-4o-mini", settings)
    assert model.prices is not None
    reply = await model.reply(ASK)
    assert reply.usage.cost_usd == pytest.approx((12 * model.prices.input + 3 * model.prices.output) / 1e6)


# --- failures


FAILURES = [
    (failure(429, "slow down", **{"retry-after": "7"}), "rate_limit", True, 7.0),
    (failure(429, "pay", code="insufficient_quota"), "rate_limit", False, None),
    (failure(500), "server", True, None),
    (failure(503), "server", True, None),
    (failure(401), "auth", False, None),
    (failure(403), "auth", False, None),
    (failure(400, "bad field"), "request", False, None),
    (failure(404, "no such model"), "unknown_model", False, None),
    (failure(400, "too long", code="context_length_exceeded"), "context", False, None),
    (failure(413), "context", False, None),
    (Answer(b"<html>oops</html>"), "garbage", True, None),
    (Answer(b"plain", headers={"content-type": "text/plain"}), "garbage", True, None),
    (Answer(b"[]"), "garbage", True, None),
    (Answer({"choices": []}), "garbage", True, None),
    (Answer({"choices": [{"message": {"content": 7}}]}), "garbage", True, None),
    (Answer(completion("")), "empty", True, None),
    (Answer(completion("  \n")), "empty", True, None),
]


@pytest.mark.parametrize(("answer", "kind", "transient", "wait"), FAILURES)
async def test_a_failure_says_what_it_is_and_whether_to_ask_again(
    server: Endpoint, answer: Answer, kind: str, transient: bool, wait: float | None
) -> None:
    server.play(answer)
    error = await failing(openai(server))
    assert (error.kind, error.transient, error.retry_after_s) == (kind, transient, wait)
    assert ("lab/m" if kind == "empty" else f"lab/m at {server.url}") in str(error)
    assert len(server.asked) == 1, "the SDK must not retry by itself"


async def test_a_server_that_hangs_is_a_timeout(server: Endpoint) -> None:
    server.play(Answer(completion(), hang_s=30))
    error = await failing(openai(server, timeout_s=0.2))
    assert (error.kind, error.transient) == ("timeout", True)
    with pytest.raises(ProviderError) as caught:
        await deltas(openai(server, timeout_s=0.2), ASK)
    assert caught.value.kind == "timeout"


async def test_nobody_listening_is_a_failure_of_the_connection(server: Endpoint) -> None:
    error = await failing(openai(server, base_url="http://127.0.0.1:1/v1"))
    assert (error.kind, error.transient) == ("connection", True)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Answer(events=chunks({"content": "hel"}, finish=None), cut=True), "connection"),
        (Answer(events=chunks({"content": "hel"}, finish=None)), "garbage"),
        (Answer(events=["{not json"]), "garbage"),
        (Answer(events=[]), "garbage"),
        (Answer(events=[{"error": {"message": "overloaded", "code": "server_error"}}]), "server"),
        (Answer(events=chunks({"content": ""})), "empty"),
        (failure(500), "server"),
    ],
)
async def test_a_stream_that_breaks_is_a_failure_and_never_a_short_answer(
    server: Endpoint, answer: Answer, kind: str
) -> None:
    server.play(answer)
    with pytest.raises(ProviderError) as caught:
        await deltas(openai(server), ASK)
    assert (caught.value.kind, caught.value.transient) == (kind, True)


async def test_a_stream_that_is_left_early_ends_the_call(server: Endpoint) -> None:
    server.play(Answer(events=chunks(*({"content": "x"} for _ in range(2000)))))
    stream = openai(server).stream(ASK)
    assert (await anext(stream)).text == "x"
    await stream.aclose()
    for _ in range(100):
        if not server.open_now:
            break
        await asyncio.sleep(0.01)
    assert server.open_now == 0


async def test_a_result_of_a_call_that_nobody_made_is_refused_before_anything_is_sent(server: Endpoint) -> None:
    with pytest.raises(ConfigError, match="t9"):
        await openai(server).reply(Request((Message("tool", "x", tool_call_id="t9"),)))
    with pytest.raises(ConfigError, match="tool_choice is 'lok'"):
        await openai(server).reply(Request.of("hi", tools=(TOOL,), tool_choice="lok"))
    assert server.asked == []


# --- the key


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_key_appears_in_no_error_even_if_the_server_echoes_it(server: Endpoint, streaming: bool) -> None:
    server.play(failure(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key"))
    model = openai(server)
    with pytest.raises(ProviderError) as caught:
        await (deltas(model, ASK) if streaming else model.reply(ASK))
    error = caught.value
    shown = "".join(traceback.format_exception(error)) + repr(error) + repr(model)
    assert KEY not in shown
    assert "[key]" in str(error)
    assert error.__context__ is None
    assert KEY.encode() not in pickle.dumps(str(error))


async def test_an_error_that_tells_no_secret_keeps_its_cause(server: Endpoint) -> None:
    server.play(failure(500))
    assert (await failing(openai(server))).__cause__ is not None


def test_a_missing_key_names_the_variable(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_KEY")
    with pytest.raises(ConfigError, match="LAB_KEY"):
        openai(server)


async def test_a_server_without_a_key_is_not_sent_one_of_somebody_else(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    server.play(Answer(completion()))
    await openai(server, api_key_env="").reply(ASK)
    server.play(Answer(anthropic({"type": "text", "text": "hello"})))
    await claude(server, api_key_env="").reply(ASK)
    assert not [asked for asked in server.asked if KEY in str(asked.headers)]


# --- other kinds


async def test_anthropic_answers_with_text_thoughts_and_tool_calls(server: Endpoint) -> None:
    server.play(
        Answer(
            anthropic(
                {"type": "text", "text": "let me see"},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"word": "cät"}},
                stop="tool_use",
                cache_read_input_tokens=100,
            )
        )
    )
    conversation = (
        Message("system", "be brief"),
        Message("user", "hi"),
        Message("assistant", "", tool_calls=(ToolCall("t0", "look", '{"word": "dog"}'),)),
        Message("tool", "a big animal", tool_call_id="t0"),
    )
    reply = await claude(server).reply(Request(conversation, tools=(TOOL,), sampling=Sampling(max_tokens=50)))
    assert reply.text == "let me see"
    assert reply.tool_calls == (ToolCall("t1", "look", '{"word": "cät"}'),)
    assert reply.finish == "tool_calls"
    assert reply.usage == Usage(112, 3, 100, None)
    asked = server.asked[0]
    assert asked.path.partition("?")[0] == "/v1/messages"
    assert asked.headers.get("x-api-key", asked.headers.get("authorization", "")).endswith(KEY)
    assert asked.body["max_tokens"] == 50
    assert "be brief" in str(asked.body["system"])
    result = asked.body["messages"][-1]["content"][0]
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "t0")
    assert asked.body["tools"][0]["input_schema"]["required"] == ["word"]


async def test_anthropic_streams_text_and_tool_calls(server: Endpoint) -> None:
    text = ({"type": "text", "text": ""}, [{"type": "text_delta", "text": t} for t in ("let me", " see")])
    call = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}
    pieces_of_call = [{"type": "input_json_delta", "partial_json": t} for t in ('{"word"', ': "cat"}')]
    server.play(anthropic_stream(text, (call, pieces_of_call), stop="tool_use"))
    pieces, reply = await deltas(claude(server), Request.of("hi", tools=(TOOL,)))
    assert "".join(pieces) == reply.text == "let me see"
    assert reply.tool_calls == (ToolCall("t1", "look", '{"word": "cat"}'),)
    assert reply.usage == Usage(12, 3, 0, None)


@pytest.mark.parametrize(
    ("answer", "kind", "transient"),
    [
        (Answer({"type": "error", "error": {"type": "overloaded_error", "message": "x"}}, 529), "server", True),
        (
            Answer({"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, 429, {"retry-after": "3"}),
            "rate_limit",
            True,
        ),
        (
            Answer({"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}}, 400),
            "context",
            False,
        ),
        (Answer({"type": "error", "error": {"type": "authentication_error", "message": "x"}}, 401), "auth", False),
        (Answer(b"{}"), "garbage", True),
        (Answer(b"nonsense"), "garbage", True),
        (Answer(anthropic()), "empty", True),
    ],
)
async def test_failures_of_anthropic_mean_the_same(
    server: Endpoint, answer: Answer, kind: str, transient: bool
) -> None:
    server.play(answer)
    error = await failing(claude(server))
    assert (error.kind, error.transient) == (kind, transient)
    assert len(server.asked) == 1


async def test_a_refusal_of_anthropic_is_a_reply(server: Endpoint) -> None:
    server.play(Answer(anthropic({"type": "text", "text": "no"}, stop="refusal")))
    assert (await claude(server).reply(ASK)).finish == "refusal"


async def test_google_answers_and_fails_in_the_same_words(server: Endpoint) -> None:
    pytest.importorskip("google.genai", reason="needs google-genai")
    parts = [{"text": "let me see"}, {"functionCall": {"name": "look", "args": {"word": "cat"}}}]
    used = {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15, "cachedContentTokenCount": 4}
    body = {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": used,
    }
    limited = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow down"}}
    server.play(Answer(body), Answer(limited, 429, {"retry-after": "2"}))
    model = openai(server, kind="google", base_url=server.url.removesuffix("/v1"))
    reply = await model.reply(Request.of("hi", system="be brief", tools=(TOOL,)))
    assert (reply.text, reply.finish) == ("let me see", "tool_calls")
    assert [(c.name, json.loads(c.arguments)) for c in reply.tool_calls] == [("look", {"word": "cat"})]
    assert reply.usage == Usage(12, 3, 4, None)
    assert server.asked[0].headers["x-goog-api-key"] == KEY
    error = await failing(model)
    assert (error.kind, error.transient, error.retry_after_s) == ("rate_limit", True, 2.0)
    assert len(server.asked) == 2


def test_an_unknown_kind_suggests_the_nearest(server: Endpoint) -> None:
    with pytest.raises(UnknownNameError, match="mistral"):
        openai(server, kind="mistrale")
    with pytest.raises(ConfigError, match="PROVIDER/MODEL"):
        provider_model("lab/", ProviderSettings())
    with pytest.raises(ConfigError, match="base_url"):
        provider_model("lab/m", ProviderSettings())


def test_without_the_packages_the_error_names_the_extra(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MissingExtraError, match=r"heredity\[llm\]"):
        openai(server)


def _refused(text: str) -> Answer:
    return Answer({"error": {"message": text, "type": "invalid_request_error"}}, 400)


@pytest.mark.parametrize("name", ["seed", "temperature", "top_p", "stop"])
async def test_a_parameter_that_a_model_refuses_by_name_is_left_out_and_said(server: Endpoint, name: str) -> None:
    refusal = _refused(f"Unsupported parameter: {name!r} is not supported with this model.")
    server.play(refusal, Answer(completion("42")), Answer(completion("43")))
    model = openai(server)
    request = Request.of("hi", sampling=Sampling(temperature=0.0, top_p=0.5, seed=7, stop=("x",)))
    reply = await model.reply(request)
    assert (reply.text, reply.ignored) == ("42", (name,))
    assert (await model.reply(request)).text == "43"
    assert [name in asked.body for asked in server.asked] == [True, False, False]


async def test_a_refusal_of_something_else_stays_a_failure(server: Endpoint) -> None:
    server.play(_refused("Unsupported parameter: 'seed' is not supported with this model."))
    with pytest.raises(ProviderError, match="seed"):
        await openai(server).reply(ASK)


@pytest.mark.parametrize(
    "text", ["temperature: must be at most 2", "Please stop: unknown project", "an unsupported picture", "no such seed"]
)
async def test_a_value_out_of_range_and_other_complaints_stay_failures(server: Endpoint, text: str) -> None:
    server.play(_refused(text))
    sampling = Sampling(temperature=3.0, seed=7, stop=("x",))
    with pytest.raises(ProviderError, match=text):
        await openai(server).reply(Request.of("hi", sampling=sampling))
    assert len(server.asked) == 1


async def test_the_newer_name_is_kept_after_another_failure_and_given_up_when_refused_too(server: Endpoint) -> None:
    newer, older = (_refused(f"Unknown parameter: '{name}'.") for name in ("max_completion_tokens", "max_tokens"))
    server.play(
        older, Answer(completion("a")), _refused("bad prompt"), Answer(completion("b")), newer, Answer(completion("c"))
    )
    model, request = openai(server), Request.of("hi", sampling=Sampling(max_tokens=9))
    assert (await model.reply(request)).ignored == ()
    with pytest.raises(ProviderError, match="bad prompt"):
        await model.reply(request)
    assert (await model.reply(request)).ignored == ()
    assert (await model.reply(request)).ignored == ("max_tokens",)
    names = [[n for n in ("max_tokens", "max_completion_tokens") if n in asked.body] for asked in server.asked]
    assert names == [["max_tokens"], *[["max_completion_tokens"]] * 4, []]


@pytest.mark.parametrize(("kind", "host"), [("openai", "api.openai.com"), ("azure", "r.openai.azure.com")])
def test_openai_itself_is_sent_the_newer_name_of_the_limit(kind: str, host: str) -> None:
    model: Any = provider_model(
        "lab/m", ProviderSettings(kind=kind, base_url=f"https://{host}/openai/v1", api_key_env="LAB_KEY")
    )
    assert model._limits == ["max_completion_tokens", "max_tokens"]


async def test_requests_at_the_same_time_all_learn_of_what_is_refused(server: Endpoint) -> None:
    refusal = _refused("Unsupported parameters: 'max_tokens', 'seed' are not supported with this model.")
    refusal.hang_s = 0.05
    server.play(*[refusal] * 6, Answer(completion("42")))
    model, request = openai(server), Request.of("hi", sampling=Sampling(seed=7, max_tokens=9))
    replies = await asyncio.gather(*(model.reply(request) for _ in range(6)))
    assert {(reply.text, reply.ignored) for reply in replies} == {("42", ("seed",))}
    assert [asked.body.get("max_completion_tokens") for asked in server.asked] == [None] * 6 + [9] * 6


async def test_what_is_configured_to_be_omitted_is_never_sent(server: Endpoint) -> None:
    server.play(Answer(completion("42")))
    reply = await openai(server, omit=("seed",)).reply(Request.of("hi", sampling=Sampling(seed=7)))
    assert ("seed" in server.asked[0].body, reply.ignored) == (False, ("seed",))


async def test_a_seed_fits_into_a_signed_number_of_32_bits(server: Endpoint) -> None:
    server.play(Answer(completion("42")))
    await openai(server).reply(Request.of("hi", sampling=Sampling(seed=2**32 - 1)))
    assert server.asked[0].body["seed"] == 2**31 - 1


async def test_a_usage_without_figures_is_unknown_and_the_answer_counts(server: Endpoint) -> None:
    nothing = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"))
    server.play(Answer(completion("42", usage=nothing)))
    reply = await openai(server).reply(ASK)
    assert (reply.text, reply.usage.tokens) == ("42", None)


async def test_thoughts_in_tags_are_kept_apart_from_the_text(server: Endpoint) -> None:
    server.play(Answer(events=chunks({"content": "<think>41?</think>\n\nIt is 42"})))
    text, reply = await deltas(openai(server), ASK)
    assert ("".join(text), reply.text, reply.reasoning) == ("It is 42", "It is 42", "41?")


async def test_a_stream_of_anthropic_that_is_cut_anywhere_is_never_an_answer(server: Endpoint) -> None:
    events = anthropic_stream(({"type": "text", "text": ""}, [{"type": "text_delta", "text": t} for t in "abc"])).events
    assert events is not None
    model, accepted = claude(server), []
    for end in range(len(events) + 1):
        server.play(Answer(events=events[:end], named=True))
        with contextlib.suppress(ProviderError):
            accepted.append((end, (await deltas(model, ASK))[1].text))
    await model.close()
    assert accepted == [(len(events), "abc")]


async def test_a_stream_of_google_without_a_reason_for_its_end_is_no_answer(server: Endpoint) -> None:
    piece = {"candidates": [{"content": {"role": "model", "parts": [{"text": "4"}]}, "index": 0}], "modelVersion": "m"}
    end = {"candidates": [{**piece["candidates"][0], "finishReason": "STOP"}], "modelVersion": "m"}
    model = openai(server, kind="google", base_url=server.url.removesuffix("/v1"))
    server.play(Answer(events=[piece, end]))
    assert (await deltas(model, ASK))[1].text == "44"
    server.play(Answer(events=[piece, piece]))
    with pytest.raises(ProviderError, match="without a sign"):
        await deltas(model, ASK)
    await model.close()


async def test_anthropic_without_a_usage_answers_with_an_unknown_one(server: Endpoint) -> None:
    whole = {name: value for name, value in anthropic({"type": "text", "text": "hello"}).items() if name != "usage"}
    events = anthropic_stream(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "hello"}])).events or []
    events[0]["message"].pop("usage")
    events[-2].pop("usage")
    model = claude(server)
    for answer in (Answer(whole), Answer(events=events, named=True)):
        server.play(answer)
        _, reply = await deltas(model, ASK) if answer.events else ([], await model.reply(ASK))
        assert (reply.text, reply.usage) == ("hello", Usage())
    await model.close()


async def test_events_of_google_that_nobody_knows_are_passed_over(server: Endpoint) -> None:
    end = {"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP"}
    server.play(Answer(events=[{"type": "x_new_event"}, {"candidates": [end]}]))
    model = openai(server, kind="google", base_url=server.url.removesuffix("/v1"))
    assert (await deltas(model, ASK))[1].text == "hello"
    await model.close()


async def test_a_whole_answer_without_a_reason_for_its_end_is_none(server: Endpoint) -> None:
    answer = completion("hello")
    answer["choices"][0]["finish_reason"] = None
    server.play(Answer(answer))
    assert (await failing(openai(server))).kind == "garbage"


async def test_calls_without_an_id_and_with_arguments_as_objects_are_read(server: Endpoint) -> None:
    answer = completion(None, calls=[("x", "look", "")], finish="tool_calls")
    (call,) = answer["choices"][0]["message"]["tool_calls"]
    call.pop("id")
    call["function"]["arguments"] = {"word": "cat"}
    server.play(Answer(answer))
    reply = await openai(server).reply(Request.of("hi", tools=(TOOL,)))
    assert [(c.id, c.arguments) for c in reply.tool_calls] == [("call_0", '{"word": "cat"}')]


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n"])
async def test_a_stream_cut_inside_its_last_event_is_no_answer(end: str) -> None:
    async def pieces(data: bytes) -> AsyncGenerator[bytes]:
        for position in range(0, len(data), 7):
            yield data[position : position + 7]

    whole = f'data: {{"a": "ü"}}{end}: ping{end}data: [DONE]{end}'.encode()
    for cut in range(len(whole) + 1):
        events = [event async for event in read_events(pieces(whole[:cut]))]
        assert b"".join(event.raw for event in events) == whole[: len(b"".join(event.raw for event in events))]
        assert any(is_end("chat.completions", event) for event in events) == (cut == len(whole))


@pytest.mark.parametrize(("words", "counted", "told"), [(9000, 4096, 1), (5000, 4096, 0), (9000, 20, 0)])
async def test_a_prompt_that_a_local_server_cut_is_noticed_once(
    server: Endpoint, words: int, counted: int, told: int
) -> None:
    used = {"prompt_tokens": counted, "completion_tokens": 3, "total_tokens": counted + 3}
    server.play(Answer(completion("42", usage=used)))
    notes: list[str] = []
    model = openai(server, api_key_env="")
    with noticing(lambda text, _: notes.append(text)):
        for _ in range(2):
            await model.reply(Request.of("tick " * words))
    assert len(notes) == told
    assert all("OLLAMA_CONTEXT_LENGTH" in note for note in notes)


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "<thin", "k>", "</", "think>", " ", "\n", "4", "<", "it is"]),
        max_size=12,
    )
)
def test_the_pieces_of_a_stream_are_the_text_of_its_reply(pieces: list[str]) -> None:
    text = "".join(pieces)
    stream = WithoutThoughts()
    shown = "".join([*map(stream.add, pieces), stream.rest()])
    # A stream cannot know that thoughts whose tag the prompt opened are some before they end.
    assert shown == (without_thoughts(text)[1] if text.lstrip().startswith("<think>") else text)


@pytest.mark.parametrize(
    "pieces",
    [
        ("<think>", "hm}</think>", "\n\n42"),
        ("<think>", "hm}", "</think>", "42"),
        ("<th", "ink>hm}</thi", "nk>42"),
        ("<think>hm}", "</think>", "42"),
    ],
)
async def test_thoughts_in_a_stream_are_set_apart_wherever_it_is_cut(server: Endpoint, pieces: tuple[str, ...]) -> None:
    server.play(Answer(events=chunks({"role": "assistant"}, *({"content": piece} for piece in pieces))))
    texts, reply = await deltas(openai(server), ASK)
    assert ("".join(texts).strip(), reply.text.strip(), reply.reasoning) == ("42", "42", "hm}")


async def test_a_provider_that_wants_a_key_where_none_is_configured_is_told_from_a_wrong_key(server: Endpoint) -> None:
    server.play(Answer({"error": {"message": "Incorrect API key provided: api-key-not-set."}}, 401))
    keyless = provider_model("lab/m", ProviderSettings(base_url=server.url))
    with pytest.raises(ProviderError, match="none is configured: name the variable"):
        await keyless.reply(ASK)
    with pytest.raises(ProviderError, match="is the key in the variable named by api_key_env right"):
        await openai(server).reply(ASK)
