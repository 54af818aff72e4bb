"""A program without network gets none by way of its provider."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from tests.models.broker.fakes import TOKEN, bench
from tests.models.endpoint import Answer, anthropic, endpoint

from heredity.models.broker import Account
from heredity.models.broker.offline import offline
from heredity.models.broker.problems import Problem
from heredity.models.gateway import provider_model
from heredity.models.settings import ProviderSettings

FUNCTION: dict[str, Any] = {"type": "function", "function": {"name": "look"}}


@pytest.mark.parametrize(
    ("api", "body", "kept", "dropped"),
    [
        (
            "chat.completions",
            {"tools": [FUNCTION, {"type": "web_search"}], "web_search_options": {}, "plugins": [{"id": "web"}]},
            {"tools": [FUNCTION]},
            ["web_search_options", "plugins", "tools[1]"],
        ),
        (
            "responses",
            {
                "tools": [{"type": "web_search_preview"}, {"type": "mcp"}, {"type": "code_interpreter"}],
                "tool_choice": "auto",
            },
            {},
            ["tools[0]", "tools[1]", "tools[2]"],
        ),
        (
            "responses",
            {"tools": [{"type": "local_shell"}, {"type": "custom", "name": "apply_patch"}]},
            {"tools": [{"type": "local_shell"}, {"type": "custom", "name": "apply_patch"}]},
            [],
        ),
        (
            "messages",
            {
                "tools": [
                    {"name": "own"},
                    {"type": "bash_20250124", "name": "bash"},
                    {"type": "web_fetch_20250910", "name": "f"},
                ],
                "mcp_servers": [{"url": "https://example.org"}],
            },
            {"tools": [{"name": "own"}, {"type": "bash_20250124", "name": "bash"}]},
            ["mcp_servers", "tools[2]"],
        ),
        (
            "responses",
            {
                "tools": [
                    {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}, {"type": "mcp"}]},
                    {"type": "tool_search"},
                ],
                "input": [{"type": "additional_tools", "tools": [{"type": "web_search"}, {"type": "custom"}]}, "hi"],
            },
            {
                "tools": [
                    {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]},
                    {"type": "tool_search"},
                ],
                "input": [{"type": "additional_tools", "tools": [{"type": "custom"}]}, "hi"],
            },
            ["tools[0].tools[1]", "input[0].tools[0]"],
        ),
        (
            "generate_content",
            {"tools": [{"functionDeclarations": [], "googleSearch": {}}, {"urlContext": {}}]},
            {"tools": [{"functionDeclarations": []}]},
            ["tools[1]"],
        ),
    ],
)
def test_tools_that_the_provider_runs_are_taken_out(
    api: str, body: dict[str, Any], kept: dict[str, Any], dropped: list[str]
) -> None:
    assert offline(api, body) == (kept, dropped)


@pytest.mark.parametrize(
    ("api", "said", "place"),
    [
        (
            "chat.completions",
            {"messages": [{"content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}]},
            "messages[0].content[0].image_url",
        ),
        (
            "responses",
            {"input": [{"content": [{"image_url": "https://example.org"}]}]},
            "input[0].content[0].image_url",
        ),
        ("responses", {"input": [{"content": [{"file_url": "https://example.org"}]}]}, "input[0].content[0].file_url"),
        (
            "messages",
            {
                "messages": [
                    {"content": [{"type": "document", "source": {"type": "url", "url": "https://example.org"}}]}
                ]
            },
            "messages[0].content[0].source.url",
        ),
        (
            "generate_content",
            {"contents": [{"parts": [{"fileData": {"fileUri": "https://example.org"}}]}]},
            "contents[0].parts[0].fileData",
        ),
        (
            "generate_content",
            {
                "contents": [
                    {"parts": [{"functionResponse": {"parts": [{"fileData": {"fileUri": "https://example.org"}}]}}]}
                ]
            },
            "contents[0].parts[0].functionResponse.parts[0].fileData",
        ),
    ],
)
def test_addresses_are_refused_by_their_place(api: str, said: dict[str, Any], place: str) -> None:
    with pytest.raises(Problem, match="no network; send its bytes") as refused:
        offline(api, said)
    assert refused.value.field == place


@pytest.mark.parametrize(
    ("api", "said"),
    [
        (
            "messages",
            {"messages": [{"content": [{"type": "tool_use", "input": {"type": "url", "url": "https://example.org"}}]}]},
        ),
        ("messages", {"messages": [{"content": [{"type": "text", "text": "https://example.org"}]}]}),
        ("chat.completions", {"messages": [{"content": [{"image_url": {"url": "data:image/png;base64,AA=="}}]}]}),
        (
            "generate_content",
            {"contents": [{"parts": [{"functionCall": {"args": {"file_url": "https://example.org"}}}]}]},
        ),
        ("responses", {"input": [{"type": "function_call", "arguments": '{"file_url": "https://example.org"}'}]}),
    ],
)
def test_addresses_that_nobody_fetches_pass(api: str, said: dict[str, Any]) -> None:
    assert offline(api, said) == (said, [])


@pytest.mark.parametrize("online", [True, False])
async def test_the_account_says_whether_providers_reach_out(online: bool) -> None:
    body = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [
            {"name": "own", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search"},
        ],
    }
    async with endpoint() as server:
        settings = ProviderSettings(kind="anthropic", base_url=server.url.removesuffix("/v1"), api_key_env="")
        server.play(Answer(anthropic({"type": "text", "text": "hello"})))
        account = Account("run", {"*": "fake"}, token=TOKEN, online=online)
        async with bench(provider_model("claude/m", settings), account) as table, httpx.AsyncClient() as client:
            answer = await client.post(f"{table.url}/v1/messages", json=body, headers={"x-api-key": TOKEN})
        sent = server.asked[-1].body["tools"]
    assert answer.status_code == 200
    assert len(sent) == (2 if online else 1)
    assert answer.headers.get("heredity-dropped", "") == ("" if online else "tools[1]")
