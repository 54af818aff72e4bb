"""Awaits several coroutines at once; none outlives its caller."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def gather(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Await all of `work`; if one fails or the caller is cancelled, cancel the others before returning."""
    tasks = [asyncio.create_task(w) for w in work]
    if not tasks:
        return []
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
