"""What runs in the sandbox: a zygote that has imported torch, and workers forked from it, each with one checkpoint.

The zygote's standard input is a socket of messages (JSON objects). `{"launch": n, ...}` comes with three open files: the folder of
the checkpoint, the worker's own socket and where its errors go; `{"kill": n}` ends a worker. It says `{"ready": true}` once,
and `{"ended": n, "status": code}` whenever a worker has ended. A worker's socket carries frames: four bytes of length, then a JSON
object: `{"ask": id, "request": ...}` and `{"drop": id}` come, `{"loaded": seconds}` or `{"refused": why}`, then
`{"answer": id, "reply": ...}`, or with `"error"`, go.
"""

# pyright: reportMissingImports=false
# What is imported here is an extra's, and need not be installed.
from __future__ import annotations

import asyncio
import importlib
import json
import os
import resource
import select
import signal
import socket
import time
import traceback
from collections.abc import Mapping
from typing import Any

from heredity.errors import ConfigError, ProviderError
from heredity.gateway import local_weights
from heredity.gateway.contract import Message, Request, Sampling, ToolSpec
from heredity.gateway.local import Local, LocalSettings

MAX_MESSAGE = 1 << 16
MAX_FRAME = 64 << 20
_ERROR_BYTES = 1 << 16

_IMPORTED = ("models.auto.modeling_auto", "models.auto.tokenization_auto", "models.llama.modeling_llama", "cache_utils")
"""Modules that transformers would import for the first checkpoint."""

_LAST_USER = "{{ (messages | selectattr('role', 'equalto', 'user') | list | last)['content'] }}"
"""The template of a model that has none: what the user said last, as it is."""


def main() -> None:
    """Serve until the socket is closed."""
    control = socket.socket(fileno=0)
    waker, wakened = os.pipe()
    os.set_blocking(wakened, False)
    signal.set_wakeup_fd(wakened)
    signal.signal(signal.SIGCHLD, _wake)
    _import()
    control.send(json.dumps({"ready": True}).encode())
    workers: dict[int, int] = {}
    while True:
        ready, _, _ = select.select([control, waker], [], [])
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
                    _work(order, *files)
                workers[pid] = order["launch"]
                for file in files:
                    os.close(file)
            for pid in [p for p, number in workers.items() if number == order.get("kill")]:
                os.kill(pid, signal.SIGKILL)


def _import() -> None:
    import torch
    import transformers

    for name in _IMPORTED:
        importlib.import_module(f"transformers.{name}")
    # Threads do not outlive a fork: there must be none when a worker is forked.
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()


def _wake(number: int, frame: object) -> None:
    """Have the interpreter write to the wake-up descriptor, which it does for signals that are handled."""


def _report(control: socket.socket, workers: dict[int, int]) -> None:
    while workers:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        ended = {"ended": workers.pop(pid), "status": os.waitstatus_to_exitcode(status)}
        control.send(json.dumps(ended).encode())


def _work(order: Mapping[str, Any], folder: int, stream: int, errors: int) -> None:
    """Be a worker."""
    for number in (1, 2):
        os.dup2(errors, number)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_ERROR_BYTES, _ERROR_BYTES))
    mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()  # noqa: SIM115
    room = mapped + order["memory_bytes"]
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    status = 1
    try:
        asyncio.run(_serve(socket.socket(fileno=stream), f"/proc/self/fd/{folder}", order))
        status = 0
    finally:
        if status:
            traceback.print_exc()
        os._exit(status)


async def _serve(stream: socket.socket, folder: str, order: Mapping[str, Any]) -> None:
    reader, writer = await asyncio.open_connection(sock=stream, limit=MAX_FRAME)
    began = time.monotonic()
    try:
        weights = _load(folder)
    except ConfigError as error:
        _write(writer, {"refused": str(error).replace(folder, "the checkpoint")})
        await writer.drain()
        return
    _write(writer, {"loaded": time.monotonic() - began})
    settings = LocalSettings(threads=order["threads"], batch=order["batch"], batch_tokens=order["batch_tokens"])
    model = Local("checkpoint", settings, load=lambda _: weights)
    asked: dict[int, asyncio.Task[None]] = {}
    while (size := await _head(reader)) is not None:
        message = json.loads(await reader.readexactly(size))
        if "drop" in message:
            if task := asked.get(message["drop"]):
                task.cancel()
            continue
        number = message["ask"]
        asked[number] = task = asyncio.create_task(_answer(model, number, message["request"], writer))
        task.add_done_callback(lambda _, n=number: asked.pop(n, None))


async def _head(reader: asyncio.StreamReader) -> int | None:
    try:
        return int.from_bytes(await reader.readexactly(4), "little")
    except asyncio.IncompleteReadError:
        return None


async def _answer(model: Local, number: int, asked: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
    try:
        reply = await model.reply(_request(asked))
        _write(writer, {"answer": number, "reply": reply.to_json()})
    except ProviderError as error:
        _write(writer, {"answer": number, "error": [error.kind, str(error), error.transient]})
    except ConfigError as error:
        _write(writer, {"answer": number, "error": ["request", str(error), False]})


def _load(folder: str) -> local_weights.Weights:
    weights = local_weights.load(folder)
    tokenizer = weights.tokenizer
    if not tokenizer.chat_template:
        begins = tokenizer("x")["input_ids"][:1] == [tokenizer.bos_token_id]
        tokenizer.chat_template = ("{{ bos_token }}" if begins else "") + _LAST_USER
    return weights


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
