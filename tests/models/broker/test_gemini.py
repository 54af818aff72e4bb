"""Gemini's interface: Google's own package and plain requests, answered by any model, in Google's form."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.broker.fakes import TOKEN, USED, FakeModel, bench
from tests.models.broker.programs import GeminiProgram

from heredity._core.errors import ProviderError
from heredity.models import Message, Reply, Request
from heredity.models.broker import Account, Limits, Patience
from heredity.models.broker.gemini import GenerateContent, json_schema
from heredity.models.broker.problems import Problem

each_way = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


def body(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts) or [{"text": "?"}]}], **more}


def read(given: dict[str, Any]) -> Request:
    return GenerateContent(given, "fake").request


async def post(table: Any, action: str, given: Any, **headers: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=table.url) as client:
        return await client.post(f"/v1beta/models/{action}", json=given, headers={"x-goog-api-key": TOKEN, **headers})


@each_way
@pytest.mark.parametrize("parallel", [False, True], ids=["sync", "async"])
async def test_a_conversation_with_tools_of_googles_package_arrives_whole(streamed: bool, parallel: bool) -> None:
    pytest.importorskip("google.genai", reason="google-genai is not installed")
    model = FakeModel()
    async with bench(model) as table:
        client = GeminiProgram(table.url, TOKEN)

        async def ask(asked: dict[str, Any]) -> Any:
            if parallel:
                return await client.ask_async(asked, streamed=streamed)
            return await asyncio.to_thread(client.ask, asked, streamed=streamed)

        asked = client.begin()
        first = await ask(asked)
        second = await ask(client.go_on(asked, first))
    assert first.text == "Let me look."
    assert first.calls == [("call_Oslo", "weather", {"city": "Oslo"}), ("call_Lima", "weather", {"city": "Lima"})]
    assert (second.text, second.calls) == ("It is cold and warm.", [])
    assert (first.finish, second.finish) == ("STOP", "STOP")
    assert first.tokens == second.tokens == (USED.input_tokens, USED.output_tokens)
    assert [m.role for m in model.requests[1].messages] == ["system", "user", "assistant", "tool", "tool"]
    assert len(model.requests[1].messages[1].images) == 1
    assert [tool.name for tool in model.requests[0].tools] == ["weather"]
    assert model.requests[0].sampling.to_json() == {"temperature": 0.5, "max_tokens": 50}
    assert {(r.endpoint, r.outcome, r.streamed) for r in table.records} == {("generate_content", "answered", streamed)}
    assert table.ledger.charged["tokens"] == 240


async def test_a_stream_without_events_is_one_json_array() -> None:
    async with bench(FakeModel()) as table:
        answer = await post(table, "fake:streamGenerateContent", body())
    assert answer.headers["content-type"].startswith("application/json")
    pieces = answer.json()
    assert "".join(p["candidates"][0]["content"]["parts"][0]["text"] for p in pieces) == "It is unknown."
    assert [p["candidates"][0].get("finishReason") for p in pieces] == [None, None, None, "STOP"]


@pytest.mark.parametrize("query", ["", "?alt=sse"], ids=["array", "events"])
async def test_a_failure_in_the_midst_of_a_stream_is_its_last_piece(query: str) -> None:
    model = FakeModel()
    model.error, model.fails_after = ProviderError("server", "down", transient=True), 1
    async with bench(model) as table:
        answer = await post(table, f"fake:streamGenerateContent{query}", body())
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    pieces = [json.loads(line) for line in lines] if query else answer.json()
    assert pieces[-1]["error"]["status"] == "UNAVAILABLE"
    assert "finishReason" not in pieces[-2]["candidates"][0]


@pytest.mark.parametrize("query", ["", "?alt=sse"], ids=["array", "events"])
async def test_a_stream_is_kept_alive_by_pieces_that_every_client_reads(query: str) -> None:
    model = FakeModel()
    model.held = asyncio.Event()
    async with bench(model, patience=Patience(0.01, 0.01)) as table:
        asking = asyncio.create_task(post(table, f"fake:streamGenerateContent{query}", body()))
        await model.arrivals.get()
        await asyncio.sleep(0.1)
        model.held.set()
        answer = await asking
    if not query:
        assert answer.json()
        return
    lines = [line for line in answer.text.splitlines() if line]
    assert all(line.startswith('data: {"candidates"') for line in lines)
    assert len(lines) > 4


async def test_calls_without_ids_are_answered_in_their_order() -> None:
    call: dict[str, Any] = {"functionCall": {"name": "weather", "args": {"city": "Oslo"}}}
    result: dict[str, Any] = {"functionResponse": {"name": "weather", "response": {"result": "cold"}}}
    other = {"functionResponse": {"name": "weather", "response": {"result": "warm", "unit": "C"}}}
    contents = [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"text": "Let "}]},
        {
            "role": "model",
            "parts": [{"text": "hidden", "thought": True}, {"text": "me look.", "thoughtSignature": "s"}],
        },
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [result, other, {"text": "and now?"}]},
    ]
    messages = read({"contents": contents}).messages
    assert messages[1].content == "Let me look."
    assert [(c.id, c.arguments) for c in messages[1].tool_calls] == [
        ("call_1", '{"city": "Oslo"}'),
        ("call_2", '{"city": "Oslo"}'),
    ]
    assert [(m.tool_call_id, m.content) for m in messages[2:4]] == [
        ("call_1", "cold"),
        ("call_2", '{"result": "warm", "unit": "C"}'),
    ]
    assert messages[4] == Message("user", "and now?")


def test_names_in_snake_case_and_base64_for_addresses_are_read_too() -> None:
    given = {
        "contents": {"parts": [{"text": "?"}, {"inline_data": {"mime_type": "image/png", "data": "-_-_aGk"}}]},
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "generation_config": {"max_output_tokens": 5, "stop_sequences": ["x"]},
    }
    request = read(given)
    assert [m.content for m in request.messages] == ["Be brief.", "?"]
    assert request.messages[1].images[0].data == b"\xfb\xff\xbfhi"
    assert request.sampling.to_json() == {"max_tokens": 5, "stop": ["x"]}


@pytest.mark.parametrize(
    ("calling", "choice", "offered"),
    [
        ({"mode": "ANY"}, "required", 2),
        ({"mode": "ANY", "allowedFunctionNames": ["b"]}, "b", 1),
        ({"mode": "NONE"}, "none", 2),
        ({"mode": "AUTO"}, "auto", 2),
    ],
)
def test_the_choice_of_functions_is_kept(calling: dict[str, Any], choice: str, offered: int) -> None:
    tools = [{"functionDeclarations": [{"name": "a", "description": "A."}, {"name": "b"}]}]
    request = read(body(tools=tools, toolConfig={"functionCallingConfig": calling}))
    assert (request.tool_choice, len(request.tools)) == (choice, offered)


def test_a_schema_of_googles_form_becomes_a_json_schema() -> None:
    given = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "nullable": True, "enum": ["a"]},
            "list": {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "1"},
            "either": {"anyOf": [{"type": "NUMBER"}, {"type": "BOOLEAN"}]},
        },
        "required": ["type"],
        "propertyOrdering": ["type", "list"],
    }
    assert json_schema(given) == {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "null"], "enum": ["a", None]},
            "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1},
            "either": {"anyOf": [{"type": "number"}, {"type": "boolean"}]},
        },
        "required": ["type"],
    }


REFUSED: list[tuple[dict[str, Any], str]] = [
    (body({"fileData": {"fileUri": "gs://x"}}), "contents[0].parts[0].fileData"),
    (body({"inlineData": {"mimeType": "audio/wav", "data": ""}}), "contents[0].parts[0].inlineData.mimeType"),
    (body({"executableCode": {"code": "1"}}), "contents[0].parts[0].executableCode"),
    (body(cachedContent="cachedContents/x"), "cachedContent"),
    (body(generationConfig={"candidateCount": 2}), "generationConfig.candidateCount"),
    (body(generationConfig={"responseLogprobs": True}), "generationConfig.responseLogprobs"),
    (body(generationConfig={"responseModalities": ["AUDIO"]}), "generationConfig.responseModalities"),
    (body(generationConfig={"maxOutputTokens": 0}), "generationConfig.maxOutputTokens"),
    ({"contents": [{"role": "robot", "parts": []}]}, "contents[0].role"),
    ({}, "contents"),
    (body({"functionResponse": {"name": "x", "response": {}}}), "contents[0].parts[0].functionResponse"),
]


@pytest.mark.parametrize(("given", "field"), REFUSED, ids=[field for _, field in REFUSED])
async def test_what_no_model_here_can_do_is_refused_by_name(given: dict[str, Any], field: str) -> None:
    model = FakeModel()
    async with bench(model) as table:
        answer = await post(table, "fake:generateContent", given)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (400, 400, "INVALID_ARGUMENT")
    assert error["details"][0]["fieldViolations"][0]["field"] == field
    assert field in error["message"]
    assert not model.requests


async def test_errors_have_googles_form_and_budgets_hold() -> None:
    busy = FakeModel()
    busy.error = ProviderError("rate_limit", "slow down", transient=True, retry_after_s=2.5)
    async with bench({"fake": FakeModel(), "busy": busy}, limits=Limits(calls=2)) as table:
        assert (await post(table, "fake:generateContent", body(), **{"x-goog-api-key": "no"})).status_code == 401
        unknown = (await post(table, "fak:generateContent", body())).json()["error"]
        assert (unknown["status"], "there is fake" in unknown["message"]) == ("NOT_FOUND", True)
        action = (await post(table, "fake:predict", body())).json()["error"]
        assert "generateContent" in action["message"]
        limited = (await post(table, "busy:generateContent", body())).json()["error"]
        assert limited["details"][0]["retryDelay"] == "3s"
        assert (
            await post(table, f"fake:generateContent?key={TOKEN}", body(), **{"x-goog-api-key": ""})
        ).status_code == 200
        spent = (await post(table, "fake:generateContent", body())).json()["error"]
        assert (spent["status"], "budget" in spent["message"]) == ("RESOURCE_EXHAUSTED", True)


async def test_models_are_listed_and_tokens_counted_free_of_charge() -> None:
    account = Account("run", {"small": "fake", "*": "fake"}, token=TOKEN)
    async with bench(None, account) as table, httpx.AsyncClient(base_url=table.url) as client:
        key = {"x-goog-api-key": TOKEN}
        listed = (await client.get("/v1beta/models", headers=key)).json()["models"]
        assert [m["name"] for m in listed] == ["models/fake", "models/small"]
        one = (await client.get("/v1beta/models/small", headers=key)).json()
        assert (one["name"], one["supportedGenerationMethods"]) == ("models/small", ["generateContent", "countTokens"])
        whole = body({"text": "word " * 1000})
        for counted in (whole, {"generateContentRequest": {"model": "models/fake", **whole}}):
            assert (await post(table, "small:countTokens", counted)).json() == {"totalTokens": 1250}
    assert table.ledger.total.calls == 0


@pytest.mark.parametrize(("finish", "said"), [("length", "MAX_TOKENS"), ("refusal", "SAFETY")])
async def test_why_a_reply_ended_is_told_in_googles_words(finish: Any, said: str) -> None:
    async with bench(FakeModel(lambda request: Reply("cut", finish=finish, usage=USED))) as table:
        answer = (await post(table, "fake:generateContent", body())).json()
    assert answer["candidates"][0]["finishReason"] == said


@pytest.mark.parametrize("wanted", [True, False])
async def test_thoughts_are_shown_where_they_are_asked_for(wanted: bool) -> None:
    async with bench(FakeModel(lambda request: Reply("yes", usage=USED, reasoning="hm"))) as table:
        config = {"thinkingConfig": {"includeThoughts": wanted}}
        answer = (await post(table, "fake:generateContent", body(generationConfig=config))).json()
    thoughts = [{"text": "hm", "thought": True}] if wanted else []
    assert answer["candidates"][0]["content"]["parts"] == [*thoughts, {"text": "yes"}]


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = ["contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "parts", "functionCall", "name"]


@given(
    given_body=st.dictionaries(
        st.sampled_from(FIELDS), VALUE | st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUE))
    )
)
def test_any_body_is_read_or_refused_and_nothing_else(given_body: dict[str, Any]) -> None:
    with contextlib.suppress(Problem):
        assert len(read(given_body).digest) == 64


SCHEMA = {"type": "OBJECT", "properties": {"a": {"type": "INTEGER"}}}
WISHED: list[tuple[dict[str, Any], str, Any]] = [
    ({"thinkingConfig": {"thinkingLevel": "LOW"}}, "thinking", "low"),
    ({"thinkingConfig": {"thinkingBudget": 0}}, "thinking", False),
    ({"thinkingConfig": {"thinkingBudget": -1}}, "thinking", True),
    ({"topK": 3.0}, "top_k", 3.0),
    ({"presencePenalty": 0.5}, "presence_penalty", 0.5),
    (
        {"responseMimeType": "application/json", "responseSchema": SCHEMA},
        "format",
        {"name": "answer", "schema": json_schema(SCHEMA), "strict": False},
    ),
    (
        {"responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}},
        "format",
        {"name": "answer", "schema": {"type": "object"}, "strict": False},
    ),
]


@pytest.mark.parametrize(("form", "option", "value"), WISHED, ids=[next(iter(form)) for form, _, _ in WISHED])
async def test_options_reach_a_model_that_takes_them(form: dict[str, Any], option: str, value: Any) -> None:
    class Taking(FakeModel):
        options = frozenset((option,))

    taking, other = Taking(), FakeModel()
    async with bench({"taking": taking, "other": other}) as table:
        given = body(generationConfig=form)
        assert (await post(table, "taking:generateContent", given)).status_code == 200
        refused = await post(table, "other:generateContent", given)
    assert taking.requests[0].options == {option: value}
    if option == "thinking":
        dropped = "generationConfig.thinkingConfig.thinking" if value else ""
        assert refused.headers.get("heredity-dropped", "").startswith(dropped)
    else:
        violation = refused.json()["error"]["details"][0]["fieldViolations"][0]
        assert (refused.status_code, violation["field"].startswith("generationConfig.")) == (400, True)


async def test_what_is_dropped_is_named_and_what_is_unknown_refused() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "?"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "Yes.", "thoughtSignature": "s"}]},
        {"role": "user", "parts": [{"text": "And?"}]},
    ]
    given = {"contents": contents, "safetySettings": [{"category": "X"}], "tools": [{"googleSearch": {}}]}
    async with bench() as table:
        for action in ("generateContent", "streamGenerateContent"):
            answer = await post(table, f"fake:{action}", given)
            assert sorted(answer.headers["heredity-dropped"].split(", ")) == [
                "contents[1].parts[0]",
                "contents[1].parts[1].thoughtSignature",
                "safetySettings",
                "tools[0].googleSearch",
            ]
        unknown = (await post(table, "fake:generateContent", body(someThing=1))).json()["error"]
    assert "someThing" in unknown["message"]
