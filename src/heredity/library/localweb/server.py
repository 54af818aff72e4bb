"""Serves the site of Varnholm on 127.0.0.1. Paths are looked up in memory, never on disk."""

from __future__ import annotations

import mimetypes
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from heredity._core.errors import ConfigError
from heredity.library.localweb.site import pages, rain, results
from heredity.library.localweb.town import Town

_MOST_BODY = 10_000


@contextmanager
def serving(town: Town, port: int = 0) -> Generator[str]:
    """Serve the site while the block runs, and yield its address, such as `127.0.0.1:8000`.

    Args:
        town: the town of the site.
        port: port; 0 takes a free one.

    Raises:
        ConfigError: if the port is taken.
    """
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), _handler(town))
    except OSError as error:
        raise ConfigError(f"port {port} of 127.0.0.1 cannot be used: {error.strerror}; give another --port") from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def write_site(town: Town, folder: Path) -> None:
    """Write the static pages and documents of the site, for a corpus."""
    for name, data in pages(town).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _handler(town: Town) -> type[BaseHTTPRequestHandler]:
    site = pages(town)

    class Handler(BaseHTTPRequestHandler):
        """Answers with pages and documents."""

        def do_GET(self) -> None:
            """Answer with a page, a document, or search results."""
            asked = urlsplit(self.path)
            name = unquote(asked.path).lstrip("/") or "index.html"
            name += "index.html" if name.endswith("/") else ""
            query = dict(parse_qsl(asked.query))
            if name == "search.html" and "q" in query:
                self._answer(200, "text/html", results(site, query["q"][:200]).encode())
            elif name in site:
                self._answer(200, mimetypes.guess_type(name)[0] or "application/octet-stream", site[name])
            else:
                self._answer(404, "text/html", b"<h1>There is no such page</h1>")

        def do_POST(self) -> None:
            """Answer the form of the weather station."""
            length = self.headers.get("Content-Length", "")
            if self.path != "/weather.html" or not length.isdigit() or int(length) > _MOST_BODY:
                self._answer(404, "text/html", b"<h1>There is no such form</h1>")
                return
            form = dict(parse_qsl(self.rfile.read(int(length)).decode("utf-8", "replace")))
            self._answer(200, "text/html", rain(town, form).encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
