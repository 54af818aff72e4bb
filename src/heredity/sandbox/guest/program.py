"""The loop inside a program worker: imports a module, calls its function, and the methods of a kept result.

Runs after confinement, in the same process as the untrusted program; the host trusts none of its output.
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
    """The host could not serve a request; the message says why."""


class _Bounded(io.RawIOBase):
    """Replaces stdout or stderr: writes to a descriptor up to a limit, and discards the rest."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self.descriptor, self.limit, self.left = descriptor, limit, limit

    def writable(self) -> bool:
        """Return True, as print requires."""
        return True

    def fileno(self) -> int:
        """Return the descriptor, which also takes writes that bypass this object."""
        return self.descriptor

    def write(self, data: Any) -> int:
        """Write `data` up to the limit, and report all of it as written."""
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
        response: descriptor for the program's requests and results.
        order: `program` (its folder), `output` (bytes kept of stdout and of stderr for each call), `result` (size
            limit of a return value, in bytes), `ask` (size limit of a service request, in bytes).
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
        """Request a service of the host, and wait for its result; works from any thread.

        Args:
            service: its name.
            value: the request (JSON values).

        Raises:
            ServiceError: if it cannot be served, or the request is not JSON, too large, or made outside a call.
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
        # Freed when memory has run out, to make room for the report.
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
        # A program may have modules with the names of modules already imported by this process.
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
    """Make a sample call, so that a reserve process has its memory in place before its order."""
    request, response = os.pipe(), os.pipe()
    loop = ProgramLoop(request[0], response[1], {"output": 0, "result": 0, "ask": 0, "program": "/"})
    harness.seed(0)
    compile("def run(a):\n    return a\n", "tool.py", "exec")
    loop.kept = loop
    loop.serve(json.loads('{"method": "_returned", "arguments": {"result": {"a": [1.5, "text"]}}}'))
    for fd in (*request, *response):
        os.close(fd)


class _MissingError(Exception):
    """The function does not exist."""


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
