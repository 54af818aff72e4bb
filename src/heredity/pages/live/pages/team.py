"""A team's work on one task: from its record, and served while it works.

Pictures of the plan show the flow of its steps (as in the Mermaid chart of plan.md) and their timeline.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from heredity._core.errors import RecordError
from heredity.pages.live.drawing import Block, Shown, View
from heredity.pages.live.pages.here import Run
from heredity.pages.live.pages.record import line_of, row_of
from heredity.pages.live.rows import brief, mapping, size_of
from heredity.pages.report.svg import Axis, element, figure, group, label, x_axis
from heredity.records import read_journal
from heredity.records.journal import Event
from heredity.results.page import Cell, Code, Fact, Facts, Number, Row, Table, Text, columns_of
from heredity.results.text import duration, plural, shorten
from heredity.team.planning import Plan
from heredity.team.record import EFFECT_DONE
from heredity.team.serving.office import Office
from heredity.team.view import Span
from heredity.team.view import View as TeamView

MOST_RECORD = 64 << 20
"""Maximum size of a team's journal on a page, in bytes."""

_MOST_CALLS, _MOST_SOURCES = 300, 60
_SOURCE = re.compile(r"\bhttps?://[^\s\"'<>\\)\]]{1,300}")


def team_view(run: Run, number: str) -> View:
    """Return the page of a task that a team worked on."""
    row = row_of(run, "tasks", "seq", number, "task of a team")
    data = mapping(mapping(line_of(run, row_of(run, "events", "seq", number, "line of the journal"))).get("data"))
    facts = [
        Fact("Status", row["status"]),
        Fact("Right", None if row["solved"] is None else "yes" if row["solved"] else "no"),
        Fact("Rounds", row["rounds"]),
        Fact("Steps", row["steps"]),
        Fact("Hops", row["hops"]),
        Fact("Tools", row["tools"] or None),
        Fact("Time", Number(row["seconds"], form="duration")),
        Fact("Tokens", Number(row["tokens"], form="tokens")),
    ]
    names = ("answer", "expected", "why", "lacking", "agents", "level")
    replies = tuple(Fact(name.capitalize(), _words(data[name])) for name in names if data.get(name))
    blocks = [
        Block(
            "answer", "Answer", [Facts((*replies, Fact("In the journal", run.link(f"line {number}", "event", number))))]
        )
    ]
    folder = below(run.folder, row["folder"])
    try:
        blocks += _record(folder)
    except RecordError as error:
        blocks.append(Block("record", "Record", [Text(str(error), "warning")]))
    return View(
        row["task"] or "Task",
        blocks,
        [*run.crumbs, ("Tasks", run.url("tasks"))],
        run.tabs("tasks"),
        Facts(tuple(facts)),
    )


def _words(value: Any) -> str:
    return brief(", ".join(map(str, value)) if isinstance(value, list) else value, 2000)


def below(folder: Path, named: str) -> Path | None:
    """Return a folder that a journal names if it lies below another one and no link leads out; else None."""
    path = Path(named)
    if not named or path.is_absolute() or ".." in path.parts or "\0" in named:
        return None
    whole = folder / path
    try:
        return whole if whole.resolve().is_relative_to(folder.resolve()) else None
    except (OSError, RuntimeError):
        return None


def _record(folder: Path | None) -> list[Block]:
    size = size_of(folder / "journal.jsonl") if folder else 0
    if folder is None or not size:
        return [Block("record", "Record", [Text("The team's record of this task is not available.")])]
    if size > MOST_RECORD:
        raise RecordError(f"the team's record has {size} bytes, too many for a page")
    events = read_journal(folder / "journal.jsonl")
    seen = TeamView()
    seen.take(events)
    plan = seen.plan_of(folder) if size_of(folder / "plan.md") else None
    spans, blocks = list(seen.spans.values()), list[Block]()
    if plan is not None:
        blocks.append(Block("plan", "Plan", [_figure(flow(plan), "Flow of the steps"), _steps(plan), *_rounds(plan)]))
    if spans:
        over = max((span.end or span.start for span in spans), default=time.time())
        blocks.append(Block("steps", "Timeline", [_figure(timeline(spans, over), "Timeline of the steps")]))
    calls = list(_calls(events, seen.started or 0.0))
    blocks.append(Block("tools", "Tools", [_called(calls)]))
    sources = dict.fromkeys(source for call in calls for source in _SOURCE.findall(call[2]))
    met = [
        Code(
            "\n".join(list(sources)[:_MOST_SOURCES]),
            "text",
            "addresses in tool results",
        )
    ]
    blocks.append(
        Block("sources", "Sources", list[Shown](met) if sources else [Text("Tool results contain no addresses.")])
    )
    return [*blocks, Block("messages", "Messages", [_messages(seen)])]


def _figure(svg: str, name: str) -> Markup:
    return Markup('<div class="wide-plot team" tabindex="0" role="group" aria-label="%s">%s</div>') % (
        name,
        Markup(svg),
    )


def _steps(plan: Plan) -> Table:
    rows = tuple(
        Row(
            (
                step.id,
                step.agent,
                Cell(step.state, tone="bad" if step.state == "failed" else None),
                ", ".join(step.after) or None,
                step.task[:600],
                step.result[:600] or None,
            )
        )
        for step in plan.steps[:200]
    )
    columns = columns_of("Step", "Agent", "State", "After", "Task", "Result", left=6)
    return Table(columns, rows, "", "The plan has no steps.")


def _rounds(plan: Plan) -> list[Shown]:
    lines = [f"round {i}: {brief(str(past), 400)}" for i, past in enumerate(plan.rounds, 1)]
    return [Code("\n".join(lines), "text", plural(len(lines), "round"))] if lines else []


def _calls(events: Sequence[Event], zero: float) -> Iterator[tuple[float, str, str]]:
    """Yield when each tool was called, by whom and under which name, and its result as text."""
    for event in events:
        effect = EFFECT_DONE.of(event)
        if effect is None:
            continue
        owner, _, name = str(effect["id"]).rpartition("#")
        if not name.startswith(("model-", "decision-", "evolution-")):
            value: Any = effect["value"]
            given = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
            yield event.at - zero, f"{name} in {owner}" if owner else name, given


def _called(calls: Sequence[tuple[float, str, str]]) -> Table:
    rows = tuple(Row((f"{at:.1f} s", name[:160], brief(given))) for at, name, given in calls[:_MOST_CALLS])
    caption = f"the first {_MOST_CALLS} of {len(calls)}" if len(calls) > _MOST_CALLS else ""
    return Table(columns_of("At", "What", "Gave", left=("What", "Gave")), rows, caption, "No tool calls.")


def _messages(seen: TeamView) -> Table:
    zero = seen.started or 0.0
    rows = tuple(
        Row(
            (
                f"{message.at - zero:.1f} s",
                f"{message.sender} to {message.to}" if message.to else message.sender,
                f"{message.kind} {message.outcome}".strip(),
                message.text,
            )
        )
        for message in seen.since(0)
        if message.kind != "did"
    )
    columns = columns_of("At", "Between", "Kind", "Text", left=("Between", "Kind", "Text"))
    return Table(columns, rows, "", "No messages.")


_FOLDER = Path(__file__).parents[1] / "static"
_FILES = {
    "/": ("team.html", "text/html"),
    "/page.css": ("team.css", "text/css"),
    "/page.js": ("team.js", "text/javascript"),
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


_WIDE, _HIGH = 150.0, 46.0
_GAP_X, _GAP_Y = 26.0, 44.0
_PAD = 12.0
_ROW = 26.0
_CHARS = 20
_STYLE = (
    "svg{background:#fff;font:12px sans-serif}text{fill:#222}.name{font-weight:bold}"
    "line,.arrow{stroke:#888;fill:none}.head{fill:#888}"
    ".step{fill:#fff;stroke:#888;stroke-width:2}.step.running{stroke:#b58900}.step.done{stroke:#2e7d32}.step.failed{stroke:#b3261e}"
    ".step.skipped{stroke-dasharray:4}.bar{fill:#888}.bar.running{fill:#b58900}.bar.done{fill:#2e7d32}.bar.failed{fill:#b3261e}"
)


def flow(plan: Plan) -> str:
    """Draw the steps as boxes in rows, each below its dependencies, with arrows; the state is a class of the box."""
    depth = _depths(plan)
    rows: dict[int, list[str]] = {}
    for step in plan.steps:
        rows.setdefault(depth[step.id], []).append(step.id)
    widest = max((len(row) for row in rows.values()), default=1)
    width = widest * (_WIDE + _GAP_X) - _GAP_X + 2 * _PAD
    at: dict[str, tuple[float, float]] = {}
    for number, row in rows.items():
        left = (width - len(row) * (_WIDE + _GAP_X) + _GAP_X) / 2
        at |= {step: (left + i * (_WIDE + _GAP_X), _PAD + number * (_HIGH + _GAP_Y)) for i, step in enumerate(row)}
    arrows = [_arrow(at[before], at[step.id]) for step in plan.steps for before in step.after if before in at]
    boxes = [_box(step.id, step.agent, step.state, step.task, at[step.id]) for step in plan.steps]
    height = len(rows) * (_HIGH + _GAP_Y) - _GAP_Y + 2 * _PAD if rows else 2 * _PAD
    return figure(width, height, f"The plan: {len(plan.steps)} steps", *arrows, *boxes)


def timeline(spans: Sequence[Span], now: float) -> str:
    """Draw the timeline of the steps, one bar each; overlapping bars ran in parallel.

    Args:
        spans: the steps, in the order of their start.
        now: Unix time at which bars of running steps end.
    """
    if not spans:
        return figure(320, 2 * _PAD, "No steps started")
    zero = min(span.start for span in spans)
    end = max(0.001, *((span.end or now) - zero for span in spans))
    left, width = 130.0, 640.0
    axis = Axis(0.0, end, left, width - _PAD)
    bottom = _PAD + len(spans) * _ROW
    marks = [x_axis(axis, bottom, _PAD, "seconds")]
    for number, span in enumerate(spans):
        y = _PAD + number * _ROW
        start, stop = axis.at(span.start - zero), axis.at((span.end or now) - zero)
        state = "running" if span.end is None else "done" if span.outcome == "ok" else "failed"
        bar = element(
            "rect", x=start, y=y + 4, width=max(2.0, stop - start), height=_ROW - 8, rx=3, class_=f"bar {state}"
        )
        tip_text = (
            f"{span.step} ({span.agent}), round {span.round}: {state}, {duration((span.end or now) - span.start)}"
        )
        marks.append(group(label(shorten(f"{span.step} {span.agent}", _CHARS), _PAD, y + 17), bar, tip=tip_text))
    return figure(width, bottom + 44, f"Timeline of {len(spans)} steps", *marks)


def standalone(svg: str) -> str:
    """Return a picture as a standalone file: with its name space, and the colours that its page would provide."""
    head, _, rest = svg.partition(">")
    named = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    return f"{named}><style>{_STYLE}</style>{rest}\n"


def _depths(plan: Plan) -> Mapping[str, int]:
    """Return the row of each step: one below the lowest of its dependencies."""
    after = {step.id: [before for before in step.after if before != step.id] for step in plan.steps}
    depth: dict[str, int] = {}
    for _ in plan.steps:
        # A plan has no cycles, so each pass settles at least one more row.
        for step, befores in after.items():
            depth[step] = max((depth.get(before, 0) + 1 for before in befores if before in after), default=0)
    return depth


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1, x2, y2 = start[0] + _WIDE / 2, start[1] + _HIGH, end[0] + _WIDE / 2, end[1] - 5
    bend = (y1 + y2) / 2
    path = f"M{x1:.1f} {y1:.1f} C{x1:.1f} {bend:.1f} {x2:.1f} {bend:.1f} {x2:.1f} {y2:.1f}"
    head = f"M{x2 - 5:.1f} {y2 - 3:.1f} L{x2:.1f} {y2 + 4:.1f} L{x2 + 5:.1f} {y2 - 3:.1f} Z"
    return group(element("path", d=path, class_="arrow"), element("path", d=head, class_="head"))


def _box(step: str, agent: str, state: str, task: str, at: tuple[float, float]) -> str:
    x, y = at
    rect = element("rect", x=x, y=y, width=_WIDE, height=_HIGH, rx=6, class_=f"step {state}")
    names = [
        label(shorten(step, _CHARS), x + _WIDE / 2, y + 19, "middle", "name"),
        label(shorten(f"{agent}: {state}", _CHARS + 2), x + _WIDE / 2, y + 35, "middle"),
    ]
    return group(rect, *names, tip=f"{step} ({agent}), {state}: {shorten(task, 400)}")
