"""An inference worker: one checkpoint in a confined process, which answers requests and is restarted once if it dies."""

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

from heredity._core.errors import CandidateError, ConfigError, HeredityError, HostError, ProviderError
from heredity.kinds.checkpoint.inference.guest import MAX_FRAME
from heredity.kinds.checkpoint.inference.warm import Launched, WarmSandbox, Zygote
from heredity.models.contract import Reply, Request
from heredity.sandbox.inference import Inference

_TICK_S = 0.5
_END_S = 5.0
_DEATHS = 2
"""One death may be this machine's fault; a second one with the same checkpoint is the checkpoint's."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a worker.

    Attributes:
        memory_bytes: memory in addition to the interpreter's mappings, including the weights as 32-bit floats; with a
            GPU, memory of this machine in addition to the interpreter's.
        load_s: timeout of loading a checkpoint, in seconds.
        reply_s: seconds without any answer while requests wait: the timeout of one batch.
        max_tokens: maximum tokens of a reply, regardless of the request.
        threads: CPU threads; answers are reproducible for the same number.
        batch: maximum requests per batch.
        batch_tokens: maximum prompt tokens in a batch, padding included.
    """

    memory_bytes: int = 4 << 30
    load_s: float = 120.0
    reply_s: float = 900.0
    max_tokens: int = 2048
    threads: int = 1
    batch: int = 64
    batch_tokens: int = 8192

    @classmethod
    def of(cls, parameters: int, inference: Inference) -> Bounds:
        """Return the limits for a checkpoint: as configured, else by its size.

        Memory holds the weights twice, as 32-bit floats and as the file that is read, of at most as many bytes, and 2 GiB.
        Loading may take 30 s for each GiB of weights as 32-bit floats, and a batch on the CPU 900 s for each 10^9
        parameters.

        Args:
            parameters: number of the checkpoint's values.
            inference: the engine, with the configured limits.
        """
        own, weights = cls(), 4 * parameters
        slow = parameters / 1e9 if inference.device == "cpu" else 0.0
        return cls(
            memory_bytes=inference.memory_bytes or max(own.memory_bytes, 2 * weights + (2 << 30)),
            load_s=inference.load_s or max(own.load_s, 30.0 * weights / (1 << 30)),
            reply_s=inference.reply_s or max(own.reply_s, own.reply_s * slow),
        )

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not value > 0:
                raise ConfigError(f"{name} of an inference worker is {value}; expected more than 0")


class InferenceWorker:
    """A process with one checkpoint and without network, tasks or references.

    Args:
        checkpoint: the folder of an inspected checkpoint, where untrusted programs cannot write.
        bounds: its limits.
        sandbox: the sandbox to fork from; by default its own, which is closed with it.

    Attributes:
        deaths: the reasons of unexpected ends of the process.
        fault: the reason the checkpoint is to blame for missing answers; None if it is not.
        load_s: seconds it took to load the checkpoint; None before it is loaded.
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
        """Wait until the checkpoint is loaded; `reply` does so implicitly.

        Raises:
            CandidateError: if the checkpoint cannot be loaded, or its worker died of it.
            HostError: if no worker can be started.
            IsolationError: if this machine cannot confine one.
            MissingExtraError: if torch or transformers is not installed.
        """
        if self._life is None:
            self._error, self._ready = None, asyncio.get_running_loop().create_future()
            # Its failure may have no waiter left.
            self._ready.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._life = asyncio.create_task(self._live(self._ready))
        assert self._ready is not None
        await asyncio.shield(self._ready)

    async def reply(self, request: Request) -> Reply:
        """Answer a request; concurrent requests are batched, with the same answers as single ones.

        Raises:
            ProviderError: kind `"context"` if the prompt is too long, `"request"` if the model does not support it.
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
        """End the process; pending requests fail."""
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
        """Keep a process running until it dies of its checkpoint."""
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
        """Pass answers on until the process ends; return the reason."""
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
        worker: answers the requests; closed by the caller.
    """

    def __init__(self, worker: InferenceWorker) -> None:
        self._worker = worker

    @property
    def name(self) -> str:
        """`checkpoint/` and the beginning of its folder's name, which is its digest."""
        return f"checkpoint/{self._worker.checkpoint.name[:12]}"

    async def reply(self, request: Request) -> Reply:
        """Answer a request: greedily without a temperature; with one, by the request's seed.

        Raises:
            ProviderError: if there is no answer; `InferenceWorker.fault` tells if the checkpoint is to blame.
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
