"""One call: sent to the model, answered in the API's format, and always recorded in the account."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from typing import cast

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from heredity._core.errors import BudgetError, ProviderError
from heredity.models import Delta, Model, Reply, Usage, streamed
from heredity.models.broker.accounts import CallRecord, Ledger, Outcome
from heredity.models.broker.conversation import Exchange, encode, estimated_text_tokens, estimated_tokens
from heredity.models.broker.fields import header
from heredity.models.broker.problems import problem_of
from heredity.models.broker.streaming import AbandonedError, EventStream, unless_abandoned
from heredity.models.contract import NOTHING_USED

OnCall = Callable[[CallRecord], object]

_NOT_ANSWERING = ("rate_limit", "server", "auth", "unknown_model", "request", "context", "unscripted")
"""Failures in which the provider did no work; after any other the charge is unknown."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits on a stream's silence, in seconds.

    Attributes:
        first_s: before it opens without model output; an earlier failure is answered with its own status.
        every_s: between later pings.
    """

    first_s: float = 10.0
    every_s: float = 15.0


class Call:
    """A program's call of a model. It is recorded in the account before its answer is complete."""

    def __init__(self, endpoint: str, exchange: Exchange, model: Model, ledger: Ledger, on_call: OnCall | None) -> None:
        self._endpoint, self._exchange, self._model = endpoint, exchange, model
        self._ledger, self._on_call = ledger, on_call
        self._began, self._text, self._entered = time.monotonic(), "", False

    async def run(self, scope: Scope, receive: Receive, send: Send, patience: Patience) -> None:
        """Answer it; if the program hangs up, cancel the model and return.

        Raises:
            Problem: if it failed before anything was sent.
        """
        work = self._stream(send, patience) if self._exchange.streams else self._answer(scope, receive, send)
        with contextlib.suppress(AbandonedError):
            await unless_abandoned(work, receive)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._cancellation_entered():
            try:
                # Not streamed: a model that fails half-way can then be retried unnoticed.
                reply = await self._model.reply(self._exchange.request)
                self._enter("answered", reply)
            except Exception as error:
                self._enter("failed", error=error)
                raise problem_of(error, self._model.name) from error
        # What a provider of the same API answered passes back as it came.
        body = reply.original.encode() or encode(self._exchange.answer(reply))
        await Response(body, headers=header(self._exchange.dropped), media_type="application/json")(
            scope, receive, send
        )

    async def _stream(self, send: Send, patience: Patience) -> None:
        exchange = self._exchange
        headers = {"content-type": f"{exchange.media_type}; charset=utf-8", **header(exchange.dropped)}
        stream = EventStream(send, lambda: exchange.piece(""), lambda: exchange.ping, headers)
        async with stream.kept_alive(patience.first_s, patience.every_s):
            with self._cancellation_entered():
                try:
                    reply, end = await self._listen(stream)
                    self._enter("answered", reply)
                except Exception as error:
                    self._enter("failed", error=error)
                    problem = problem_of(error, self._model.name)
                    if not stream.started:
                        raise problem from error
                    await stream.write(exchange.failure(problem), last=True)
                    return
        await stream.write(end or exchange.closing(reply), last=True)

    async def _listen(self, stream: EventStream) -> tuple[Reply, bytes]:
        """Pass the pieces on; return the reply and the provider's last events, if they pass through."""
        reply, end = None, b""
        answering = cast("AsyncGenerator[Delta]", streamed(self._model, self._exchange.request))
        async with contextlib.aclosing(answering) as deltas:
            async for delta in deltas:
                self._text += delta.text
                if delta.reply is not None:
                    reply, end = delta.reply, delta.events
                elif events := delta.events or (self._exchange.piece(delta.text) if delta.text else b""):
                    await stream.write(events)
        if reply is None:
            raise ProviderError("garbage", f"{self._model.name} ended its stream without a reply", transient=True)
        return reply, end

    @contextlib.contextmanager
    def _cancellation_entered(self) -> Generator[None]:
        try:
            yield
        except asyncio.CancelledError:
            self._enter("abandoned")
            raise

    def _enter(self, outcome: Outcome, reply: Reply | None = None, error: Exception | None = None) -> None:
        if self._entered:
            return
        self._entered = True
        request, usage = self._exchange.request, self._usage(reply, error)
        guess = 0
        if usage.tokens is None:
            guess = estimated_tokens(request) + estimated_text_tokens(reply.text if reply else self._text)
        record = CallRecord(
            run=self._ledger.account.run,
            endpoint=self._endpoint,
            asked=self._exchange.asked,
            model=(reply.model if reply else "") or self._model.name,
            digest=request.digest,
            outcome=outcome,
            usage=usage,
            guessed_tokens=guess,
            seconds=time.monotonic() - self._began,
            streamed=self._exchange.streams,
            finish=reply.finish if reply else "",
            dropped=tuple(self._exchange.dropped),
            error=f"{type(error).__name__}: {error}" if error else "",
        )
        if reply is not None and reply.original and self._endpoint == "responses":
            self._ledger.memory.keep_passed(request, reply)
        self._ledger.settle(record)
        if self._on_call:
            self._on_call(record)

    def _usage(self, reply: Reply | None, error: Exception | None) -> Usage:
        if reply is not None:
            return reply.usage
        idle = isinstance(error, BudgetError) or (isinstance(error, ProviderError) and error.kind in _NOT_ANSWERING)
        return NOTHING_USED if idle and not self._text else Usage()
