"""One measured run of one untrusted command: a compiler, or a program on one case.

Each run has a separate root in which only `/tmp` (and `/work` while compiling) is writable, no network, no further
processes unless it compiles, and limits on CPU time, wall time, memory and output. Nothing outlives the run, so runs
share no state.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from heredity._core.errors import ConfigError, HostError, IsolationError
from heredity.sandbox.bubblewrap_root import Root, available, seccomp_program
from heredity.sandbox.waiting import RunClock

WORK = "/work"
"""Folder of a program, in which it is compiled."""

_REAPER = Path(__file__).parent / "reaper.py"
_STACK_BYTES = 256 << 20
_MOST_PROCESSES = 512  # of a compiler, threads included
_CHUNK = 1 << 16
_MOST_REQUEST_BYTES = 128 << 10  # of one message on a socket, whose buffers have 208 KiB
_MOST_ENDING_S = 60.0  # time for the kernel to start a run, or to end a killed one
_FAILED_TO_START = b"bwrap: "


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a run.

    Attributes:
        cpu_s: CPU seconds of all its threads.
        wall_s: wall seconds (without those in which it was ready but had no processor).
        memory_bytes: simultaneous private memory.
        output_bytes: bytes of its standard output; 64 KiB of its standard error are kept.
        disk_bytes: bytes it may write, in memory.
    """

    cpu_s: float
    wall_s: float
    memory_bytes: int
    output_bytes: int = 16 << 20
    disk_bytes: int = 16 << 20


@dataclass(frozen=True, slots=True)
class Ended:
    """Result of a run.

    Attributes:
        code: its exit code; minus the number of the signal that ended it.
        stdout: its standard output.
        stderr: its standard error; beyond 64 KiB, the start and the end.
        cpu_s: CPU seconds (with some 10 ms for its sandbox).
        wall_s: wall seconds.
        peak_bytes: peak memory.
        reason: `"exited"`, or the exceeded limit: `"cpu"`, `"wall"`, `"output"`, or `"memory"` where that was
            detected afterwards.
    """

    code: int
    stdout: bytes
    stderr: str
    cpu_s: float
    wall_s: float
    peak_bytes: int
    reason: str = "exited"


class NativeRuns:
    """Runs confined commands, several at a time, each measured.

    Args:
        workers: limit on simultaneous runs; by default one per core.

    Raises:
        IsolationError: if this machine cannot confine commands.
    """

    def __init__(self, workers: int | None = None) -> None:
        if (reason := available()) is not None:
            raise IsolationError(f"programs cannot be confined: {reason}")
        self.workers = workers or len(os.sched_getaffinity(0))
        self._rules = {forks: _memory_file(seccomp_program(forks=forks)) for forks in (False, True)}
        self._free = [_Reaper(self._rules) for _ in range(self.workers)]
        self._reapers, self._closed = set(self._free), False
        self._turns = asyncio.Semaphore(self.workers)

    async def __aenter__(self) -> NativeRuns:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End its processes."""
        self._closed = True
        for reaper in self._reapers:
            reaper.close()
        for descriptor in self._rules.values():
            os.close(descriptor)

    async def run(
        self,
        command: Sequence[str],
        bounds: Bounds,
        *,
        work: Path | None = None,
        stdin: bytes = b"",
        shown: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        compiling: bool = False,
    ) -> Ended:
        """Run a command and wait for its end; cancelling the waiting task ends the run, which keeps its slot until it has ended.

        Args:
            command: the program and its arguments.
            bounds: its limits.
            work: content of `/work`, read-only; a compiler works on a copy.
            stdin: its standard input.
            shown: further files and folders of the host (read-only, at the same paths).
            environment: variables in addition to PATH, HOME and LANG.
            compiling: allow it to start processes and write to `/work`.

        Raises:
            IsolationError: if it cannot be confined.
            HostError: if the process that starts it has ended; the next run gets a new one.
            ConfigError: if the command and its environment are too large.
        """
        root = _root(self._rules[compiling], bounds, work, shown, compiling=compiling)
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
        variables |= environment or {}
        size = max(bounds.disk_bytes, bounds.output_bytes)
        seconds = math.ceil(bounds.cpu_s)
        limits = {
            "CORE": (0, 0),
            "CPU": (seconds, seconds + 1),
            "DATA": (bounds.memory_bytes,) * 2,
            "FSIZE": (size,) * 2,
        }
        request = {
            "command": root.command(command, folder=WORK if work else "/tmp", variables=variables),
            "environment": {"PATH": "/usr/bin:/bin"},
            "rules": self._rules[compiling],
            "limits": {**limits, "STACK": (_STACK_BYTES,) * 2, "NOFILE": (256, 256)},
        }
        message = json.dumps(request).encode()
        if len(message) > _MOST_REQUEST_BYTES:
            raise ConfigError(
                f"a command with its environment has {len(message)} bytes; at most {_MOST_REQUEST_BYTES} can be started, "
                "so give what is large on its standard input"
            )
        await self._turns.acquire()
        reaper = self._free.pop()
        reaper.take()
        run = asyncio.get_running_loop().run_in_executor(None, reaper.run, message, bounds, stdin)
        # Not `finally`: cancellation leaves a thread still at work.
        run.add_done_callback(lambda ended: self._returned(reaper, ended))
        try:
            return await asyncio.shield(run)
        except asyncio.CancelledError:
            reaper.stop()
            raise

    def _returned(self, reaper: _Reaper, run: asyncio.Future[Ended]) -> None:
        _ = run.cancelled() or run.exception()  # Raised in the waiting caller, if any.
        if not reaper.ready and not self._closed:
            reaper.close()
            with contextlib.suppress(OSError):  # The next run fails for that reason, and another start is tried.
                self._reapers.add(another := _Reaper(self._rules))
                self._reapers.discard(reaper)
                reaper = another
        self._free.append(reaper)
        self._turns.release()


class _Reaper:
    """The host's side of `reaper.py`.

    Attributes:
        ready: True while waiting for a command: neither busy nor dead.
    """

    def __init__(self, rules: Mapping[bool, int]) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_REAPER), str(theirs.fileno())],
                pass_fds=(theirs.fileno(), *rules.values()),
                stdin=subprocess.DEVNULL,
                env={},
                # Ctrl-C in a terminal reaches its whole foreground group; this process ends with the host instead.
                start_new_session=True,
            )
        self.ready, self._group, self._stopped, self._lock = True, 0, False, threading.Lock()

    def take(self) -> None:
        """Register the start of a run, which may be stopped before it starts."""
        self.ready, self._stopped = False, False

    def close(self) -> None:
        # In this order: a reaper without its channel prints a traceback.
        self._process.kill()
        self._process.wait()
        self._channel.close()

    def stop(self) -> None:
        """End the current run, from another thread."""
        with self._lock:
            self._stopped = True
            if self._group:
                _kill(self._group)

    def run(self, request: bytes, bounds: Bounds, stdin: bytes) -> Ended:
        try:
            ended = self._run(request, bounds, stdin)
        except OSError as error:
            raise HostError(f"the process that starts programs has ended: {error}; try again") from error
        self.ready = True
        used, out, err, wall_s, reason = ended
        return _ended(used, out, err, wall_s, reason, bounds)

    def _run(self, request: bytes, bounds: Bounds, stdin: bytes) -> tuple[Mapping[str, Any], bytes, bytes, float, str]:
        began = time.monotonic()
        group, streams = self._started(request)
        clock = RunClock(group, bounds.wall_s)
        out, err, reason = _exchanged(streams, stdin, bounds, clock)
        used: dict[str, Any] | None = None
        while used is None and reason == "exited":  # A process that closed its output may still be running.
            try:
                used = self._answer(max(clock.remaining(), 0.001))
            except TimeoutError:
                reason = "exited" if clock.remaining() > 0 else "wall"
        if used is None:
            _kill(group)
            used = self._answer(_MOST_ENDING_S)
        with self._lock:
            self._group = 0
        return used, out, err, time.monotonic() - began, reason

    def _started(self, request: bytes) -> tuple[int, list[IO[bytes]]]:
        pairs = [os.pipe() for _ in range(3)]
        theirs, ours = [pairs[0][0], pairs[1][1], pairs[2][1]], [pairs[0][1], pairs[1][0], pairs[2][0]]
        try:
            try:
                self._channel.settimeout(_MOST_ENDING_S)
                socket.send_fds(self._channel, [request], theirs)
            finally:
                for descriptor in theirs:
                    os.close(descriptor)
            group = int(self._answer(_MOST_ENDING_S)["group"])
        except BaseException:
            for descriptor in ours:
                os.close(descriptor)
            raise
        with self._lock:
            self._group = group
            if self._stopped:
                _kill(group)
        return group, [os.fdopen(end, mode, 0) for end, mode in zip(ours, ("wb", "rb", "rb"), strict=True)]

    def _answer(self, seconds: float) -> dict[str, Any]:
        self._channel.settimeout(seconds)
        data = self._channel.recv(1 << 12)
        if not data:
            raise HostError("the process that starts programs has ended; try again")
        return json.loads(data)


def _root(rules: int, bounds: Bounds, work: Path | None, shown: Sequence[Path], *, compiling: bool) -> Root:
    writable = ("/tmp", WORK) if compiling else ("/tmp",)
    processes = _MOST_PROCESSES if compiling else None
    root = Root(rules, dict.fromkeys(writable, bounds.disk_bytes), processes=processes, first=False)
    # Files shown may lie below the host's folder named as WORK: over the compiler's, and below a program's.
    for path in shown:
        root.show(path)
    if work is not None:
        root.show(work, "/source" if compiling else WORK)
    return root


def _exchanged(streams: Sequence[IO[bytes]], stdin: bytes, bounds: Bounds, clock: RunClock) -> tuple[bytes, bytes, str]:
    """Write and read until both outputs are closed or a limit is passed; return both and the limit."""
    feed, out_stream, err_stream = streams
    out, err, rest = bytearray(), _Excerpt(), memoryview(stdin)
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        for stream in streams:
            stack.enter_context(contextlib.closing(stream))
            os.set_blocking(stream.fileno(), False)
        selector.register(feed, selectors.EVENT_WRITE)
        selector.register(out_stream, selectors.EVENT_READ, out)
        selector.register(err_stream, selectors.EVENT_READ, err)
        while any(key.data is not None for key in selector.get_map().values()):
            left = clock.remaining()
            if left <= 0:
                return bytes(out), err.content(), "wall"
            for key, _ in selector.select(left):
                if key.data is None:
                    rest = _fed(feed.fileno(), rest)
                    if not rest:
                        selector.unregister(feed)
                        feed.close()
                    continue
                block = os.read(key.fd, _CHUNK)
                if not block:
                    selector.unregister(key.fileobj)
                elif key.data is out and len(out) + len(block) > bounds.output_bytes:
                    return bytes(out), err.content(), "output"
                else:
                    key.data.extend(block)
    return bytes(out), err.content(), "exited"


class _Excerpt:
    """The start and the end of a run's output, because errors come last."""

    def __init__(self) -> None:
        self._head, self._tail, self._length = bytearray(), bytearray(), 0

    def extend(self, block: bytes) -> None:
        self._length += len(block)
        room = _CHUNK // 2 - len(self._head)
        self._head += block[:room]
        self._tail = (self._tail + block[room:])[-_CHUNK // 2 :]

    def content(self) -> bytes:
        cut = self._length - len(self._head) - len(self._tail)
        between = f"\n… {cut} bytes are left out …\n".encode() if cut else b""
        return bytes(self._head) + between + bytes(self._tail)


def _fed(descriptor: int, rest: memoryview) -> memoryview:
    """Write as much as a pipe takes, and return the rest; empty if the reader is gone."""
    try:
        return rest[os.write(descriptor, rest[:_CHUNK]) :] if rest else rest
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[len(rest) :]


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _memory_file(content: bytes) -> int:
    descriptor = os.memfd_create("rules")
    os.write(descriptor, content)
    return descriptor


def _ended(used: Mapping[str, Any], out: bytes, err: bytes, wall_s: float, reason: str, bounds: Bounds) -> Ended:
    code = int(used["code"])
    if code == 1 and err.startswith(_FAILED_TO_START) and not out:
        raise IsolationError(f"a program cannot be confined: {err.decode('utf-8', 'replace').strip()[:300]}")
    if code > 128 and reason == "exited":
        code = 128 - code  # bubblewrap reports a signal like a shell
    if reason == "exited" and (used["cpu_s"] > bounds.cpu_s or code == -signal.SIGXCPU):
        reason = "cpu"
    return Ended(code, out, err.decode("utf-8", "replace"), used["cpu_s"], wall_s, used["peak_bytes"], reason)
