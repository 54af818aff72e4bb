"""Being told to end: SIGTERM and SIGHUP cancel a run as Ctrl-C does, so that whoever ends it finds everything in order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

from heredity.errors import HeredityError

T = TypeVar("T")


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

    A signal that is ignored when this is called, as SIGHUP under `nohup`, stays ignored.

    Raises:
        InterruptedRunError: if a signal ended it.
    """
    received: list[int] = []

    async def listening() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: int) -> None:
            # Once: cancelling what cleans up already would leave processes behind.
            if not received:
                received.append(number)
                task.cancel()

        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                loop.add_signal_handler(number, end, number)
        return await work

    try:
        return asyncio.run(listening())
    except KeyboardInterrupt as error:
        raise InterruptedRunError(signal.SIGINT) from error
    except asyncio.CancelledError as error:
        if not received:
            raise
        raise InterruptedRunError(received[0]) from error
