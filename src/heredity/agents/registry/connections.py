"""Connections to a store, one in each of a few threads: a store belongs to one thread, and a server has many requests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from heredity.resources import Registry, Store

T = TypeVar("T")
THREADS = 4


class Connections:
    """A registry for an event loop, on threads that each have the store open.

    Changes by other processes are visible to the next task.
    """

    def __init__(self, path: Path, *, threads: int = THREADS) -> None:
        """Open the store in every thread; it is created if missing.

        Raises:
            DamagedRecordError: if it is not a store, or damaged.
        """
        self._own = threading.local()
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="resources")

        def open_store() -> None:
            self._own.registry = Registry(Store(path))

        try:
            self._everywhere(open_store)
        except BaseException:
            self.close()
            raise

    async def work(self, task: Callable[[Registry], T]) -> T:
        """Run a task on one of the threads and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, lambda: task(self._own.registry))

    def close(self) -> None:
        """Close the store in every thread, after the tasks in progress."""

        def close_store() -> None:
            if hasattr(self._own, "registry"):
                self._own.registry.store.close()

        self._everywhere(close_store)
        self._pool.shutdown()

    def __enter__(self) -> Connections:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _everywhere(self, task: Callable[[], None]) -> None:
        # A thread waiting for the others cannot take the same task twice.
        together = threading.Barrier(self._threads)

        def once() -> None:
            together.wait()
            task()

        futures = [self._pool.submit(once) for _ in range(self._threads)]
        for future in futures:
            future.result()
