"""A model that does what a test says, and programs that talk to a broker through the vendors' own packages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from heredity._core.errors import HeredityError
from heredity.models import Delta, Model, Reply, Request, ToolCall, Usage
from heredity.models.broker import Account, Broker, BrokerApp, CallRecord, Ledger, Limits, Patience, serve_broker

TOKEN = "a-token-of-one-run-0001"
USED = Usage(100, 20, 40, 0.25)


def weather(request: Request) -> Reply:
    """Ask for a tool first; then say what it told."""
    readings = [m.content for m in request.messages if m.role == "tool"]
    if request.tools and not readings:
        calls = tuple(ToolCall(f"call_{city}", "weather", f'{{"city": "{city}"}}') for city in ("Oslo", "Lima"))
        return Reply("Let me look.", calls, usage=USED, model="fake")
    return Reply(f"It is {' and '.join(readings) or 'unknown'}.", usage=USED, model="fake")


class FakeModel:
    """Answers by a function; streams word by word.

    Attributes:
        requests: what it was asked; cancelled: how many calls were cancelled.
        arrivals: gets every request that waits for `held`.
        error: raised instead of an answer, after `fails_after` words of a stream.
        held: if set, an answer waits for it, after `holds_after` words of a stream.
    """

    name = "fake"

    def __init__(self, answer: Callable[[Request], Reply] = weather) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.cancelled = 0
        self.error: Exception | None = None
        self.fails_after = self.holds_after = 0
        self.held: asyncio.Event | None = None
        self.arrivals: asyncio.Queue[Request] = asyncio.Queue()

    async def reply(self, request: Request) -> Reply:
        async for delta in self.stream(request):
            if delta.reply:
                return delta.reply
        raise AssertionError

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.requests.append(request)
        reply = self.answer(request)
        words = reply.text.split(" ")
        try:
            for i in range(len(words) + 1):
                if i == self.holds_after and self.held:
                    self.arrivals.put_nowait(request)
                    await self.held.wait()
                if i == self.fails_after and self.error:
                    raise self.error
                if i < len(words):
                    yield Delta(words[i] + (" " if i < len(words) - 1 else ""))
            yield Delta(reply=reply)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


class WholeModel:
    """A model that cannot stream."""

    name = "whole"

    async def reply(self, request: Request) -> Reply:
        return Reply("all at once", usage=USED, model=self.name)


@dataclass
class Bench:
    """A broker that is served, and what it wrote down."""

    app: BrokerApp
    at: Broker
    records: list[CallRecord]
    recorded: asyncio.Queue[CallRecord]

    @property
    def ledger(self) -> Ledger:
        return self.app.ledgers[0]

    @property
    def url(self) -> str:
        return self.at.url


@asynccontextmanager
async def bench(
    model: Model | Mapping[str, Model] | None = None,
    *accounts: Account,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    patience: Patience = Patience(),  # noqa: B008 - frozen
    **options: Any,
) -> AsyncGenerator[Bench]:
    """Serve a broker with one model under the name `fake`, to one account unless others are given."""
    models = model if isinstance(model, Mapping) else {"fake": model or FakeModel()}
    records: list[CallRecord] = []
    given = accounts or (Account("run", limits=limits, token=TOKEN),)
    recorded: asyncio.Queue[CallRecord] = asyncio.Queue()

    def write(record: CallRecord) -> None:
        records.append(record)
        recorded.put_nowait(record)

    app = BrokerApp(models, given, on_call=write, patience=patience)
    async with serve_broker(app, **options) as at:
        yield Bench(app, at, records, recorded)


class LostRecordError(HeredityError):
    """A journal that cannot be written."""
