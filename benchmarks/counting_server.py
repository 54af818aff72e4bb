"""A provider on this machine that counts: an OpenAI-compatible server for tests and benchmarks, which can fail as real ones do."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True)
class Failing:
    """A failure in place of an answer: a status with a message, or a connection that ends before or amid the answer."""

    status: int = 500
    message: str = "try again"
    connection: Literal["", "dropped", "cut"] = ""

    @property
    def name(self) -> str:
        """A short name, for counts."""
        return self.connection or str(self.status)


@dataclass
class Counted:
    """What a server was asked and has answered.

    Attributes:
        url: its address.
        bodies: all requests.
        calls: the number of requests of each model.
        requests: how often each request came.
        given: for each request, the text and the time of each answer that went out whole.
        failed: failures by name.
    """

    url: str = ""
    bodies: list[Json] = field(default_factory=list[Json])
    calls: Counter[str] = field(default_factory=Counter[str])
    requests: Counter[str] = field(default_factory=Counter[str])
    given: dict[str, list[tuple[str, float]]] = field(default_factory=lambda: defaultdict(list))
    failed: Counter[str] = field(default_factory=Counter[str])

    @property
    def count(self) -> int:
        """Number of whole answers."""
        return sum(map(len, self.given.values()))

    def provider(self, name: str = "count") -> str:
        """Return the override that makes it a provider, whose calls cost a dollar per million tokens."""
        prices = '{"*" = {input = 1.0, output = 1.0}}'
        return f'gateway.providers.{name}={{base_url = "{self.url}", prices = {prices}}}'


@contextmanager
def counting(
    answer: Callable[[Json], str | Failing] = lambda asked: "Answer: 1",
    *,
    tokens: tuple[int, int] = (1000, 100),
    pause_s: float = 0.0,
) -> Generator[Counted]:
    """Serve a provider.

    Args:
        answer: gives the text for a request, or a failure; called for one request at a time.
        tokens: input and output tokens that each answer reports.
        pause_s: seconds that each answer takes.
    """
    counted, lock = Counted(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": []})

        def do_POST(self) -> None:
            asked: Json = json.loads(self.rfile.read(int(self.headers["content-length"])))
            request = json.dumps(asked, sort_keys=True)
            with lock:
                counted.bodies.append(asked)
                counted.calls[asked["model"]] += 1
                counted.requests[request] += 1
                said = answer(asked)
                failing = said if isinstance(said, Failing) else None
                counted.failed.update([failing.name] if failing else [])
            time.sleep(pause_s)
            if failing and failing.connection == "dropped":
                self.close_connection = True
            elif failing and not failing.connection:
                self._send(failing.status, {"error": {"message": failing.message, "type": "error"}})
            elif self._send(200, _completion(asked, str(said), tokens), cut=failing is not None) and not failing:
                with lock:
                    counted.given[request].append((str(said), time.time()))

        def _send(self, status: int, value: object, *, cut: bool = False) -> bool:
            """Send an answer, or its first half; return whether the client was still there."""
            data = json.dumps(value).encode()
            try:
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[: len(data) // 2] if cut else data)
                self.close_connection = self.close_connection or cut
            except OSError:
                return False
            return True

        def log_message(self, *args: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Pass over clients that are killed."""

    with Server(("127.0.0.1", 0), Handler) as server:
        counted.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield counted
        finally:
            server.shutdown()


def _completion(asked: Json, text: str, tokens: tuple[int, int]) -> Json:
    used, written = tokens
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": used, "completion_tokens": written, "total_tokens": used + written},
    }
