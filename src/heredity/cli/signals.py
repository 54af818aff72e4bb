"""Being told to end: SIGTERM and SIGHUP cancel a run as Ctrl-C does, so that whoever ends it finds everything in order."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from heredity.errors import HeredityError

T = TypeVar("T")
_PATIENCE_S = 10.0


class InterruptedRunError(HeredityError):
    """A run was told to end, and has ended in order.

    Attributes:
        code: the exit code that says so: 128 and the number of the signal.
    """

    def __init__(self, number: int) -> None:
        self.code = 128 + number
        super().__init__(f"interrupted by {signal.Signals(number).name}")


def run_interruptibly(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in an event loop of its own; Ctrl-C, SIGTERM and SIGHUP cancel it and wait for it to clean up.

    Further ones are ignored meanwhile, but for a Ctrl-C after ten seconds, which ends it at once. A signal that is ignored when
    this is called, as SIGHUP under `nohup`, stays ignored.

    Raises:
        InterruptedRunError: if a signal ended it.
    """
    received: list[tuple[int, float]] = []
    started: list[tuple[asyncio.AbstractEventLoop, Callable[[], object]]] = []

    def end(number: int, _: object) -> None:
        now = time.monotonic()
        if not started or (number == signal.SIGINT and received and now - received[0][1] > _PATIENCE_S):
            raise KeyboardInterrupt
        # Once: cancelling what cleans up already would leave processes behind.
        if not received:
            received.append((number, now))
            loop, cancel = started[0]
            with suppress(RuntimeError):  # it has ended
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

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    heard = [n for n, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)]
    try:
        for number in heard:
            signal.signal(number, end)
        return asyncio.run(listening())
    except KeyboardInterrupt as error:
        raise InterruptedRunError(signal.SIGINT) from error
    except asyncio.CancelledError as error:
        if not received:
            raise
        raise InterruptedRunError(received[0][0]) from error
    finally:
        for number in heard:
            signal.signal(number, before[number])
