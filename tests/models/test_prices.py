"""What calls cost: snapshots, cache reads and writes, and models without a listed price."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from heredity._core.errors import BudgetError, ConfigError
from heredity.models import Request, Sampling, Usage, streamed
from heredity.models.gateway import Gateway
from heredity.models.prices import FREE, Prices, listed_prices, undated
from heredity.models.settings import GatewaySettings

from .endpoint import Answer, Endpoint, anthropic, anthropic_stream, completion, endpoint

ASK = Request.of("hi", sampling=Sampling(max_tokens=50))


@pytest.fixture
async def server() -> AsyncGenerator[Endpoint]:
    async with endpoint() as played:
        yield played


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-test")


@pytest.mark.parametrize(
    ("snapshot", "base"),
    [
        ("gpt-5-2026-01-01", "gpt-5"),
        ("gpt-5-mini-2031-12-31", "gpt-5-mini"),
        ("claude-sonnet-5-20290101", "claude-sonnet-5"),
        ("claude-sonnet-5@20290101", "claude-sonnet-5"),
        ("us.anthropic.claude-sonnet-5-20290101-v1:0", "us.anthropic.claude-sonnet-5-v1:0"),
        ("mistral-large-2611", "mistral-large"),
        ("grok-4-0709", "grok-4"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro-preview"),
        ("mistral-large-latest", "mistral-large"),
        ("llama3-70b-8192", "llama3-70b-8192"),
        ("gpt-4.1", "gpt-4.1"),
        ("gpt-oss-120b", "gpt-oss-120b"),
    ],
)
def test_the_date_of_a_snapshot_is_no_part_of_its_base(snapshot: str, base: str) -> None:
    assert undated(snapshot) == base


@pytest.mark.parametrize(
    ("snapshot", "base", "provider"),
    [
        ("gpt-5-2031-01-01", "gpt-5", "openai"),
        ("claude-sonnet-4-5-20310101", "claude-sonnet-4-5", "anthropic"),
        ("grok-4-1231", "grok-4", "xai"),
        ("gemini-2.5-pro-12-31", "gemini-2.5-pro", "google-cloud"),
    ],
)
def test_a_snapshot_that_is_not_listed_costs_as_much_as_its_base(snapshot: str, base: str, provider: str) -> None:
    assert listed_prices(snapshot, provider) == listed_prices(base, provider) is not None


def test_writes_to_a_cache_are_listed_for_five_minutes_and_for_an_hour() -> None:
    prices = listed_prices("claude-sonnet-4-5", "anthropic")
    assert prices is not None
    assert prices.cached is not None
    assert prices.cache_write == pytest.approx(1.25 * prices.input)
    assert prices.cache_write_1h == pytest.approx(2 * prices.input)
    assert prices.cached == pytest.approx(0.1 * prices.input)


def test_each_part_of_a_request_has_its_price() -> None:
    usage = Usage(1000, 10, 100)
    assert Prices(input=1, output=5).cost(usage, 300, 200) == pytest.approx((1000 + 50) / 1e6)
    prices = Prices(input=1, output=5, cached=0.1, cache_write=2, cache_write_1h=3)
    assert prices.cost(usage, 300, 200) == pytest.approx((600 + 10 + 200 + 600 + 50) / 1e6)
    assert Prices(input=1, output=5, cache_write=2).cost(usage, 300, 200) == pytest.approx((700 + 600 + 50) / 1e6)


def test_what_is_free_is_free_without_a_usage() -> None:
    assert FREE.cost(Usage()) == 0.0
    assert Prices(input=1, output=0).cost(Usage()) is None


WRITES = {
    "cache_creation_input_tokens": 300,
    "cache_read_input_tokens": 100,
    "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
}


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("own", [None, {"input": 3.0, "output": 15.0, "cache_write": 4.0, "cache_write_1h": 5.0}])
async def test_writes_to_a_cache_are_charged(server: Endpoint, own: dict[str, float] | None, streaming: bool) -> None:
    usage: Any = WRITES
    if streaming:
        answer = anthropic_stream(({"type": "text", "text": ""}, [{"type": "text_delta", "text": "hello"}]))
        assert answer.events is not None
        answer.events[0]["message"]["usage"].update(usage)
    else:
        answer = Answer(anthropic({"type": "text", "text": "hello"}, **usage))
    server.play(answer)
    table: dict[str, Any] = {"base_url": server.url.removesuffix("/v1")}
    if own:
        table["prices"] = {"*": own}
    async with Gateway(GatewaySettings.of({"providers": {"anthropic": table}})) as gateway:
        model = gateway.model("anthropic/claude-sonnet-4-5")
        reply = [delta.reply async for delta in streamed(model, ASK)][-1] if streaming else await model.reply(ASK)
    assert reply is not None
    listed = (12 * 3 + 100 * 0.3 + 100 * 3.75 + 200 * 6 + 3 * 15) / 1e6
    configured_ = (12 * 3 + 100 * 3 + 100 * 4 + 200 * 5 + 3 * 15) / 1e6
    assert reply.usage.cost_usd == pytest.approx(configured_ if own else listed)


async def test_a_limit_on_cost_goes_on_after_a_reply_of_a_snapshot_without_a_listed_price(server: Endpoint) -> None:
    server.play(Answer({**completion("hello"), "model": "gpt-5-2031-01-01"}))
    settings = {"providers": {"openai": {"base_url": server.url}}, "max_cost_usd": 1.0}
    async with Gateway(GatewaySettings.of(settings)) as gateway:
        for _ in range(3):
            await gateway.model("openai/gpt-5").reply(ASK)
        spent = gateway.meter.total().usage.cost_usd
    assert spent == pytest.approx(3 * (12 * 1.25 + 3 * 10) / 1e6)


async def test_a_server_of_this_machine_costs_nothing_and_runs_under_a_limit_on_cost(server: Endpoint) -> None:
    server.play(Answer(completion("hello", usage={})))
    settings = {"providers": {"vllm": {"base_url": server.url}}, "max_cost_usd": 1.0}
    async with Gateway(GatewaySettings.of(settings)) as gateway:
        for _ in range(2):
            assert (await gateway.model("vllm/m").reply(ASK)).usage.cost_usd == 0.0


async def test_a_reply_without_a_usage_ends_a_run_under_a_limit_on_cost(server: Endpoint) -> None:
    server.play(Answer({**completion("hello", usage={}), "model": "gpt-5"}))
    settings = {"providers": {"openai": {"base_url": server.url}}, "max_cost_usd": 1.0}
    async with Gateway(GatewaySettings.of(settings)) as gateway:
        await gateway.model("openai/gpt-5").reply(ASK)
        with pytest.raises(BudgetError, match="without reporting its cost_usd"):
            await gateway.model("openai/gpt-5").reply(ASK)


def test_a_limit_on_cost_with_a_model_without_a_price_says_how_to_give_one() -> None:
    settings = GatewaySettings(execution="openai/no-such-model", max_cost_usd=1.0)
    with pytest.raises(ConfigError, match=r'set gateway\.providers\.openai\.prices\."no-such-model" = \{ input'):
        Gateway(settings).model("execution")
