"""An inference worker: one checkpoint in a confined process, which answers requests and is restarted once if it dies.

Workers are forked from a confined interpreter that has already imported the engine (`WarmSandbox`).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import IO, Any

from heredity._core.errors import CandidateError, ConfigError, HeredityError, HostError, ProviderError
from heredity.kinds.checkpoint.inference.guest import MAX_FRAME
from heredity.models.contract import Reply, Request
from heredity.sandbox import inference as sandbox
from heredity.sandbox.bubblewrap_root import seccomp_program
from heredity.sandbox.inference import Inference

START_S = {"transformers": 120.0, "vllm": 300.0}
"""Timeout of importing an engine, in seconds; on a busy machine torch takes ten seconds and more."""

_MESSAGE_BYTES = 1 << 16
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Launched:
    """A worker process: its socket, its output, and its exit status.

    Attributes:
        number: its number in the zygote.
        stream: this side of its socket.
        ended: its exit status once it is known, minus the signal that ended it; None if its zygote is gone.
    """

    def __init__(self, number: int, stream: socket.socket, errors: IO[bytes]) -> None:
        self.number, self.stream, self._errors = number, stream, errors
        self.ended: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    def printed(self) -> str:
        """Return the end of its output and close the file; later calls return nothing."""
        if self._errors.closed:
            return ""
        with self._errors as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 4096))
            return file.read().decode("utf-8", "replace").strip()


class Zygote:
    """A zygote in a sandbox; created by `start`, bound to one event loop.

    Attributes:
        alive: true while it answers.
        pid: of the sandbox on this machine.
    """

    def __init__(self, process: subprocess.Popen[bytes], control: socket.socket) -> None:
        self._process, self._control, self.alive, self.pid = process, control, True, process.pid
        self._launched: dict[int, Launched] = {}
        self._count = 0
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def start(cls, inference: Inference) -> Zygote:
        """Start a zygote and wait until its engine is imported.

        The process starts on the calling thread: the kernel ends it together with that thread.

        Raises:
            IsolationError: if this machine cannot confine it.
            MissingExtraError: if torch or transformers is not installed.
            HostError: if it does not start.
        """
        await asyncio.to_thread(sandbox.check, inference)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ExitStack() as stack:
            stack.callback(theirs.close)
            filters, errors = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            filters.write(seccomp_program())
            filters.seek(0)
            process = _opened(inference, filters.fileno(), theirs, errors)
            theirs.close()
            zygote = cls(process, ours)
            ours.setblocking(False)
            try:
                async with asyncio.timeout(START_S[inference.engine]):
                    text = await zygote._loop.sock_recv(ours, _MESSAGE_BYTES)
            except (TimeoutError, OSError, asyncio.CancelledError) as error:
                await zygote.close()
                if isinstance(error, asyncio.CancelledError):
                    raise
                raise HostError(
                    f"the inference sandbox did not start within {START_S[inference.engine]:g} s: {error}"
                ) from error
            if not text:
                errors.seek(0)
                words = errors.read(4096).decode("utf-8", "replace").strip()
                await zygote.close()
                raise HostError(f"the inference sandbox did not start: {words}")
        zygote._loop.add_reader(ours, zygote._on_news)
        return zygote

    def launch(self, folder: Path, settings: Mapping[str, Any]) -> Launched:
        """Fork a worker with a checkpoint, the only folder that it can open.

        Args:
            folder: an inspected checkpoint, in a folder that untrusted programs cannot write to.
            settings: `memory_bytes`, `threads`, `batch`, `batch_tokens`, `device`.

        Raises:
            HostError: if the zygote is gone, or the folder does not exist.
        """
        self._count += 1
        ours, theirs = socket.socketpair()
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - the worker's record closes it
        order = json.dumps({"launch": self._count, **settings}).encode()
        try:
            descriptor = os.open(folder, _FOLDER)
            try:
                socket.send_fds(self._control, [order], [descriptor, theirs.fileno(), errors.fileno()])
            finally:
                os.close(descriptor)
        except OSError as error:
            ours.close()
            errors.close()
            raise HostError(f"no inference worker can be started for {folder}: {error}") from error
        finally:
            theirs.close()
        launched = self._launched[self._count] = Launched(self._count, ours, errors)
        return launched

    def kill(self, worker: Launched) -> None:
        """End a worker now; its `ended` resolves when that is done."""
        if not worker.ended.done():
            try:
                self._control.send(json.dumps({"kill": worker.number}).encode())
            except OSError:
                self._lose()

    async def close(self) -> None:
        """End it together with every worker."""
        self._lose()
        self._process.kill()
        await asyncio.to_thread(self._process.wait)

    def _on_news(self) -> None:
        try:
            text = self._control.recv(_MESSAGE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            text = b""
        if not text:
            self._lose()
            return
        news = json.loads(text)
        _tell(self._launched.pop(news["ended"]), news["status"])

    def _lose(self) -> None:
        if self.alive:
            self.alive = False
            self._loop.remove_reader(self._control)
            self._control.close()
        for worker in self._launched.values():
            _tell(worker, None)
        self._launched.clear()


class WarmSandbox:
    """A zygote on demand: started at the first call, and again if it was killed.

    Attributes:
        inference: the engine of its workers; transformers on the CPU by default.
    """

    def __init__(self, inference: Inference | None = None) -> None:
        self.inference = inference or Inference()
        self._zygote: Zygote | None = None
        self._starting = asyncio.Lock()

    async def zygote(self) -> Zygote:
        """Return a live zygote. Raises as `Zygote.start`."""
        async with self._starting:
            if self._zygote is None or not self._zygote.alive:
                await self._end()
                self._zygote = await Zygote.start(self.inference)
            return self._zygote

    async def close(self) -> None:
        """End every process; a later call of `zygote` starts anew."""
        async with self._starting:
            await self._end()

    async def _end(self) -> None:
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            await zygote.close()


def _opened(inference: Inference, seccomp: int, control: socket.socket, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        sandbox.command(seccomp, inference),
        stdin=control.fileno(),
        stdout=errors,
        stderr=errors,
        env=sandbox.variables(inference),
        pass_fds=(seccomp,),
        start_new_session=True,
    )


def _tell(worker: Launched, status: int | None) -> None:
    if not worker.ended.done():
        worker.ended.set_result(status)


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

        Memory holds the weights twice, as 32-bit floats and as the file that is read, of at most as many bytes, and 2
        GiB. Loading may take 30 s for each GiB of weights as 32-bit floats, and a batch on the CPU 900 s for each 10^9
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
        sandbox: the sandbox to fork from (by default a new one, which is closed with the worker).

    Attributes:
        deaths: the reasons of unexpected ends of the process.
        fault: the reason the checkpoint is to blame for missing answers (None if it is not).
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
            ProviderError: without an answer; `InferenceWorker.fault` tells if the checkpoint is to blame.
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
