"""Pages of a run: its progress, scores and decisions, its candidates and their descent; and of reports, as they are written."""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heredity._core.errors import HeredityError, RecordError, UnknownNameError
from heredity._core.outside import json_value, read_bytes
from heredity.pages.live.drawing import Block, Field, Form, Shown, View, fragment
from heredity.pages.live.pages.here import Run, Suite
from heredity.pages.live.pages.lists import tone, when
from heredity.pages.live.place import blob
from heredity.pages.live.rows import bytes_at, mapping, sequence, size_of
from heredity.pages.report import html, page_of
from heredity.pages.report.svg import element, figure, group, label
from heredity.protocols.registry import PROTOCOLS
from heredity.resources import Candidate
from heredity.results.base import read
from heredity.results.charts import Key, Lines, Mark, Reference, Series
from heredity.results.page import Cell, Code, Fact, Facts, Folded, Mono, Number, Row, Table, Text, columns_of
from heredity.results.report import PlainReport, Source
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.text import clean, interval, number, short_task, shorten, signed

MOST_NODES = 250
"""Maximum candidates of a graph: committed or selected ones with their ancestors come first, then the best."""

_WIDE, _HIGH, _GAP_X, _GAP_Y, _PAD = 132.0, 48.0, 18.0, 42.0, 12.0
_LINE = 12
"""Number of candidates per line if none has parents."""
_MOST_DIFF = 400_000


def lineage_view(run: Run) -> View:
    """Return the graph of a run's candidates, and the same data as a table."""
    rows = run.suite.index.rows("SELECT * FROM candidates WHERE run = ? ORDER BY number", (run.id,))
    shown = _chosen(rows)
    drawn = Markup('<div class="graph" tabindex="0" role="group" aria-label="Graph of the lineage">%s</div>') % Markup(
        graph(run, shown)
    )
    note = (
        "Each box is a candidate: its number, its score, its note. Lines lead from parents, above, to their children. "
        f"{len(shown)} of {len(rows)} are drawn."
    )
    names = [(row["digest"], f"{row['number']} · {row['digest'][:8]} · {number(row['score'])}") for row in shown]
    blocks = [Block("graph", "", [Text(note, "about"), drawn, *([] if shown else [Text("No candidates yet.")])])]
    if len(names) > 1:
        best = max(shown, key=lambda row: (row["state"] == "selected", row["score"] is not None, row["score"] or 0))[
            "digest"
        ]
        fields = [Field("a", "From", names[0][0], names), Field("b", "To", best, names)]
        blocks.append(
            Block(
                "compare",
                "Difference of two candidates",
                [Form(run.url("diff"), "Show the difference", fields)],
                still=True,
            )
        )
    blocks.append(Block("decisions", "Commits and refusals", [_decisions(run, None)]))
    legend = Text("Green borders: committed; dashed red: refused; blue and thick: selected; grey: proposed.", "note")
    blocks[0] = Block("graph", "", [*blocks[0].parts, legend])
    return View("Lineage", blocks, run.crumbs, run.tabs("lineage"), follow=run.suite.follow)


def _chosen(rows: Sequence[sqlite3.Row]) -> list[sqlite3.Row]:
    if len(rows) <= MOST_NODES:
        return list(rows)
    by_digest = {row["digest"]: row for row in rows}
    ranked = sorted(
        rows,
        key=lambda row: (
            row["state"] != "selected",
            row["state"] != "committed",
            -(row["score"] if row["score"] is not None else -1e308),
        ),
    )
    kept: dict[str, sqlite3.Row] = {}
    for row in ranked:
        waiting = [row["digest"]]
        while waiting and len(kept) < MOST_NODES:
            digest = waiting.pop()
            if digest in kept or digest not in by_digest:
                continue
            kept[digest] = by_digest[digest]
            waiting += _parents(by_digest[digest])
        if len(kept) >= MOST_NODES:
            break
    return sorted(kept.values(), key=lambda row: row["number"])


def graph(run: Run, rows: Sequence[sqlite3.Row]) -> str:
    """Draw candidates as boxes in rows, each below its parents, with lines between them; each box is a link."""
    depth = _depths(rows)
    lines: list[list[sqlite3.Row]] = []
    for level in range(max(depth.values(), default=-1) + 1):
        members = [row for row in rows if depth[row["digest"]] == level]
        lines += [members[i : i + _LINE] for i in range(0, len(members), _LINE)]
    widest = max((len(line) for line in lines), default=1)
    width = widest * (_WIDE + _GAP_X) - _GAP_X + 2 * _PAD
    at: dict[str, tuple[float, float]] = {}
    for i, line in enumerate(lines):
        left = (width - len(line) * (_WIDE + _GAP_X) + _GAP_X) / 2
        at |= {row["digest"]: (left + j * (_WIDE + _GAP_X), _PAD + i * (_HIGH + _GAP_Y)) for j, row in enumerate(line)}
    edges = [
        _edge(at[parent], at[row["digest"]]) for row in rows for parent in dict.fromkeys(_parents(row)) if parent in at
    ]
    boxes = [_box(run, row, *at[row["digest"]]) for row in rows]
    height = len(lines) * (_HIGH + _GAP_Y) - _GAP_Y + 2 * _PAD if lines else 2 * _PAD
    # Screen readers treat a figure as a picture; this one is a group of links.
    return figure(width, height, f"Lineage of {len(rows)} candidates", *edges, *boxes).replace(
        'role="img"', 'role="group"', 1
    )


def _depths(rows: Sequence[sqlite3.Row]) -> Mapping[str, int]:
    """Return one more than the level of the deepest parent; later parents and those not drawn do not count."""
    depth: dict[str, int] = {}
    for row in rows:
        depth[row["digest"]] = max((depth[parent] + 1 for parent in _parents(row) if parent in depth), default=0)
    return depth


def _parents(row: sqlite3.Row) -> list[str]:
    return [str(parent) for parent in json.loads(row["parents"])]


def _edge(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1, x2, y2 = start[0] + _WIDE / 2, start[1] + _HIGH, end[0] + _WIDE / 2, end[1]
    bend = (y1 + y2) / 2
    return element(
        "path", d=f"M{x1:.1f} {y1:.1f}C{x1:.1f} {bend:.1f} {x2:.1f} {bend:.1f} {x2:.1f} {y2:.1f}", class_="edge"
    )


def _box(run: Run, row: sqlite3.Row, x: float, y: float) -> str:
    state = row["state"] if row["state"] in ("committed", "refused", "selected") else "proposed"
    note = clean(row["note"])
    head = f"{row['number']}   {number(row['score'])}"
    tip = f"candidate {row['number']}, {state}, score {number(row['score'])} {row['view']}: {note}"
    box = group(
        element("rect", x=x, y=y, width=_WIDE, height=_HIGH, rx=7),
        label(head, x + 10, y + 20, class_="name"),
        label(shorten(note, 17) if note else row["digest"][:12], x + 10, y + 37, class_="small"),
        class_=f"node {state}",
        tip=tip,
    )
    return element("a", box, href=run.url("c", row["digest"]))


def candidate_row(run: Run, digest: str) -> sqlite3.Row:
    """Return the row of a candidate by its digest or a prefix of it.

    Raises:
        UnknownNameError: if the run has none, or several.
    """
    query = "SELECT * FROM candidates WHERE run = ? AND digest >= ? AND digest < ? LIMIT 2"
    rows = run.suite.index.rows(query, (run.id, digest, digest + "\uffff")) if digest else []
    if len(rows) != 1 and not (rows and rows[0]["digest"] == digest):
        raise UnknownNameError("candidate", digest, [])
    return rows[0]


def candidate_view(run: Run, digest: str) -> View:
    """Return the page of a candidate: origin, decisions with reasons, source."""
    row = candidate_row(run, digest)
    digest = row["digest"]
    facts = [
        Fact("Score", Number(row["score"]), row["view"] or None),
        Fact("State", row["state"] or "proposed"),
        Fact("Created at", when(run, row["at"])),
    ]
    scored = run.suite.index.rows(
        "SELECT * FROM evaluations WHERE run = ? AND candidate = ? ORDER BY id LIMIT 200", (run.id, digest)
    )
    cells = [
        Row(
            (
                run.link(f"submission {e['number']}" if e["number"] is not None else e["view"], "e", e["id"]),
                tone(e["status"]),
                Number(e["mean"]),
                e["rollouts"],
                e["failed"],
            )
        )
        for e in scored
    ]
    table = Table(
        columns_of("Scored in", "Status", "Mean", "Rollouts", "Failed", left=2),
        tuple(cells),
        "",
        "Not scored yet.",
    )
    blocks = [
        Block("about", "Descent", _descent(run, row)),
        Block("decisions", "Commits and refusals", [_decisions(run, digest)]),
        Block("scores", "Scores", [table]),
        Block("source", "Source", _source(run, digest), still=True),
    ]
    title = f"Candidate {row['number']}"
    return View(
        title,
        blocks,
        [*run.crumbs, ("Candidates", run.url("candidates"))],
        run.tabs("candidates"),
        Facts(tuple(facts)),
        follow=run.suite.follow,
    )


def _descent(run: Run, row: sqlite3.Row) -> list[Shown]:
    digest = row["digest"]
    children = run.suite.index.rows(
        "SELECT digest FROM candidates WHERE run = ? AND parents LIKE ? LIMIT 40", (run.id, f'%"{digest}"%')
    )
    about = [Fact("Note", row["note"] or None), Fact("Digest", Mono(digest))]
    about += [Fact("Parent" if i == 0 else "and", run.candidate(parent)) for i, parent in enumerate(_parents(row))]
    about += [Fact("Children" if i == 0 else "and", run.candidate(child["digest"])) for i, child in enumerate(children)]
    parents = _parents(row)
    diffs = (
        [
            Form(
                run.url("diff"),
                "Difference from its parent",
                [
                    Field("a", "From", parents[0], [(p, p[:10]) for p in parents]),
                    Field("b", "To", digest, [(digest, digest[:10])]),
                ],
            )
        ]
        if parents
        else []
    )
    return [Facts(tuple(about)), *diffs]


def _source(run: Run, digest: str) -> list[Shown]:
    source = source_of(run, digest)
    if source is None:
        return [Text("The record of its files is missing or damaged.", "warning")]
    files = list(source.files.items())[:200]
    codes: list[Shown] = [
        Code(text, "text", path, f"{text.count(chr(10)) + 1} lines", folded=len(files) > 3) for path, text in files
    ]
    link = Markup('<p><a href="%s" download>All of it as a ZIP file</a></p>') % run.url(
        "export", "candidate.zip", c=digest
    )
    return [*codes, link] if files else [Text("No text files."), link]


def _decisions(run: Run, digest: str | None) -> Table:
    where, values = ("AND d.candidate = ?", (run.id, digest)) if digest else ("", (run.id,))
    rows = run.suite.index.rows(
        f"SELECT d.*, e.offset, e.length, e.at FROM decisions d JOIN events e ON e.run = d.run AND e.seq = d.seq "
        f"WHERE d.run = ? {where} ORDER BY d.seq DESC LIMIT 200",
        values,
    )
    cells: list[Row] = []
    for row in rows:
        data = event_data(run, row)
        low, high = (*sequence(data.get("interval")), None, None)[:2]
        evidence = ", ".join(str(submission) for submission in sequence(data.get("submissions"))[:12])
        spread = f"{signed(data.get('difference'))} {interval(low, high) if low is not None else ''}".strip()
        verdict = Cell("committed" if row["accepted"] else "refused", tone="good" if row["accepted"] else "bad")
        cells.append(
            Row(
                (
                    run.link(f"{row['seq']}", "event", row["seq"]),
                    run.candidate(row["candidate"]),
                    verdict,
                    run.candidate(str(data.get("baseline") or "")),
                    spread,
                    data.get("pairs") if isinstance(data.get("pairs"), int) else None,
                    evidence,
                    str(data.get("reason") or "")[:300],
                )
            )
        )
    columns = columns_of(
        "Line",
        "Candidate",
        "Decision",
        "Against",
        "Difference",
        "Pairs",
        "Evidence: submissions",
        "Reason",
        left=("Line", "Candidate", "Decision", "Against", "Evidence: submissions", "Reason"),
    )
    caption = "the latest 200" if len(cells) == 200 else ""
    return Table(
        columns,
        tuple(cells),
        caption,
        "No commits or refusals: this protocol selects at the end, or has not reached a decision.",
    )


def event_data(run: Run, row: sqlite3.Row) -> Mapping[str, Any]:
    """Return the data of an event from the journal; empty if it cannot be read."""
    try:
        return mapping(
            json.loads(bytes_at(run.folder / "journal.jsonl", row["offset"], min(row["length"], 8 << 20))).get("data")
        )
    except (ValueError, RecursionError, AttributeError):
        return {}


def diff_view(run: Run, first: str, second: str) -> View:
    """Return the differences between two candidates, file by file."""
    a, b = candidate_row(run, first), candidate_row(run, second)
    before, after = source_of(run, a["digest"]), source_of(run, b["digest"])
    parts: list[Shown] = []
    if before is None or after is None:
        parts.append(Text("The record of one of them is missing or damaged.", "warning"))
    else:
        for path in sorted({*before.files, *after.files}):
            was, now = before.files.get(path, ""), after.files.get(path, "")
            if was != now:
                parts.append(
                    Code(
                        _unified(was, now, path),
                        "diff",
                        path,
                        _counts(was, now, path in before.files, path in after.files),
                    )
                )
        if not parts:
            parts.append(Text("Their text files are the same."))
    change = (
        (b["score"] - a["score"])
        if a["score"] is not None and b["score"] is not None and a["view"] == b["view"]
        else None
    )
    facts = (
        Fact("From", run.candidate(a["digest"]), f"score {number(a['score'])}"),
        Fact("To", run.candidate(b["digest"]), f"score {number(b['score'])}"),
        Fact("Change of the score", Number(change, form="signed"), f"on {b['view']}" if change is not None else None),
    )
    swap = Form(
        run.url("diff"),
        "Reverse direction",
        [
            Field("a", "From", b["digest"], [(b["digest"], b["digest"][:10])]),
            Field("b", "To", a["digest"], [(a["digest"], a["digest"][:10])]),
        ],
    )
    title = f"From candidate {a['number']} to {b['number']}"
    return View(
        title,
        [Block("diff", "", [*parts, swap])],
        [*run.crumbs, ("Lineage", run.url("lineage"))],
        run.tabs("lineage"),
        Facts(facts),
    )


def _unified(was: str, now: str, path: str) -> str:
    if len(was) + len(now) > _MOST_DIFF:
        return "(too long to compare)"
    return "\n".join(difflib.unified_diff(was.splitlines(), now.splitlines(), f"a/{path}", f"b/{path}", lineterm=""))


def _counts(was: str, now: str, old: bool, new: bool) -> str:
    return "new" if not old else "removed" if not new else f"{was.count(chr(10)) + 1} to {now.count(chr(10)) + 1} lines"


MOST_READ = 8 << 20
"""Bytes at the end of an output that are searched."""

_MOST_FILES, _MOST_CURVES, _MOST_POINTS = 40, 8, 1500
_STEP = re.compile(r"\b(?:global[_ ])?(?:steps?|iter(?:ation)?s?|updates?)['\"]?\s*[:=#]?\s*(\d{1,9})\b", re.IGNORECASE)
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_VALUE = re.compile(
    r"\b((?:[A-Za-z]{1,16}[_/ ]){0,2}(?:loss|reward|accuracy|perplexity))['\"]?\s*(?:[:=]\s*|\bis\b\s*|\s)['\"]?"
    + _NUMBER,
    re.IGNORECASE,
)
_WORDS = ("loss", "reward", "accuracy", "perplexity")


def training_curves(run: Run) -> list[Lines]:
    """Return a chart for each quantity that an output of the run reports by step, such as `step 40: loss 1.31`."""
    charts: list[Lines] = []
    for path in _outputs(run.folder / "logs"):
        size = size_of(path)
        try:
            data = bytes_at(path, max(0, size - MOST_READ), min(size, MOST_READ))
        except RecordError:
            continue
        for name, points in curves_in(data.decode("utf-8", "replace")).items():
            if len(points) > 1:
                step = max(1, len(points) // _MOST_POINTS)
                title = f"{name[:1].upper()}{name[1:]}, from {path.name}"
                charts.append(
                    Lines(title, "step", name, (Series("", 0, tuple(points[::step])),), whole=False, wide=True)
                )
    return charts[:_MOST_CURVES]


def curves_in(text: str) -> dict[str, list[tuple[float, float]]]:
    """Return losses, rewards, accuracies and perplexities in lines of a text: name to (step, value).

    A line counts if it names a step, or is a mapping as trainers print it (`{'loss': 1.3, 'epoch': 0.1}`), whose position
    is then its step. A step lower than the one before starts another training, which is appended.
    """
    curves: dict[str, list[tuple[float, float]]] = {}
    starts: dict[str, float] = {}
    for line in text.splitlines():
        if len(line) > 2000 or not any(word in line.lower() for word in _WORDS):
            continue
        step = _STEP.search(line)
        if step is None and "{" not in line:
            continue
        for metric, measured in _VALUE.findall(line):
            name, value = " ".join(metric.lower().replace("_", " ").replace("/", " ").split()), float(measured)
            points = curves.setdefault(name, [])
            at = starts.get(name, 0.0) + (float(step[1]) if step else len(points) + 1.0)
            if points and step and at <= points[-1][0]:
                starts[name] = points[-1][0]
                at = starts[name] + float(step[1])
            if math.isfinite(value):
                points.append((at, value))
    return curves


def over_time(run: Run) -> Lines | None:
    """Return the scores of submissions over the run's time; None if time is not part of the budget or nothing was scored."""
    if not (run.facts.get("budget") or {}).get("seconds"):
        return None
    rows = run.suite.index.rows(
        "SELECT number, at, mean FROM evaluations WHERE run = ? AND number IS NOT NULL AND mean IS NOT NULL ORDER BY number",
        (run.id,),
    )
    base = run.suite.index.rows(
        "SELECT mean FROM evaluations WHERE run = ? AND number IS NULL AND mean IS NOT NULL ORDER BY id LIMIT 1",
        (run.id,),
    )
    zero = run.facts.get("started", 0.0)
    points = [(row["at"] - zero, row["mean"]) for row in rows]
    if not points:
        return None
    best: list[tuple[float, float]] = []
    for at, mean in points:
        if not best or mean > best[-1][1]:
            best.append((at, mean))
    step = max(1, len(points) // _MOST_POINTS)
    marks = tuple(Mark(at, mean, "circle", "soft", f"{mean:.4g} after {at:.0f} s", 0.7) for at, mean in points[::step])
    return Lines(
        "Score over the run's time",
        "seconds",
        "score",
        (Series("best so far", 0, tuple(best), steps=True, until=points[-1][0]),),
        marks,
        Reference(base[0]["mean"], "scored first") if base else None,
        whole=False,
        legend=(Key("circle", "soft", "a submission"),),
        wide=True,
    )


def _outputs(folder: Path) -> Iterator[Path]:
    """Yield plain files of a folder and its direct subfolders, by name; links are left out."""
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name)[:_MOST_FILES]:
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    inner = sorted(Path(entry.path).iterdir())[:_MOST_FILES]
                    yield from (path for path in inner if size_of(path))
    except OSError:
        return


MOST_POINTS = 1500
"""Maximum submissions of a curve: those that improved the best score are kept, and evenly spaced others."""

_MOST_TEXT = 200_000


def run_view(run: Run) -> View:
    """Return the overview of a run."""
    facts, budget = run.facts, run.facts.get("budget") or {}
    episodes = budget.get("episodes")
    head = (
        Fact("State", run.state),
        Fact("Budget used", facts.get("charged", 0), f"of {episodes:.0f} episodes" if episodes else None),
        Fact("Best on train tasks", Number(facts.get("best"))),
        Fact("Held-out", Number(facts.get("heldout"))),
        Fact(
            "Commits",
            facts.get("commits"),
            f"{facts.get('refusals', 0):.0f} refused" if "commits" in facts or "refusals" in facts else None,
        ),
        Fact("Time", Number(facts["last"] - facts["started"] if "last" in facts else None, form="duration")),
    )
    lines = [
        Text(
            f"{facts.get('evolver') or 'unknown'} on {short_task(facts.get('taskset') or 'unknown')}, seed {facts.get('seed')}"
        )
    ]
    if run.row["damage"]:
        lines.append(Text(f"The journal {run.row['damage']}", "warning"))
    if facts.get("failure"):
        lines.append(Text(f"The evolver failed: {facts['failure']}", "warning"))
    along, idle = over_time(run), bool(facts.get("status") and not facts.get("submissions"))
    curves = training_curves(run)
    blocks = [
        # A protocol may have no submissions, which is certain only after the end of the run.
        *([] if idle else [Block("scores", "Scores", [scores(run), *([along] if along else [])])]),
        *([Block("training", "Training", list[Shown](curves))] if curves else []),
        Block("about", "About the run", _about(run)),
        Block("export", "Export", [_exports(run)]),
    ]
    return View(run.name, blocks, run.suite.crumbs, run.tabs(""), Facts(head), lines, follow=run.suite.follow)


def _about(run: Run) -> list[Shown]:
    facts = run.facts
    selected = run.candidate(facts.get("selected", ""))
    more = (
        Fact("Selected candidate", selected),
        Fact("Protocol", facts.get("protocol")),
        Fact("Isolation", facts.get("isolation")),
        Fact("Model that solves tasks", facts.get("execution") or None),
        Fact("Tokens of rollouts", Number(facts.get("tokens"), form="tokens")),
        Fact("Cost of rollouts", Number(facts.get("cost"), form="cost")),
        Fact("Resumed", facts.get("resumes", 0)),
    )
    conditions = Facts(tuple(Fact(name, value) for name, value in (facts.get("conditions") or {}).items()))
    packages = Facts(tuple(Fact(name, value) for name, value in (facts.get("packages") or {}).items()))
    return [Facts(more), Folded("Conditions", (conditions,)), Folded("Packages", (packages,))]


def _exports(run: Run) -> Markup:
    names = ["rollouts.csv", *(n for n in ("journal.jsonl", "metrics.json", "report.html") if size_of(run.folder / n))]
    exports = [(name, run.url("export", name)) for name in names]
    return Markup("<p>%s</p>") % Markup(" · ").join(
        Markup('<a href="%s" download>%s</a>') % (url, name) for name, url in exports
    )


def scores(run: Run, title: str = "Mean score of each submission") -> Lines:
    """Return the curve of a run's submissions, the best so far, and the reference score."""
    rows = run.suite.index.rows(
        "SELECT number, mean, status FROM evaluations WHERE run = ? AND number IS NOT NULL ORDER BY number", (run.id,)
    )
    points = [(float(row["number"]), row["mean"]) for row in rows if row["mean"] is not None]
    best: list[tuple[float, float]] = []
    for at, mean in points:
        if not best or mean > best[-1][1]:
            best.append((at, mean))
    step = max(1, len(points) // MOST_POINTS)
    marks = tuple(
        Mark(at, mean, "circle", "soft", f"submission {at:.0f}: {mean:.4g}", 0.7) for at, mean in points[::step]
    )
    failed = [row["number"] for row in rows if row["status"] not in ("ok", "under way")][:MOST_POINTS]
    marks += tuple(Mark(float(at), None, "cross", "bad", f"submission {at} failed") for at in failed)
    last = points[-1][0] if points else None
    heldout = run.facts.get("heldout")
    legend = (
        Key("circle", "soft", "a submission on train tasks"),
        *((Key("cross", "bad", "failed"),) if failed else ()),
    )
    return Lines(
        title,
        "submission",
        "score",
        (Series("best so far", 0, tuple(best), steps=True, until=last),),
        marks,
        Reference(heldout, "held-out") if heldout is not None else None,
        whole=True,
        legend=legend,
        wide=True,
        empty="no submission has been scored yet",
    )


def report_view(suite: Suite, run: Run | None) -> View:
    """Return the report of a suite or a run from its metrics.json, drawn as `heredity report` does."""
    folder = run.folder if run else suite.index.folder
    tabs = run.tabs("report") if run else [("Runs", suite.url(), False), ("Report", suite.url("report"), True)]
    crumbs = run.crumbs if run else suite.crumbs
    follow = "" if size_of(folder / "metrics.json") else suite.follow
    title = f"Report of {run.name if run else suite.name}"
    try:
        raw = _report(suite, run, folder)
    except HeredityError as error:
        return View(title, [Block("report", "", [Text(str(error), "warning")])], crumbs, tabs, follow=follow)
    if raw is None:
        note = Text("No report yet: it is written when a run ends. `heredity report` rebuilds it from the records.")
        return View(title, [Block("report", "", [note])], crumbs, tabs, follow=follow)
    return View(title, (), crumbs, tabs, raw=raw)


def results_of(folder: Path, model: type[RunResults] | type[SuiteResults]) -> Any:
    """Return the content of a metrics.json; None if it is missing or unreadable."""
    if not size_of(folder / "metrics.json"):
        return None
    with suppress(OSError, ValueError, HeredityError):
        data = json_value(read_bytes(folder / "metrics.json"))
        protocol = (
            PROTOCOLS.load(data["protocol"])
            if isinstance(data, dict) and data.get("protocol") in PROTOCOLS.names()
            else None
        )
        metrics = protocol.metrics if protocol else None
        part = (metrics.run_part if model is RunResults else metrics.suite_part) if metrics else None
        return read(data, model, part)
    return None


def _report(suite: Suite, run: Run | None, folder: Path) -> Markup | None:
    results = results_of(folder, RunResults if run else SuiteResults)
    if results is None:
        return None
    runs: Sequence[RunResults] = []
    if run is None:
        read = [results_of(path, RunResults) for path in suite.index.run_folders().values()]
        runs = [result for result in read if result is not None]
    name = results.protocol
    report = (PROTOCOLS.load(name).report if name in PROTOCOLS.names() else None) or PlainReport()

    def source(digest: str) -> Source | None:
        return source_of(run, digest) if run else None

    page = page_of(results, runs, report, source if run else None)
    links = {run.name: run.url() for run in suite.runs()}
    return fragment("report.html.j2", page=page, **html.drawn_with(links))


def source_of(run: Run, digest: str) -> Source | None:
    """Return the text files of a candidate; None if its record is missing."""
    rows = run.suite.index.rows("SELECT blob FROM candidates WHERE run = ? AND digest = ?", (run.id, digest))
    if not rows:
        return None
    try:
        candidate = Candidate.from_bytes(blob(run.folder, rows[0]["blob"]))
    except (HeredityError, ValueError, TypeError, KeyError):
        return None
    several = len(candidate.parts) > 1
    files: dict[str, str] = {}
    for part, tree in candidate.parts.items():
        for path, content in tree.items():
            with suppress(UnicodeDecodeError):
                text = content[:_MOST_TEXT].decode() if b"\0" not in content[:_MOST_TEXT] else "(not a text)"
                cut = f"\n… {len(content) - _MOST_TEXT} bytes more" if len(content) > _MOST_TEXT else ""
                files[f"{part}/{path}" if several else path] = text + cut
    return Source(files, rows[0]["blob"])


def as_text(value: object) -> str:
    """Return JSON values as readable text."""
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)
