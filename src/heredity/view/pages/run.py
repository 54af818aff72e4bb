"""The page of a run: how far it is, how scores came along, what was decided; and of reports, as they are written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heredity.errors import HeredityError
from heredity.outside import json_value, read_bytes
from heredity.protocols.registry import PROTOCOLS
from heredity.reports import html, page_of
from heredity.resources import Candidate
from heredity.results.base import read
from heredity.results.charts import Key, Lines, Mark, Reference, Series
from heredity.results.page import Fact, Facts, Folded, Number, Text
from heredity.results.report import PlainReport, Source
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.text import short_task
from heredity.view.drawing import Block, Shown, View, fragment
from heredity.view.index.tail import size_of
from heredity.view.pages.here import Run, Suite
from heredity.view.pages.training import over_time, training_curves
from heredity.view.place import blob

MOST_POINTS = 1500
"""Submissions of a curve; of more, those are drawn that raised the best, and evenly spaced others."""

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
    selected = run.candidate(facts.get("selected", ""))
    more = (
        Fact("Selected candidate", selected),
        Fact("Protocol", facts.get("protocol")),
        Fact("Isolation", facts.get("isolation")),
        Fact("Model that attempts tasks", facts.get("execution") or None),
        Fact("Tokens of rollouts", Number(facts.get("tokens"), form="tokens")),
        Fact("Cost of rollouts", Number(facts.get("cost"), form="cost")),
        Fact("Resumed", facts.get("resumes", 0)),
    )
    conditions = Facts(tuple(Fact(name, value) for name, value in (facts.get("conditions") or {}).items()))
    packages = Facts(tuple(Fact(name, value) for name, value in (facts.get("packages") or {}).items()))
    about: list[Shown] = [Facts(more), Folded("Conditions", (conditions,)), Folded("Packages", (packages,))]
    names = ["rollouts.csv", *(n for n in ("journal.jsonl", "metrics.json", "report.html") if size_of(run.folder / n))]
    exports = [(name, run.url("export", name)) for name in names]
    links = Markup("<p>%s</p>") % Markup(" · ").join(
        Markup('<a href="%s" download>%s</a>') % (url, name) for name, url in exports
    )
    along, idle = over_time(run), bool(facts.get("status") and not facts.get("submissions"))
    curves = training_curves(run)
    blocks = [
        # A protocol may have no submissions, which is known when the run has ended.
        *([] if idle else [Block("scores", "Scores", [scores(run), *([along] if along else [])])]),
        *([Block("training", "Training", list[Shown](curves))] if curves else []),
        Block("about", "About the run", about),
        Block("export", "Take along", [links]),
    ]
    return View(run.name, blocks, run.suite.crumbs, run.tabs(""), Facts(head), lines, follow=run.suite.follow)


def scores(run: Run, title: str = "Mean score of each submission") -> Lines:
    """Return the curve of a run's submissions, the best so far, and what judged it."""
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
    """Return the report of a suite or a run out of its metrics.json, drawn as `heredity report` does."""
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
        note = Text(
            "There is no report yet: one is written when a run ends. `heredity report` makes it again from the records."
        )
        return View(title, [Block("report", "", [note])], crumbs, tabs, follow=follow)
    return View(title, (), crumbs, tabs, raw=raw)


def results_of(folder: Path, model: type[RunResults] | type[SuiteResults]) -> Any:
    """Return what a metrics.json holds; None if there is none that can be read."""
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
    """Return the text files of a candidate; None if its record is gone."""
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
    """Return JSON values as text for people."""
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)
