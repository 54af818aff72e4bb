"""A confined interpreter that has already imported an engine, from which inference workers are forked instantly."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from heredity._core.errors import HostError
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
