"""What an account may use, and what is counted."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import anthropic
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.models.broker.fakes import TOKEN, USED, FakeModel, bench
from tests.models.broker.programs import PROGRAMS, ChatProgram

from heredity._core.errors import ConfigError
from heredity.models import Reply, Usage
from heredity.models.broker import Account, BrokerApp, CallRecord, Ledger, Limits
from heredity.models.broker.problems import Problem

QUESTION: Any = {"model": "fake", "messages": [{"role": "user", "content": "?"}]}


def record(usage: Usage, outcome: Any = "answered", guess: int = 0) -> CallRecord:
    return CallRecord("run", "messages", "fake", "fake", "0" * 64, outcome, usage, guess, 0.1, streamed=False)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize(
    ("limits", "answered"),
    [(Limits(calls=2), 2), (Limits(tokens=120), 1), (Limits(tokens=121), 2), (Limits(cost_usd=0.6), 3)],
    ids=["calls", "tokens", "tokens and one", "cost"],
)
async def test_a_spent_budget_is_a_429_that_clients_do_not_repeat(program: Any, limits: Limits, answered: int) -> None:
    model = FakeModel()
    async with bench(model, limits=limits) as table:
        client = program(table.url, TOKEN, max_retries=5)
        for _ in range(answered):
            await client.ask_async(client.begin(), streamed=False)
        with pytest.raises((openai.RateLimitError, anthropic.RateLimitError), match=r"budget of .* is spent"):
            await client.ask_async(client.begin(), streamed=True)
    assert len(model.requests) == len(table.records) == answered
    assert (table.ledger.refused, table.ledger.total.calls) == (1, answered)


async def test_a_spent_budget_is_named_as_openais_clients_know_it() -> None:
    async with bench(limits=Limits(calls=0)) as table:
        with pytest.raises(openai.RateLimitError) as caught:
            await ChatProgram(table.url, TOKEN).parallel.chat.completions.create(**QUESTION)
    assert (caught.value.type, caught.value.code) == ("insufficient_quota", "insufficient_quota")


async def test_no_more_requests_are_answered_at_once_than_may_be() -> None:
    model = FakeModel()
    model.held = asyncio.Event()
    async with bench(model, limits=Limits(concurrent=2)) as table:
        create = ChatProgram(table.url, TOKEN).parallel.chat.completions.create
        asking = [asyncio.create_task(create(**QUESTION)) for _ in range(2)]
        await asyncio.gather(model.arrivals.get(), model.arrivals.get())
        with pytest.raises(openai.RateLimitError, match="as many as may be") as caught:
            await create(**QUESTION)
        assert caught.value.response.headers["x-should-retry"] == "true"
        model.held.set()
        await asyncio.gather(*asking)
        await create(**QUESTION)
    assert table.ledger.total.calls == 3


async def test_calls_that_start_together_never_exceed_a_limit_of_calls() -> None:
    async with bench(limits=Limits(calls=5)) as table:
        create = ChatProgram(table.url, TOKEN).parallel.chat.completions.create
        ended = await asyncio.gather(*(create(**QUESTION) for _ in range(12)), return_exceptions=True)
    assert sum(not isinstance(e, Exception) for e in ended) == table.ledger.total.calls == 5


async def test_two_accounts_at_once_are_metered_apart() -> None:
    accounts = [
        Account(run, {"*": target}, Limits(calls=20), f"{run}-token-0123456789")
        for run, target in (("one", "cheap"), ("two", "dear"))
    ]
    models = {
        name: FakeModel(lambda request, name=name, cost=cost: Reply(name, usage=Usage(10, 1, 0, cost), model=name))
        for name, cost in (("cheap", 0.5), ("dear", 2.0))
    }
    async with bench(models, *accounts) as table:

        async def talk(account: Account, times: int) -> set[str]:
            create = ChatProgram(table.url, account.token).parallel.chat.completions.create
            answers = await asyncio.gather(*(create(**QUESTION) for _ in range(times)))
            return {answer.choices[0].message.content or "" for answer in answers}

        assert await asyncio.gather(talk(accounts[0], 7), talk(accounts[1], 4)) == [{"cheap"}, {"dear"}]
        one, two = (ledger.to_json() for ledger in table.app.ledgers)
    assert (one["run"], one["calls"], one["usage"]["cost_usd"], list(one["models"])) == ("one", 7, 3.5, ["cheap"])
    assert (two["run"], two["calls"], two["usage"]["cost_usd"], list(two["models"])) == ("two", 4, 8.0, ["dear"])
    assert [r.run for r in table.records].count("two") == 4


async def test_an_account_that_is_closed_is_let_in_no_more() -> None:
    async with bench() as table:
        create = ChatProgram(table.url, TOKEN).parallel.chat.completions.create
        await create(**QUESTION)
        assert table.app.close(table.ledger.account).total.calls == 1
        with pytest.raises(openai.AuthenticationError):
            await create(**QUESTION)
        with pytest.raises(ConfigError, match="no account 'run'"):
            table.app.close(Account("run"))
        again = table.app.open(Account("run", token=TOKEN))
        await create(**QUESTION)
        assert again.total.calls == 1


def test_what_is_unknown_stays_unknown_in_the_sums_and_is_counted() -> None:
    ledger = Ledger(Account("run"))
    for usage in (USED, Usage(1, 2, None, None), Usage()):
        ledger.settle(record(usage))
    assert ledger.total.usage == Usage(None, None, None, None)
    totals = ledger.total.to_json()
    assert totals["known"] == {"input_tokens": 101, "output_tokens": 22, "cached_tokens": 40, "cost_usd": 0.25}
    assert totals["unknown"] == {"input_tokens": 1, "output_tokens": 1, "cached_tokens": 2, "cost_usd": 2}


def test_limits_charge_an_estimate_for_what_is_unknown() -> None:
    ledger = Ledger(Account("run", limits=Limits(cost_usd=100)))
    ledger.settle(record(Usage(), "abandoned", guess=30))
    assert ledger.charged == {"tokens": 30, "cost_usd": 1, "calls": 0}
    ledger.settle(record(Usage(10, 10, 0, 7.0)))
    ledger.settle(record(Usage(10, 10)))
    assert ledger.charged == {"tokens": 70, "cost_usd": 15, "calls": 0}


def test_a_failure_of_the_model_costs_the_program_a_call_and_nothing_else() -> None:
    ledger = Ledger(Account("run", limits=Limits(cost_usd=100)))
    ledger.begin()
    ledger.settle(record(Usage(), "failed", guess=30))
    assert ledger.charged == {"tokens": 0, "cost_usd": 0, "calls": 1}
    assert ledger.total.failed == 1


@given(
    most=st.integers(0, 200),
    concurrent=st.integers(1, 4),
    steps=st.lists(st.one_of(st.none(), st.integers(0, 50)), max_size=40),
)
def test_no_limit_is_overshot_by_more_than_what_is_in_flight(
    most: int, concurrent: int, steps: list[int | None]
) -> None:
    """A step admits one more request (None) or ends the oldest with so many tokens."""
    ledger = Ledger(Account("run", limits=Limits(tokens=most, concurrent=concurrent)))
    held: list[Any] = []
    for step in steps:
        if step is None:
            slot = ledger.slot()
            if len(held) >= concurrent:
                with pytest.raises(Problem, match="as many as may be"):
                    slot.__enter__()
                continue
            slot.__enter__()
            if ledger.charged["tokens"] >= most:
                with pytest.raises(Problem, match="is spent"):
                    ledger.begin()
                slot.__exit__(None, None, None)
            else:
                ledger.begin()
                held.append(slot)
        elif held:
            ledger.settle(record(Usage(step, 0, 0, 0.0)))
            held.pop(0).__exit__(None, None, None)
        assert ledger.in_flight == len(held)
    assert ledger.charged["tokens"] <= max(0, most - 1) + 50 * concurrent


def test_accounts_that_cannot_be_are_refused_when_they_are_made() -> None:
    with pytest.raises(ConfigError, match="16 to 128"):
        Account("run", token="short")
    with pytest.raises(ConfigError, match="16 to 128"):
        Account("run", token="with/a/slash/in/it/0123")
    with pytest.raises(ConfigError, match="tokens is -1"):
        Limits(tokens=-1)
    with pytest.raises(ConfigError, match="cost_usd is nan"):
        Limits(cost_usd=float("nan"))
    with pytest.raises(ConfigError, match="concurrent is 0"):
        Limits(concurrent=0)
    with pytest.raises(ConfigError, match="the token of another"):
        BrokerApp({}, [Account("a", token=TOKEN), Account("b", token=TOKEN)])
    with pytest.raises(ConfigError, match="did you mean fake"):
        BrokerApp({"fake": FakeModel()}, [Account("a", {"x": "fakee"})])
    with pytest.raises(ConfigError, match="names no models"):
        BrokerApp(lambda name: FakeModel(), [Account("a")])


def test_a_token_is_fresh_and_is_not_shown() -> None:
    one, two = Account("run"), Account("run")
    assert one.token != two.token
    assert one.token not in repr(one)


async def test_bodies_that_never_end_give_their_slots_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("heredity.models.broker.body"), "MAX_BODY_S", 0.2)
    half = f"POST /v1/chat/completions HTTP/1.1\r\nhost: b\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 9\r\n\r\nhal"
    async with bench(limits=Limits(concurrent=2)) as table:
        held = [await asyncio.open_connection("127.0.0.1", int(table.url.rsplit(":", 1)[1])) for _ in range(2)]
        for _, writer in held:
            writer.write(half.encode())
        answers = [(await reader.read(4096)).decode() for reader, _ in held]
        assert all("408 Request Timeout" in answer and "did not arrive within" in answer for answer in answers)
        assert table.ledger.in_flight == 0
        answer: Any = await ChatProgram(table.url, TOKEN).parallel.chat.completions.create(**QUESTION)
        assert answer.choices[0].message.content == "It is unknown."
        for _, writer in held:
            writer.close()


async def test_a_broker_answers_beside_hundreds_of_half_open_connections() -> None:
    halves = (b"", b"POST /v1/chat/comp", b"POST /v1/messages HTTP/1.1\r\nhost: b\r\ncontent-length: 9\r\n\r\nhal")
    async with bench() as table:
        port = int(table.url.rsplit(":", 1)[1])
        held: list[asyncio.StreamWriter] = []
        for number in range(400):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(halves[number % 3])
            held.append(writer)
        answer: Any = await ChatProgram(table.url, TOKEN).parallel.chat.completions.create(**QUESTION)
        assert answer.choices[0].message.content == "It is unknown."
        for writer in held:
            writer.close()
