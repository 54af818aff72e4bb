"""What is wrong with a request is said with its field, in the words of its API, and costs nothing."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from tests.models.broker.fakes import TOKEN, Bench, FakeModel, bench

from heredity._core.errors import ConfigError, ProviderError, UnknownNameError
from heredity.models import Model
from heredity.models.broker import Account, BrokerApp, serve_broker
from heredity.models.broker.app import ChatCompletion
from heredity.models.broker.body import MAX_BODY_BYTES
from heredity.models.broker.messages import Messages
from heredity.models.broker.problems import Problem
from heredity.models.broker.responses import Kept, Memory, Responses

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
PATHS = (CHAT, RESPONSES, MESSAGES)
USER = {"role": "user", "content": "?"}
GOOD: dict[str, dict[str, Any]] = {
    CHAT: {"model": "fake", "messages": [USER]},
    RESPONSES: {"model": "fake", "input": "?"},
    MESSAGES: {"model": "fake", "max_tokens": 9, "messages": [USER]},
}
FUNCTION = {"name": "f", "arguments": "{}"}


def part(**fields: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [fields]}]


def image(url: str) -> list[dict[str, Any]]:
    return part(type="image_url", image_url={"url": url})


def source(**fields: Any) -> list[dict[str, Any]]:
    return part(type="image", source=fields)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    *((path, {"model": 3}, "model") for path in PATHS),
    *((path, {"model": None}, "model") for path in PATHS),
    *((path, {"stream": "yes"}, "stream") for path in PATHS),
    *((path, {"temperature": "hot"}, "temperature") for path in PATHS),
    *((path, {"temperature": -1}, "temperature") for path in PATHS),
    *((path, {"top_p": 0}, "top_p") for path in PATHS),
    *((path, {"top_p": True}, "top_p") for path in PATHS),
    *((path, {"tools": {}}, "tools") for path in PATHS),
    *((path, {"tools": [3]}, "tools[0]") for path in PATHS),
    *((path, {"messages": []}, "messages") for path in (CHAT, MESSAGES)),
    *((path, {"messages": "?"}, "messages") for path in (CHAT, MESSAGES)),
    *((path, {"messages": [USER, {"role": "robot", "content": ""}]}, "messages[1].role") for path in (CHAT, MESSAGES)),
    *((path, {"messages": [USER, {"content": ""}]}, "messages[1].role") for path in (CHAT, MESSAGES)),
    *((path, {"messages": [{**USER, "content": 5}]}, "messages[0].content") for path in (CHAT, MESSAGES)),
    *((path, {"messages": part(type="audio")}, "messages[0].content[0].type") for path in (CHAT, MESSAGES)),
    *((path, {"messages": part(type="text")}, "messages[0].content[0].text") for path in (CHAT, MESSAGES)),
    (CHAT, {"n": 2}, "n"),
    (CHAT, {"logprobs": True}, "logprobs"),
    (CHAT, {"functions": [{"name": "f"}]}, "functions"),
    (CHAT, {"response_format": {"type": "json_object"}}, "response_format.type"),
    (CHAT, {"max_tokens": 0}, "max_tokens"),
    (CHAT, {"stop": ["a", 3]}, "stop[1]"),
    (CHAT, {"tool_choice": "always"}, "tool_choice"),
    (CHAT, {"tool_choice": "required"}, "tool_choice"),
    (CHAT, {"tool_choice": {"type": "function", "function": {"name": "g"}}}, "tool_choice"),
    (CHAT, {"tools": [{"type": "custom", "custom": {"name": "f"}}]}, "tools[0].type"),
    (CHAT, {"tools": [{"type": "function"}]}, "tools[0].function"),
    (CHAT, {"messages": image("http://elsewhere/a.png")}, "messages[0].content[0].image_url.url"),
    (CHAT, {"messages": image("data:image/png;base64,???")}, "messages[0].content[0].image_url.url"),
    (CHAT, {"messages": image("data:text/html;base64,AAAA")}, "messages[0].content[0].image_url.url"),
    (CHAT, {"messages": [{"role": "tool", "content": "", "tool_call_id": "x"}]}, "messages[0].tool_call_id"),
    (CHAT, {"messages": [{"role": "tool", "content": ""}]}, "messages[0].tool_call_id"),
    (
        CHAT,
        {"messages": [{"role": "assistant", "tool_calls": [{"function": FUNCTION}]}]},
        "messages[0].tool_calls[0].id",
    ),
    (RESPONSES, {"input": 3}, "input"),
    (RESPONSES, {"input": None}, "input"),
    (RESPONSES, {"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type"),
    (RESPONSES, {"input": [{"type": "function_call_output", "call_id": "x", "output": ""}]}, "input[0].call_id"),
    (RESPONSES, {"input": part(type="input_file")}, "input[0].content[0].type"),
    (RESPONSES, {"previous_response_id": "resp_none"}, "previous_response_id"),
    (RESPONSES, {"background": True}, "background"),
    (RESPONSES, {"text": {"format": {"type": "json_schema"}}}, "text.format.type"),
    (RESPONSES, {"tools": [{"type": "web_search"}], "tool_choice": {"type": "web_search"}}, "tool_choice.type"),
    (RESPONSES, {"tools": [{"type": "web_search"}], "tool_choice": "required"}, "tool_choice"),
    (RESPONSES, {"max_output_tokens": 0}, "max_output_tokens"),
    (MESSAGES, {"max_tokens": None}, "max_tokens"),
    (MESSAGES, {"system": [{"type": "image"}]}, "system[0].type"),
    (MESSAGES, {"tools": [{"name": "f"}]}, "tools[0].input_schema"),
    (MESSAGES, {"tool_choice": {"type": "tool", "name": "g"}}, "tool_choice"),
    (MESSAGES, {"tool_choice": {"type": "all"}}, "tool_choice.type"),
    (MESSAGES, {"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.type"),
    (MESSAGES, {"messages": source(type="url", url="http://elsewhere")}, "messages[0].content[0].source.type"),
    (
        MESSAGES,
        {"messages": source(type="base64", media_type="image/bmp", data="")},
        "messages[0].content[0].source.media_type",
    ),
    (MESSAGES, {"messages": part(type="tool_result", tool_use_id="x")}, "messages[0].content[0].tool_use_id"),
    (
        MESSAGES,
        {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "f", "input": "{}"}]}]},
        "messages[0].content[0].input",
    ),
]


one_loop = pytest.mark.asyncio(loop_scope="module")
"""One broker serves all tests that only look at its answers."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def table() -> AsyncIterator[Bench]:
    async with bench() as made:
        yield made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(table: Bench) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=table.url, headers={"x-api-key": TOKEN}, timeout=20) as made:
        yield made


@one_loop
@pytest.mark.parametrize(("path", "wrong", "field"), WRONG, ids=lambda v: str(v)[:60])
async def test_a_wrong_field_is_named(
    table: Bench, client: httpx.AsyncClient, path: str, wrong: dict[str, Any], field: str
) -> None:
    calls, refused = len(table.records), table.ledger.refused
    answer = await client.post(path, json={**GOOD[path], **wrong})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["type"] == "invalid_request_error"
    assert field in error["message"]
    if path != MESSAGES:
        assert error["param"] == field
    assert (len(table.records), table.ledger.refused) == (calls, refused + 1)


@one_loop
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "a list; expected an object"),
        (b"3", "is 3; expected an object"),
        (b'{"model": "fake", "temperature": NaN}', "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b'{"a": ' * 200_000, "not JSON"),
        (b'{"model": ' + b"9" * 5000 + b"}", "not JSON"),
    ],
    ids=["empty", "bytes", "torn", "list", "number", "nan", "deep lists", "deep objects", "long number"],
)
async def test_garbage_is_refused_in_one_sentence(client: httpx.AsyncClient, path: str, body: bytes, said: str) -> None:
    answer = await client.post(path, content=body)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


@one_loop
@pytest.mark.parametrize("path", PATHS)
async def test_half_a_character_is_the_programs_error(client: httpx.AsyncClient, path: str) -> None:
    wrong = {"input": "\ud800"} if path == RESPONSES else {"messages": [{"role": "user", "content": "\ud800"}]}
    answer = await client.post(path, content=json.dumps({**GOOD[path], **wrong}))
    assert answer.status_code == 400
    assert "Unicode" in answer.json()["error"]["message"]


@one_loop
@pytest.mark.parametrize(("path", "kind"), [(CHAT, "invalid_request_error"), (MESSAGES, "request_too_large")])
async def test_a_body_that_is_too_long_is_refused(client: httpx.AsyncClient, path: str, kind: str) -> None:
    body = json.dumps(GOOD[path]).encode()
    answer = await client.post(path, content=body.ljust(MAX_BODY_BYTES + 1))
    assert (answer.status_code, answer.json()["error"]["type"]) == (413, kind)
    assert (await client.post(path, content=body.ljust(MAX_BODY_BYTES))).status_code == 200


@one_loop
@pytest.mark.parametrize("path", [*PATHS, "/v1/messages/count_tokens"])
@pytest.mark.parametrize(
    "headers",
    [{}, {"x-api-key": ""}, {"x-api-key": TOKEN[:-1]}, {"authorization": TOKEN}, {"authorization": f"Basic {TOKEN}"}],
    ids=["none", "empty", "cut", "no scheme", "other scheme"],
)
async def test_without_the_token_nothing_is_answered(table: Bench, path: str, headers: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=table.url) as client:
        answer = await client.post(path, json=GOOD.get(path, {}), headers=headers)
        listed = await client.get("/v1/models", headers=headers)
        wrong = await client.post(f"/t/{TOKEN}x{path}", json={}, headers={"x-api-key": TOKEN})
    assert (answer.status_code, listed.status_code, wrong.status_code) == (401, 401, 401)
    expected = "authentication_error" if "messages" in path else "invalid_request_error"
    assert answer.json()["error"]["type"] == expected
    assert TOKEN not in answer.text


@one_loop
async def test_a_model_that_is_not_there_is_a_404_with_the_nearest_name(client: httpx.AsyncClient) -> None:
    for path in PATHS:
        answer = await client.post(path, json={**GOOD[path], "model": "fakee"})
        assert (answer.status_code, "there is fake" in answer.text) == (404, True)
    assert (await client.get("/v1/models/fakee")).json()["error"]["code"] == "model_not_found"
    response = await client.get("/v1/models/fakee", headers={"anthropic-version": "2023-06-01"})
    assert response.json()["error"]["type"] == "not_found_error"


async def test_an_account_may_ask_only_for_what_it_was_given() -> None:
    account = Account("run", {"small": "fake"}, token=TOKEN)
    headers = {"x-api-key": TOKEN}
    async with (
        bench({"fake": FakeModel(), "other": FakeModel()}, account) as table,
        httpx.AsyncClient(headers=headers) as c,
    ):
        for name, status in (("small", 200), ("fake", 404), ("other", 404)):
            answer = await c.post(table.url + CHAT, json={**GOOD[CHAT], "model": name})
            assert answer.status_code == status, name


async def test_no_program_learns_where_a_model_lies_on_the_host() -> None:
    error = ProviderError("context", "the prompt has 9 tokens; local//home/me/m7 takes 8; shorten it", transient=False)
    model = FakeModel()
    model.name, model.error = "local//home/me/m7", error  # type: ignore[misc]
    async with (
        bench({model.name: model}, Account("run", {"*": model.name}, token=TOKEN)) as table,
        httpx.AsyncClient(base_url=table.url, headers={"x-api-key": TOKEN}) as client,
    ):
        told = [await client.get("/v1/models"), *[await client.post(path, json=GOOD[path]) for path in PATHS]]
    assert not [answer.text for answer in told if "home" in answer.text]
    assert [("m7" in answer.text, answer.status_code) for answer in told] == [(True, 200), *[(True, 400)] * 3]


@one_loop
async def test_addresses_that_are_not_there_are_explained(client: httpx.AsyncClient) -> None:
    for method, path, status in (("GET", CHAT, 405), ("POST", "/v1/audio/speech", 404), ("POST", "/v1/models", 405)):
        answer = await client.request(method, path, json={})
        assert answer.status_code == status, path
        assert "there are: POST" in answer.json()["error"]["message"]
    response = await client.get("/v2", headers={"anthropic-version": "2023-06-01"})
    assert response.json()["error"]["type"] == "not_found_error"


@one_loop
async def test_anyone_may_ask_whether_a_broker_is_there(table: Bench) -> None:
    async with httpx.AsyncClient(base_url=table.url) as client:
        assert (await client.head("/")).status_code == 200
        assert (await client.get("/")).json() == {"status": "ok"}


async def test_models_may_be_found_by_a_function_and_its_failure_is_the_hosts() -> None:
    def resolve(name: str) -> Model:
        if name == "unset":
            raise ConfigError("set the variable SECRET_KEY")
        if name == "fake":
            return FakeModel()
        if name == "bug":
            raise KeyError("SECRET_KEY")
        raise UnknownNameError("model", name, ["fake"])

    names = ("good", "bad", "bug", "lost", "fake")
    account = Account("run", {"good": "fake", "bad": "unset", "bug": "bug", "lost": "?"}, token=TOKEN)
    async with serve_broker(BrokerApp(resolve, [account])) as at, httpx.AsyncClient(base_url=at.url) as client:
        asked = [{**GOOD[CHAT], "model": name} for name in names]
        answers = [await client.post(f"/t/{TOKEN}{CHAT}", json=body) for body in asked]
    assert [a.status_code for a in answers] == [200, 500, 500, 500, 404]
    assert all(a.json()["error"]["type"] == "server_error" for a in answers[1:4])
    assert not any("SECRET_KEY" in a.text for a in answers)


# --- whatever a body holds, it is read or refused


KEYS = """
    role content type text model messages input tools tool_calls function name arguments id call_id output image_url url
    source data media_type input_schema tool_choice stop system stream tool_use_id tool_call_id parameters max_tokens
""".split()  # noqa: SIM905 - words
WORDS = st.sampled_from(
    """
    user assistant tool system developer function auto text input_text output_text image image_url input_image tool_use
    tool_result function_call function_call_output message reasoning thinking base64 image/png x data:image/png;base64,AAAA
    """.split()  # noqa: SIM905 - words
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5), WORDS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=6), st.just({})
    ),
    max_leaves=25,
)
MESSAGE = st.fixed_dictionaries({"role": WORDS, "type": WORDS, "content": JSON}, optional=dict.fromkeys(KEYS[4:], JSON))
BODY = st.fixed_dictionaries(
    {"model": st.just("fake"), "max_tokens": st.just(9)},
    optional={
        "messages": st.lists(MESSAGE, max_size=4) | JSON,
        "input": st.lists(MESSAGE, max_size=4) | JSON,
        **dict.fromkeys(("tools", "tool_choice", "system", "stop", "temperature", "stream", "instructions"), JSON),
    },
)


@given(body=BODY)
def test_any_body_is_read_or_refused_and_nothing_else(body: dict[str, Any]) -> None:
    for read in (ChatCompletion, lambda given: Responses(given, 1, Memory()), Messages):
        with contextlib.suppress(Problem):
            assert len(read(body).request.digest) == 64


@given(sizes=st.lists(st.integers(0, 60), max_size=20))
def test_remembered_conversations_stay_within_their_bound(sizes: list[int]) -> None:
    memory = Memory(limit=100)
    for i, size in enumerate(sizes):
        memory.keep(Kept({"id": str(i)}, (), (), size))
        kept = [memory.recall(str(j)) for j in range(i + 1)]
        assert sum(k.size for k in kept if k) <= 100
        assert kept[-1] is not None
