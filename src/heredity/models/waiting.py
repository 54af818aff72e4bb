"""Provider delays: reported to the user, and not counted against a rollout."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar

_CLOCKS: ContextVar[tuple[asyncio.Timeout, ...]] = ContextVar("heredity_rollout_clocks", default=())
Notice = Callable[[str, float], None]
"""Receives one line on why a call has to wait, and for how many seconds."""
_NOTICE: ContextVar[Notice | None] = ContextVar("heredity_waiting_notice", default=None)


@asynccontextmanager
async def rollout_clock(seconds: float | None) -> AsyncGenerator[asyncio.Timeout]:
    """Limit a block by wall seconds, as `asyncio.timeout` does, extended by `credit` inside it."""
    clock = asyncio.timeout(seconds)
    token = _CLOCKS.set((*_CLOCKS.get(), clock))
    try:
        async with clock:
            yield clock
    finally:
        _CLOCKS.reset(token)


def credit(seconds: float) -> None:
    """Extend the time of the rollouts around the caller."""
    for clock in _CLOCKS.get():
        when = clock.when()
        if when is not None:
            with suppress(RuntimeError):  # its block has ended
                clock.reschedule(when + seconds)


@contextmanager
def noticing(sink: Notice) -> Generator[None]:
    """Send every notice of a delayed call inside this block to `sink`."""
    token = _NOTICE.set(sink)
    try:
        yield
    finally:
        _NOTICE.reset(token)


def notice(text: str, seconds: float) -> None:
    """Report that a call has to wait, why, and for how long; on stderr without a sink."""
    (_NOTICE.get() or _say)(text, seconds)


def _say(text: str, _: float) -> None:
    sys.stderr.write(" ".join(text.split()) + "\n")
