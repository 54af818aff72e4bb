"""A team's work on one task, from the team's record: plan, timeline, tool calls, sources, messages."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heredity._core.errors import RecordError
from heredity.pages.live.drawing import Block, Shown, View
from heredity.pages.live.index.rows import brief, mapping, size_of
from heredity.pages.live.pages.here import Run
from heredity.pages.live.pages.record import line_of, row_of
from heredity.pages.live.team.page import flow, timeline
from heredity.records import read_journal
from heredity.records.journal import Event
from heredity.results.page import Cell, Code, Fact, Facts, Number, Row, Table, Text, columns_of
from heredity.results.text import plural
from heredity.team.plan import Plan
from heredity.team.record import EFFECT_DONE
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
