"""Asking again: exponential backoff with full jitter, only where it may help."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

from heredity.errors import ConfigError, ProviderError
from heredity.gateway.contract import Delta, Model, Request
from heredity.gateway.layers import Ask, Layer
from heredity.gateway.waiting import credit, notice
from heredity.ids import generator
from heredity.spans import span


class Retrying(Layer):
    """Asks a model again after a failure that may pass.

    The wait before attempt n + 1 is drawn uniformly from 0 to `base_s` · 2^(n - 1) seconds, at most `cap_s`. A provider that
    says how long to wait (Retry-After) is given that long besides; one that asks for more than `longest_s` is not asked again. A
    call that takes too long is asked once more and no oftener, and one without a usable answer a few times. A stream that
    breaks off after its first words is not started anew: they cannot be unsaid. The time of attempts that fail, and of the
    waits, does not count against a rollout. A model that could not be reached is asked once for each later call, until it answers.

    Args:
        model: which model.
        attempts: how often it is asked at most, 1 or more.
        base_s: seconds, the scale of the first wait.
        cap_s: seconds, the most that jitter waits.
        longest_s: seconds, the most that is waited for a provider that asks for a time.
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
        longest_s: float = 600.0,
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
        self._down: ProviderError | None = None

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        started, failures = time.monotonic(), Counter[str]()
        for attempt in range(1, self._attempts + 1):
            streaming, began = False, time.monotonic()
            try:
                async with ask(self.model, request) as deltas:
                    async for delta in deltas:
                        streaming = True
                        yield _counted(delta, attempt, time.monotonic() - started)
                self._down = None
                return
            except ProviderError as error:
                failures[error.kind] += 1
                over = attempt == self._attempts or failures[error.kind] == _MOST.get(error.kind)
                if self._down is not None and error.kind == self._down.kind:
                    raise _again(self._down) from error
                if streaming or not error.transient or over or self._too_long(error):
                    raise self._final(error, attempt) from error
                wait_s, failure = self._wait_s(error, attempt), error
            credit(time.monotonic() - began + wait_s)
            if wait_s >= _LONG_S:
                notice(f"{failure}; asked again in {wait_s:.0f} s", wait_s)
            with span("retry", model=self.name, attempt=attempt, failure=failure.kind, wait_s=wait_s):
                await self._sleep(wait_s)

    def _wait_s(self, error: ProviderError, attempt: int) -> float:
        jitter = float(self._draws.uniform(0, min(self._cap_s, self._base_s * 2 ** (attempt - 1))))
        return jitter + (error.retry_after_s or 0.0)

    def _too_long(self, error: ProviderError) -> bool:
        return error.retry_after_s is not None and error.retry_after_s > self._longest_s

    def _final(self, error: ProviderError, attempts: int) -> ProviderError:
        if attempts == 1 and not self._too_long(error):
            return error
        text = f"{error} (asked {attempts} times)" if attempts > 1 else str(error)
        if self._too_long(error):
            text += f"; it asks for a wait of {error.retry_after_s:.0f} s, more than timeout_s ({self._longest_s:g} s)"
        transient = error.transient and not self._too_long(error) and not error.unreachable
        final = ProviderError(error.kind, text, transient=transient, retry_after_s=error.retry_after_s)
        if error.kind == "connection":
            self._down = _again(final)
        return final


_MOST = {"timeout": 2, "empty": 3, "garbage": 4}
"""How many attempts may fail in ways that may have been paid for, or that take the whole time."""
_LONG_S = 5.0
"""Waits that whoever watches is told of."""


def _again(error: ProviderError) -> ProviderError:
    return ProviderError(error.kind, str(error), transient=error.transient, retry_after_s=error.retry_after_s)


def _counted(delta: Delta, attempt: int, seconds: float) -> Delta:
    if delta.reply is None:
        return delta
    return Delta(delta.text, replace(delta.reply, attempts=attempt - 1 + delta.reply.attempts, seconds=seconds))
