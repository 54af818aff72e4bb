"""Asking again: exponential backoff with full jitter, only where it may help."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

from heredity.errors import ConfigError, ProviderError
from heredity.gateway.contract import Delta, Model, Request
from heredity.gateway.layers import Ask, Layer
from heredity.ids import generator
from heredity.spans import span


class Retrying(Layer):
    """Asks a model again after a failure that may pass.

    The wait before attempt n + 1 is drawn uniformly from 0 to `base_s` · 2^(n - 1) seconds, at most `cap_s`. A provider that
    says how long to wait (Retry-After) is given that long besides, at most `longest_s` altogether. A stream that breaks off
    after its first words is not started anew: they cannot be unsaid.

    Args:
        model: which model.
        attempts: how often it is asked at most, 1 or more.
        base_s: seconds, the scale of the first wait.
        cap_s: seconds, the most that jitter waits.
        longest_s: seconds, the most that is waited for a provider that asks to be left alone.
        entropy: with `path`, names the sequence of random numbers that the jitter is drawn from.
        path: see `heredity.ids.generator`; the model's name if empty.
        sleep: waits so many seconds; another one for tests.
    """

    def __init__(
        self,
        model: Model,
        *,
        attempts: int = 4,
        base_s: float = 0.5,
        cap_s: float = 20.0,
        longest_s: float = 60.0,
        entropy: int = 0,
        path: tuple[str | int, ...] = (),
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        if attempts < 1:
            raise ConfigError(f"attempts is {attempts}; expected 1 (never ask again) or more")
        super().__init__(model)
        self._attempts, self._base_s, self._cap_s, self._longest_s = attempts, base_s, cap_s, longest_s
        self._draws = generator(entropy, "gateway", "retry", *(path or (model.name,)))
        self._sleep = sleep

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        started = time.monotonic()
        for attempt in range(1, self._attempts + 1):
            streaming = False
            try:
                async with ask(self.model, request) as deltas:
                    async for delta in deltas:
                        streaming = True
                        yield _counted(delta, attempt, time.monotonic() - started)
                return
            except ProviderError as error:
                if streaming or not error.transient or attempt == self._attempts:
                    raise _final(error, attempt) from error
                wait_s, failure = self._wait_s(error, attempt), error
            with span("retry", model=self.name, attempt=attempt, failure=failure.kind, wait_s=wait_s):
                await self._sleep(wait_s)

    def _wait_s(self, error: ProviderError, attempt: int) -> float:
        jitter = float(self._draws.uniform(0, min(self._cap_s, self._base_s * 2 ** (attempt - 1))))
        return min(jitter + (error.retry_after_s or 0.0), max(self._longest_s, jitter))


def _counted(delta: Delta, attempt: int, seconds: float) -> Delta:
    if delta.reply is None:
        return delta
    return Delta(delta.text, replace(delta.reply, attempts=attempt - 1 + delta.reply.attempts, seconds=seconds))


def _final(error: ProviderError, attempts: int) -> ProviderError:
    if attempts == 1:
        return error
    text = f"{error} (asked {attempts} times)"
    return ProviderError(error.kind, text, transient=error.transient, retry_after_s=error.retry_after_s)
