"""Sends an answer, whole or as events, keeps the connection alive while the model thinks, and stops when the client hangs up."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping
from typing import Any

from starlette.types import Receive, Send

EVENT_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class AbandonedError(Exception):
    """The client hung up before its answer was complete."""


async def unless_abandoned(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Do the work of a request whose body was read; cancel it when the client hangs up.

    Raises:
        AbandonedError: if the client hung up, after the work has ended.
    """
    working = asyncio.create_task(work)
    listening = asyncio.create_task(_until_gone(receive))
    try:
        await asyncio.wait((working, listening), return_when=asyncio.FIRST_COMPLETED)
    finally:
        listening.cancel()
        working.cancel()
        await asyncio.gather(listening, working, return_exceptions=True)
    if working.cancelled():
        raise AbandonedError
    working.result()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream:
    """A stream of events to one client; its headers go out with the first event, so that an earlier error still has a status."""

    def __init__(
        self, send: Send, opening: Callable[[], bytes], ping: Callable[[], bytes], headers: Mapping[str, str]
    ) -> None:
        """Prepare a stream.

        Args:
            send: the ASGI send function.
            opening: returns the bytes that open the stream when nothing else did in time.
            ping: returns an event without content.
            headers: further headers, the type among them.
        """
        self.started = False
        self._send, self._opening, self._ping = send, opening, ping
        given = {name.encode(): value.encode() for name, value in headers.items()}
        self._headers = [*(dict(EVENT_HEADERS) | given).items()]
        self._last = asyncio.get_running_loop().time()
        self._one_at_a_time = asyncio.Lock()

    async def write(self, events: bytes, *, last: bool = False) -> None:
        """Send events; after the last ones nothing may follow."""
        async with self._one_at_a_time:
            self._last = asyncio.get_running_loop().time()
            if not self.started:
                self.started = True
                await self._send({"type": "http.response.start", "status": 200, "headers": self._headers})
            await self._send({"type": "http.response.body", "body": events, "more_body": not last})

    @contextlib.asynccontextmanager
    async def kept_alive(self, first_s: float, every_s: float) -> AsyncGenerator[None]:
        """Open the stream if nothing was sent for `first_s` seconds, and ping after every `every_s` of silence."""
        pinging = asyncio.create_task(self._pinging(first_s, every_s))
        try:
            yield
        finally:
            pinging.cancel()
            await asyncio.gather(pinging, return_exceptions=True)

    async def _pinging(self, first_s: float, every_s: float) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(max(0.0, self._last + (every_s if self.started else first_s) - loop.time()))
            if not self.started:
                await self.write(self._opening())
            elif loop.time() >= self._last + every_s:
                await self.write(self._ping())
