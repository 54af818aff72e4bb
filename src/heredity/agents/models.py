"""The language model of an outside agent: behind a separate broker, with every call recorded when it ends."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from heredity._core.engine_folder import EngineFolder
from heredity.agents.launchers import BrokerDoor
from heredity.analysis.usage import BROKER, TokenUsage
from heredity.models import Model, Usage
from heredity.models.broker import Account, BrokerApp, CallRecord, Limits, serve_broker
from heredity.records.events import TokenUsageData

RecordUsage = Callable[[str, TokenUsageData, Sequence[str]], Awaitable[None]]
"""Journals an agent's usage: its source, the usage, and dropped fields of the request (`Session.record_usage`)."""


@contextlib.asynccontextmanager
async def models_for_agent(
    model: Model,
    *,
    run: str,
    record: RecordUsage,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    online: bool = True,
) -> AsyncGenerator[BrokerDoor]:
    """Serve one model to an agent, under any requested name, until the block ends.

    Each call is recorded as an `agent.usage` of source `broker`; unknown values stay unknown.

    Args:
        model: the model.
        run: the run that makes the calls.
        record: journals one call's usage.
        limits: the agent's limits.
        online: true if its provider may search, fetch and run for it (false for an agent without network).

    Raises:
        RecordError: when the block ends, if a call could not be recorded.
    """
    ended = asyncio.Queue[CallRecord | None]()
    account = Account(run, {"*": model.name}, limits, online)
    app = BrokerApp({model.name: model}, [account], on_call=ended.put_nowait)
    # A path of a Unix socket has at most about 100 characters, so it is not in the run's folder.
    writing = asyncio.create_task(_write(ended, record))
    try:
        with EngineFolder() as folder:
            async with serve_broker(app, socket=folder / "broker.sock") as at:
                yield BrokerDoor(folder / "broker.sock", at.url, account.token)
    finally:
        ended.put_nowait(None)
        await writing


async def _write(ended: asyncio.Queue[CallRecord | None], record: RecordUsage) -> None:
    while (call := await ended.get()) is not None:
        # A conversation repeats its fields with every turn.
        dropped = sorted({_INDEX.sub("[]", path) for path in call.dropped})
        await record(BROKER, agent_usage(call.usage).to_json(), dropped)


_INDEX = re.compile(r"\[\d+\]")


def agent_usage(usage: Usage) -> TokenUsage:
    """Return a call's usage in the form of agents' reports: with cached input separate from the input."""
    cached = usage.cached_tokens
    fresh = usage.input_tokens if usage.input_tokens is None or cached is None else usage.input_tokens - cached
    return TokenUsage(fresh, cached, usage.output_tokens, usage.cost_usd)
