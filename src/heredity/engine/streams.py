"""Streams of trajectories: running rollouts concurrently, and closing generators."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def closing(stream: AsyncIterator[T]) -> AsyncGenerator[AsyncIterator[T]]:
    """Close a stream when the block ends, if it can be closed; its pending work is dropped at once."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


async def as_completed(work: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[T]:
    """Yield each coroutine's result as it completes; closing the generator (`closing`) cancels and awaits the others."""
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        for ended in asyncio.as_completed(tasks):
            yield await ended
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
