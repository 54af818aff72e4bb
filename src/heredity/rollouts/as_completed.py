"""Attempts at the same time, handed on as each one ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def as_they_end(work: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[T]:
    """Yield what each coroutine returns as it ends; close the generator (`aclosing`) and the others are cancelled and awaited."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        for ended in asyncio.as_completed(tasks):
            yield await ended
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
