"""Base of the gateway's layers: a model around another model that answers whole or streams.

A layer implements its behaviour once, as an asynchronous generator of deltas; `reply` and `stream` both run it.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

from heredity._core.errors import ProviderError
from heredity.models.contract import Delta, Model, Reply, Request, streamed

Ask = Callable[[Model, Request], AbstractAsyncContextManager[AsyncIterator[Delta]]]
"""Calls the inner model, whole or streaming."""


@asynccontextmanager
async def whole(model: Model, request: Request) -> AsyncGenerator[AsyncIterator[Delta]]:
    """Request the whole reply at once; the model is called when the one delta is awaited."""

    async def once() -> AsyncGenerator[Delta]:
        yield Delta(reply=await model.reply(request))

    async with aclosing(once()) as deltas:
        yield deltas


@asynccontextmanager
async def piecewise(model: Model, request: Request) -> AsyncGenerator[AsyncIterator[Delta]]:
    """Request the reply as a stream; leaving the block early ends the call at once."""
    own = getattr(model, "stream", None)
    deltas: Any = own(request) if own is not None else streamed(model, request)
    try:
        yield deltas
    finally:
        if hasattr(deltas, "aclose"):
            await deltas.aclose()


class Layer(ABC):
    """A model that adds behaviour around the calls of other models, usually one."""

    def __init__(self, *models: Model, name: str = "") -> None:
        self.models = models
        self._name = name or models[0].name

    @property
    def model(self) -> Model:
        """The model inside, the first if there are several."""
        return self.models[0]

    @property
    def name(self) -> str:
        """The name of the model inside, or the layer's own."""
        return self._name

    async def reply(self, request: Request) -> Reply:
        """Answer a request whole. Raises the layer's errors and `ProviderError`."""
        return await last(self._answer(request, whole), self.name)

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        """Answer a request as a stream. Raises as `reply`."""
        async with aclosing(self._answer(request, piecewise)) as deltas:
            async for delta in deltas:
                yield delta

    @abstractmethod
    def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        """Answer with `ask(model, request)`; the last delta holds the reply."""

    async def close(self) -> None:
        """Close the models inside."""
        for model in self.models:
            await close(model)


async def last(deltas: AsyncGenerator[Delta], name: str) -> Reply:
    """Return the reply that ends the deltas.

    Raises:
        ProviderError: `"garbage"` if they end without one.
    """
    reply: Reply | None = None
    async with aclosing(deltas):
        async for delta in deltas:
            reply = delta.reply or reply
    if reply is None:
        raise ProviderError("garbage", f"{name} ended its stream without a reply; check the endpoint", transient=True)
    return reply


async def close(model: object) -> None:
    """Close a model that can be closed, with a synchronous or asynchronous `close`."""
    closing = getattr(model, "close", None)
    done = closing() if closing is not None else None
    if inspect.isawaitable(done):
        await done
