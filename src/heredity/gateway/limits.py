"""How many calls of a model run at once, and how long one may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from heredity.errors import ConfigError, ProviderError
from heredity.gateway.contract import Delta, Model, Request
from heredity.gateway.layers import Ask, Layer


class Limited(Layer):
    """Lets at most so many calls through at once, and ends each that takes too long; the wait for a place does not count.

    Args:
        model: which model.
        concurrent: most calls at once, 1 or more.
        timeout_s: most seconds of one call, to the end of its stream; None for no limit.
    """

    def __init__(self, model: Model, *, concurrent: int = 8, timeout_s: float | None = None) -> None:
        if concurrent < 1:
            raise ConfigError(f"concurrent is {concurrent}; expected 1 or more")
        if timeout_s is not None and timeout_s <= 0:
            raise ConfigError(f"timeout_s is {timeout_s}; expected more than 0 seconds, or None for no limit")
        super().__init__(model)
        self._concurrent = concurrent
        self._places: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        self._timeout_s = timeout_s

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        loop = asyncio.get_running_loop()
        if self._places is None or self._places[0] is not loop:
            # A semaphore serves one event loop; a model may be used in several, one after the other.
            self._places = loop, asyncio.Semaphore(self._concurrent)
        async with self._places[1]:
            deadline = None if self._timeout_s is None else loop.time() + self._timeout_s
            async with ask(self.model, request) as deltas:
                # The deadline is set anew for every piece: one that is held while the caller works would cancel the caller.
                while True:
                    try:
                        async with asyncio.timeout_at(deadline):
                            delta = await anext(deltas, None)
                    except TimeoutError as error:
                        message = f"{self.name} did not finish in {self._timeout_s:g} s (gateway.timeout_s)"
                        raise ProviderError("timeout", message, transient=True) from error
                    if delta is None:
                        return
                    yield delta
