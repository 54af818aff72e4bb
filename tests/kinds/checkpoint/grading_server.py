"""A grading server for one agent: the run contract's three requests, checkpoints graded in this process by the rule of a task."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@contextmanager
def grading_server(
    grade: Callable[[Path], float], base: Path, seconds: float, spent: Callable[[], float]
) -> Generator[tuple[str, list[Any]]]:
    """Serve on 127.0.0.1; yields the address and the list that replies to submissions are added to.

    `grade` gives the score of a checkpoint from 0 to 100, `spent` how many of the seconds are over.
    """
    replies: list[Any] = []
    baseline = grade(base)

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(200, {"remaining": max(0.0, seconds - spent())})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            folder = Path(body["model_path"])
            if not (folder / "model.safetensors").exists():
                self._reply(400, {"error": f"{folder} has no model.safetensors"})
                return
            score = grade(folder)
            replies.append(
                {
                    "submission_id": len(replies) + 1,
                    "model_path": str(folder),
                    "score": score,
                    "baseline_score": baseline,
                    "improvement": score - baseline,
                }
            )
            self._reply(200, replies[-1])

        def _reply(self, code: int, body: Any) -> None:
            data = json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any, **named: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", replies
    finally:
        server.shutdown()
        server.server_close()
