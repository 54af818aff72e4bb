"""One confined process that runs functions of a program, as the host sees it.

The process writes to one pipe and is not trusted. Every frame is checked for size, turn and content; a violation ends the
process (and becomes a result). The host keeps the time: a program's own seconds pause while the host serves it.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
import signal
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from heredity._core.errors import ConfigError, HeredityError, HostError, IsolationError
from heredity.engine import untrusted_messages
from heredity.engine.actor import Service, ToolResult
from heredity.sandbox.guest import frames
from heredity.sandbox.waiting import LOOK_S, LateError, UnansweredError, Wait, WorkerTime
from heredity.sandbox.zygote import AsyncZygote, Worker, ready

UNANSWERED = "unanswered"
"""Category of calls that only wait, where CPU time is counted: they cannot be judged slow."""


class EndedError(Exception):
    """The process has ended or must end, with the reason in the terms of `ToolResult`."""

    def __init__(self, error: str, message: str) -> None:
        self.error, self.message = error, message
        super().__init__(message)


class Clock:
    """The time of one call: `left` runs only while the program does, `wall` pauses only in the queue for a turn."""

    def __init__(self, wall_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self.wall_s, self.wall = wall_s, self._loop.time() + wall_s
        self.allow(wall_s, "the call")

    def allow(self, seconds: float, what: str) -> None:
        """Give the program `seconds` from now on, for `what`."""
        self.left, self._seconds, self._what = seconds, seconds, what
        self._since = self._loop.time()

    def stop(self) -> None:
        """Pause: the program waits."""
        self.left -= self._loop.time() - self._since

    def go_on(self, since: float) -> None:
        """Resume; the program was in the queue since then."""
        self._since = self._loop.time()
        self.wall += self._since - since

    @property
    def deadline(self) -> float:
        """The loop's time by which a running program must have answered."""
        return min(self._since + self.left, self.wall)

    def expired(self) -> EndedError | None:
        """Return the error if the deadline has passed, else None."""
        if self._since + self.left > self.wall:
            return EndedError("timeout", f"it took more than {self.wall_s:g} s in all, waiting included")
        return EndedError("timeout", f"{self._what} took more than {self._seconds:g} s")


class ProcessorClock(Clock):
    """The CPU time of one call, so that machine load does not decide."""

    def __init__(self, wall_s: float, time: WorkerTime) -> None:
        self._time = time
        super().__init__(wall_s)

    def allow(self, seconds: float, what: str) -> None:
        """Give the program `seconds` of CPU time from now on, for `what`."""
        super().allow(seconds, what)
        self._wait = Wait(self._time, seconds)

    @property
    def deadline(self) -> float:
        """The loop's time of the next check of the CPU time."""
        return self._loop.time() + LOOK_S

    def expired(self) -> EndedError | None:
        """Return the error if its CPU time is used up or it only waits, else None."""
        try:
            self._wait.look()
        except UnansweredError:
            return EndedError(UNANSWERED, f"{self._what} did not finish and used little CPU time")
        except LateError:
            return EndedError("timeout", f"{self._what} took more than {self._seconds:g} s of CPU time")
        return None


MAX_DEPTH = 64
"""Maximum nesting of lists and objects, so that values can be walked recursively."""

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_STEP = np.zeros(256, dtype=np.int8)
_STEP[list(b"[{")], _STEP[list(b"]}")] = 1, -1


def parse_value(data: bytes) -> Any:
    """Return the JSON value that `data` encodes.

    Raises:
        ValueError: if it is not JSON, or cannot be stored or sent on; the message gives the reason.
    """
    try:
        value = json.loads(data.decode(), parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError(f"nested more than {MAX_DEPTH} deep") from error
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} deep")
    if _SURROGATE.search(data):
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _depth(data: bytes) -> int:
    steps = _STEP[np.frombuffer(_STRING.sub(b"", data), dtype=np.uint8)]
    return int(np.cumsum(steps, dtype=np.int64).max())


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large for a number")
    return number


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


_CONFINE_S = 15.0
_STATUS_S = 10.0
_NEWS_BYTES = 1 << 17
_LARGE = 1 << 16
"""Size in bytes above which a value is parsed off the event loop."""
_OUT_OF_TURN = "the program's process wrote to its own pipe out of turn"
_CATEGORIES = frozenset(["tool_error", "oom", "output", "missing"])


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of one call of a sandboxed program.

    Attributes:
        memory_bytes: memory of its process in addition to the interpreter's.
        scratch_bytes: size of its writable folder.
        output_bytes: bytes kept of stdout and of stderr per call.
        result_bytes: maximum size of the result (as JSON).
        wall_s: wall seconds of one call, including the services it waits for.
        init_s: wall seconds for importing its module, and for constructing an object that is kept.
        requests: maximum service requests per call.
        request_bytes: maximum size of one request, as JSON.
        kept_cpu_s: CPU seconds of a kept process, over all its calls and its threads' work between them.
    """

    memory_bytes: int = 512 << 20
    scratch_bytes: int = 16 << 20
    output_bytes: int = 64 << 10
    result_bytes: int = 1 << 20
    wall_s: float = 600.0
    init_s: float = 10.0
    requests: int = 1000
    request_bytes: int = 1 << 20
    kept_cpu_s: int = 3600

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 < value < math.inf:
                raise ConfigError(f"ProgramLimits.{name} is {value}; give a finite number above 0")


class Turn:
    """One of the slots for concurrently running programs; released while a program waits for the host."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places, self._held = places, False

    async def take(self) -> None:
        """Wait for a slot, unless one is held."""
        if not self._held:
            await self._places.acquire()
            self._held = True

    def give(self) -> None:
        """Release the slot, if it is held."""
        if self._held:
            self._held = False
            self._places.release()


class ProgramProcess:
    """A confined process and the calls it answers, one at a time.

    Attributes:
        alive: true while it can take another call.
    """

    def __init__(
        self,
        zygote: AsyncZygote,
        worker: Worker,
        limits: ProgramLimits,
        services: Mapping[str, Service],
        turn: Turn,
        *,
        processor: bool = False,
    ) -> None:
        self._zygote, self._worker, self._limits, self._services = zygote, worker, limits, services
        self._turn = turn
        self._loop = asyncio.get_running_loop()
        self._inbox = bytearray()
        self._confined, self._busy, self._asked = False, False, 0
        self._processor, self._time = processor, WorkerTime(zygote.pid, None)
        self._status: asyncio.Future[int | None] | None = None
        self._printed = ("", "")
        self.alive = True

    async def call(self, request: bytes, seconds: float) -> ToolResult:
        """Send a request (see `frames.REQUEST`) to the program and return its result; it holds a turn meanwhile.

        Raises:
            HostError: if the sandbox fails, or a service reports that the host or a provider has failed.
            IsolationError: if the process could not be confined.
        """
        self._busy, self._asked = True, 0
        started = self._loop.time()
        try:
            await self._turn.take()
            result = await self._exchange(frames.REQUEST + request, seconds)
        except EndedError as ended:
            self.kill()
            result = ToolResult(error=ended.error, message=ended.message)
        except BaseException:
            self.kill()
            raise
        finally:
            self._turn.give()
            self._busy = False
            if not self.alive:
                self._worker.close()
        stdout, stderr = self._read_printed()
        return replace(result, stdout=stdout, stderr=stderr, seconds=self._loop.time() - started)

    def kill(self, *, closed: bool = False) -> None:
        """End the process, which may have closed its pipe; its output is kept, and a call in progress fails."""
        if self._status is None:
            self._printed = self._worker.read_outputs(self._limits.output_bytes)
            self._status = self._zygote.kill(self._worker, closed=closed)
            self.alive = False
        if not self._busy:
            self._worker.close()

    def _read_printed(self) -> tuple[str, str]:
        if not self.alive:
            return self._printed
        printed = self._worker.read_outputs(self._limits.output_bytes)
        for fd in self._worker.outputs:
            # The file offset is shared with the program, so each call starts with an empty file.
            os.lseek(fd, 0, os.SEEK_SET)
            os.ftruncate(fd, 0)
        return printed

    async def _exchange(self, frame: bytes, seconds: float) -> ToolResult:
        fresh = not self._confined
        if fresh:
            await self._confine(frame)
        else:
            await self._expect_silence()
        wall_s = self._limits.wall_s
        clock = ProcessorClock(wall_s, self._time) if self._processor else Clock(wall_s)
        if fresh:
            clock.allow(self._limits.init_s, "importing the program")
        else:
            clock.allow(seconds, "the call")
            await self._write(frame, clock)
        payload = await self._next(clock)
        if fresh and payload == frames.LOADED:
            clock.allow(seconds, "the call")
            payload = await self._next(clock)
        if payload[:1] != frames.RESULT or self._inbox:
            raise EndedError("crash", _OUT_OF_TURN)
        return await self._result(payload)

    async def _confine(self, frame: bytes) -> None:
        clock = Clock(_CONFINE_S)
        try:
            await self._write(frame, clock)  # now, so that the program does not wait for it later
            payload = await self._read(clock)
        except EndedError as ended:
            raise HostError(f"the sandbox failed before the program was confined: {ended.message}") from ended
        if payload[:1] == frames.UNCONFINED:
            raise IsolationError(f"confinement failed: {payload[1:].decode('utf-8', 'replace')}")
        self._confined = True
        self._time = WorkerTime(self._zygote.pid, int(payload[1:]))

    async def _next(self, clock: Clock) -> bytes:
        """Serve requests and return the next other frame."""
        while True:
            payload = await self._read(clock)
            if payload[:1] != frames.ASK:
                return payload
            self._asked += 1
            if self._asked > self._limits.requests:
                raise EndedError("tool_error", f"it asked for services more than {self._limits.requests} times")
            if self._inbox or len(payload) > self._limits.request_bytes + 1:
                raise EndedError("crash", _OUT_OF_TURN)
            clock.stop()
            self._turn.give()
            answer = await self._serve(payload[1:], clock)
            answered = self._loop.time()
            await self._turn.take()
            clock.go_on(answered)
            await self._write(frames.ANSWER + answer, clock)

    async def _serve(self, data: bytes, clock: Clock) -> bytes:
        try:
            request = await _parsed(data)
        except ValueError as error:
            return _refused(f"the request is no JSON that can be read: {error}")
        name = request.get("service") if isinstance(request, dict) else None
        service = self._services.get(name) if isinstance(name, str) else None
        if service is None:
            return _refused(f"there is no service {str(name)[:80]!r}; there are: {', '.join(self._services) or 'none'}")
        timeout = asyncio.timeout_at(clock.wall)
        try:
            async with timeout:
                value = await service(request.get("value"))
        except TimeoutError as error:
            if timeout.expired():
                raise EndedError(
                    "timeout", f"it took more than {clock.wall_s:g} s in all, waiting for {name!r}"
                ) from error
            raise
        except HostError:
            raise
        except (HeredityError, LookupError, TypeError, ValueError, AttributeError) as error:
            # Services get the program's arguments, so an error of this kind is about those.
            return _refused(f"{type(error).__name__}: {error}"[:500])
        try:
            return json.dumps({"value": value}, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise HostError(f"service {name!r} gave what is no JSON value: {error}") from error

    async def _result(self, payload: bytes) -> ToolResult:
        size = int.from_bytes(payload[1:5], "little")
        news, value = untrusted_messages.parse(payload[5 : 5 + size]), payload[5 + size :]
        if news is None:
            raise EndedError("crash", _OUT_OF_TURN)
        failure = news.get("failure")
        if isinstance(failure, dict):
            category, message, traceback = (_text(failure.get(k)) for k in ("category", "message", "traceback"))
            kind = category if category in _CATEGORIES else "tool_error"
            return ToolResult(error=kind, message=message[:500], traceback=traceback[:10_000])
        if len(value) > self._limits.result_bytes:
            text = f"what was returned takes {len(value)} bytes as JSON, more than {self._limits.result_bytes}"
            return ToolResult(error="output", message=text)
        try:
            return ToolResult(await _parsed(value))
        except ValueError as error:
            return ToolResult(error="output", message=f"what was returned is no JSON that can be read: {error}"[:500])

    async def _read(self, clock: Clock) -> bytes:
        inbox = self._inbox
        largest = _NEWS_BYTES + max(self._limits.result_bytes, self._limits.request_bytes)
        while True:
            if len(inbox) >= frames.HEADER.size:
                size = int.from_bytes(inbox[:4], "little")
                if not 0 < size <= largest:
                    raise EndedError("crash", f"the program's process wrote {size} bytes out of turn to its own pipe")
                if len(inbox) >= size + 4:
                    payload = bytes(inbox[4 : size + 4])
                    del inbox[: size + 4]
                    return payload
            try:
                chunk = os.read(self._worker.response, frames.CHUNK)
            except BlockingIOError:
                await self._ready(self._loop.add_reader, self._loop.remove_reader, self._worker.response, clock)
                continue
            if not chunk:
                raise await self._death()
            inbox += chunk

    async def _write(self, payload: bytes, clock: Clock) -> None:
        left = memoryview(frames.HEADER.pack(len(payload)) + payload)
        while left:
            try:
                left = left[os.write(self._worker.request, left) :]
            except BlockingIOError:
                await self._ready(self._loop.add_writer, self._loop.remove_writer, self._worker.request, clock)
            except BrokenPipeError:  # it has ended; reading tells why
                return

    async def _ready(self, watch: Any, unwatch: Any, descriptor: int, clock: Clock) -> None:
        try:
            await ready(watch, unwatch, descriptor, clock.deadline)
        except TimeoutError as error:
            ended = clock.expired()
            if ended is not None:
                raise ended from error

    async def _expect_silence(self) -> None:
        try:
            chunk = os.read(self._worker.response, frames.CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise await self._death()
        raise EndedError("crash", "the program's process wrote to its own pipe between two calls")

    async def _death(self) -> EndedError:
        closed = not self.alive
        self.kill(closed=True)
        assert self._status is not None
        try:
            async with asyncio.timeout(_STATUS_S):
                status = await self._status
        except TimeoutError as error:
            raise HostError(f"the sandbox did not report within {_STATUS_S:g} s how a program ended") from error
        if status is None:
            raise HostError("the sandbox ended while a program ran in it")
        if closed:
            return EndedError("crash", "the program was closed in the middle of a call")
        if status == -signal.SIGXCPU:
            return EndedError("timeout", "the program exceeded its CPU time limit")
        if status == -signal.SIGKILL:
            return EndedError("oom", "the program was killed, out of memory most likely")
        if status == frames.LIVED_ON:
            return EndedError("crash", "the program closed its pipe to the host")
        return EndedError("crash", f"the program's process ended: {untrusted_messages.exit_text(status)}")


async def _parsed(data: bytes) -> Any:
    return await asyncio.to_thread(parse_value, data) if len(data) > _LARGE else parse_value(data)


def _refused(why: str) -> bytes:
    return json.dumps({"error": why}).encode()


def _text(value: Any) -> str:
    """Return a text without lone surrogates, which can be neither stored nor sent; `""` for other values."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
