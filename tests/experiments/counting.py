"""A provider on this machine that counts: an OpenAI-compatible server with one answer for everything, for a model each."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Counted:
    """Its address, the calls of each model, and how often each request came."""

    url: str = ""
    calls: Counter[str] = field(default_factory=Counter[str])
    requests: Counter[str] = field(default_factory=Counter[str])

    def provider(self, name: str = "count") -> str:
        """Return the override that makes it a provider, whose calls cost a dollar per million tokens."""
        prices = '{"*" = {input = 1.0, output = 1.0}}'
        return f'gateway.providers.{name}={{base_url = "{self.url}", prices = {prices}}}'


@contextmanager
def counting(answer: Callable[[dict[str, Any]], str] = lambda asked: "Answer: 1") -> Generator[Counted]:
    counted, lock = Counted(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send({"object": "list", "data": []})

        def do_POST(self) -> None:
            asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                counted.calls[asked["model"]] += 1
                counted.requests[json.dumps(asked, sort_keys=True)] += 1
            message = {"role": "assistant", "content": answer(asked)}
            self._send(
                {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 1,
                    "model": asked["model"],
                    "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
                }
            )

        def _send(self, value: object) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        counted.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield counted
        finally:
            server.shutdown()
