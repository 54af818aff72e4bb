"""The gateway as it is configured: names, roles, routes, and every layer over real HTTP."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.offering import Offer

from heredity._core.errors import BudgetError, ConfigError, ProviderError, UnknownNameError
from heredity._core.spans import Span, collecting
from heredity.models import Model, Request, Sampling, streamed
from heredity.models import gateway as providers
from heredity.models.gateway import Gateway, Limited, default_cache_path, known_kinds, resolve
from heredity.models.settings import WELL_KNOWN, GatewaySettings, ProviderSettings

from .endpoint import Answer, Endpoint, chunks, completion, endpoint, failure
from .fakes import Fake, said

ASK = Request.of("hi", sampling=Sampling(temperature=0))
FRESH = Request.of("hi")


@pytest.fixture
async def server() -> AsyncGenerator[Endpoint]:
    async with endpoint() as played:
        yield played


def fakes(**settings: Any) -> tuple[Gateway, dict[str, Fake]]:
    opened: dict[str, Fake] = {}

    def opening(name: str, _: GatewaySettings) -> Model:
        opened[name] = Fake([said(name)], name=name)
        return opened[name]

    return Gateway(GatewaySettings.of(settings), resolver=opening), opened


def real(server: Endpoint, **settings: Any) -> GatewaySettings:
    lab = {"base_url": server.url, "timeout_s": 5.0, "prices": {"*": {"input": 1.0, "output": 2.0}}}
    return GatewaySettings.of({"execution": "lab/m", "providers": {"lab": lab}, **settings})


# --- names


async def test_roles_routes_and_models_are_found_by_name() -> None:
    gateway, opened = fakes(
        execution="a/x", optimisation="both", routes={"both": {"models": ["b/y", "a/x"], "policy": "fallback"}}
    )
    assert (await gateway.model("execution").reply(FRESH)).text == "a/x"
    assert (await gateway.model("optimisation").reply(FRESH)).text == "b/y"
    assert (await gateway.model("c/z").reply(FRESH)).text == "c/z"
    assert gateway.model("execution") is gateway.model("a/x")
    assert sorted(opened) == ["a/x", "b/y", "c/z"], "a model that two names lead to is opened once"


def test_a_role_without_a_model_says_which_key_to_set() -> None:
    with pytest.raises(ConfigError, match=r"gateway\.judge"):
        Gateway().model("judge")


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="openai/gpt-5"):
        resolve("opnai/gpt-5")
    with pytest.raises(UnknownNameError, match="cheap"):
        fakes(routes={"cheap": {"models": ["a/x"]}})[0].model("chaep")
    with pytest.raises(UnknownNameError):
        resolve("openai/")
    with pytest.raises(UnknownNameError):
        resolve("/x")


def test_a_route_to_a_route_is_refused() -> None:
    gateway, _ = fakes(routes={"one": {"models": ["two"]}, "two": {"models": ["a/x"]}})
    with pytest.raises(ConfigError, match="leads to another route"):
        gateway.model("one")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"excution": "a/x"}, "unknown key excution; did you mean execution"),
        ({"providers": {"lab": {"base_ulr": "x"}}}, r"unknown key providers\.lab\.base_ulr; did you mean base_url"),
        ({"providers": {"lab": {"prices": {"m": {"inptu": 1}}}}}, "did you mean input"),
        ({"routes": {"r": {"models": ["a/x"], "policy": "random"}}}, r"routes\.r\.policy = 'random'"),
        ({"routes": {"judge": {"models": ["a/x"]}}}, "'judge' cannot be a name"),
        ({"providers": {"local": {}}}, "'local' cannot be a name"),
        ({"attempts": 0}, "attempts = 0"),
        ({"timeout_s": "5"}, "timeout_s"),
        ({"max_cost_usd": -1.0}, "max_cost_usd"),
    ],
)
def test_a_wrong_configuration_names_the_field(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        GatewaySettings.of(settings)


def test_a_table_about_a_known_provider_keeps_what_it_does_not_name() -> None:
    settings = GatewaySettings.of({"providers": {"openai": {"timeout_s": 900.0}, "lab": {"base_url": "http://x/v1"}}})
    openai = settings.provider("openai/gpt-5")
    assert openai == WELL_KNOWN["openai"].model_copy(update={"timeout_s": 900.0})
    assert GatewaySettings.of(json.loads(settings.model_dump_json())) == settings


def test_a_table_of_another_kind_takes_nothing_of_the_known_provider() -> None:
    settings = GatewaySettings.of({"providers": {"openai": {"kind": "anthropic"}}})
    assert settings.providers["openai"] == ProviderSettings(kind="anthropic")


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({}, 600.0),
        ({"timeout_s": 900.0}, 900.0),
        ({"timeout_s": 900.0, "providers": {"openai": {"timeout_s": 20.0}}}, 20.0),
        ({"timeout_s": 20.0, "providers": {"openai": {"timeout_s": 900.0}}}, 900.0),
    ],
)
async def test_the_time_of_an_attempt_holds_in_every_layer(
    settings: dict[str, Any], seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    asked: list[float] = []
    monkeypatch.setattr(providers, "to_settings", lambda _, timeout_s, *__: asked.append(timeout_s) or {})

    async def answer(*_: object, **__: object) -> object:
        raise ConnectionError("nobody is asked in a test")

    monkeypatch.setattr("pydantic_ai.direct.model_request", answer)
    limited: list[float] = []

    def limit(model: Model, *, concurrent: int, timeout_s: float) -> Limited:
        limited.append(timeout_s)
        return Limited(model, concurrent=concurrent, timeout_s=timeout_s)

    monkeypatch.setattr("heredity.models.gateway.Limited", limit)
    async with Gateway(GatewaySettings.of({"attempts": 1, **settings})) as gateway:
        with pytest.raises(ProviderError, match="nobody is asked"):
            await gateway.model("openai/gpt-5").reply(FRESH)
    assert (asked, limited) == ([seconds], [seconds])


def test_settings_survive_json_and_hold_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-secret")
    settings = GatewaySettings.of({"providers": {"lab": {"base_url": "http://x/v1", "api_key_env": "LAB_KEY"}}})
    assert GatewaySettings.of(json.loads(settings.model_dump_json())) == settings
    assert "sk-secret" not in repr(settings) + settings.model_dump_json()


# --- plugins


def open_model(rest: str, settings: GatewaySettings) -> Model:
    return Fake([said(rest)], name=f"mine/{rest}")


def not_a_model(rest: str, settings: GatewaySettings) -> str:
    return rest


async def test_an_installed_package_offers_models(offer: Offer) -> None:
    offer("heredity.models", "mine", open_model)
    assert (await Gateway().model("mine/x/y").reply(FRESH)).text == "x/y"
    assert "mine" in known_kinds()


@pytest.mark.parametrize(
    ("value", "message"), [("ASK", "give a callable"), ("not_a_model", "opened str, which is no model")]
)
def test_what_is_no_model_is_refused(offer: Offer, value: str, message: str) -> None:
    offer("heredity.models", "mine", f"{__name__}:{value}")
    with pytest.raises(ConfigError, match=message):
        resolve("mine/x")


# --- the whole chain


async def test_a_call_leaves_accounts_a_transcript_and_a_span(server: Endpoint) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    server.play(failure(500, **{"retry-after": "0"}), Answer(completion("hello")))
    kept: list[bytes] = []
    spans: list[Span] = []
    async with Gateway(real(server), sink=kept.append) as gateway:
        with collecting(spans.append):
            reply = await gateway.model("execution").reply(FRESH)
        assert (reply.text, reply.attempts, reply.cache) == ("hello", 2, "off")
        account = gateway.meter.accounts["execution", "lab/m"]
    assert (account.calls, account.failures) == (2, 1)
    assert account.usage.cost_usd == pytest.approx((12 * 1 + 3 * 2) / 1e6)
    assert json.loads(kept[0])["reply"]["text"] == "hello"
    assert [s.name for s in spans] == ["retry", "model"]


async def test_a_stream_goes_through_the_whole_chain(server: Endpoint, tmp_path: Path) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    server.play(Answer(events=chunks({"content": "hel"}, {"content": "lo"})))
    async with Gateway(real(server, cache=str(tmp_path / "c.sqlite"))) as gateway:
        for expected in ("miss: first time", "hit"):
            deltas = [delta async for delta in streamed(gateway.model("execution"), ASK)]
            assert "".join(d.text for d in deltas) == "hello"
            assert deltas[-1].reply is not None
            assert deltas[-1].reply.cache == expected
        assert gateway.meter.total().calls == 1


async def test_a_dead_provider_falls_over_to_the_next_of_the_route(server: Endpoint) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    server.play(Answer(completion("hello")))
    settings = real(server, attempts=1, routes={"safe": {"models": ["dead/m", "lab/m"]}})
    dead = {"base_url": "http://127.0.0.1:1/v1"}
    settings = GatewaySettings.of(
        {**settings.model_dump(), "providers": {**settings.model_dump()["providers"], "dead": dead}}
    )
    async with Gateway(settings) as gateway:
        reply = await gateway.model("safe").reply(FRESH)
        assert (reply.text, reply.model) == ("hello", "lab/m")
        assert gateway.meter.total(model="dead/m").failures == 1


async def test_calls_at_once_stay_within_the_limit_over_real_connections(server: Endpoint) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    server.play(Answer(completion("hello"), hang_s=0.01))
    async with Gateway(real(server, concurrent=2)) as gateway:
        model = gateway.model("execution")
        await asyncio.gather(*(model.reply(Request.of(str(i))) for i in range(8)))
    assert (server.most_open, len(server.asked)) == (2, 8)


async def test_limits_hold_for_all_models_together() -> None:
    gateway, _ = fakes(max_tokens=30)
    await gateway.model("a/x").reply(FRESH)
    await gateway.model("b/y").reply(FRESH)
    with pytest.raises(BudgetError, match="30 tokens of 30"):
        await gateway.model("c/z").reply(FRESH)


def test_a_limit_on_cost_needs_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    lab = {"base_url": "http://127.0.0.1:1/v1"}
    settings = GatewaySettings.of({"providers": {"lab": lab}, "max_cost_usd": 1.0})
    with pytest.raises(ConfigError, match=r"prices of lab/m are not known"):
        Gateway(settings).model("lab/m")


async def test_a_hit_costs_nothing_even_when_the_budget_is_spent(tmp_path: Path) -> None:
    gateway, _ = fakes(max_calls=1, cache=str(tmp_path / "c.sqlite"))
    model = gateway.model("a/x")
    assert gateway.explain("a/x", ASK) == "a/x: miss: first time"
    await model.reply(ASK)
    assert (await model.reply(ASK)).cache == "hit"
    assert gateway.explain("a/x", ASK).startswith("a/x: hit: answered by fake/m")
    with pytest.raises(BudgetError):
        await model.reply(FRESH)
    await gateway.close()


async def test_the_judge_and_other_realms_share_no_answers(tmp_path: Path) -> None:
    settings = {"execution": "a/x", "judge": "a/x", "cache": str(tmp_path / "c.sqlite")}
    gateway, _ = fakes(**settings)
    assert (await gateway.model("execution").reply(ASK)).cache == "miss: first time"
    assert (await gateway.model("judge").reply(ASK)).cache == "miss: first time"
    assert (await gateway.model("judge").reply(ASK)).cache == "hit"
    other = Gateway(gateway.settings, namespace="judging", resolver=lambda name, _: Fake(name=name))
    assert (await other.model("execution").reply(ASK)).cache == "miss: first time"
    await gateway.close()
    await other.close()


async def test_another_address_under_the_same_name_shares_no_answers(tmp_path: Path) -> None:
    def gateway(url: str) -> Gateway:
        settings = {"cache": str(tmp_path / "c.sqlite"), "providers": {"lab": {"base_url": url}}}
        return Gateway(GatewaySettings.of(settings), resolver=lambda name, _: Fake(name=name))

    for url in ("http://a/v1", "http://b/v1"):
        assert (await gateway(url).model("lab/m").reply(ASK)).cache == "miss: first time"
    assert (await gateway("http://a/v1").model("lab/m").reply(ASK)).cache == "hit"


async def test_scripted_models_are_not_cached(tmp_path: Path) -> None:
    gateway, _ = fakes(cache=str(tmp_path / "c.sqlite"))
    assert (await gateway.model("scripted/rules.toml").reply(ASK)).cache == "off"
    assert gateway.explain("scripted/rules.toml", ASK) == "scripted/rules.toml: off"
    assert not (tmp_path / "c.sqlite").exists()


async def test_closing_closes_every_model_once() -> None:
    gateway, opened = fakes(routes={"both": {"models": ["a/x", "b/y"]}})
    gateway.model("both")
    gateway.model("a/x")
    await gateway.close()
    await gateway.close()
    assert [fake.closed for fake in opened.values()] == [1, 1]


async def test_closing_a_provider_closes_its_connections(server: Endpoint) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    server.play(Answer(completion("hello")))
    async with Gateway(real(server)) as gateway:
        await gateway.model("execution").reply(FRESH)
        assert server.tasks
    for _ in range(200):
        if not server.tasks:
            break
        await asyncio.sleep(0.005)
    assert not server.tasks


def test_event_loops_may_use_a_gateway_one_after_the_other() -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    served: list[tuple[Endpoint, asyncio.AbstractEventLoop, asyncio.Event]] = []
    ready = threading.Event()

    async def serve() -> None:
        async with endpoint() as played:
            played.play(Answer(completion("hello")))
            served.append((played, asyncio.get_running_loop(), asyncio.Event()))
            ready.set()
            await served[0][2].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        assert ready.wait(10)
        model = Gateway(real(served[0][0], concurrent=2, attempts=1)).model("execution")

        async def ask() -> list[Any]:
            return await asyncio.gather(*(model.reply(Request.of(str(i))) for i in range(6)))

        assert [len(asyncio.run(ask())) for _ in range(3)] == [6, 6, 6]
    finally:
        served[0][1].call_soon_threadsafe(served[0][2].set)
        thread.join()


async def test_an_error_of_the_last_attempt_reaches_the_caller_with_its_kind(server: Endpoint) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    server.play(failure(400, "bad"))
    async with Gateway(real(server)) as gateway:
        with pytest.raises(ProviderError) as caught:
            await gateway.model("execution").reply(FRESH)
    assert caught.value.kind == "request"


def test_the_cache_lies_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_cache_path() == tmp_path / "heredity" / "replies.sqlite"


def test_importing_the_gateway_loads_no_provider() -> None:
    code = "import sys, heredity.models.gateway\nprint([m for m in ('pydantic_ai', 'openai', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
