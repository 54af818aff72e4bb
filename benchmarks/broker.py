"""What the broker adds to a call: latency and calls per second with a model that answers at once.

python benchmarks/broker.py [--calls N] [--json]

One process serves a broker and, on another port by the same server, a bare Starlette endpoint that returns a constant of the
same size; this process asks them in turns over connections that it keeps. `ratio` is calls per second over the bare endpoint's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from multiprocessing.connection import Connection
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from heredity._core.http import listening, tcp_socket
from heredity.models import Reply, Request, Usage
from heredity.models.broker import Account, BrokerApp, serve_broker

TOKEN = "token-of-the-benchmark"
CONNECTIONS = 8
ROUNDS = 5
TEXT = "word " * 40
PROMPT = "Say forty words. " * 60
MESSAGES = [{"role": "system", "content": PROMPT}, {"role": "user", "content": "Go on."}]
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "bare": ("/constant", {"model": "m", "messages": MESSAGES}),
    "chat completions": ("/v1/chat/completions", {"model": "m", "messages": MESSAGES}),
    "chat completions, streamed": ("/v1/chat/completions", {"model": "m", "messages": MESSAGES, "stream": True}),
    "responses": ("/v1/responses", {"model": "m", "instructions": PROMPT, "input": "Go on.", "store": False}),
    "responses, streamed": (
        "/v1/responses",
        {"model": "m", "instructions": PROMPT, "input": "Go on.", "store": False, "stream": True},
    ),
    "messages": ("/v1/messages", {"model": "m", "max_tokens": 99, "system": PROMPT, "messages": MESSAGES[1:]}),
    "messages, streamed": (
        "/v1/messages",
        {"model": "m", "max_tokens": 99, "system": PROMPT, "messages": MESSAGES[1:], "stream": True},
    ),
}


class Ready:
    """Answers at once."""

    name = "m"

    async def reply(self, request: Request) -> Reply:
        """Return a constant."""
        return Reply(TEXT, usage=Usage(300, 40, 0, 0.0), model="m")


async def constant(request: HttpRequest) -> Response:
    await request.body()
    return Response(json.dumps({"text": TEXT}), media_type="application/json")


def serve(ports: Connection) -> None:
    async def run() -> None:
        app = BrokerApp({"m": Ready()}, [Account("benchmark", token=TOKEN)])
        bare = Starlette(routes=[Route("/constant", constant, methods=["POST"])])
        with tcp_socket(0) as sock:
            async with serve_broker(app) as broker, listening([(bare, sock)]):
                ports.send((int(broker.url.rpartition(":")[2]), sock.getsockname()[1]))
                await asyncio.to_thread(ports.recv)

    asyncio.run(run())


class Client:
    """A connection that is kept; no more of HTTP than these two servers need, so that little of what is measured is its own."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str, body: dict[str, Any]
    ) -> None:
        self._reader, self._writer = reader, writer
        data = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: b\r\nx-api-key: {TOKEN}\r\ncontent-length: {len(data)}\r\n\r\n"
        self._request = head.encode() + data

    @classmethod
    async def connect(cls, port: int, path: str, body: dict[str, Any]) -> Client:
        """Open a connection on which one request is repeated."""
        return cls(*await asyncio.open_connection("127.0.0.1", port), path, body)

    async def call(self) -> None:
        """Ask once and read the answer to its end."""
        self._writer.write(self._request)
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200"):
            raise SystemExit(head.decode())
        if b"transfer-encoding" in head:
            await self._reader.readuntil(b"\r\n0\r\n\r\n")
        else:
            await self._reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


async def measure(port: int, name: str, calls: int) -> tuple[list[float], float]:
    """Return the seconds of calls one after the other, and calls per second over several connections."""
    clients = [await Client.connect(port, *ASKED[name]) for _ in range(CONNECTIONS)]
    for client in clients:
        await client.call()
    seconds: list[float] = []
    for _ in range(calls):
        began = time.perf_counter()
        await clients[0].call()
        seconds.append(time.perf_counter() - began)

    async def repeat(client: Client) -> None:
        for _ in range(calls // CONNECTIONS):
            await client.call()

    began = time.perf_counter()
    await asyncio.gather(*map(repeat, clients))
    rate = calls // CONNECTIONS * CONNECTIONS / (time.perf_counter() - began)
    for client in clients:
        client.close()
    return seconds, rate


async def run(ports: tuple[int, int], calls: int) -> dict[str, dict[str, float]]:
    seconds: dict[str, list[float]] = {name: [] for name in ASKED}
    rates: dict[str, list[float]] = {name: [] for name in ASKED}
    for _ in range(ROUNDS):
        for name in ASKED:
            taken, rate = await measure(ports[name == "bare"], name, calls // ROUNDS)
            seconds[name] += taken
            rates[name].append(rate)
    bare = statistics.median(seconds["bare"]), statistics.median(rates["bare"])
    return {
        name: {
            "p50_ms": round(1e3 * statistics.median(seconds[name]), 3),
            "p99_ms": round(1e3 * statistics.quantiles(seconds[name], n=100)[98], 3),
            "added_ms": round(1e3 * (statistics.median(seconds[name]) - bare[0]), 3),
            "calls_per_s": round(statistics.median(rates[name]), 1),
            "ratio": round(statistics.median(rates[name]) / bare[1], 3),
        }
        for name in ASKED
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What the broker adds to a call.")
    parser.add_argument("--calls", type=int, default=1000, help="calls of each kind, at least 100")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(theirs,))
    server.start()
    try:
        results = asyncio.run(run(ours.recv(), max(100, options.calls)))
    finally:
        ours.send("end")
        server.join(10)
    if options.json:
        print(json.dumps({"calls": options.calls, "connections": CONNECTIONS, "results": results}))
        return
    columns = ["p50_ms", "p99_ms", "added_ms", "calls_per_s", "ratio"]
    print(f"{'':28}" + "".join(f"{column:>12}" for column in columns))
    for name, values in results.items():
        print(f"{name:28}" + "".join(f"{values[column]:>12}" for column in columns))


if __name__ == "__main__":
    sys.exit(main())
