"""Pools of worker processes that end with the process that began them, whichever way that ends.

Workers of a plain `ProcessPoolExecutor` wait for work forever once their parent is killed, or go on with what they do.
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
    """Return a pool of processes that are spawned, and that die with this one.

    Args:
        workers: how many at a time; by default as many as there are cores.
        initializer: called in each worker before anything else.
        initargs: its arguments.
    """
    return ProcessPoolExecutor(workers, mp_context=_Context(), initializer=_begin, initargs=(initializer, initargs))


async def computed(work: Callable[[], T]) -> T:
    """Return what work gives, computed in a thread beside the event loop; whoever is cancelled does not wait for its end."""
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

    # Unlike those of `asyncio.to_thread`, it is not waited for when the loop ends.
    threading.Thread(target=run, name="computing", daemon=True).start()
    return await done


class _Process(SpawnProcess):
    """A process that Ctrl-C in a terminal does not reach, from its first instruction on: its parent ends it."""

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
    # Not PR_SET_PDEATHSIG: that follows the thread that began a worker, which may end long before its process.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
