"""A model in memory that does what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from heredity._core.errors import ProviderError
from heredity.models import Delta, Reply, Request, Usage
from heredity.models.prices import Prices

USED = Usage(10, 5, 0, 0.5)


def said(text: str = "yes", **fields: object) -> Reply:
    return Reply(text, **{"usage": USED, "model": "fake/m", **fields})  # type: ignore[arg-type]


def broken(kind: str = "server", *, transient: bool = True, retry_after_s: float | None = None) -> ProviderError:
    return ProviderError(kind, f"told to fail ({kind})", transient=transient, retry_after_s=retry_after_s)


@dataclass
class Fake:
    """Gives its outcomes in order, the last one again and again; `breaks_after` breaks streams off after so many pieces."""

    outcomes: list[Reply | Exception] = field(default_factory=lambda: [said()])
    name: str = "fake/m"
    takes_s: float = 0.0
    prices: Prices | None = field(default_factory=lambda: Prices(input=1, output=1))
    breaks_after: int | None = None
    asked: list[Request] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0
    closed: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        self.begun.set()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.takes_s)
            outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
            if isinstance(outcome, Exception):
                raise outcome
            return outcome
        finally:
            self.under_way -= 1

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        reply = await self.reply(request)
        self.under_way += 1
        try:
            for at, letter in enumerate(reply.text):
                if at == self.breaks_after:
                    raise broken("connection")
                yield Delta(letter)
            yield Delta(reply=reply)
        finally:
            self.under_way -= 1

    async def close(self) -> None:
        self.closed += 1
