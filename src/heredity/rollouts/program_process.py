"""One confined process that runs functions of a program, as the host sees it.

It says what it likes on one pipe. Every frame is checked for its size, its turn and its content; whatever is wrong ends the
process and becomes a result. Time is taken here: a program's own seconds stand still while the host does something for it.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from heredity.actors.contract import Service, ToolResult
from heredity.errors import ConfigError, HeredityError, HostError, IsolationError
from heredity.rollouts import untrusted_messages
from heredity.rollouts.json_values import parse_value
from heredity.rollouts.program_clocks import Clock, EndedError, ProcessorClock
from heredity.sandbox.async_zygote import AsyncZygote, ready
from heredity.sandbox.guest import frames
from heredity.sandbox.waiting import WorkerTime
from heredity.sandbox.zygote import Worker

_CONFINE_S = 15.0
_STATUS_S = 10.0
_NEWS_BYTES = 1 << 17
_LARGE = 1 << 16
"""Bytes from which a value is parsed off the event loop."""
_OUT_OF_TURN = "the program's process wrote to its own pipe out of turn"
_CATEGORIES = frozenset(["tool_error", "oom", "output", "missing"])


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What one call of a sandboxed program may use.

    Attributes:
        memory_bytes: memory of its process beyond what the interpreter maps.
        scratch_bytes: size of the folder it may write to.
        output_bytes: how much of stdout and of stderr is kept of each call.
        result_bytes: most bytes of what it returns, as JSON.
        wall_s: wall seconds of one call, the services it waits for included.
        init_s: wall seconds for importing its module, and for constructing an object that is kept.
        requests: how often one call may ask for services.
        request_bytes: most bytes of one such request, as JSON.
        kept_cpu_s: processor seconds of a process that is kept, over all its calls and what its threads do between them.
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
    """One of the places of those programs that run at the same time; given up while a program waits for the host."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places, self._held = places, False

    async def take(self) -> None:
        """Wait for a place, unless one is held."""
        if not self._held:
            await self._places.acquire()
            self._held = True

    def give(self) -> None:
        """Give the place up, if it is held."""
        if self._held:
            self._held = False
            self._places.release()


class ProgramProcess:
    """A confined process and the calls it answers, one at a time.

    Attributes:
        alive: whether it can take another call.
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
        """Have the program answer a request (see `frames.REQUEST`); it holds a turn for that long.

        Raises:
            HostError: if the sandbox fails, or a service says that the host or a provider has failed.
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
        """End the process, which may have closed its pipe; what it has printed is kept, and a call that is going on finds out."""
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
            # The program writes at the same place of the file as is set here, so each call starts with an empty one.
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
            await self._write(frame, clock)  # at once, so that the program need not wait for it later
            payload = await self._read(clock)
        except EndedError as ended:
            raise HostError(f"the sandbox failed before the program was confined: {ended.message}") from ended
        if payload[:1] == frames.UNCONFINED:
            raise IsolationError(f"confinement failed: {payload[1:].decode('utf-8', 'replace')}")
        self._confined = True
        self._time = WorkerTime(self._zygote.pid, int(payload[1:]))

    async def _next(self, clock: Clock) -> bytes:
        """Return the next frame that is no request for a service; those are answered."""
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
            # Services take what a program gives them: an error of this kind says what is wrong with that.
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
            except BrokenPipeError:  # it has ended; reading says how
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
            raise HostError(f"the sandbox did not say within {_STATUS_S:g} s how a program ended") from error
        if status is None:
            raise HostError("the sandbox ended while a program ran in it")
        if closed:
            return EndedError("crash", "the program was closed in the middle of a call")
        if status == -signal.SIGXCPU:
            return EndedError("timeout", "the program used more processor time than it may")
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
    """Return a text without lone surrogates, which can be neither stored nor sent; `""` if it is none."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
