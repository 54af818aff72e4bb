"""The server of `heredity view`: the gate that checks access, and routes from addresses to the pages in `pages/`."""

from __future__ import annotations

import contextlib
import hmac
import io
import re
import secrets
import zipfile
from collections.abc import AsyncGenerator, Callable, Mapping
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from heredity._core.errors import ConfigError, HeredityError, RecordError, UnknownNameError
from heredity._core.http import listening, tcp_socket
from heredity.pages.live.actions import Actions
from heredity.pages.live.drawing import Block, View, draw
from heredity.pages.live.pages import compare, lists, record, run, team
from heredity.pages.live.pages.here import Run, Suite
from heredity.pages.live.place import Place, blob
from heredity.pages.live.rows import size_of
from heredity.pages.live.watching import PATIENCE_S, Watcher
from heredity.pages.report import html
from heredity.resources import Candidate
from heredity.results.page import Text

_READING = ("GET", "HEAD")


class Gate:
    """Gate that passes requests with the right token, host and origin.

    The token is removed from the path, and is the application's root path. Without the check of the host, a web page
    could reach the server under another host name (DNS rebinding).

    Args:
        app: the application behind it.
        port: port of the server.
        token: 16 characters or more.
    """

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Refuse a request, or pass it to the application."""
        if scope["type"] != "http":
            # Web sockets are not supported; an unanswered one is closed.
            return
        problem = self._problem(scope)
        if problem:
            status, text = problem
            await PlainTextResponse(f"{text}\n", status, {"cache-control": "no-store"})(scope, receive, send)
            return
        rest = "/" + str(scope["path"]).removeprefix("/").partition("/")[2]
        inner = {**scope, "path": f"/{self._token}{rest}", "root_path": f"/{self._token}"}
        await self._app(inner, receive, send)

    def _problem(self, scope: Any) -> tuple[int, str] | None:
        headers: list[tuple[bytes, bytes]] = scope["headers"]
        hosts, origins, sites = (
            [v for k, v in headers if k == name] for name in (b"host", b"origin", b"sec-fetch-site")
        )
        first = str(scope["path"]).removeprefix("/").partition("/")[0]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return 421, "this server answers only at 127.0.0.1 and localhost, with its port"
        if any(origin.removeprefix(b"http://") not in self._hosts for origin in origins):
            return 403, "web pages of other origins may not use this server"
        if scope["method"] not in _READING and any(site not in (b"same-origin", b"none") for site in sites):
            return 403, "web pages of other origins may not use this server"
        if not hmac.compare_digest(first.encode(), self._token.encode()):
            return 404, "unknown address; use the one that `heredity view` printed"
        return None


_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")


@contextlib.asynccontextmanager
async def serve_view(app: ViewApp, *, port: int = 0, token: str = "") -> AsyncGenerator[str]:
    """Serve pages until the block ends, and yield their address, which contains the token.

    Args:
        app: the pages.
        port: TCP port on 127.0.0.1; 0 takes a free one.
        token: 16 to 128 letters, digits, `-` and `_`; a new one by default.

    Raises:
        ConfigError: if the port is in use, or the token is invalid.
    """
    token = token or secrets.token_urlsafe(24)
    if not _TOKEN.fullmatch(token):
        raise ConfigError(f"the token has {len(token)} characters; expected 16 to 128 letters, digits, - and _")
    with tcp_socket(port) as tcp:
        number = tcp.getsockname()[1]
        async with listening([(Gate(app.asgi, number, token), tcp)]):
            try:
                yield f"http://127.0.0.1:{number}/{token}/"
            finally:
                app.close()


HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self'; "
    "connect-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers that forbid external resources and scripts of runs: pages show a run's content as text."""

_STATIC = {"page.css": "text/css", "view.css": "text/css", "view.js": "text/javascript", "icon.svg": "image/svg+xml"}
_EXPORTS = {
    "journal.jsonl": "application/jsonl",
    "metrics.json": "application/json",
    "report.html": "application/octet-stream",
}
_MOST_FORM = 1 << 16
_ROWS_S = 60.0
RunPage = Callable[[Run, Request], View]


class ViewApp:
    """Application that serves the pages of a folder.

    Args:
        served: the folder.
        actions: actions offered by pages; None for read-only pages.
        installed: suites that can be started by name, with their purposes.
    """

    def __init__(self, served: Place, actions: Actions | None, installed: Mapping[str, str]) -> None:
        self.served, self.watcher, self._actions, self._installed = served, Watcher(served), actions, installed
        one, of = "/s/{suite}", "/s/{suite}/r/{run}"
        routes = [
            Route("/", self._folder),
            Route("/static/{name}", _static),
            Route("/live", self._folder_live),
            Route("/search", self._search),
            Route("/compare", self._compare_suites),
            Route("/start", self._start, methods=["POST"]),
            Route(one, self._suite),
            Route(f"{one}/live", self._live),
            Route(f"{one}/report", self._suite_report),
            Route(f"{one}/compare", self._compare_runs),
            Route(f"{one}/stop", self._stop, methods=["POST"]),
            Route(f"{one}/resume", self._resume, methods=["POST"]),
            Route(of, self._page(lambda r, _: run.run_view(r))),
            Route(f"{of}/report", self._page(lambda r, _: run.report_view(r.suite, r))),
            Route(f"{of}/lineage", self._page(lambda r, _: run.lineage_view(r))),
            Route(
                f"{of}/trace",
                self._page(
                    lambda r, q: record.trace_view(r, q.query_params.get("from", ""), q.query_params.get("to", ""))
                ),
            ),
            Route(
                f"{of}/diff",
                self._page(lambda r, q: run.diff_view(r, q.query_params.get("a", ""), q.query_params.get("b", ""))),
            ),
            Route(f"{of}/c/{{key}}", self._page(lambda r, q: run.candidate_view(r, q.path_params["key"]))),
            Route(f"{of}/e/{{key}}", self._page(lambda r, q: record.evaluation_view(r, q.path_params["key"]))),
            Route(
                f"{of}/o/{{key}}",
                self._page(
                    lambda r, q: record.rollout_view(r, q.path_params["key"], _number(q.query_params.get("step")))
                ),
            ),
            Route(f"{of}/t/{{key}}", self._page(lambda r, q: team.team_view(r, q.path_params["key"]))),
            Route(f"{of}/call/{{key}}", self._page(lambda r, q: record.call_view(r, q.path_params["key"]))),
            Route(f"{of}/event/{{key}}", self._page(lambda r, q: record.event_view(r, q.path_params["key"]))),
            Route(f"{of}/span/{{key}}", self._page(lambda r, q: record.span_view(r, q.path_params["key"]))),
            Route(f"{of}/media/{{key}}/{{number}}", self._media),
            Route(f"{of}/export/{{name}}", self._export),
            Route(f"{of}/{{list}}", self._list),
        ]
        handlers: dict[Any, Any] = {HeredityError: _problem, 404: _problem, 405: _problem}
        self.asgi = Starlette(routes=routes, exception_handlers=handlers)

    def close(self) -> None:
        """End updates, close indexes, remove logs; started processes keep running."""
        self.watcher.close()
        self.served.close()
        if self._actions is not None:
            self._actions.close()

    async def _folder(self, request: Request) -> Response:
        if self.served.single:
            name = next(iter(self.served.suites()))
            return RedirectResponse(Suite(_root(request), name, self.served.index(name), False).url(), 303, HEADERS)
        return _page(
            request,
            await run_in_threadpool(lists.folder_view, self.served, _root(request), self._actions, self._installed),
        )

    async def _suite(self, request: Request) -> Response:
        suite = await self._ready(request)
        if isinstance(suite, Response):
            return suite
        return _page(request, await run_in_threadpool(lists.suite_view, suite, self._actions))

    async def _suite_report(self, request: Request) -> Response:
        suite = await self._ready(request)
        if isinstance(suite, Response):
            return suite
        return _page(request, await run_in_threadpool(run.report_view, suite, None))

    def _page(self, made: RunPage) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            here = await self._run(request)
            if isinstance(here, Response):
                return here
            return _page(request, await run_in_threadpool(made, here, request))

        return answer

    async def _list(self, request: Request) -> Response:
        listing = lists.LISTS.get(request.path_params["list"])
        if listing is None:
            raise UnknownNameError("page", request.path_params["list"], lists.LISTS)
        here, asked = await self._run(request), lists.Asked.of(request.query_params)
        if isinstance(here, Response):
            return here
        if asked.bare:
            total, rows = await run_in_threadpool(lists.window, listing, here, asked)
            return Response(
                str(rows).encode("utf-8", "replace"), headers={**HEADERS, "x-total": str(total)}, media_type="text/html"
            )
        return _page(request, await run_in_threadpool(lists.list_view, listing, here, asked))

    async def _compare_suites(self, request: Request) -> Response:
        sides: list[Suite] = []
        for key in ("a", "b"):
            side = await self._ready(request, request.query_params.get(key, ""))
            if isinstance(side, Response):
                return side
            sides.append(side)
        return _page(request, await run_in_threadpool(compare.compare_suites, *sides))

    async def _compare_runs(self, request: Request) -> Response:
        first = await self._ready(request)
        if isinstance(first, Response):
            return first
        second = await self._ready(request, request.query_params.get("suite") or first.name)
        if isinstance(second, Response):
            return second
        a, b = first.run(request.query_params.get("a", "")), second.run(request.query_params.get("b", ""))
        return _page(request, await run_in_threadpool(compare.compare_runs, a, b))

    async def _search(self, request: Request) -> Response:
        suites: list[Suite] = []
        for name, path in list(self.served.suites().items())[:200]:
            # A search does not create indexes that were never opened.
            if self.served.index(name).path.exists() and path.exists():
                suite = await self._ready(request, name)
                suites += [suite] if isinstance(suite, Suite) else []
        text = request.query_params.get("q", "")[:200]
        return _page(request, await run_in_threadpool(compare.search_view, suites, text), text)

    async def _live(self, request: Request) -> Response:
        self.watcher.watched(request.path_params["suite"])
        return StreamingResponse(
            self.watcher.changes(request.path_params["suite"]), headers=HEADERS, media_type="text/event-stream"
        )

    async def _folder_live(self, request: Request) -> Response:
        return StreamingResponse(self.watcher.folder_changes(), headers=HEADERS, media_type="text/event-stream")

    async def _media(self, request: Request) -> Response:
        here = await self._run(request)
        if isinstance(here, Response):
            return here
        names = await run_in_threadpool(
            lambda: record.trajectory(here, record.rollout_row(here, request.path_params["key"])).media
        )
        index = _number(request.path_params["number"])
        name, data = list(names.items())[index] if index < len(names) else ("", b"")
        kind = record.kind_of(name, data)
        if not kind:
            raise UnknownNameError("picture", request.path_params["number"], [])
        return Response(data, headers=HEADERS, media_type=kind)

    async def _export(self, request: Request) -> Response:
        here, name = await self._run(request), request.path_params["name"]
        if isinstance(here, Response):
            return here
        saved = {**HEADERS, "content-disposition": f'attachment; filename="{name}"'}
        if name in _EXPORTS and size_of(here.folder / name):
            return FileResponse(here.folder / name, headers=saved, media_type=_EXPORTS[name])
        if name == "rollouts.csv":
            return StreamingResponse(record.as_csv(here), headers=saved, media_type="text/csv")
        if name == "rollout.jsonl":
            row = record.rollout_row(here, request.query_params.get("o", ""))
            return StreamingResponse(
                record.as_lines(await run_in_threadpool(record.trajectory, here, row)),
                headers=saved,
                media_type="application/jsonl",
            )
        if name == "candidate.zip":
            row = run.candidate_row(here, request.query_params.get("c", ""))
            return Response(
                await run_in_threadpool(_zipped, here, row["blob"]), headers=saved, media_type="application/zip"
            )
        raise UnknownNameError("export", name, [*_EXPORTS, "rollouts.csv", "rollout.jsonl", "candidate.zip"])

    async def _start(self, request: Request) -> Response:
        given = await _form(request)
        self._acting().start(given.get("file") or given.get("suite", ""), "\n".join(given.get("overrides", "").split()))
        return RedirectResponse(f"{_root(request)}/", 303, HEADERS)

    async def _stop(self, request: Request) -> Response:
        name = request.path_params["suite"]
        self._acting().stop(self.watcher.watched(name).index.folder)
        return RedirectResponse(Suite(_root(request), name, self.served.index(name), True).url(), 303, HEADERS)

    async def _resume(self, request: Request) -> Response:
        name = request.path_params["suite"]
        self._acting().resume(self.watcher.watched(name).index.folder)
        return RedirectResponse(Suite(_root(request), name, self.served.index(name), True).url(), 303, HEADERS)

    def _acting(self) -> Actions:
        if self._actions is None:
            raise RecordError("this view was opened with --read-only: it cannot start or stop suites")
        return self._actions

    async def _ready(self, request: Request, name: str = "") -> Suite | Response:
        """Return a suite with an up-to-date index, or a page with the progress of the index."""
        name = name or request.path_params.get("suite", "")
        watched, root = self.watcher.watched(name), _root(request)
        # Requests for rows cannot show a progress page.
        if not await watched.refresh(_ROWS_S if "rows" in request.query_params else PATIENCE_S):
            progress = watched.index.progress
            # Pages of a running run may be slightly out of date.
            if not watched.version or (progress.share < 1 and progress.total > 8 << 20):
                shown = await run_in_threadpool(
                    lists.indexing_view, name, root, progress.share, progress.total / 1e6, watched.elapsed
                )
                return _page(request, shown)
        return Suite(root, name, watched.index, watched.alive, watched.made_s)

    async def _run(self, request: Request) -> Run | Response:
        suite = await self._ready(request)
        return suite if isinstance(suite, Response) else await run_in_threadpool(suite.run, request.path_params["run"])


def _root(request: Request) -> str:
    return str(request.scope["root_path"])


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0


def _page(request: Request, view: View, query: str = "") -> Response:
    text = draw(view, _root(request), query)
    return Response(text.encode("utf-8", "replace"), view.status, HEADERS, media_type="text/html")


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise UnknownNameError("file", name, _STATIC)
    style = name == "page.css"
    text = str(html.style()) if style else resources.files("heredity.pages.live").joinpath("static", name).read_text()
    return Response(text, headers=HEADERS, media_type=_STATIC[name])


def _problem(request: Request, error: Exception) -> Response:
    unknown = isinstance(error, UnknownNameError)
    status = 404 if unknown else getattr(error, "status_code", 409)
    title = "Page not found" if status == 404 else "Request failed"
    message = str(error) if isinstance(error, HeredityError) else "This address does not exist."
    return _page(request, View(title, [Block("problem", "", [Text(message, "warning")])], status=status))


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; both their number and size are limited."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_FORM:
            raise RecordError("the form is too long")
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=20))


def _zipped(here: Run, digest: str) -> bytes:
    """Return a candidate's files as a ZIP file; their paths were checked on reading."""
    candidate, buffer = Candidate.from_bytes(blob(here.folder, digest)), io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, tree in candidate.parts.items():
            for path, content in tree.items():
                archive.writestr(f"{part}/{path}", content)
    return buffer.getvalue()
