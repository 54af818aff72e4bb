"""The loop inside a program worker: import a module, call its function, and where it is kept the methods of what that gave.

Runs after confinement, in the same process as the untrusted program; nothing it says is trusted by the host.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import sys
import threading
import types
from collections.abc import Callable, Mapping
from typing import Any

import coroutines
import failures
import frames
import harness
import numpy as np

SERVICES_MODULE = "heredity_guest"
_RESERVE = 1 << 20


class ServiceError(Exception):
    """What was asked of the host could not be done; the message says why."""


class _Bounded(io.RawIOBase):
    """Stands in for stdout or stderr: what is written goes to a descriptor up to a limit, and beyond it nowhere."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self.descriptor, self.limit, self.left = descriptor, limit, limit

    def writable(self) -> bool:
        """Return True: this is where print goes."""
        return True

    def fileno(self) -> int:
        """Return the descriptor, which takes what is written past this object too."""
        return self.descriptor

    def write(self, data: Any) -> int:
        """Write what the limit leaves of `data`, and say that it was all written."""
        size = len(data)
        if self.left > 0:
            kept = bytes(memoryview(data)[: self.left])
            self.left -= len(kept)
            try:
                os.write(self.descriptor, kept)
            except OSError:  # native code has filled the file
                self.left = 0
        return size


class ProgramLoop:
    """Serves one program over a pair of pipes.

    Args:
        request: descriptor of requests and answers.
        response: descriptor for what the program asks and gives.
        order: `program` (its folder), `output` (bytes kept of stdout and of stderr for each call), `result` (most bytes
            of what it returns), `ask` (most bytes of one request for a service).
    """

    def __init__(self, request: int, response: int, order: Mapping[str, Any]) -> None:
        self.request, self.response, self.order = request, response, order
        self.printed = [_Bounded(descriptor, order["output"]) for descriptor in (1, 2)]
        self.turn = threading.RLock()
        self.busy = False
        self.kept: Any = None

    def run(self) -> None:
        """Answer requests until the host closes the pipe or kills this process."""
        sys.stdout, sys.stderr = (
            io.TextIOWrapper(raw, encoding="utf-8", errors="replace", write_through=True)  # type: ignore[arg-type]
            for raw in self.printed
        )
        services = types.ModuleType(SERVICES_MODULE)
        services.ask, services.ServiceError = self.ask, ServiceError  # type: ignore[attr-defined]
        sys.modules[SERVICES_MODULE] = services
        os.chdir(os.environ["TMPDIR"])
        harness.seed(0)
        while True:
            try:
                frame = frames.read_frame(self.request)
            except EOFError:
                return
            self.serve(json.loads(frame[frames.HEADER.size + 1 :]))

    def ask(self, service: str, value: Any = None) -> Any:
        """Have the host do something, and return what it gives; waits for it, from whichever thread.

        Args:
            service: its name.
            value: what it is asked for, JSON values.

        Raises:
            ServiceError: if it cannot be done, or what is asked is no JSON, too large, or asked while no call is going on.
        """
        try:
            data = _encode({"service": service, "value": value})
        except (TypeError, ValueError, RecursionError) as error:
            raise ServiceError(f"what is asked of {service!r} cannot be sent: {error}") from error
        if len(data) > self.order["ask"]:
            raise ServiceError(f"what is asked of {service!r} takes {len(data)} bytes, more than {self.order['ask']}")
        with self.turn:
            if not self.busy:
                raise ServiceError("a service can only be asked while the host waits for a call")
            frames.write_frame(self.response, frames.ASK + data)
            frame = frames.read_frame(self.request)
        answer = json.loads(frame[frames.HEADER.size + 1 :])
        if "error" in answer:
            raise ServiceError(answer["error"])
        return answer["value"]

    def serve(self, request: dict[str, Any]) -> None:
        """Answer one request (see `frames.REQUEST`)."""
        for raw in self.printed:
            raw.left = raw.limit
        self.busy = True
        # Given up when memory has run out, so that there is some to say so with.
        reserve: bytearray | None = bytearray(_RESERVE)
        value, failure = b"", None
        try:
            function = self._function(request)
            result = function(**request["arguments"])
            if isinstance(result, types.CoroutineType):
                result = coroutines.run(result)
            if request.get("keep"):
                self.kept, result = result, None
            value, failure = self._returned(result)
        except BaseException as error:  # noqa: BLE001 - whatever an untrusted program raises is reported, not handled
            reserve = None
            failure = self._describe(error)
        del reserve
        news = json.dumps({"failure": failure}).encode()
        with self.turn:
            self.busy = False
            frames.write_frame(self.response, frames.RESULT + frames.HEADER.pack(len(news)) + news + value)

    def _function(self, request: Mapping[str, Any]) -> Callable[..., Any]:
        if "method" in request:
            return _attribute(self.kept, request["method"], "the program's object")
        module_name, _, path = request["function"].partition(":")
        # A program may have modules that are named like those this process has imported already.
        sys.modules.pop(module_name, None)
        target: Any = importlib.import_module(module_name)
        for name in path.split("."):
            target = _attribute(target, name, f"module {module_name!r}")
        with self.turn:
            frames.write_frame(self.response, frames.LOADED)
        return target

    def _returned(self, result: Any) -> tuple[bytes, dict[str, Any] | None]:
        try:
            value = _encode(result)
        except (TypeError, ValueError, RecursionError) as error:
            return b"", harness.problem("output", f"what was returned cannot be sent as JSON: {error}"[:500])
        if len(value) > self.order["result"]:
            text = f"what was returned takes {len(value)} bytes as JSON, more than {self.order['result']}"
            return b"", harness.problem("output", text)
        return value, None

    def _describe(self, error: BaseException) -> dict[str, Any]:
        if isinstance(error, _MissingError):
            return harness.problem("missing", str(error))
        category = "oom" if failures.out_of_memory(error) else "tool_error"
        text = failures.traceback_of(error, self.order["program"])
        return harness.problem(category, failures.message_of(error), text)


def rehearse() -> None:
    """Do what a call does, so that a process in reserve has its memory in place before its order."""
    request, response = os.pipe(), os.pipe()
    loop = ProgramLoop(request[0], response[1], {"output": 0, "result": 0, "ask": 0, "program": "/"})
    harness.seed(0)
    compile("def run(a):\n    return a\n", "tool.py", "exec")
    loop.kept = loop
    loop.serve(json.loads('{"method": "_returned", "arguments": {"result": {"a": [1.5, "text"]}}}'))
    for fd in (*request, *response):
        os.close(fd)


class _MissingError(Exception):
    """There is no such function."""


def _attribute(owner: Any, name: str, what: str) -> Any:
    attribute = getattr(owner, name, None)
    if not callable(attribute) and not isinstance(attribute, types.ModuleType):
        raise _MissingError(f"{what} has no function {name!r}")
    return attribute


def _encode(value: Any) -> bytes:
    return json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no JSON value")
