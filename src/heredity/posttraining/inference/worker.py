"""An inference worker: one checkpoint in a confined process, which answers requests and is started again once if it dies."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from heredity.errors import CandidateError, ConfigError, HeredityError, HostError, ProviderError
from heredity.gateway.contract import Reply, Request
from heredity.posttraining.inference.guest import MAX_FRAME
from heredity.posttraining.inference.warm import Launched, WarmSandbox, Zygote

_TICK_S = 0.5
_END_S = 5.0
_DEATHS = 2
"""One death may be this machine's fault; who dies again with the same checkpoint dies of it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a worker may use.

    Attributes:
        memory_bytes: memory beyond what its interpreter maps, the weights as 32-bit floats included; where a GPU is used, memory
            of this machine beyond what its interpreter holds.
        load_s: seconds to load a checkpoint.
        reply_s: seconds without any answer while requests wait: what one batch may take.
        max_tokens: most tokens of a reply, whatever a request says.
        threads: processor threads; answers are reproducible for the same number.
        batch: most requests that are answered at once.
        batch_tokens: most tokens of prompts in a batch, padding included.
    """

    memory_bytes: int = 4 << 30
    load_s: float = 120.0
    reply_s: float = 900.0
    max_tokens: int = 2048
    threads: int = 1
    batch: int = 64
    batch_tokens: int = 8192

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not value > 0:
                raise ConfigError(f"{name} of an inference worker is {value}; expected more than 0")


class InferenceWorker:
    """A process that holds one checkpoint and nothing else: no network, no tasks, no references.

    Args:
        checkpoint: the folder of a checkpoint that was inspected, where no untrusted program can write.
        bounds: what it may use.
        sandbox: where it is forked from; its own one by default, which is closed with it.

    Attributes:
        deaths: why the process ended before its time, each time it did.
        fault: why the checkpoint is to blame that there are no answers; None if it is not.
        load_s: how long the checkpoint took to load; None before it is loaded.
    """

    def __init__(self, checkpoint: Path, *, bounds: Bounds | None = None, sandbox: WarmSandbox | None = None) -> None:
        self.checkpoint, self.bounds = checkpoint, bounds or Bounds()
        self.deaths: list[str] = []
        self.fault: str | None = None
        self.load_s: float | None = None
        self._own, self._sandbox = sandbox is None, sandbox or WarmSandbox()
        self._numbers = count(1)
        self._pending: dict[int, tuple[Mapping[str, Any], asyncio.Future[Reply]]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._life: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._error: HeredityError | None = None
        self._news_at = 0.0

    async def start(self) -> None:
        """Wait until the checkpoint is loaded; `reply` does it where it is left out.

        Raises:
            CandidateError: if the checkpoint cannot be loaded, or its worker died of it.
            HostError: if no worker can be started.
            IsolationError: if this machine cannot confine one.
            MissingExtraError: if torch or transformers is not installed.
        """
        if self._life is None:
            self._error, self._ready = None, asyncio.get_running_loop().create_future()
            # Nobody may be waiting for it any more when it fails.
            self._ready.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._life = asyncio.create_task(self._live(self._ready))
        assert self._ready is not None
        await asyncio.shield(self._ready)

    async def reply(self, request: Request) -> Reply:
        """Answer a request; those that come together are answered together, and yet each as it would be alone.

        Raises:
            ProviderError: kind `"context"` if the prompt is too long, `"request"` if the model cannot take it.
            CandidateError, HostError, IsolationError, MissingExtraError: as `start`.
        """
        await self.start()
        if self._error is not None:
            raise self._error
        number = next(self._numbers)
        if not self._pending:
            self._news_at = time.monotonic()
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        message = {"ask": number, "request": self._bounded(request).to_json()}
        self._pending[number] = message, answer
        self._send(message)
        try:
            return await answer
        finally:
            del self._pending[number]
            if answer.cancelled():
                self._send({"drop": number})

    async def close(self) -> None:
        """End the process; requests that wait fail."""
        life, self._life = self._life, None
        if life is not None:
            life.cancel()
            with suppress(asyncio.CancelledError):
                await life
        self._fail(HostError("the inference worker was closed"))
        if self._own:
            await self._sandbox.close()

    def _bounded(self, request: Request) -> Request:
        limit = min(request.sampling.max_tokens or self.bounds.max_tokens, self.bounds.max_tokens)
        return replace(request, sampling=replace(request.sampling, max_tokens=limit))

    async def _live(self, ready: asyncio.Future[None]) -> None:
        """Keep a process until it dies of its checkpoint."""
        while len(self.deaths) < _DEATHS:
            try:
                zygote = await self._sandbox.zygote()
                process = zygote.launch(self.checkpoint, self._settings())
            except HeredityError as error:
                self._fail(error)
                return
            try:
                self.deaths.append(await self._serve(process, ready))
            except CandidateError as error:
                self.fault = str(error)
                self._fail(error)
                return
            finally:
                await _end(zygote, process)
        self.fault = f"the worker of this checkpoint died twice: {'; then '.join(self.deaths)}"
        self._fail(CandidateError(self.fault))

    def _settings(self) -> dict[str, Any]:
        names = ("memory_bytes", "threads", "batch", "batch_tokens")
        return {"device": self._sandbox.inference.device, **{name: getattr(self.bounds, name) for name in names}}

    async def _serve(self, process: Launched, ready: asyncio.Future[None]) -> str:
        """Pass answers on until the process ends; return why it did."""
        reader, writer = await asyncio.open_connection(sock=process.stream, limit=MAX_FRAME)
        loaded, self._news_at = False, time.monotonic()
        frame = asyncio.create_task(_frame(reader))
        try:
            while True:
                await asyncio.wait({frame}, timeout=_TICK_S)
                if not frame.done():
                    bound = self.bounds.reply_s if loaded else self.bounds.load_s
                    if (not loaded or self._pending) and time.monotonic() - self._news_at > bound:
                        return f"it took more than {bound:g} s {'for a batch' if loaded else 'to load'}"
                    continue
                news, self._news_at = frame.result(), time.monotonic()
                if news is None:
                    return await self._why(process)
                if "loaded" in news:
                    loaded, self.load_s, self._writer = True, float(news["loaded"]), writer
                    for message, _ in self._pending.values():
                        self._send(message)
                    if not ready.done():
                        ready.set_result(None)
                elif "refused" in news:
                    raise CandidateError(f"the checkpoint cannot be loaded: {news['refused']}")
                else:
                    self._take(news)
                frame = asyncio.create_task(_frame(reader))
        except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
            return f"it wrote what is no answer: {error!r}"
        finally:
            frame.cancel()
            self._writer = None
            writer.close()

    def _take(self, news: Mapping[str, Any]) -> None:
        _, answer = self._pending.get(news["answer"], (None, None))
        if answer is None or answer.done():
            return
        if "error" in news:
            kind, message, transient = news["error"]
            answer.set_exception(ProviderError(str(kind), str(message), transient=bool(transient)))
        else:
            answer.set_result(Reply.from_json(news["reply"]))

    async def _why(self, process: Launched) -> str:
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                status = await asyncio.shield(process.ended)
                lines = process.printed().splitlines()[-1:]
                return f"{_exit(status)}{f': {lines[0][:300]}' if lines else ''}"
        return "it closed its socket"

    def _send(self, message: Mapping[str, Any]) -> None:
        if self._writer is not None:
            data = json.dumps(message).encode()
            self._writer.write(len(data).to_bytes(4, "little") + data)

    def _fail(self, error: HeredityError) -> None:
        self._error = error
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(error)
        for _, answer in self._pending.values():
            if not answer.done():
                answer.set_exception(error)


class CheckpointModel:
    """A checkpoint as a language model behind the gateway's contract.

    Args:
        worker: what answers; whoever made it closes it.
    """

    def __init__(self, worker: InferenceWorker) -> None:
        self._worker = worker

    @property
    def name(self) -> str:
        """`checkpoint/` and the beginning of its folder's name, which is its digest."""
        return f"checkpoint/{self._worker.checkpoint.name[:12]}"

    async def reply(self, request: Request) -> Reply:
        """Answer a request: greedily unless it says a temperature; with one, by the request's seed.

        Raises:
            ProviderError: if no answer is to be had; `InferenceWorker.fault` says whether the checkpoint is to blame.
            HostError, IsolationError, MissingExtraError: if no worker can be started.
        """
        try:
            return replace(await self._worker.reply(request), model=self.name)
        except CandidateError as error:
            raise ProviderError("server", str(error), transient=False) from error


async def _frame(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """Return the next frame; None at the end."""
    try:
        size = int.from_bytes(await reader.readexactly(4), "little")
        if size > MAX_FRAME:
            raise ValueError(f"a frame of {size} bytes")
        value = json.loads(await reader.readexactly(size))
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    if not isinstance(value, dict):
        raise TypeError("a frame that is no JSON object")
    return value


async def _end(zygote: Zygote, process: Launched) -> None:
    zygote.kill(process)
    with suppress(TimeoutError):
        async with asyncio.timeout(_END_S):
            await asyncio.shield(process.ended)
    process.printed()


def _exit(status: int | None) -> str:
    if status is None:
        return "its sandbox was killed"
    if status >= 0:
        return f"it ended with exit status {status}"
    reason = ", out of memory most likely" if status == -signal.SIGKILL else ""
    return f"it was killed by {signal.Signals(-status).name}{reason}"
