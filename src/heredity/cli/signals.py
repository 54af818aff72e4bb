"""Orderly shutdown: SIGTERM and SIGHUP cancel a run as Ctrl-C does, so that its records are complete."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from heredity._core.errors import HeredityError

T = TypeVar("T")
_PATIENCE_S = 10.0


class InterruptedRunError(HeredityError):
    """A signal ended a run in an orderly way.

    Attributes:
        code: exit code: 128 plus the number of the signal.
    """

    def __init__(self, number: int) -> None:
        self.code = 128 + number
        super().__init__(f"interrupted by {signal.Signals(number).name}")


def run_anywhere(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own: in a thread where this one runs a loop already, as a notebook's does."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(contextvars.copy_context().run, asyncio.run, work).result()


def run_interruptibly(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a new event loop; Ctrl-C, SIGTERM and SIGHUP cancel it and wait for its cleanup.

    Further ones are ignored meanwhile, but for a Ctrl-C after ten seconds, which ends it at once. A signal that is
    ignored when this is called, as SIGHUP under `nohup`, stays ignored. Outside the main thread signals are left alone.

    Raises:
        InterruptedRunError: if a signal ended it.
    """
    received: list[tuple[int, float]] = []
    started: list[tuple[asyncio.AbstractEventLoop, Callable[[], object]]] = []

    def end(number: int, _: object) -> None:
        now = time.monotonic()
        if not started or (number == signal.SIGINT and received and now - received[0][1] > _PATIENCE_S):
            raise KeyboardInterrupt
        # Once: a second cancellation would interrupt the cleanup and leave processes behind.
        if not received:
            received.append((number, now))
            loop, cancel = started[0]
            with suppress(RuntimeError):  # already finished
                loop.call_soon_threadsafe(cancel)

    async def listening() -> T:
        task = asyncio.current_task()
        assert task is not None

        def cancel() -> None:
            if sys.stderr.isatty():
                sys.stderr.write("stopping\n")
            task.cancel()

        started.append((asyncio.get_running_loop(), cancel))
        return await work

    before = _heard()
    try:
        for number in before:
            signal.signal(number, end)
        return run_anywhere(listening())
    except KeyboardInterrupt as error:
        raise InterruptedRunError(signal.SIGINT) from error
    except asyncio.CancelledError as error:
        if not received:
            raise
        raise InterruptedRunError(received[0][0]) from error
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _heard() -> dict[signal.Signals, Any]:
    """Return the signals that end a run, with their handlers: those without another handler."""
    if threading.current_thread() is not threading.main_thread():
        return {}  # Python lets the main thread alone handle them
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    return {n: handler for n, handler in before.items() if _is_default(handler)}


def _is_default(handler: Any) -> bool:
    """Return whether a handler is none of the user's: Python's, or that of `asyncio.run`, whose loop is blocked meanwhile."""
    of_asyncio = getattr(getattr(handler, "func", None), "__module__", "") == asyncio.runners.__name__
    return of_asyncio or handler in (signal.SIG_DFL, signal.default_int_handler)
