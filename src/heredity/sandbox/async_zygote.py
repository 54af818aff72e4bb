"""A zygote on an event loop; it never blocks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from heredity._core.errors import HostError
from heredity.sandbox.zygote import START_S, Worker, ZygoteProcess

_CLOSE_S = 2.0


async def ready(watch: Callable[..., Any], unwatch: Callable[[int], Any], descriptor: int, deadline: float) -> None:
    """Wait until the event loop finds a descriptor ready.

    Args:
        watch: the loop's `add_reader` or `add_writer`.
        unwatch: the method that removes what `watch` adds.
        descriptor: what to watch.
        deadline: the loop's time.

    Raises:
        TimeoutError: if it is not ready by the deadline.
    """
    future = asyncio.get_running_loop().create_future()
    watch(descriptor, lambda: future.done() or future.set_result(None))
    try:
        async with asyncio.timeout_at(deadline):
            await future
    finally:
        unwatch(descriptor)


class AsyncZygote:
    """A running zygote and its free slots; made by `start`.

    Attributes:
        free: number of further workers it can take.
        alive: whether it still answers.
    """

    def __init__(self, process: ZygoteProcess, slots: int) -> None:
        self._process, self.free, self.alive = process, slots, True
        self._ends: dict[int, asyncio.Future[int | None]] = {}
        self._loop = asyncio.get_running_loop()
        self._control = process.control
        self._loop.add_reader(self._control, self._on_news)

    @classmethod
    async def start(cls, settings: Mapping[str, Any]) -> AsyncZygote:
        """Start a zygote and wait until it is ready.

        The process is started on the calling thread: the kernel ends it with the thread that started it, and pool
        threads may end earlier.

        Raises:
            HostError: if it does not start.
        """
        process, loop = ZygoteProcess(settings, wait=False), asyncio.get_running_loop()
        try:
            await ready(loop.add_reader, loop.remove_reader, process.control, loop.time() + START_S)
            process.ready()
        except TimeoutError as error:
            process.close(0.0)
            raise HostError(f"the sandbox did not start within {START_S:g} s") from error
        except asyncio.CancelledError:
            process.close(0.0)
            raise
        return cls(process, settings["slots"])

    @property
    def pid(self) -> int:
        """Its process id, the ancestor of all it forks."""
        return self._process.pid

    def launch(self, order: Mapping[str, Any]) -> Worker:
        """Fork a worker (see `ZygoteProcess.launch`).

        Raises:
            HostError: if the zygote is gone.
        """
        try:
            worker = self._process.launch(order)
        except HostError:
            self._lose()
            raise
        self.free -= 1
        return worker

    def kill(self, worker: Worker, *, closed: bool = False) -> asyncio.Future[int | None]:
        """Kill a worker, leaving its pipes to their reader.

        Args:
            worker: the worker.
            closed: see `ZygoteProcess.end`.

        Returns:
            A future of its exit status: its exit code, or minus the signal that ended it; None if the zygote is gone.
        """
        status: asyncio.Future[int | None] = self._loop.create_future()
        if not self.alive:
            status.set_result(None)
            return status
        self._ends[worker.number] = status
        self.free += 1
        try:
            self._process.kill(worker, closed=closed)
        except HostError:
            self._lose()
        return status

    async def close(self) -> None:
        """End the zygote and all of its workers."""
        self._lose()
        await asyncio.to_thread(self._process.close, _CLOSE_S)

    def _on_news(self) -> None:
        try:
            exits = self._process.announced()
        except HostError:
            self._lose()
            return
        for number, status in exits.items():
            _tell(self._ends.pop(number), status)

    def _lose(self) -> None:
        if self.alive:
            self.alive = False
            self._loop.remove_reader(self._control)
            for status in self._ends.values():
                _tell(status, None)
            self._ends.clear()


def _tell(waiting: asyncio.Future[int | None], status: int | None) -> None:
    if not waiting.done():  # the waiting caller may have been cancelled
        waiting.set_result(status)
