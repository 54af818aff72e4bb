"""Host side of a zygote: starts it, orders workers, ends them; with an event loop, or from synchronous code.

`Sandbox.call` borrows a process of a program, or forks one, calls a method of its object, and returns the process. A
process ends after a number of calls, so that its state never lives long. It may write anything to its one pipe:
sizes, turns and contents are checked, and any violation is the program's failure. The sandbox's failures are a
`HostError`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import itertools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
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
from heredity.sandbox.guest.zygote import MAX_MESSAGE
from heredity.sandbox.limits import Limits
from heredity.sandbox.waiting import LOOK_S, Answer, LateError, ProgramError, Wait, WorkerTime

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
            self._release(process)
            raise
        except _EndedError as error:
            raise self._why(process) from error
        except BaseException:
            self._end(process)
            raise
        self._release(process)
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

    def _release(self, process: _Process) -> None:
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


_CLOSE_S = 2.0


async def ready(watch: Callable[..., Any], unwatch: Callable[[int], Any], descriptor: int, deadline: float) -> None:
    """Wait until the event loop finds a descriptor ready.

    Args:
        watch: the loop's `add_reader` or `add_writer`.
        unwatch: the method that removes what `watch` adds.
        descriptor: what to watch.
        deadline: the loop's time.

    Raises:
        TimeoutError: if it is not ready by the deadline.
    """
    future = asyncio.get_running_loop().create_future()
    watch(descriptor, lambda: future.done() or future.set_result(None))
    try:
        async with asyncio.timeout_at(deadline):
            await future
    finally:
        unwatch(descriptor)


class AsyncZygote:
    """A running zygote and its free slots; made by `start`.

    Attributes:
        free: number of further workers it can take.
        alive: whether it still answers.
    """

    def __init__(self, process: ZygoteProcess, slots: int) -> None:
        self._process, self.free, self.alive = process, slots, True
        self._ends: dict[int, asyncio.Future[int | None]] = {}
        self._loop = asyncio.get_running_loop()
        self._control = process.control
        self._loop.add_reader(self._control, self._on_news)

    @classmethod
    async def start(cls, settings: Mapping[str, Any]) -> AsyncZygote:
        """Start a zygote and wait until it is ready.

        The process is started on the calling thread: the kernel ends it with the thread that started it, and pool
        threads may end earlier.

        Raises:
            HostError: if it does not start.
        """
        process, loop = ZygoteProcess(settings, wait=False), asyncio.get_running_loop()
        try:
            await ready(loop.add_reader, loop.remove_reader, process.control, loop.time() + START_S)
            process.ready()
        except TimeoutError as error:
            process.close(0.0)
            raise HostError(f"the sandbox did not start within {START_S:g} s") from error
        except asyncio.CancelledError:
            process.close(0.0)
            raise
        return cls(process, settings["slots"])

    @property
    def pid(self) -> int:
        """Its process id, the ancestor of all it forks."""
        return self._process.pid

    def launch(self, order: Mapping[str, Any]) -> Worker:
        """Fork a worker (see `ZygoteProcess.launch`).

        Raises:
            HostError: if the zygote is gone.
        """
        try:
            worker = self._process.launch(order)
        except HostError:
            self._lose()
            raise
        self.free -= 1
        return worker

    def kill(self, worker: Worker, *, closed: bool = False) -> asyncio.Future[int | None]:
        """Kill a worker, leaving its pipes to their reader.

        Args:
            worker: the worker.
            closed: see `ZygoteProcess.end`.

        Returns:
            A future of its exit status: its exit code, or minus the signal that ended it; None if the zygote is gone.
        """
        status: asyncio.Future[int | None] = self._loop.create_future()
        if not self.alive:
            status.set_result(None)
            return status
        self._ends[worker.number] = status
        self.free += 1
        try:
            self._process.kill(worker, closed=closed)
        except HostError:
            self._lose()
        return status

    async def close(self) -> None:
        """End the zygote and all of its workers."""
        self._lose()
        await asyncio.to_thread(self._process.close, _CLOSE_S)

    def _on_news(self) -> None:
        try:
            exits = self._process.announced()
        except HostError:
            self._lose()
            return
        for number, status in exits.items():
            _tell(self._ends.pop(number), status)

    def _lose(self) -> None:
        if self.alive:
            self.alive = False
            self._loop.remove_reader(self._control)
            for status in self._ends.values():
                _tell(status, None)
            self._ends.clear()


def _tell(waiting: asyncio.Future[int | None], status: int | None) -> None:
    if not waiting.done():  # the waiting caller may have been cancelled
        waiting.set_result(status)


START_S = 60.0
"""Timeout for the start of a zygote, in seconds."""
_REPLY_S = 10.0


@dataclass(slots=True)
class Worker:
    """Host side of one confined worker.

    Attributes:
        number: its number in the zygote.
        request: descriptor to write frames to (non-blocking).
        response: descriptor to read frames from (non-blocking).
        outputs: descriptors of the memory files behind its stdout and stderr.
    """

    number: int
    request: int
    response: int
    outputs: tuple[int, int]
    closed: bool = field(default=False)

    def read_outputs(self, limit: int) -> tuple[str, str]:
        """Return the output to stdout and stderr below Python (C code, faulthandler), at most `limit` bytes each."""
        first, second = (os.pread(fd, limit, 0).decode("utf-8", "replace") for fd in self.outputs)
        return first, second

    def close(self) -> None:
        """Close the host's descriptors."""
        if not self.closed:
            self.closed = True
            for fd in (self.request, self.response, *self.outputs):
                os.close(fd)


class ZygoteProcess:
    """A running zygote. Not thread-safe; used by one environment worker, or by one event loop.

    Args:
        settings: the result of `isolation.zygote_settings`.
        wait: return only once it is ready; without it, call `ready` when `control` is readable.
    """

    def __init__(self, settings: Mapping[str, Any], *, wait: bool = True) -> None:
        self._settings = dict(settings)
        self._numbers = itertools.count(1)
        self._profiles: dict[bytes, int] = {}
        self._exits: dict[int, int] = {}
        self._start()
        if wait:
            self.ready()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        # Isolated except for the environment, which is passed here: a text's hash must not depend on the zygote.
        flags = ["-P", "-s", "-S", "-B"]
        command = [sys.executable, *flags, f"{self._settings['guest']}/zygote.py", str(theirs.fileno())]
        environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", "LANG": "C.UTF-8"}
        environment["PYTHONHASHSEED"] = "0"
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd="/",
            # Ctrl-C in a terminal reaches its whole foreground group; this process ends with the host instead.
            start_new_session=True,
        )
        theirs.close()
        self._control = ours
        with contextlib.suppress(HostError):  # `ready` reports the reason
            self._send(self._settings)

    def ready(self) -> None:
        """Wait until it is ready for orders.

        Raises:
            HostError: if it does not start; the message is the last line of its output.
        """
        try:
            self._receive(START_S)
        except HostError as error:
            self._process.kill()
            _, message = self._process.communicate()
            lines = message.decode("utf-8", "replace").strip().splitlines()
            raise HostError(f"the sandbox did not start: {lines[-1] if lines else error}") from error

    @property
    def pid(self) -> int:
        """Its process id, the ancestor of all it forks."""
        return self._process.pid

    @property
    def control(self) -> int:
        """Descriptor that announces exits."""
        return self._control.fileno()

    def spawn(
        self,
        profile: Mapping[str, Any],
        program: str,
        episodes: Sequence[tuple[int, int]],
        limits: Limits,
    ) -> Worker:
        """Fork a worker that plays a policy.

        Args:
            profile: settings passed to its policies: `obs` and `action` (space descriptions), `meta` (JSON text).
            program: folder of the program's files.
            episodes: (episode index, policy seed) of each policy to construct.
            limits: memory, scratch and output limits.
        """
        return self.launch(
            {
                "profile": self._profile(profile),
                "program": program,
                "episodes": [list(e) for e in episodes],
                "memory": limits.memory_bytes,
                "file_size": limits.scratch_bytes,
                "cpu_s": int(limits.init_s + limits.episode_s * len(episodes)) + 1,
                "output": limits.output_bytes,
            }
        )

    def launch(self, order: Mapping[str, Any]) -> Worker:
        """Fork a worker.

        Args:
            order: `program` (folder of its files), `memory` and `file_size` (bytes), `cpu_s` (CPU seconds), and
                further settings for this zygote's workers.
        """
        number = next(self._numbers)
        request_read, request_write = os.pipe2(os.O_CLOEXEC)
        response_read, response_write = os.pipe2(os.O_CLOEXEC)
        outputs = (os.memfd_create("stdout", os.MFD_CLOEXEC), os.memfd_create("stderr", os.MFD_CLOEXEC))
        given = [request_read, response_write, *outputs]
        try:
            message = {"op": "spawn", "worker": number, **order}
            socket.send_fds(self._control, [json.dumps(message).encode()], given)
        except OSError as error:
            for fd in (*given, request_write, response_read):
                os.close(fd)
            raise HostError(f"the sandbox is gone: {error.strerror}") from error
        os.close(request_read)
        os.close(response_write)
        os.set_blocking(request_write, False)
        os.set_blocking(response_read, False)
        return Worker(number, request_write, response_read, outputs)

    def end(self, worker: Worker, *, closed: bool = False) -> None:
        """Kill a worker, close its pipes and wipe its scratch folder. The exit status follows later (`exit_status`).

        Args:
            worker: the worker.
            closed: whether it closed its pipe; if it survives that, its status is `frames.LIVED_ON`.
        """
        try:
            self.kill(worker, closed=closed)
        finally:
            worker.close()

    def kill(self, worker: Worker, *, closed: bool = False) -> None:
        """Do the same as `end`, but leave the pipes to their reader."""
        self._send({"op": "end", "worker": worker.number, "closed": closed})

    def exit_status(self, worker: Worker) -> int:
        """Return the exit status of an ended worker: its exit code, minus the signal that ended it, or `frames.LIVED_ON`."""
        while worker.number not in self._exits:
            reply = self._receive(_REPLY_S)
            self._exits[reply["worker"]] = reply["status"]
        return self._exits.pop(worker.number)

    def announced(self) -> dict[int, int]:
        """Return the exits announced since the last call: worker to exit status (see `exit_status`)."""
        exits: dict[int, int] = {}
        while self._has_news(0.0):
            reply = self._receive(0.0)
            exits[reply["worker"]] = reply["status"]
        return exits

    def drain(self) -> None:
        """Discard exits that no caller is waiting for."""
        self.announced()

    def close(self, patience_s: float = 2.0) -> None:
        """End the zygote and all of its workers; it is killed if it takes longer than `patience_s`."""
        self._control.close()
        try:
            self._process.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            # Not read to its end: a process that outlived the zygote may hold it open.
            if self._process.stderr is not None:
                self._process.stderr.close()

    def _profile(self, profile: Mapping[str, Any]) -> int:
        text = json.dumps(profile, sort_keys=True).encode()
        if text not in self._profiles:
            if len(text) > MAX_MESSAGE - 1024:
                raise HostError(
                    f"the description of the spaces takes {len(text)} bytes, more than {MAX_MESSAGE - 1024}"
                )
            self._profiles[text] = len(self._profiles)
            self._send({"op": "profile", "profile": self._profiles[text], **profile})
        return self._profiles[text]

    def _send(self, message: Mapping[str, Any]) -> None:
        try:
            self._control.send(json.dumps(message).encode())
        except OSError as error:
            raise HostError(f"the sandbox is gone: {error.strerror}") from error

    def _receive(self, timeout: float) -> dict[str, Any]:
        if not self._has_news(timeout):
            raise HostError(f"the sandbox did not answer within {timeout:g} s")
        data = self._control.recv(MAX_MESSAGE)
        if not data:
            raise HostError("the sandbox ended")
        reply: dict[str, Any] = json.loads(data)
        return reply

    def _has_news(self, timeout: float) -> bool:
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        return bool(poll.poll(timeout * 1000))
