"""What was asked and answered: a transcript of every call in full, and a span with the short of it."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

from heredity.errors import BudgetError, ProviderError
from heredity.gateway.contract import Delta, Model, Reply, Request, conversation_text
from heredity.gateway.layers import Ask, Layer
from heredity.ids import canonical_json
from heredity.spans import span

_SHOWN = 2000
"""Characters of input and of output that a span keeps; a transcript keeps all."""


class Transcribed(Layer):
    """Gives the transcript of every call to `sink`, and records a span `"model"` around it.

    A transcript is one JSON object: `model`, `purpose`, `digest` (of the request), `started` (Unix time), `seconds`, `request`,
    and `reply`, or `error` if there was none.

    Args:
        model: which model.
        sink: takes the transcript's bytes; None keeps spans only. What it raises is raised.
    """

    def __init__(self, model: Model, sink: Callable[[bytes], None] | None = None) -> None:
        super().__init__(model)
        self._sink = sink

    async def stream(self, request: Request) -> AsyncGenerator[Delta]:
        """Answer a request piece by piece."""
        # The span stays open between pieces, while the caller does something else. So its context is one of its own: the
        # caller's spans are not its children, and it can be left from wherever the stream is closed.
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        deltas = super().stream(request)

        async def following() -> Delta | None:
            return await anext(deltas, None)

        try:
            while (delta := await loop.create_task(following(), context=context)) is not None:
                yield delta
        finally:
            await loop.create_task(deltas.aclose(), context=context)

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        started, clock = time.time(), time.monotonic()
        outcome: dict[str, Any] = {"error": {"kind": "cancelled", "message": "nobody waited for the end"}}
        shown = _short(conversation_text(request.messages))
        with span("model", kind="model", model=self.name, purpose=request.purpose, input=shown) as s:
            try:
                async with ask(self.model, request) as deltas:
                    async for delta in deltas:
                        if delta.reply is not None:
                            outcome = {"reply": delta.reply.to_json()}
                            s.set(**_attributes(delta.reply))
                        yield delta
            except (ProviderError, BudgetError) as error:
                outcome = {"error": {"kind": getattr(error, "kind", "budget"), "message": str(error)}}
                raise
            except Exception as error:
                outcome = {"error": {"kind": type(error).__name__, "message": str(error)}}
                raise
            finally:
                self._write(request, outcome, started, time.monotonic() - clock)

    def _write(self, request: Request, outcome: dict[str, Any], started: float, seconds: float) -> None:
        if self._sink is None:
            return
        head = {"model": self.name, "purpose": request.purpose, "digest": request.digest}
        times = {"started": started, "seconds": seconds}
        self._sink(canonical_json({**head, **times, "request": request.to_json(), **outcome}))


def _attributes(reply: Reply) -> dict[str, Any]:
    return {
        "answered_by": reply.model,
        "finish": reply.finish,
        "usage": reply.usage.to_json(),
        "attempts": reply.attempts,
        "cache": reply.cache,
        "output": _short(reply.text),
        "tool_calls": [[call.name, _short(call.arguments)] for call in reply.tool_calls],
    }


def _short(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}\n… {len(text) - _SHOWN} characters …\n{text[-half:]}"
