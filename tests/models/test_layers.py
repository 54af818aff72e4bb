"""Retries, limits, routes, meters and transcripts, each around a model in memory."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heredity._core.errors import BudgetError, ConfigError, ProviderError
from heredity._core.spans import Span, collecting, span
from heredity.models import Model, Reply, Request, Usage
from heredity.models.contract import NOTHING_USED, StreamingModel
from heredity.models.gateway import Limited, Retrying, Transcribed
from heredity.models.meter import Account, Meter, Metered, SpendLimits
from heredity.models.prices import FREE, Prices, listed_prices, prices_of
from heredity.models.routing import Routed
from heredity.models.waiting import noticing, rollout_clock

from .fakes import USED, Fake, broken, said

ASK = Request.of("hi")


async def streamed_reply(model: StreamingModel, request: Request = ASK) -> tuple[str, Reply]:
    deltas = [delta async for delta in model.stream(request)]
    assert deltas[-1].reply is not None
    return "".join(d.text for d in deltas), deltas[-1].reply


class Waits(list[float]):
    """Stands for sleeping, and remembers how long."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


# --- retries


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_failure_that_may_pass_is_asked_again_and_counted(streaming: bool) -> None:
    waits, fake = Waits(), Fake([broken(), broken("timeout"), said()])
    model = Retrying(fake, sleep=waits, base_s=1.0)
    reply = (await streamed_reply(model))[1] if streaming else await model.reply(ASK)
    assert (reply.attempts, len(fake.asked), len(waits)) == (3, 3, 2)
    assert 0 <= waits[0] <= 1
    assert 0 <= waits[1] <= 2


async def test_a_failure_that_stays_is_not_asked_again() -> None:
    waits, fake = Waits(), Fake([broken("auth", transient=False)])
    with pytest.raises(ProviderError, match="auth"):
        await Retrying(fake, sleep=waits).reply(ASK)
    assert (len(fake.asked), waits) == (1, [])


async def test_the_last_failure_says_how_often_it_was_asked() -> None:
    fake = Fake([broken()])
    with pytest.raises(ProviderError, match=r"told to fail \(server\) \(asked 3 times\)") as caught:
        await Retrying(fake, attempts=3, sleep=Waits()).reply(ASK)
    assert len(fake.asked) == 3
    assert caught.value.transient
    assert isinstance(caught.value.__cause__, ProviderError)


async def test_a_provider_is_left_alone_as_long_as_it_asks_and_whoever_watches_is_told() -> None:
    waits, told = Waits(), list[tuple[str, float]]()
    outcomes: list[Any] = [broken("rate_limit", retry_after_s=s) for s in (0.0, 500.0)]
    with noticing(lambda why, seconds: told.append((why, seconds))):
        await Retrying(Fake([*outcomes, said()]), sleep=waits, base_s=1.0, longest_s=600.0).reply(ASK)
    assert 500.0 <= waits[1] <= 502.0
    assert told == [(f"told to fail (rate_limit); retrying in {waits[1]:.0f} s", waits[1])], "short waits are not told"


async def test_a_wait_that_nobody_watches_is_told_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    await Retrying(Fake([broken("rate_limit", retry_after_s=60.0), said()]), sleep=Waits()).reply(ASK)
    assert capsys.readouterr().err.startswith("told to fail (rate_limit); retrying in 6")


async def test_a_provider_that_asks_for_more_time_than_an_attempt_has_is_not_asked_again() -> None:
    waits, fake = Waits(), Fake([broken("rate_limit", retry_after_s=3600.0)])
    with pytest.raises(ProviderError, match=r"asks for a wait of 3600 s, more than timeout_s \(600 s\)") as caught:
        await Retrying(fake, sleep=waits, longest_s=600.0).reply(ASK)
    assert (len(fake.asked), waits) == (1, [])
    assert (caught.value.kind, caught.value.transient, caught.value.retry_after_s) == ("rate_limit", False, 3600.0)


async def test_a_model_that_could_not_be_reached_is_asked_once_until_it_answers() -> None:
    waits, fake = Waits(), Fake([broken("connection")])
    model = Retrying(fake, attempts=8, sleep=waits)
    with pytest.raises(ProviderError, match="asked 8 times") as first:
        await model.reply(ASK)
    assert not first.value.transient, "whoever repeats rollouts would wait as long again"
    assert len(waits) == 7
    assert sum(waits) <= 51.5
    with pytest.raises(ProviderError) as second:
        await model.reply(ASK)
    assert str(second.value) == str(first.value), "one outage is told in one sentence"
    assert len(fake.asked) == 9
    fake.outcomes = [said(), broken("connection"), said()]
    await model.reply(ASK)
    await model.reply(ASK)
    assert len(fake.asked) == 12, "it is asked again once it has answered"


@pytest.mark.parametrize(("kind", "most"), [("timeout", 2), ("empty", 3), ("garbage", 4), ("server", 9)])
async def test_failures_that_may_be_paid_for_or_take_long_are_not_asked_for_often(kind: str, most: int) -> None:
    fake = Fake([broken("connection"), *[broken(kind)] * 20])
    with pytest.raises(ProviderError, match=kind):
        await Retrying(fake, attempts=10, sleep=Waits()).reply(ASK)
    assert len(fake.asked) == 1 + most


async def test_the_time_of_attempts_that_fail_does_not_count_against_a_rollout() -> None:
    waits = Waits()
    async with rollout_clock(100.0) as clock, rollout_clock(None):
        before = clock.when()
        outcomes: list[Any] = [broken("rate_limit", retry_after_s=500.0), said()]
        await Retrying(Fake(outcomes), sleep=waits).reply(ASK)
        after = clock.when()
    assert before is not None
    assert after is not None
    assert waits[0] <= after - before < waits[0] + 50.0


async def test_a_rollout_that_takes_too_long_by_itself_is_ended() -> None:
    with pytest.raises(TimeoutError):
        async with rollout_clock(0.01):
            await asyncio.sleep(60)


async def test_waits_grow_to_a_cap_and_are_the_same_in_every_run() -> None:
    runs = [Waits(), Waits(), Waits()]
    for waits, entropy in zip(runs, (1, 1, 2), strict=True):
        with pytest.raises(ProviderError):
            await Retrying(Fake([broken()]), attempts=9, base_s=1, cap_s=4, entropy=entropy, sleep=waits).reply(ASK)
    assert runs[0] == runs[1] != runs[2]
    assert max(runs[0]) <= 4
    assert len(runs[0]) == 8


async def test_a_stream_that_breaks_after_its_first_words_is_not_begun_anew() -> None:
    fake = Fake([said("yes")], breaks_after=2)
    with pytest.raises(ProviderError, match="connection"):
        await streamed_reply(Retrying(fake, sleep=Waits()))
    assert len(fake.asked) == 1


async def test_a_stream_that_breaks_before_its_first_word_is_begun_anew() -> None:
    fake = Fake([said("yes")], breaks_after=0)
    with pytest.raises(ProviderError, match="asked 4 times"):
        await streamed_reply(Retrying(fake, sleep=Waits()))
    assert len(fake.asked) == 4


def test_attempts_are_at_least_one() -> None:
    with pytest.raises(ConfigError, match="attempts is 0"):
        Retrying(Fake(), attempts=0)


# --- limits


@pytest.mark.parametrize("streaming", [False, True])
async def test_no_more_calls_run_at_once_than_allowed(streaming: bool) -> None:
    fake = Fake(takes_s=0.005)
    model = Limited(fake, concurrent=3)
    calls = [streamed_reply(model) if streaming else model.reply(ASK) for _ in range(10)]
    await asyncio.gather(*calls)
    assert (fake.most_under_way, fake.under_way, len(fake.asked)) == (3, 0, 10)


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_call_that_takes_too_long_is_a_timeout_and_frees_its_place(streaming: bool) -> None:
    fake = Fake(takes_s=30)
    model = Limited(fake, concurrent=1, timeout_s=0.02)
    for _ in range(2):
        with pytest.raises(ProviderError) as caught:
            await (streamed_reply(model) if streaming else model.reply(ASK))
        assert (caught.value.kind, caught.value.transient) == ("timeout", True)
    assert fake.under_way == 0


async def test_waiting_for_a_place_does_not_count_as_time_of_the_call() -> None:
    model = Limited(Fake(takes_s=0.03), concurrent=1, timeout_s=0.08)
    assert len(await asyncio.gather(*(model.reply(ASK) for _ in range(5)))) == 5


async def test_a_stream_left_early_frees_its_place() -> None:
    model = Limited(Fake([said("long answer")]), concurrent=1)
    for _ in range(3):
        stream = model.stream(ASK)
        await anext(stream)
        await stream.aclose()
    assert (await model.reply(ASK)).text == "long answer"


async def test_a_slow_reader_of_a_stream_is_not_cancelled() -> None:
    model = Limited(Fake([said("ab")]), timeout_s=0.05)
    stream = model.stream(ASK)
    await anext(stream)
    await asyncio.sleep(0.08)
    assert [delta.text async for delta in stream] == ["b", ""]


# --- routes


async def test_the_next_model_is_asked_where_one_fails_and_the_reply_says_which_answered() -> None:
    first, second = Fake([broken()], name="a/x"), Fake([said(model="")], name="b/y")
    spans: list[Span] = []
    with collecting(spans.append):
        reply = await Routed("either", [first, second]).reply(ASK)
    assert reply.model == "b/y"
    assert [(s.attributes["failed"], s.attributes["failure"]) for s in spans] == [("a/x", "server")]


async def test_a_faulty_request_goes_nowhere_else() -> None:
    second = Fake(name="b/y")
    with pytest.raises(ProviderError, match="request"):
        await Routed("either", [Fake([broken("request", transient=False)]), second]).reply(ASK)
    assert second.asked == []


async def test_when_all_fail_the_error_tells_of_every_leg() -> None:
    backends = [Fake([broken("auth", transient=False)], name="a/x"), Fake([broken("timeout")], name="b/y")]
    with pytest.raises(ProviderError, match=r"a/x: .*auth.*; b/y: .*timeout") as caught:
        await Routed("either", backends).reply(ASK)
    assert (caught.value.kind, caught.value.transient) == ("timeout", True)


async def test_a_spent_budget_is_not_escaped_by_another_leg() -> None:
    second = Fake(name="b/y")
    with pytest.raises(BudgetError):
        await Routed("either", [Fake([BudgetError("spent")]), second]).reply(ASK)
    assert second.asked == []


async def test_a_stream_falls_over_only_before_its_first_word() -> None:
    second = Fake(name="b/y")
    with pytest.raises(ProviderError, match="connection"):
        await streamed_reply(Routed("either", [Fake([said("abc")], breaks_after=1), second]))
    assert second.asked == []
    text, reply = await streamed_reply(Routed("either", [Fake([said("abc")], breaks_after=0), second]))
    assert (text, reply.text) == ("yes", "yes")


async def test_the_cheapest_comes_first_and_a_dearer_one_where_it_fails() -> None:
    dear = Fake([said("dear", model="")], name="a/dear", prices=Prices(input=10, output=30))
    cheap = Fake([said("cheap"), broken()], name="b/cheap", prices=Prices(input=1, output=3))
    model = Routed("thrifty", [dear, cheap], "cheapest")
    assert (await model.reply(ASK)).text == "cheap"
    assert (await model.reply(ASK)).model == "a/dear"
    assert len(dear.asked) == 1


def test_a_route_that_cannot_work_is_refused_when_it_is_made() -> None:
    with pytest.raises(ConfigError, match="no models"):
        Routed("none", [])
    with pytest.raises(ConfigError, match=r"b/y has none"):
        Routed("thrifty", [Fake(), Fake(name="b/y", prices=None)], "cheapest")
    with pytest.raises(ConfigError, match="expected fallback or cheapest"):
        Routed("odd", [Fake()], "random")  # type: ignore[arg-type]


# --- meters


async def test_accounts_are_kept_by_purpose_and_model_failures_included() -> None:
    meter = Meter()
    fake, other = Fake([said(), broken("rate_limit"), said()]), Fake(name="b/y")
    model = Metered(fake, meter)
    await model.reply(ASK)
    with pytest.raises(ProviderError):
        await model.reply(Request.of("hi", purpose="judge"))
    await streamed_reply(model, Request.of("hi", purpose="judge"))
    await Metered(other, meter).reply(ASK)
    assert meter.accounts["execution", "fake/m"] == Account(1, 0, USED, USED, 0)
    assert meter.accounts["judge", "fake/m"] == Account(2, 1, USED, USED, 0)
    assert meter.total() == Account(4, 1, Usage(30, 15, 0, 1.5), Usage(30, 15, 0, 1.5), 0)
    assert meter.total("judge").calls == 2
    assert meter.total(model="b/y").calls == 1
    assert json.loads(json.dumps(meter.to_json()))[0]["model"] == "b/y"


async def test_what_is_not_known_stays_unknown_in_sums_and_is_counted() -> None:
    meter = Meter()
    model = Metered(Fake([said(), said(usage=Usage(10, 5)), broken("timeout"), said()]), meter)
    for _ in range(4):
        try:
            await model.reply(ASK)
        except ProviderError:
            continue
    total = meter.total()
    assert total.usage == Usage(None, None, None, None)
    assert total.known == Usage(30, 15, 0, 1.0)
    assert (total.calls, total.failures, total.unknown_calls) == (4, 1, 2)


async def test_a_call_that_nobody_waited_for_is_a_failure_of_unknown_cost() -> None:
    meter = Meter()
    model = Metered(Fake([said("long")]), meter, SpendLimits(calls=2))
    stream = model.stream(ASK)
    await anext(stream)
    await stream.aclose()
    assert meter.total() == Account(1, 1, Usage(), NOTHING_USED, 1)
    await model.reply(ASK)


@pytest.mark.parametrize("limits", [SpendLimits(tokens=30), SpendLimits(cost_usd=1.0), SpendLimits(calls=2)])
async def test_a_spent_budget_refuses_before_anything_is_asked(limits: SpendLimits) -> None:
    fake = Fake()
    model = Metered(fake, Meter(), limits)
    await model.reply(ASK)
    await model.reply(ASK)
    with pytest.raises(BudgetError, match="are spent"):
        await model.reply(ASK)
    assert len(fake.asked) == 2


async def test_a_limit_of_calls_is_exact_among_calls_at_once_and_across_models() -> None:
    meter, limits = Meter(), SpendLimits(calls=5)
    models = [Metered(Fake(takes_s=0.005, name=f"m/{i}"), meter, limits) for i in range(3)]
    done = await asyncio.gather(*(models[i % 3].reply(ASK) for i in range(12)), return_exceptions=True)
    assert sum(isinstance(outcome, Reply) for outcome in done) == 5
    assert sum(isinstance(outcome, BudgetError) for outcome in done) == 7


async def test_a_limit_that_cannot_be_kept_is_not_pretended() -> None:
    with pytest.raises(ConfigError, match=r"prices of fake/m are not known"):
        Metered(Fake(prices=None), Meter(), SpendLimits(cost_usd=1))
    model = Metered(Fake([said(usage=Usage())]), Meter(), SpendLimits(tokens=1000))
    await model.reply(ASK)
    with pytest.raises(BudgetError, match="without reporting its tokens"):
        await model.reply(ASK)
    with pytest.raises(ConfigError, match="tokens is -1"):
        SpendLimits(tokens=-1)


COUNTS = st.none() | st.integers(0, 1000)
USAGES = st.builds(Usage, COUNTS, COUNTS, COUNTS, st.none() | st.integers(0, 100).map(float))


@given(st.lists(USAGES))
def test_a_sum_is_known_exactly_where_every_part_is(usages: list[Usage]) -> None:
    total = sum((Account.of_call(u, failed=False) for u in usages), Account())
    for name, value in total.usage.to_json().items():
        parts = [u.to_json()[name] for u in usages]
        assert value == (None if None in parts else sum(p or 0 for p in parts))
        assert total.known.to_json()[name] == sum(p or 0 for p in parts)
    assert total.calls == len(usages)
    assert total.unknown_calls == sum(u.tokens is None or u.cost_usd is None for u in usages)


# --- prices


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 100), st.floats(0, 100))
def test_caching_never_makes_a_request_dearer_at_a_lower_price(
    cached: int, out: int, price: float, out_price: float
) -> None:
    prices = Prices(input=price, output=out_price, cached=price / 10)
    plain, some = prices.cost(Usage(10**6, out, 0)), prices.cost(Usage(10**6, out, cached))
    assert plain is not None
    assert some is not None
    assert some <= plain * (1 + 1e-9)
    assert (prices.cost(Usage(None, out)) is None) == (price > 0 or out_price > 0)


def test_prices_are_found_through_the_layers_around_a_model() -> None:
    fake = Fake(prices=Prices(input=1, output=2))
    assert prices_of(Retrying(Limited(Metered(fake, Meter())))) == fake.prices

    class Named:
        name = "scripted/rules.toml"

    assert prices_of(Named()) == FREE
    Named.name = "elsewhere/m"
    assert prices_of(Named()) is None


def test_listed_prices_know_large_providers_and_nothing_else() -> None:
    pytest.importorskip("genai_prices", reason="needs the extra llm")
    prices = listed_prices("gpt-4o-mini", "openai")
    assert prices is not None
    assert 0 < prices.input < prices.output
    assert listed_prices("gpt-4o-mini", "lab") is None
    assert listed_prices("no-such-model", "openai") is None


# --- transcripts


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_transcript_holds_the_whole_call(streaming: bool) -> None:
    kept: list[bytes] = []
    model = Transcribed(Fake(), kept.append)
    reply = (await streamed_reply(model))[1] if streaming else await model.reply(ASK)
    record = json.loads(kept[0])
    assert Reply.from_json(record["reply"]) == reply
    assert record["request"] == ASK.to_json()
    assert (record["digest"], record["model"], record["purpose"]) == (ASK.digest, "fake/m", "execution")
    assert len(kept) == 1


async def test_a_transcript_tells_of_failures_and_of_calls_that_were_left() -> None:
    kept: list[bytes] = []
    model = Transcribed(Fake([broken(), BudgetError("spent"), RuntimeError("odd"), said()]), kept.append)
    for expected in (ProviderError, BudgetError, RuntimeError):
        with pytest.raises(expected):
            await model.reply(ASK)
    stream = model.stream(ASK)
    await anext(stream)
    await stream.aclose()
    task = asyncio.create_task(Transcribed(Fake(takes_s=30), kept.append).reply(ASK))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    kinds = [json.loads(record)["error"]["kind"] for record in kept]
    assert kinds == ["server", "budget", "RuntimeError", "cancelled", "cancelled"]


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_span_has_the_short_of_a_call_and_holds_what_happened_inside(streaming: bool) -> None:
    spans: list[Span] = []
    model = Transcribed(Retrying(Fake([broken(), said("y" * 5000)]), sleep=Waits()))
    with collecting(spans.append), span("attempt"):
        if streaming:
            async for _ in model.stream(Request.of("x" * 5000)):
                with span("mine"):
                    pass
        else:
            await model.reply(Request.of("x" * 5000))
    by_name = {s.name: s for s in spans}
    call, attempt = by_name["model"], by_name["attempt"]
    assert call.kind == "model"
    assert call.parent_id == attempt.span_id
    assert by_name["retry"].parent_id == call.span_id
    assert call.attributes["attempts"] == 2
    assert call.attributes["usage"]["input_tokens"] == 10
    assert len(call.attributes["input"]) < 2100
    assert len(call.attributes["output"]) < 2100
    assert "3000 characters" in call.attributes["output"]
    if streaming:
        assert by_name["mine"].parent_id == attempt.span_id


async def test_a_stream_that_is_forgotten_closes_its_span_from_another_task() -> None:
    spans: list[Span] = []
    with collecting(spans.append):
        stream = Transcribed(Fake([said("long")])).stream(ASK)
        await anext(stream)
        await asyncio.create_task(_close(stream))
    assert [s.name for s in spans] == ["model"]


async def _close(stream: Any) -> None:
    await stream.aclose()


# --- all together


async def test_layers_compose_in_any_order_and_keep_the_name() -> None:
    meter = Meter()
    model: Model = Fake([broken(), said()])
    for layer in (lambda m: Metered(m, meter), Limited, lambda m: Retrying(m, sleep=Waits()), Transcribed, Limited):
        model = layer(model)
    reply = await model.reply(ASK)
    assert (model.name, reply.attempts, meter.total().calls, meter.total().failures) == ("fake/m", 2, 2, 1)
