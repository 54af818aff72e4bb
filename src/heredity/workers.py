"""Pools of worker processes that end with the process that began them, whichever way that ends.

Workers of a plain `ProcessPoolExecutor` wait for work forever once their parent is killed, or go on with what they do.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any


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
