"""The sandbox side: a zygote that has imported an engine, and workers forked from it, each with one checkpoint.

Its argument is the engine's name, `transformers` or `vllm`. The zygote's standard input is a socket of messages (JSON
objects). `{"launch": n, ...}` comes with three open files: the folder of the checkpoint, the worker's own socket and
the file for its errors; `{"kill": n}` ends a worker. It sends `{"ready": true}` once, and `{"ended": n, "status":
code}` whenever a worker has ended.

A worker's socket carries frames: four bytes of length, then a JSON object. It receives `{"ask": id, "request": ...}`
and `{"drop": id}`. It sends `{"loaded": seconds}` or `{"refused": why}`, then `{"answer": id, "reply": ...}`, or with
`"error"`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from heredity._core.errors import ConfigError, ProviderError
from heredity.models.contract import Message, Reply, Request, Sampling, ToolSpec

MAX_MESSAGE = 1 << 16
MAX_FRAME = 64 << 20
_ERROR_BYTES = 1 << 16
_WATCH_S = 0.25
_PAGE = resource.getpagesize()


class Answers(Protocol):
    """A loaded checkpoint."""

    async def reply(self, request: Request) -> Reply:
        """Answer a request; raises `ProviderError` or `ConfigError` if it cannot be answered."""
        ...


class Engine(Protocol):
    """Loads checkpoints: a module of this folder."""

    def prepare(self) -> None:
        """Import the modules that every worker needs; leaves no thread running."""
        ...

    def load(self, folder: str, settings: Mapping[str, Any]) -> Answers:
        """Load a checkpoint; raises `ConfigError` if it cannot be loaded."""
        ...


def main() -> None:
    """Serve until the socket is closed."""
    control = socket.socket(fileno=0)
    waker, wakened = os.pipe()
    os.set_blocking(wakened, False)
    signal.set_wakeup_fd(wakened)
    signal.signal(signal.SIGCHLD, _wake)
    engine: Engine = importlib.import_module(f"heredity.kinds.checkpoint.inference.{sys.argv[1]}_engine")  # pyright: ignore[reportAssignmentType]
    engine.prepare()
    control.send(json.dumps({"ready": True}).encode())
    workers: dict[int, int] = {}
    watched: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, waker], [], [], _WATCH_S if watched else None)
        _watch(watched, workers)
        if waker in ready:
            os.read(waker, 512)
            _report(control, workers)
        if control in ready:
            text, files, _, _ = socket.recv_fds(control, MAX_MESSAGE, 3)
            if not text:
                return
            order = json.loads(text)
            if "launch" in order:
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    control.close()
                    _work(engine, order, *files)
                workers[pid] = order["launch"]
                if order["device"] != "cpu":
                    watched[pid] = _resident_bytes("self") + order["memory_bytes"]
                for file in files:
                    os.close(file)
            for pid in [p for p, number in workers.items() if number == order.get("kill")]:
                os.kill(pid, signal.SIGKILL)


def _watch(watched: dict[int, int], workers: Mapping[int, int]) -> None:
    """End workers that exceed their memory limit: with a GPU, the size of mapped memory is meaningless."""
    for pid in [pid for pid in watched if pid not in workers]:
        del watched[pid]
    for pid, most in watched.items():
        if _resident_bytes(pid) > most:
            os.kill(pid, signal.SIGKILL)


def _resident_bytes(pid: int | str) -> int:
    """Return the memory that a process holds, in bytes; 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _wake(number: int, frame: object) -> None:
    """Make the interpreter write to the wake-up descriptor, which it does for handled signals."""


def _report(control: socket.socket, workers: dict[int, int]) -> None:
    while workers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        # As the first process it also inherits orphans of workers.
        if (number := workers.pop(pid, None)) is not None:
            ended = {"ended": number, "status": os.waitstatus_to_exitcode(status)}
            control.send(json.dumps(ended).encode())


def _work(engine: Engine, order: Mapping[str, Any], folder: int, stream: int, errors: int) -> None:
    """Run as a worker."""
    for number in (1, 2):
        os.dup2(errors, number)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_ERROR_BYTES, _ERROR_BYTES))
    if order["device"] == "cpu":
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
        room = mapped + order["memory_bytes"]
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
    status = 1
    try:
        asyncio.run(_serve(engine, socket.socket(fileno=stream), f"/proc/self/fd/{folder}", order))
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


async def _serve(engine: Engine, stream: socket.socket, folder: str, order: Mapping[str, Any]) -> None:
    reader, writer = await asyncio.open_connection(sock=stream, limit=MAX_FRAME)
    began = time.monotonic()
    try:
        model = engine.load(folder, order)
    except ConfigError as error:
        _write(writer, {"refused": str(error).replace(folder, "the checkpoint")})
        await writer.drain()
        return
    _write(writer, {"loaded": time.monotonic() - began})
    asked: dict[int, asyncio.Task[None]] = {}
    while (size := await _head(reader)) is not None:
        message = json.loads(await reader.readexactly(size))
        if "drop" in message:
            if task := asked.get(message["drop"]):
                task.cancel()
            continue
        number = message["ask"]
        asked[number] = task = asyncio.create_task(_answer(model, number, message["request"], writer))
        task.add_done_callback(lambda done, n=number: _answered(done, asked, n))


async def _head(reader: asyncio.StreamReader) -> int | None:
    try:
        return int.from_bytes(await reader.readexactly(4), "little")
    except asyncio.IncompleteReadError:
        return None


def _answered(done: asyncio.Task[None], asked: dict[int, asyncio.Task[None]], number: int) -> None:
    del asked[number]
    if not done.cancelled() and (error := done.exception()) is not None:
        # The engine is broken; if the worker went on, all other requests would wait in vain.
        traceback.print_exception(error)
        os._exit(1)


async def _answer(model: Answers, number: int, asked: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
    try:
        reply = await model.reply(_request(asked))
        _write(writer, {"answer": number, "reply": reply.to_json()})
    except ProviderError as error:
        _write(writer, {"answer": number, "error": [error.kind, str(error), error.transient]})
    except ConfigError as error:
        _write(writer, {"answer": number, "error": ["request", str(error), False]})


def _request(value: Mapping[str, Any]) -> Request:
    sampling = dict(value["sampling"])
    sampling["stop"] = tuple(sampling.get("stop", ()))
    return Request(
        tuple(Message.from_json(message) for message in value["messages"]),
        tuple(ToolSpec(*tool) for tool in value["tools"]),
        Sampling(**sampling),
        value["tool_choice"],
    )


def _write(writer: asyncio.StreamWriter, value: Mapping[str, Any]) -> None:
    data = json.dumps(value).encode()
    writer.write(len(data).to_bytes(4, "little") + data)


if __name__ == "__main__":
    main()
