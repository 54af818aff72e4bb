"""Routes of the team's page: three files, and two pictures of each task."""

from __future__ import annotations

import time
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heredity.pages.live.team.charts import flow, timeline
from heredity.team.plan import Plan
from heredity.team.serving.office import Office

_FOLDER = Path(__file__).parent
_FILES = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
"""Headers that forbid external resources and scripts, whatever agents write: the page shows content as text."""


def page_routes(office: Office) -> list[BaseRoute]:
    """Return the routes of the page."""

    async def file(request: Request) -> Response:
        name, kind = _FILES[request.url.path]
        return Response((_FOLDER / name).read_bytes(), headers=HEADERS, media_type=kind)

    async def chart(request: Request) -> Response:
        run = office.get(request.path_params["task_id"])
        return _picture(flow(run.plan or Plan(run.asked.task)))

    async def times(request: Request) -> Response:
        run = office.get(request.path_params["task_id"])
        return _picture(timeline(list(run.view.spans.values()), time.time()))

    one = "/tasks/{task_id}"
    files = [Route(path, file) for path in _FILES]
    return [*files, Route(f"{one}/chart.svg", chart), Route(f"{one}/timeline.svg", times)]


def _picture(svg: str) -> Response:
    return Response(svg.encode("utf-8", "replace"), headers=HEADERS, media_type="image/svg+xml")
