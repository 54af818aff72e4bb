"""A real HTTP server on this machine that plays a provider: what it is told to answer, and a record of what it was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Answer:
    """One answer: a body (JSON values or bytes), or events of a stream; `hang` waits, `cut` drops the connection."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    events: list[Any] | None = None
    named: bool = False
    hang_s: float = 0.0
    cut: bool = False


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Endpoint:
    """Gives its answers in order, the last one again and again, or what `decide` gives for a request."""

    url: str = ""
    decide: Callable[[Asked], Answer] | None = None
    answers: list[Answer] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    open_now: int = 0
    most_open: int = 0
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def play(self, *answers: Answer) -> None:
        self.answers = list(answers)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self.task_index(reader, writer))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def task_index(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (asked := await _read(reader)) is not None:
                self.asked.append(asked)
                self.open_now += 1
                self.most_open = max(self.most_open, self.open_now)
                if self.decide is not None:
                    answer = self.decide(asked)
                else:
                    answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                try:
                    await asyncio.sleep(answer.hang_s)
                    await _write(writer, answer)
                finally:
                    self.open_now -= 1
                if answer.cut:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(first.split()[1], headers, json.loads(body or b"null"))


async def _write(writer: asyncio.StreamWriter, answer: Answer) -> None:
    extra = "".join(f"{k}: {v}\r\n" for k, v in answer.headers.items())
    if answer.events is None:
        data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        kind = answer.headers.get("content-type") or "application/json"
        head = f"HTTP/1.1 {answer.status} X\r\ncontent-type: {kind}\r\n{extra}content-length: {len(data)}\r\n\r\n"
        writer.write(head.encode() + data)
    else:
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{extra}transfer-encoding: chunked\r\n\r\n".encode()
        )
        for event in answer.events:
            name = f"event: {event['type']}\n" if answer.named else ""
            text = event if isinstance(event, str) else json.dumps(event)
            data = f"{name}data: {text}\n\n".encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
        if not answer.cut:
            writer.write(b"0\r\n\r\n")
    await writer.drain()


@asynccontextmanager
async def endpoint() -> AsyncGenerator[Endpoint]:
    played = Endpoint()
    server = await asyncio.start_server(played.accept, "127.0.0.1", 0)
    played.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield played
    finally:
        server.close()
        for task in list(played.tasks):
            task.cancel()
        await asyncio.gather(*played.tasks, return_exceptions=True)


# --- OpenAI's chat completions


def completion(
    text: str | None = "hello",
    *,
    calls: list[tuple[str, str, str]] | None = None,
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": text, **message}
    if calls:
        said["tool_calls"] = [
            {"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls
        ]
    used = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15} if usage is None else usage
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m-dated",
        "choices": [{"index": 0, "message": said, "finish_reason": finish}],
        **({"usage": used} if used else {}),
    }


def chunks(*deltas: dict[str, Any], finish: str | None = "stop", usage: dict[str, Any] | None = None) -> list[Any]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    used = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15} if usage is None else usage
    end = [chunk({}, finish)] if finish else []
    return [*map(chunk, deltas), *end, {**chunk({}), "choices": [], "usage": used}, *(["[DONE]"] if finish else [])]


def failure(status: int, message: str = "no", code: str | None = None, kind: str = "x", **headers: str) -> Answer:
    return Answer({"error": {"message": message, "type": kind, "code": code}}, status, headers)


# --- Anthropic's messages


def anthropic(*content: dict[str, Any], stop: str = "end_turn", **usage: int) -> dict[str, Any]:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content),
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 3, **usage},
    }


def anthropic_stream(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str = "end_turn") -> Answer:
    events: list[Any] = [{"type": "message_start", "message": {**anthropic(), "stop_reason": None}}]
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 3}}
    )
    events.append({"type": "message_stop"})
    return Answer(events=events, named=True)
