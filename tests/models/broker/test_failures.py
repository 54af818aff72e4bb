"""What programs are told when a model fails, before and in the midst of an answer, and what is written down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx
import openai
import pytest
from tests.models.broker.fakes import TOKEN, USED, FakeModel, LostRecordError, bench
from tests.models.broker.programs import PROGRAMS, ChatProgram, MessagesProgram, ResponsesProgram

from heredity._core.errors import BudgetError, ProviderError
from heredity.models import Reply, Usage
from heredity.models.broker import Account, BrokerApp, Limits, Patience, serve_broker
from heredity.models.contract import NOTHING_USED

STATUS = {
    "timeout": 504,
    "rate_limit": 429,
    "server": 502,
    "connection": 502,
    "garbage": 502,
    "empty": 502,
    "auth": 502,
    "unscripted": 502,
    "request": 400,
    "context": 400,
}
TRANSIENT = ("timeout", "rate_limit", "server", "connection", "garbage", "empty")
SECRET = "the key sk-secret of http://inside"

each_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
each_way = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


def failing(kind: str, **options: Any) -> FakeModel:
    model = FakeModel()
    model.error = ProviderError(kind, SECRET, transient=kind in TRANSIENT, **options)
    return model


async def read(stream: Any, into: list[Any]) -> None:
    async for event in stream:
        into.append(event)  # noqa: PERF401 - what comes before an error counts


@each_program
@each_way
async def test_a_providers_failure_has_the_status_that_clients_expect(program: Any, streamed: bool) -> None:
    async with bench({kind: failing(kind) for kind in STATUS}) as table:
        client = program(table.url, TOKEN)
        for kind, status in STATUS.items():
            with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)) as caught:
                await client.ask_async({**client.begin(), "model": kind}, streamed=streamed)
            assert caught.value.status_code == status, kind
            assert caught.value.response.headers["x-should-retry"] == str(kind in TRANSIENT).lower(), kind
            assert (SECRET in caught.value.message) == (kind in ("request", "context")), kind
            record = table.records[-1]
            assert (record.asked, record.outcome, SECRET in record.error) == (kind, "failed", True)
            unknown = kind in ("timeout", "connection", "garbage", "empty")
            assert record.usage == (Usage() if unknown else NOTHING_USED), kind
    assert table.ledger.charged == {"tokens": 0, "cost_usd": 0, "calls": len(STATUS)}
    assert (table.ledger.in_flight, table.ledger.refused) == (0, 0)


@pytest.mark.parametrize(("kind", "tries"), [("server", 3), ("rate_limit", 3), ("auth", 1), ("context", 1)])
async def test_clients_ask_again_only_where_it_may_help(kind: str, tries: int) -> None:
    for program in PROGRAMS:
        model = failing(kind, retry_after_s=0.01)
        async with bench(model) as table:
            client = program(table.url, TOKEN, max_retries=2)
            # Both packages wait for what `retry-after` says, in whole seconds; not in a test.
            client.parallel._calculate_retry_timeout = lambda *given: 0.0
            with pytest.raises((openai.APIStatusError, anthropic.APIStatusError)):
                await client.ask_async(client.begin(), streamed=False)
            assert len(model.requests) == len(table.records) == tries


async def test_a_wait_that_a_provider_asks_for_is_passed_on_in_whole_seconds() -> None:
    async with bench(failing("rate_limit", retry_after_s=2.1)) as table:
        client = ChatProgram(table.url, TOKEN)
        with pytest.raises(openai.RateLimitError) as caught:
            await client.ask_async(client.begin(), streamed=False)
    assert caught.value.response.headers["retry-after"] == "3"
    assert caught.value.code == "rate_limit_exceeded"


async def test_a_conversation_that_is_too_long_is_named_as_clients_know_it() -> None:
    async with bench(failing("context")) as table:
        with pytest.raises(openai.BadRequestError) as caught:
            await ChatProgram(table.url, TOKEN).ask_async(ChatProgram(table.url, TOKEN).begin(), streamed=True)
        assert caught.value.code == "context_length_exceeded"
        messages = MessagesProgram(table.url, TOKEN)
        with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
            await messages.ask_async(messages.begin(), streamed=True)


async def test_a_failure_in_the_midst_of_chat_completions_ends_the_stream_with_an_error() -> None:
    model = failing("server")
    model.fails_after = 2
    chunks: list[Any] = []
    async with bench(model) as table:
        client = ChatProgram(table.url, TOKEN)
        stream = await client.parallel.chat.completions.create(**client.begin(), stream=True)
        with pytest.raises(openai.APIError, match="gave no answer \\(server\\)"):
            await read(stream, chunks)
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == "Let me "
    assert (table.records[0].outcome, table.records[0].usage) == ("failed", Usage())


async def test_a_failure_in_the_midst_of_responses_is_told_in_both_ways() -> None:
    model = failing("rate_limit")
    model.fails_after = 2
    events: list[Any] = []
    async with bench(model) as table:
        client = ResponsesProgram(table.url, TOKEN)
        stream = await client.parallel.responses.create(**client.begin(), stream=True)
        with pytest.raises(openai.APIError, match="rate_limit"):
            await read(stream, events)
    assert events[-1].type == "response.failed"
    assert events[-1].response.error.code == "rate_limit_exceeded"
    assert [e.sequence_number for e in events] == list(range(len(events)))


async def test_a_failure_in_the_midst_of_messages_is_the_error_event() -> None:
    model = failing("timeout")
    model.fails_after = 2
    async with bench(model) as table:
        client = MessagesProgram(table.url, TOKEN)
        with pytest.raises(anthropic.APIStatusError) as caught:
            await client.ask_async(client.begin(), streamed=True)
    assert caught.value.body == {
        "type": "error",
        "error": {"type": "timeout_error", "message": "the model's provider gave no answer (timeout); ask again"},
    }


@each_program
@each_way
async def test_a_bug_in_a_model_is_an_error_of_the_host_and_no_secret_is_told(program: Any, streamed: bool) -> None:
    model = FakeModel()
    model.error = ValueError(SECRET)
    async with bench(model) as table:
        client = program(table.url, TOKEN)
        with pytest.raises((openai.InternalServerError, anthropic.InternalServerError)) as caught:
            await client.ask_async(client.begin(), streamed=streamed)
    assert caught.value.status_code == 500
    assert SECRET not in str(caught.value)
    assert table.records[0].error == f"ValueError: {SECRET}"


async def test_a_model_that_ends_its_stream_without_a_reply_has_failed() -> None:
    class Endless(FakeModel):
        async def stream(self, request: Any) -> Any:
            async for delta in super().stream(request):
                if not delta.reply:
                    yield delta

    async with bench(Endless()) as table:
        client = ChatProgram(table.url, TOKEN)
        with pytest.raises(openai.APIError, match="garbage"):
            await client.ask_async(client.begin(), streamed=True)
    assert "without a reply" in table.records[0].error


async def test_a_spent_budget_of_the_gateway_looks_like_one_of_the_account() -> None:
    model = FakeModel()
    model.error = BudgetError("no more")
    async with bench(model) as table:
        client = ChatProgram(table.url, TOKEN, max_retries=3)
        with pytest.raises(openai.RateLimitError) as caught:
            await client.ask_async(client.begin(), streamed=True)
    assert (caught.value.type, len(model.requests)) == ("insufficient_quota", 1)
    assert table.records[0].usage == NOTHING_USED


@each_way
async def test_an_answer_that_cannot_be_recorded_is_not_completed(streamed: bool) -> None:
    def lose(record: Any) -> None:
        raise LostRecordError("the disk is full")

    app = BrokerApp({"fake": FakeModel()}, [Account("run", token=TOKEN)], on_call=lose)
    async with serve_broker(app) as at:
        client = ChatProgram(at.url, TOKEN)
        with pytest.raises(openai.APIError, match="the host failed"):
            await client.ask_async(client.begin(), streamed=streamed)
    assert app.ledgers[0].total.calls == 1


@each_program
@each_way
async def test_a_program_that_hangs_up_cancels_the_model_and_is_charged(program: Any, streamed: bool) -> None:
    model = FakeModel(lambda request: Reply("one two three four", usage=USED))
    model.held, model.holds_after = asyncio.Event(), 2
    async with bench(model, limits=Limits(cost_usd=10)) as table:
        client = program(table.url, TOKEN)
        asking = asyncio.create_task(client.ask_async(client.begin(), streamed=streamed))
        await model.arrivals.get()
        asking.cancel()
        record = await asyncio.wait_for(table.recorded.get(), 5)
        assert (record.outcome, record.usage) == ("abandoned", Usage())
        assert model.cancelled == 1
    assert (table.ledger.in_flight, table.ledger.total.abandoned) == (0, 1)
    assert table.ledger.charged["tokens"] > 1000
    assert table.ledger.charged["cost_usd"] == pytest.approx(0.1)
    assert table.ledger.total.usage.cost_usd is None


@pytest.mark.slow
async def test_calls_in_flight_are_cancelled_when_the_broker_ends() -> None:
    model = FakeModel()
    model.held = asyncio.Event()
    async with bench(model) as table:
        client = ChatProgram(table.url, TOKEN)
        asking = asyncio.create_task(client.ask_async(client.begin(), streamed=False))
        await model.arrivals.get()
    with pytest.raises(openai.OpenAIError):
        await asking
    assert (model.cancelled, table.records[0].outcome) == (1, "abandoned")


async def raw_events(
    client: httpx.AsyncClient, path: str, body: dict[str, Any], heard: Callable[[list[str]], None] = lambda _: None
) -> list[str]:
    lines: list[str] = []
    async with client.stream("POST", path, json={**body, "stream": True}) as answer:
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            lines += [line] if line else []
            heard(lines)
    return lines


QUIET = Patience(first_s=0.02, every_s=0.03)
SHORT = {"model": "fake", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}


@pytest.mark.parametrize(
    ("path", "opening", "ping"),
    [
        ("/v1/chat/completions", "chat.completion.chunk", ": ping"),
        ("/v1/responses", "response.created", ": ping"),
        ("/v1/messages", "message_start", "event: ping"),
    ],
)
@pytest.mark.parametrize("fails", [False, True])
async def test_a_stream_is_opened_and_kept_alive_while_a_model_thinks(
    path: str, opening: str, ping: str, fails: bool
) -> None:
    model = failing("server") if fails else FakeModel()
    model.held = held = asyncio.Event()

    def heard(lines: list[str]) -> None:
        # However slow the machine is, the model thinks until it was waited for twice.
        if lines.count(ping) >= 2:
            held.set()

    body = {"model": "fake", "input": "?"} if path == "/v1/responses" else SHORT
    async with (
        bench(model, patience=QUIET) as table,
        httpx.AsyncClient(headers={"x-api-key": TOKEN}, timeout=60) as client,
    ):
        lines = await raw_events(client, table.url + path, body, heard)
    assert any(opening in line for line in lines[:2])
    assert lines.count(ping) >= 2
    text = "\n".join(lines)
    assert ("unknown" in text) != fails
    assert ("gave no answer" in text) == fails


async def test_a_quiet_model_that_fails_before_the_stream_opens_still_has_its_status() -> None:
    async with bench(failing("server")) as table, httpx.AsyncClient(headers={"x-api-key": TOKEN}) as client:
        answer = await client.post(f"{table.url}/v1/messages", json={**SHORT, "stream": True})
    assert answer.status_code == 502
    assert json.loads(answer.text)["error"]["type"] == "api_error"
