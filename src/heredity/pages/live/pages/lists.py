"""Lists: windows onto queries, a hundred rows at a time; the address has the sorting and the filters."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from heredity.pages.live.drawing import Block, Field, Form, View, fragment, rows
from heredity.pages.live.pages.here import Run
from heredity.results.page import Cell, Column, Mono, Named, Number, Value, columns_of
from heredity.results.text import clean, number

WINDOW = 100
"""Rows of a response."""


@dataclass(frozen=True)
class Listing:
    """List of one kind of row of a run.

    Attributes:
        name: last part of its address, and its table.
        title: its heading.
        columns: from left to right.
        select: the query without filters.
        order: default order.
        sorts: name of a column to its sort expression.
        match: columns of the table that a text search covers.
        choice: column that can be filtered by value.
        row: formats the cells of a row.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    select: str
    order: str
    row: Callable[[Run, sqlite3.Row], Sequence[Value | Cell]]
    sorts: Mapping[str, str] = field(default_factory=dict[str, str])
    match: Sequence[str] = ()
    choice: str = ""


@dataclass(frozen=True)
class Asked:
    """Options of a list in its address: start of the window, order, filters."""

    offset: int = 0
    sort: str = ""
    text: str = ""
    choice: str = ""
    bare: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """Read the query of an address; an invalid number is 0."""
        offset = query.get("offset", "0")
        begins = min(int(offset), 1 << 40) if offset.isascii() and offset.isdigit() and len(offset) < 15 else 0
        return cls(begins, query.get("sort", ""), query.get("q", "")[:200], query.get("is", "")[:200], "rows" in query)

    def address(self, base: str, **changes: Any) -> str:
        """Return an address with these parameters, some of them changed."""
        words = {"q": self.text, "is": self.choice, "sort": self.sort, **changes}
        query = urlencode({name: value for name, value in words.items() if value})
        return f"{base}?{query}" if query else base


def window(listing: Listing, run: Run, asked: Asked) -> tuple[int, Markup]:
    """Return the number of rows, and those of a window."""
    where, values = _where(listing, run, asked)
    table = listing.select.partition(" FROM ")[2].split()[0]
    total = run.suite.index.rows(f"SELECT count(*) FROM {table} t WHERE {where}", values)[0][0]
    direction = " DESC" if asked.sort.startswith("-") else ""
    key = listing.sorts.get(asked.sort.removeprefix("-"))
    order = f"{key}{direction}" if key else listing.order
    rows_found = run.suite.index.rows(
        f"{listing.select} WHERE {where} ORDER BY {order} LIMIT {WINDOW} OFFSET ?", (*values, asked.offset)
    )
    return total, rows(listing.columns, [listing.row(run, row) for row in rows_found], asked.offset)


def list_view(listing: Listing, run: Run, asked: Asked) -> View:
    """Return the page of a list."""
    base = run.url(listing.name)
    total, body = window(listing, run, asked)
    last = min(total, asked.offset + WINDOW)
    pages = [("Previous", asked.address(base, offset=max(0, asked.offset - WINDOW) or ""))] if asked.offset else []
    pages += [("Next", asked.address(base, offset=last))] if last < total else []
    made = fragment(
        "list.html.j2",
        address=asked.address(base),
        total=total,
        first=asked.offset,
        title=f"{listing.title} of {clean(run.name)}",
        columns=listing.columns,
        sorts={name: _sorted(name, asked, base) for name in listing.sorts},
        rows=body,
        shown=f"{asked.offset + 1} to {last} of {total}" if total else "none",
        pages=pages,
    )
    fields = [Field("q", "Contains", asked.text)] if listing.match else []
    if listing.choice:
        table = listing.select.partition(" FROM ")[2].split()[0]
        statuses = run.suite.index.rows(
            f"SELECT DISTINCT {listing.choice} FROM {table} t WHERE run = ? LIMIT 40", (run.id,)
        )
        options = [("", "all"), *((str(row[0]), str(row[0])) for row in statuses if row[0])]
        fields.append(Field("is", listing.choice.capitalize(), asked.choice, options))
    form = [Form(base, "Filter", fields)] if fields else []
    block = Block(listing.name, "", [*form, made])
    return View(listing.title, [block], run.crumbs, run.tabs(listing.name), follow=run.suite.follow)


def _where(listing: Listing, run: Run, asked: Asked) -> tuple[str, list[Any]]:
    where, values = "t.run = ?", list[Any]([run.id])
    if asked.text and listing.match:
        pattern = "%" + asked.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        where += " AND (" + " OR ".join(f"{name} LIKE ? ESCAPE '\\'" for name in listing.match) + ")"
        values += [pattern] * len(listing.match)
    if asked.choice and listing.choice:
        where += f" AND t.{listing.choice} = ?"
        values.append(asked.choice)
    return where, values


def _sorted(name: str, asked: Asked, base: str) -> dict[str, str]:
    now = {name: "ascending", f"-{name}": "descending"}.get(asked.sort, "")
    return {"now": now, "address": asked.address(base, sort=name if now == "descending" else f"-{name}")}


def when(run: Run, at: float) -> str:
    """Format a time as seconds since the run's start."""
    return f"{at - run.facts.get('started', at):.1f} s"


def tone(status: str) -> Cell:
    """Format a status, marked unless it is good."""
    return Cell(
        status, tone=None if status in ("ok", "finished", "", "under way") or status.startswith("reference") else "bad"
    )


def _rollout(run: Run, row: sqlite3.Row) -> list[Value | Cell]:
    view = row["view"] if row["number"] is None else f"submission {row['number']}"
    return [
        run.link(row["task"] or "rollout", "o", row["id"]),
        Number(row["score"]),
        tone(row["status"]),
        row["length"],
        Number(row["seconds"], form="duration"),
        run.link(view, "e", row["evaluation"]),
        run.candidate(row["candidate"], 8),
        row["message"] or None,
    ]


def _evaluation(run: Run, row: sqlite3.Row) -> list[Value | Cell]:
    name = f"{row['view']}" if row["number"] is None else f"{row['number']}"
    return [
        run.link(name, "e", row["id"]),
        run.candidate(row["candidate"]),
        tone(row["status"]),
        Number(row["mean"]),
        row["rollouts"],
        row["failed"] or None,
        Number(row["seconds"], form="duration"),
        Number(row["tokens"], form="amount"),
        Number(row["cost"], form="dollars"),
        when(run, row["at"]),
    ]


def _candidate(run: Run, row: sqlite3.Row) -> list[Value | Cell]:
    return [
        run.link(f"{row['number']}", "c", row["digest"]),
        Mono(row["digest"], 10),
        Number(row["score"]),
        row["view"] or None,
        tone(row["state"]) if row["state"] == "refused" else row["state"] or None,
        row["parents"].count('"') // 2,
        row["note"] or None,
        when(run, row["at"]),
    ]


def _call(run: Run, row: sqlite3.Row) -> list[Value | Cell]:
    return [
        run.link(f"{row['seq']}", "call", row["seq"]),
        row["purpose"],
        row["model"],
        Cell(row["error"] or "ok", tone="bad" if row["error"] else None),
        Number(row["input"], form="amount"),
        Number(row["output"], form="amount"),
        Number(row["cached"], form="amount"),
        Number(row["cost"], form="dollars"),
        row["place"] or None,
        when(run, row["at"]),
    ]


def _task(run: Run, row: sqlite3.Row) -> list[Value | Cell]:
    right = None if row["solved"] is None else Cell("yes") if row["solved"] else Cell("no", tone="bad")
    return [
        run.link(row["task"] or "task", "t", row["seq"]),
        tone(row["status"]),
        right,
        row["rounds"],
        row["steps"],
        row["hops"],
        row["tools"] or None,
        Number(row["seconds"], form="duration"),
        Number(row["tokens"], form="amount"),
        when(run, row["at"]),
    ]


def _event(run: Run, row: sqlite3.Row) -> list[Value | Cell]:
    return [
        run.link(f"{row['seq']}", "event", row["seq"]),
        row["kind"],
        when(run, row["at"]),
        number(row["length"]),
        row["brief"],
    ]


def _span(run: Run, row: sqlite3.Row) -> list[Value | Cell]:
    seconds = (row["end_ns"] - row["start_ns"]) / 1e9
    named = Named(row["name"] or "span", run=run.url("span", row["number"]))
    return [
        named,
        row["kind"],
        row["about"] or None,
        when(run, row["start_ns"] / 1e9),
        Number(seconds, form="duration"),
        row["problem"] or None,
    ]


ROLLOUTS = Listing(
    "rollouts",
    "Rollouts",
    columns_of(
        "Task",
        "Score",
        "Status",
        "Steps",
        "Time",
        "Made for",
        "Candidate",
        "Message",
        left=("Task", "Status", "Made for", "Candidate", "Message"),
    ),
    "SELECT t.*, e.view, e.number, e.candidate FROM rollouts t JOIN evaluations e ON e.id = t.evaluation",
    "t.id",
    _rollout,
    {"Score": "t.score", "Steps": "t.length", "Time": "t.seconds"},
    ("t.task", "t.message"),
    "status",
)
EVALUATIONS = Listing(
    "evaluations",
    "Submissions and judgements",
    columns_of(
        "Submission",
        "Candidate",
        "Status",
        "Mean",
        "Rollouts",
        "Failed",
        "Time",
        "Tokens",
        "Cost",
        "At",
        left=("Submission", "Candidate", "Status"),
    ),
    "SELECT t.* FROM evaluations t",
    "t.id",
    _evaluation,
    {"Mean": "t.mean", "Time": "t.seconds", "Cost": "t.cost"},
    ("t.candidate", "t.status"),
    "view",
)
CANDIDATES = Listing(
    "candidates",
    "Candidates",
    columns_of(
        "Number",
        "Digest",
        "Score",
        "On",
        "State",
        "Parents",
        "Note",
        "At",
        left=("Number", "Digest", "On", "State", "Note"),
    ),
    "SELECT t.* FROM candidates t",
    "t.number",
    _candidate,
    {"Score": "t.score", "Number": "t.number"},
    ("t.digest", "t.note"),
    "state",
)
CALLS = Listing(
    "calls",
    "Model calls of the method",
    columns_of(
        "Call",
        "Purpose",
        "Model",
        "Result",
        "Tokens in",
        "Out",
        "From cache",
        "Cost",
        "Seen before",
        "At",
        left=("Call", "Purpose", "Model", "Result"),
    ),
    "SELECT t.* FROM calls t",
    "t.seq",
    _call,
    {"Tokens in": "t.input", "Out": "t.output", "Cost": "t.cost"},
    ("t.purpose", "t.model", "t.error"),
    "purpose",
)
TASKS = Listing(
    "tasks",
    "Tasks with separate records",
    columns_of(
        "Task",
        "Status",
        "Right",
        "Rounds",
        "Steps",
        "Hops",
        "Tools",
        "Time",
        "Tokens",
        "At",
        left=("Task", "Status", "Right", "Tools"),
    ),
    "SELECT t.* FROM tasks t",
    "t.seq",
    _task,
    {"Hops": "t.hops", "Time": "t.seconds", "Tokens": "t.tokens"},
    ("t.task", "t.tools"),
    "status",
)
JOURNAL = Listing(
    "journal",
    "Journal",
    columns_of("Line", "Event", "At", "Bytes", "Begins", left=("Line", "Event", "Begins")),
    "SELECT t.* FROM events t",
    "t.seq",
    _event,
    {"Bytes": "t.length"},
    ("t.kind", "t.brief"),
    "kind",
)
SPANS = Listing(
    "spans",
    "Spans",
    columns_of("Span", "Kind", "About", "At", "Time", "Problem", left=("Span", "Kind", "About", "Problem")),
    "SELECT t.* FROM spans t",
    "t.start_ns",
    _span,
    {"Time": "(t.end_ns - t.start_ns)"},
    ("t.name", "t.about", "t.problem"),
    "kind",
)
LISTS = {listing.name: listing for listing in (ROLLOUTS, EVALUATIONS, CANDIDATES, CALLS, TASKS, JOURNAL, SPANS)}
