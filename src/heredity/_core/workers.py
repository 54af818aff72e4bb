"""Pools of worker processes that end with their parent process, however it ends.

Workers of a plain `ProcessPoolExecutor` wait for work forever once their parent is killed, or continue their work.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, TypeVar

T = TypeVar("T")


def process_pool(
    workers: int | None, initializer: Callable[..., object] | None = None, initargs: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """Return a pool of spawned processes that end with this one.

    Args:
        workers: number of processes (default: number of cores).
        initializer: called first in each worker.
        initargs: its arguments.
    """
    return ProcessPoolExecutor(workers, mp_context=_Context(), initializer=_begin, initargs=(initializer, initargs))


async def computed(work: Callable[[], T]) -> T:
    """Run `work` in a thread and return its result; a cancelled caller does not wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(settle_with: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            settle_with(value)

    def run() -> None:
        try:
            settled: tuple[Callable[[Any], None], Any] = done.set_result, work()
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            settled = done.set_exception, error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, *settled)

    # Unlike threads of `asyncio.to_thread`, the loop does not wait for it at its end.
    threading.Thread(target=run, name="computing", daemon=True).start()
    return await done


class _Process(SpawnProcess):
    """Process that Ctrl-C in a terminal does not reach from its first instruction on: its parent ends it."""

    def start(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Context(SpawnContext):
    Process = _Process


def _begin(initializer: Callable[..., object] | None, initargs: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)


def _end_with_parent() -> None:
    # Not PR_SET_PDEATHSIG: it follows the thread that started the worker, which may end long before its process.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
