"""A cache of replies that gives the reason for each hit or miss."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Collection, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime

from heredity._core.errors import DamagedRecordError, RecordError
from heredity._core.ids import digest_json
from heredity.models.contract import NOTHING_USED, Delta, Model, Reply, Request
from heredity.models.layers import Ask, Layer
from heredity.models.reply_store import ReplyStore

_BYPASSED: ContextVar[bool] = ContextVar("heredity_cache_bypassed", default=False)


@contextmanager
def bypassing() -> Generator[None]:
    """Bypass caches inside this block: none is read or written."""
    token = _BYPASSED.set(True)
    try:
        yield
    finally:
        _BYPASSED.reset(token)


def cache_key(model: str, request: Request, salt: str = "") -> str:
    """Return the key of a reply: the model's name, everything that identifies the request, and a salt.

    A request's purpose is not part of it; its seed is.
    """
    return digest_json(["reply", 1, salt, model, request.digest])


class Cached(Layer):
    """Answers a repeated request without calling the model.

    A request is cacheable if it is deterministic: its temperature is 0, or it has a seed, and the model takes that
    parameter. Any other request is a fresh draw. Only good answers are stored: not refusals, not answers cut off at
    the limit, not empty ones. A hit has no usage (`usage` zero, `attempts` 0), and `Reply.cache` says why a reply is
    a hit or not. Equal requests at the same time share one call, and its failure.

    Args:
        model: the model to cache.
        store: the store of replies.
        salt: distinguishes models that share a name, such as by the address of the server.
        sampled: whether to cache sampled answers too: cheap while developing, wrong in an experiment.
    """

    def __init__(self, model: Model, store: ReplyStore, *, salt: str = "", sampled: bool = False) -> None:
        super().__init__(model)
        self.store = store
        self._salt, self._sampled = salt, sampled
        self._under_way: dict[str, asyncio.Future[Reply | None]] = {}

    def explain(self, request: Request) -> str:
        """Explain, for people, whether the cache would answer a request.

        Raises:
            RecordError: if the store cannot be read.
        """
        refusal = self._not_cacheable(request)
        if refusal:
            return refusal
        entry = self.store.get(cache_key(self.name, request, self._salt))
        if entry is None:
            return self._miss(request)
        when = datetime.fromtimestamp(entry.stored, UTC).isoformat(timespec="seconds")
        used = entry.reply.usage
        return f"hit: answered by {entry.reply.model or self.name}, stored {when}, used {used.tokens} tokens then"

    def _not_cacheable(self, request: Request) -> str:
        if _BYPASSED.get():
            return "bypassed"
        ignored = _ignored_by(self.model)
        if self._sampled or request.sampling.without(ignored).deterministic:
            return ""
        if request.sampling.deterministic:
            return f"miss: {_not_taken(request, ignored)}"
        return "miss: sampled (temperature is not 0, and no seed)"

    def _miss(self, request: Request) -> str:
        if self.store.knows_messages(self.name, self._messages_digest(request)):
            return "miss: same messages before, but other tools or sampling"
        return "miss: first time"

    async def _answer(self, request: Request, ask: Ask) -> AsyncGenerator[Delta]:
        started = time.monotonic()
        key = cache_key(self.name, request, self._salt)
        hit = None if self._not_cacheable(request) else await self._stored(key, request)
        if hit is not None:
            for delta in _hit(hit, time.monotonic() - started):
                yield delta
            return
        # Another call may have found out meanwhile that the model does not take the seed.
        if refusal := self._not_cacheable(request):
            async with ask(self.model, request) as deltas:
                async for delta in deltas:
                    yield _noted(delta, refusal)
            return
        mine: asyncio.Future[Reply | None] = asyncio.get_running_loop().create_future()
        self._under_way[key] = mine
        try:
            async with ask(self.model, request) as deltas:
                async for delta in deltas:
                    if delta.reply is None:
                        yield delta
                        continue
                    noted = _noted(delta, await self._keep(key, request, delta.reply))
                    if self._repeatable(request, delta.reply):
                        mine.set_result(delta.reply)
                    yield noted
        except Exception as error:
            _fail(mine, error)
            raise
        finally:
            del self._under_way[key]
            if not mine.done():
                mine.set_result(None)

    def _repeatable(self, request: Request, reply: Reply) -> bool:
        return self._sampled or request.sampling.without(reply.ignored).deterministic

    async def _stored(self, key: str, request: Request) -> tuple[Reply, str] | None:
        """Return the stored reply, or that of an equal call in flight; None if the caller has to make the call."""
        while True:
            call = self._under_way.get(key)
            if call is None:
                entry = await asyncio.to_thread(self.store.get, key)
                if entry is not None:
                    return entry.reply, "hit"
                if key not in self._under_way:
                    return None
                continue
            reply = await asyncio.shield(call)
            # None: the caller that made the call was cancelled or got a fresh draw, so another has to make it.
            if reply is not None:
                return reply, "hit: shared an equal call under way"
            if self._not_cacheable(request):
                return None

    async def _keep(self, key: str, request: Request, reply: Reply) -> str:
        why = await asyncio.to_thread(self._miss, request)
        if reply.finish in ("refusal", "length") or not (reply.text.strip() or reply.tool_calls):
            return f"{why}; not stored: {reply.finish if reply.finish != 'stop' else 'empty'}"
        if not self._repeatable(request, reply):
            return f"{why}; not stored: {_not_taken(request, reply.ignored)}"
        try:
            await asyncio.to_thread(self.store.put, key, self.name, self._messages_digest(request), reply)
        except DamagedRecordError:
            raise
        except RecordError as error:
            # The answer is paid for; failing to store it is worth a note, not a failure.
            return f"{why}; not stored: {error}"
        return why

    def _messages_digest(self, request: Request) -> str:
        return digest_json([self._salt, *(message.to_json() for message in request.messages)])


def _ignored_by(model: object) -> Collection[str]:
    """Return the sampling parameters that a model is known not to take, found through the layers around it."""
    while not hasattr(model, "ignores") and hasattr(model, "model"):
        model = getattr(model, "model", None)
    return getattr(model, "ignores", ())


def _not_taken(request: Request, ignored: Collection[str]) -> str:
    names = (name for name in request.sampling.to_json() if name in ignored)
    return f"sampled (the model does not take {' and '.join(names)})"


def _hit(hit: tuple[Reply, str], seconds: float) -> list[Delta]:
    reply, why = hit
    given = replace(reply, usage=NOTHING_USED, attempts=0, seconds=seconds, cache=why)
    return [*([Delta(given.text)] if given.text else []), Delta(reply=given)]


def _noted(delta: Delta, why: str) -> Delta:
    return delta if delta.reply is None else replace(delta, reply=replace(delta.reply, cache=why))


def _fail(call: asyncio.Future[Reply | None], error: Exception) -> None:
    if not call.done():
        call.set_exception(error)
        # Callers that share the call see the error; without any, asyncio need not complain.
        call.exception()
