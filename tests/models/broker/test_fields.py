"""A field of a request for a model of another API is translated, dropped and named, or refused by name."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from tests.models.broker.fakes import TOKEN, Bench, bench
from tests.models.endpoint import Answer, Endpoint, anthropic, completion, endpoint

from heredity.models.gateway import provider_model
from heredity.models.settings import ProviderSettings

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
SAID: list[Any] = [{"role": "user", "content": "hi"}]
PLAIN: dict[str, dict[str, Any]] = {
    CHAT: {"messages": SAID},
    RESPONSES: {"input": "hi"},
    MESSAGES: {"messages": SAID, "max_tokens": 4000},
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
FORM = {"type": "json_schema", "name": "a", "schema": SCHEMA, "strict": True}


@pytest.fixture
async def server() -> AsyncGenerator[Endpoint]:
    async with endpoint() as played:
        yield played


async def post(table: Bench, path: str, body: dict[str, Any]) -> httpx.Response:
    async with httpx.AsyncClient(base_url=table.url, headers={"x-api-key": TOKEN}, timeout=20) as client:
        return await client.post(path, json={"model": "fake", **PLAIN[path], **body})


@pytest.mark.parametrize(
    ("path", "body", "dropped"),
    [
        (
            CHAT,
            {"user": "me", "prompt_cache_key": "k", "reasoning_effort": "low"},
            "prompt_cache_key, reasoning_effort, user",
        ),
        (CHAT, {"messages": [{**SAID[0], "name": "me"}]}, "messages[0].name"),
        (CHAT, {"parallel_tool_calls": False, "presence_penalty": 0, "logprobs": False}, "parallel_tool_calls"),
        (RESPONSES, {"tools": [{"type": "web_search"}], "include": ["x"]}, "include, tools[0]"),
        (RESPONSES, {"reasoning": {"effort": "low", "summary": "auto"}}, "reasoning.effort, reasoning.summary"),
        (MESSAGES, {"thinking": {"type": "disabled"}, "metadata": {"user_id": "u"}}, "metadata"),
        (
            MESSAGES,
            {
                "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
                "thinking": {"type": "adaptive"},
            },
            "system[0].cache_control, thinking",
        ),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_cannot_change_an_answer_is_dropped_and_named(
    path: str, body: dict[str, Any], dropped: str, streamed: bool
) -> None:
    async with bench() as table:
        answer = await post(table, path, {**body, "stream": streamed})
        assert answer.status_code == 200
        assert ", ".join(sorted(answer.headers["heredity-dropped"].split(", "))) == dropped
        assert sorted(table.records[0].to_json()["dropped"]) == dropped.split(", ")
        assert "heredity-dropped" not in (await post(table, path, {"stream": streamed})).headers


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (CHAT, {"logit_bias": {"1": 5}}, "logit_bias"),
        (CHAT, {"presence_penalty": 1}, "presence_penalty"),
        (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}}, "response_format.type"),
        (CHAT, {"web_search_options": {"a": 1}}, "web_search_options"),
        (CHAT, {"invented\r\nx": 1}, "invented"),
        (RESPONSES, {"text": {"format": FORM}}, "text.format.type"),
        (RESPONSES, {"top_logprobs": 3}, "top_logprobs"),
        (MESSAGES, {"top_k": 5}, "top_k"),
        (MESSAGES, {"output_config": {"format": FORM}}, "output_config.format.type"),
        (MESSAGES, {"mcp_servers": [{"url": "x"}]}, "mcp_servers"),
    ],
)
async def test_what_could_change_an_answer_is_refused_by_name(path: str, body: dict[str, Any], field: str) -> None:
    async with bench() as table:
        answer = await post(table, path, body)
        assert (answer.status_code, table.records) == (400, [])
        assert field in answer.json()["error"]["message"]


@pytest.mark.parametrize("path", [CHAT, RESPONSES])
async def test_openais_fields_reach_a_model_of_anthropic_in_its_words(server: Endpoint, path: str) -> None:
    server.play(Answer(anthropic({"type": "text", "text": '{"a": "b"}'})))
    asked: dict[str, dict[str, Any]] = {
        CHAT: {
            "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA, "strict": True}},
            "reasoning_effort": "high",
            "max_tokens": 9000,
        },
        RESPONSES: {"text": {"format": FORM}, "reasoning": {"effort": "high"}, "max_output_tokens": 9000},
    }
    model = provider_model(
        "lab/claude-opus-4-6", ProviderSettings(kind="anthropic", base_url=server.url.removesuffix("/v1"))
    )
    async with bench(model) as table:
        answer = await post(table, path, asked[path])
        assert (answer.status_code, answer.headers.get("heredity-dropped")) == (200, None)
    sent = server.asked[0].body
    assert sent["output_config"]["format"]["schema"]["properties"] == SCHEMA["properties"]
    assert sent["thinking"]["type"] != "disabled"
    await model.close()


async def test_anthropics_fields_reach_a_model_of_openai_in_its_words(server: Endpoint) -> None:
    server.play(Answer(completion('{"a": "b"}')))
    tool = {"name": "look", "input_schema": {"type": "object"}}
    model = provider_model("openai/gpt-5", ProviderSettings(base_url=server.url))
    async with bench(model) as table:
        asked = {
            "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}, "effort": "low"},
            "thinking": {"type": "adaptive"},
            "tools": [tool],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
        }
        answer = await post(table, MESSAGES, asked)
        assert (answer.status_code, answer.json()["content"][0]["text"]) == (200, '{"a": "b"}')
    sent = server.asked[0].body
    assert sent["response_format"]["json_schema"]["schema"]["properties"] == SCHEMA["properties"]
    assert (sent["reasoning_effort"], sent["parallel_tool_calls"]) == ("low", False)
    await model.close()
