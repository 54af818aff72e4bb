"""Confined processes that keep an object and answer calls from synchronous code: the sandbox without an event loop.

`Sandbox.call` borrows a process of a program, or forks one, calls a method of its object, and returns the process. A
process ends after a number of calls, so that its state never lives long. It may write anything to its one pipe:
sizes, turns and contents are checked, and any violation is the program's failure. The sandbox's failures are a
`HostError`.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from queue import SimpleQueue
from typing import Any

from heredity._core.engine_folder import EngineFolder
from heredity._core.errors import HeredityError, HostError, IsolationError
from heredity._core.outside import json_value
from heredity.resources import SourceTree
from heredity.sandbox import isolation as isolations
from heredity.sandbox.guest import frames
from heredity.sandbox.waiting import LOOK_S, Answer, LateError, ProgramError, Wait, WorkerTime
from heredity.sandbox.zygote import Worker, ZygoteProcess

SLOTS = 12
"""Simultaneous processes of one sandbox; the oldest idle one makes room."""

CALLS = 1000
"""Calls of one process before it is replaced."""

_MEMORY = 256 << 20
_FILES = 2 << 20
_CPU_S = 120
_CONFINE_S = 15.0
_NEWS = 1 << 15


@dataclass(frozen=True)
class Kept:
    """Object kept by a process, made by a function of a source tree.

    Attributes:
        tree: the program's files.
        make: `module:Class`; `given`: its keyword arguments, JSON values.
        result_bytes: size limit of a return value as JSON, in bytes.
        init_s: CPU seconds to import the module and make the object.
    """

    tree: SourceTree
    make: str
    given: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    result_bytes: int = 1 << 18
    init_s: float = 10.0

    @property
    def request(self) -> bytes:
        """First request to a fresh process."""
        return json.dumps({"function": self.make, "arguments": dict(self.given), "keep": True}).encode()


class _Process:
    """One process; used by one thread at a time."""

    def __init__(self, kept: Kept, zygote: ZygoteProcess, worker: Worker) -> None:
        self.kept, self.zygote, self.worker, self.calls, self.inbox = kept, zygote, worker, 0, bytearray()
        self._time = WorkerTime(zygote.pid, None)
        self._poll = select.poll()
        self._poll.register(worker.response, select.POLLIN)

    def begin(self) -> None:
        """Check that it is confined and its object is made."""
        try:
            payload = self._exchange(self.kept.request, self._wait(_CONFINE_S))
        except LateError as error:
            raise HostError(f"a program was not confined in time: {error}") from error
        if payload[:1] == frames.UNCONFINED:
            raise IsolationError(f"confinement failed: {payload[1:].decode('utf-8', 'replace')}")
        self._time = WorkerTime(self.zygote.pid, int(payload[1:]))
        wait = self._wait(self.kept.init_s)
        payload = self._read(wait)
        if payload == frames.LOADED:
            payload = self._read(wait)
        self._result(payload)

    def call(self, request: bytes, seconds: float) -> Answer:
        """Return the result of a request."""
        self.calls += 1
        wait = self._wait(seconds)
        return Answer(self._result(self._exchange(request, wait)), wait.spent_s)

    def _wait(self, seconds: float) -> Wait:
        return Wait(self._time, seconds)

    def _exchange(self, request: bytes, wait: Wait) -> bytes:
        left = memoryview(frames.HEADER.pack(len(request) + 1) + frames.REQUEST + request)
        writable = select.poll()
        writable.register(self.worker.request, select.POLLOUT)
        while left:
            try:
                left = left[os.write(self.worker.request, left) :]
                continue
            except BrokenPipeError:  # it has ended; reading gives the reason
                break
            except BlockingIOError:
                ready = writable.poll(1000 * LOOK_S)
            if not ready:
                wait.look()
        return self._read(wait)

    def _read(self, wait: Wait) -> bytes:
        inbox, largest = self.inbox, self.kept.result_bytes + _NEWS
        while True:
            if len(inbox) >= frames.HEADER.size:
                size = frames.HEADER.unpack_from(inbox)[0]
                if not 0 < size <= largest:
                    raise ProgramError(f"its process wrote {size} bytes out of turn to its own pipe")
                if len(inbox) >= size + 4:
                    payload = bytes(inbox[4 : size + 4])
                    del inbox[: size + 4]
                    return payload
            if not self._poll.poll(1000 * LOOK_S):
                wait.look()
                continue
            chunk = os.read(self.worker.response, frames.CHUNK)
            if not chunk:
                raise _EndedError
            inbox += chunk

    def _result(self, payload: bytes) -> bytes:
        size = int.from_bytes(payload[1:5], "little")
        if payload[:1] == frames.ASK:
            raise ProgramError("it asks for a service, and there is none here")
        try:
            failure = json_value(payload[5 : 5 + size])["failure"]
        except (ValueError, LookupError, TypeError) as error:
            raise ProgramError("its process wrote to its own pipe out of turn") from error
        if payload[:1] != frames.RESULT or self.inbox:
            raise ProgramError("its process wrote to its own pipe out of turn")
        if failure is not None:
            message, trace = (_text(failure, key) for key in ("message", "traceback"))
            raise _FailedError(message[:500], trace[:10_000])
        return payload[5 + size :]


class _EndedError(HeredityError):
    """A process ended unexpectedly."""


class _FailedError(ProgramError):
    """A program raised an exception; its process can answer further calls."""


class Sandbox:
    """Forks confined processes and keeps idle ones; may be used from any thread.

    Nothing is started before the first call.
    """

    def __init__(self) -> None:
        self._room = threading.Condition()
        self._idle: list[_Process] = []
        self._live = 0
        self._engine: EngineFolder | None = None
        self._zygote: ZygoteProcess | None = None

    def call(self, kept: Kept, method: bytes, arguments: bytes, seconds: float) -> Answer:
        """Call a method of a program's object, and return the result.

        Args:
            kept: the program.
            method: the method's name.
            arguments: its keyword arguments, a JSON object.
            seconds: CPU limit of the call, in seconds; a fresh process gets `kept.init_s` in addition.

        Raises:
            ProgramError: if the program raises, ends, takes too long, or answers malformed.
            HostError: if the sandbox fails.
            IsolationError: if this machine cannot confine programs.
        """
        process = self._borrowed(kept)
        request = b'{"method":"' + method + b'","arguments":' + arguments + b"}"
        try:
            answer = process.call(request, seconds)
        except _FailedError:
            self._put_back(process)
            raise
        except _EndedError as error:
            raise self._why(process) from error
        except BaseException:
            self._end(process)
            raise
        self._put_back(process)
        return answer

    def close(self) -> None:
        """End every process that is not in a call."""
        with self._room:
            self._lose()
            if self._engine is not None:
                self._engine.remove()
            self._engine = None

    def _borrowed(self, kept: Kept) -> _Process:
        with self._room:
            while True:
                for index in range(len(self._idle) - 1, -1, -1):
                    if self._idle[index].kept is kept:
                        return self._idle.pop(index)
                if self._live < SLOTS:
                    break
                if self._idle:
                    self._ended(self._idle.pop(0))
                else:
                    self._room.wait()
            process = self._launched(kept)
            self._live += 1
        try:
            process.begin()
        except _EndedError as error:
            raise self._why(process) from error
        except BaseException:
            self._end(process)
            raise
        return process

    def _put_back(self, process: _Process) -> None:
        if process.calls >= CALLS:
            self._end(process)
            return
        with self._room:
            self._idle.append(process)
            self._room.notify()

    def _end(self, process: _Process) -> None:
        with self._room:
            self._ended(process)

    def _ended(self, process: _Process) -> int | None:
        """End a process and return its exit status; None if the sandbox itself is gone."""
        self._live -= 1
        self._room.notify()
        if process.zygote is not self._zygote:
            process.worker.close()
            return None
        try:
            process.zygote.end(process.worker)
            return process.zygote.exit_status(process.worker)
        except HostError:
            self._lose()
            return None

    def _lose(self) -> None:
        """Discard the zygote and its processes; the next call starts another."""
        if self._zygote is not None:
            self._zygote.close(0.0)
        self._zygote = None
        for process in self._idle:
            process.worker.close()
        self._live -= len(self._idle)
        self._idle.clear()

    def _why(self, process: _Process) -> HeredityError:
        with self._room:
            status = self._ended(process)
        if status is None:
            return HostError("the sandbox ended while a program ran in it")
        if status == -signal.SIGXCPU:
            return ProgramError("its process used more processor time than it may")
        return ProgramError(
            "its process ended" + (f" (signal {-status})" if status < 0 else f" (exit status {status})")
        )

    def _launched(self, kept: Kept) -> _Process:
        if self._engine is None:
            self._engine = EngineFolder()
        if self._zygote is None:
            settings = isolations.zygote_settings(isolations.resolve(), self._engine.path, _FILES)
            self._zygote = _starter().start({**settings, "main": "program", "slots": SLOTS})
        folder = self._engine.path / "programs" / kept.tree.digest
        if not folder.exists():
            kept.tree.write_to(folder)
        order = {"memory": _MEMORY, "file_size": _FILES, "cpu_s": _CPU_S, "output": 0, "ask": 1024}
        try:
            worker = self._zygote.launch({**order, "program": str(folder), "result": kept.result_bytes})
        except HostError:
            self._lose()
            raise
        return _Process(kept, self._zygote, worker)


class _Starter:
    """Starts zygotes on a thread that lives as long as this process: the kernel ends them with their starting thread."""

    def __init__(self) -> None:
        self._orders: SimpleQueue[tuple[Mapping[str, Any], Future[ZygoteProcess]]] = SimpleQueue()
        threading.Thread(target=self._serve, name="sandbox", daemon=True).start()

    def start(self, settings: Mapping[str, Any]) -> ZygoteProcess:
        """Start a zygote. Raises as `ZygoteProcess`."""
        started: Future[ZygoteProcess] = Future()
        self._orders.put((settings, started))
        return started.result()

    def _serve(self) -> None:
        while True:
            settings, started = self._orders.get()
            try:
                started.set_result(ZygoteProcess(settings))
            except BaseException as error:  # noqa: BLE001 - whoever asked gets it; the thread serves the next
                started.set_exception(error)


@cache
def _starter() -> _Starter:
    return _Starter()


@cache
def shared() -> Sandbox:
    """Return the sandbox of this process."""
    made = Sandbox()
    atexit.register(made.close)
    os.register_at_fork(after_in_child=_forget)
    return made


def _forget() -> None:
    """Detach from the parent process's sandbox after a fork."""
    shared.cache_clear()
    _starter.cache_clear()


def _text(failure: Any, key: str) -> str:
    value = failure.get(key) if isinstance(failure, dict) else ""
    return value if isinstance(value, str) else ""
