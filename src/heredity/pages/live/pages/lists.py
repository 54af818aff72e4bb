"""Pages of a folder and of a suite, and lists: windows onto queries, a hundred rows at a time.

A list's address has its sorting and filters.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from heredity.pages.live.actions import Actions, holder
from heredity.pages.live.drawing import Block, Field, Form, View, fragment, rows
from heredity.pages.live.pages.here import Run, Suite, part
from heredity.pages.live.place import Place, configuration
from heredity.results.page import (
    Cell,
    Code,
    Column,
    Fact,
    Facts,
    Mono,
    Named,
    Number,
    Row,
    Table,
    Text,
    Value,
    columns_of,
)
from heredity.results.text import clean, duration, number, plural, short_task


def folder_view(served: Place, root: str, actions: Actions | None, installed: Mapping[str, str]) -> View:
    """Return the page of a folder of suites; `installed` has the suites that can be started, name to headline."""
    lines: list[Row] = []
    for name, path in served.suites().items():
        run = configuration(path).get("run", {})
        run = run if isinstance(run, dict) else {}
        tasksets = run.get("tasksets", [])
        words = ", ".join(short_task(str(task)) for task in tasksets[:6]) if isinstance(tasksets, list) else ""
        folders = served.index(name).run_folders()
        ended = sum((folder / "metrics.json").is_file() for folder in folders.values())
        age = f"{duration(max(0.0, time.time() - _last_record(path, folders.values())))} ago"
        cells: list[Value | Cell] = [
            Named(name, run=f"{root}/s/{part(name)}"),
            str(run.get("protocol", "")),
            words,
            f"{ended} of {len(folders)}",
            _state(working=holder(path) is not None, runs=len(folders), ended=ended),
            age,
        ]
        lines.append(Row(tuple(cells)))
    columns = (
        Column("Suite"),
        Column("Protocol"),
        Column("Tasksets", prose=True),
        Column("Runs ended, of those started", "right"),
        Column("State"),
        Column("Last record", "right"),
    )
    table = Table(
        columns, tuple(lines), f"{plural(len(lines), 'suite')} in {served.folder}", "No suites yet: start one below."
    )
    names = [(name, name) for name in served.suites()]
    blocks = [Block("suites", "", [table])]
    if len(names) > 1:
        fields = [Field("a", "First", names[0][0], names), Field("b", "Second", names[1][0], names)]
        blocks.append(Block("compare", "Compare two suites", [Form(f"{root}/compare", "Compare", fields)], still=True))
    if actions is not None:
        blocks += _start(root, actions, installed)
    return View("Suites", blocks, follow=f"{root}/live")


def _last_record(suite: Path, runs: Iterable[Path]) -> float:
    """Return the time of the last record of a suite's runs, or of its creation; reports and indexes do not count."""
    files = [journal for run in runs if (journal := run / "journal.jsonl").is_file()] or [suite / "suite.toml"]
    return max((file.stat().st_mtime for file in files if file.is_file()), default=suite.stat().st_mtime)


def _state(*, working: bool, runs: int, ended: int) -> Cell:
    if working:
        return Cell("at\u00a0work", tone="good")
    if not runs:
        return Cell("stopped", ("before any run started",), "bad")
    return Cell("ended") if ended == runs else Cell("stopped", ("before all runs ended",), "bad")


def _start(root: str, actions: Actions, installed: Mapping[str, str]) -> list[Block]:
    options = [(name, f"{name}: {about}"[:110]) for name, about in installed.items()]
    fields = [
        Field("suite", "Installed suite", "demo", options),
        Field("file", "or a TOML file", hint="suite.toml"),
        Field("overrides", "Settings", hint="run.seeds=1 budget.episodes=64"),
    ]
    form = Form(f"{root}/start", "Start", fields, post=True, note="Starts `heredity run` in a separate process.")
    started = [
        Code(
            one.last_output(),
            "text",
            one.title,
            "running" if one.running else f"ended with {one.process.returncode}",
            folded=not one.process.returncode,
        )
        for one in reversed(actions.started)
    ]
    return [
        Block("start", "Start a suite", [form], still=True),
        *([Block("started", "Started from here", started)] if started else []),
    ]


def suite_view(suite: Suite, actions: Actions | None) -> View:
    """Return the page of a suite: its runs and actions."""
    runs = suite.runs()
    recorded = [run for run in runs if run.facts.get("protocol")]
    ended = sum(run.state in ("finished", "failed") for run in runs)
    rollouts = sum(run.facts.get("rollouts", 0) for run in runs)
    last = max((run.facts.get("last", 0.0) for run in runs), default=0.0)
    first = min((run.facts.get("started", last) for run in runs), default=last)
    facts = (
        Fact("Runs ended", f"{ended} of {len(runs)} started" if runs else None),
        Fact("Rollouts", rollouts),
        Fact("Candidates", sum(run.facts.get("candidates", 0) for run in runs)),
        Fact("From first to last line", Number(last - first if last else None, form="duration")),
        Fact("Process", "running" if suite.alive else "none"),
        *((Fact("Index built in", Number(suite.made_s, form="duration")),) if suite.made_s else ()),
    )
    protocol = recorded[0].facts["protocol"] if recorded else ""
    blocks = [Block("runs", "Runs", [_runs(runs)])]
    if len(runs) > 1:
        names = [(run.name, run.name) for run in runs[:400]]
        fields = [Field("a", "First", names[0][0], names), Field("b", "Second", names[1][0], names)]
        blocks.append(Block("compare", "Compare two runs", [Form(suite.url("compare"), "Compare", fields)], still=True))
    tabs = [("Runs", suite.url(), True), ("Report", suite.url("report"), False)]
    forms = _forms(suite) if actions is not None else []
    lines = [Text(protocol)] if protocol else []
    return View(suite.name, blocks, (), tabs, Facts(facts), lines, forms, suite.follow)


def _forms(suite: Suite) -> list[Form]:
    if suite.alive:
        return [Form(suite.url("stop"), "Stop", post=True, note="Nothing is lost; the suite can be resumed.")]
    if (suite.index.folder / "suite.toml").is_file() and not all(run.facts.get("status") for run in suite.runs()):
        return [Form(suite.url("resume"), "Resume", post=True, note="Nothing is run or charged twice.")]
    return []


def _runs(runs: Sequence[Run]) -> Table:
    columns = (
        Column("Run"),
        Column("Taskset"),
        Column("Evolver"),
        Column("Seed", "right"),
        Column("State"),
        Column("Budget used", "right"),
        Column("Rollouts", "right"),
        Column("Best so far", "right"),
        Column("Held-out", "right"),
    )
    lines: list[Row] = []
    for run in runs:
        facts, state = run.facts, run.state
        episodes = (facts.get("budget") or {}).get("episodes")
        used = f"{facts.get('charged', 0):.0f} of {episodes:.0f}" if episodes else f"{facts.get('charged', 0):.0f}"
        shown = Cell(
            state, tone="bad" if state in ("failed", "damaged", "stopped") else "good" if state != "finished" else None
        )
        name = f"{facts.get('evolver') or run.name} s{facts.get('seed')}" if facts.get("evolver") else run.name
        cells: tuple[Value | Cell, ...] = (
            Named(name, run=run.url(), title=run.name),
            short_task(facts.get("taskset") or "") or None,
            facts.get("evolver"),
            facts.get("seed"),
            shown,
            used,
            facts.get("rollouts", 0),
            Number(facts.get("best")),
            Number(facts.get("heldout")),
        )
        lines.append(Row(cells))
    return Table(columns, tuple(lines), "", "No run has started.")


def indexing_view(name: str, root: str, share: float, megabytes: float, seconds: float) -> View:
    """Return the page shown while an index is being built, with its progress."""
    bar = Markup('<p><progress class="long" max="100" value="%d" aria-label="Progress">%d%%</progress></p>') % (
        round(100 * share),
        round(100 * share),
    )
    note = Text(
        f"Building the index of {name}: {100 * share:.0f}% of {megabytes:.1f} MB of records, {seconds:.1f} s so far."
    )
    return View(
        f"Reading {name}",
        [Block("reading", "", [note, bar])],
        [(name, f"{root}/s/{part(name)}")],
        follow=f"{root}/s/{part(name)}/live",
    )


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
