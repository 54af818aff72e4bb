"""Pages of a run: its progress, scores and decisions; and of reports, as they are written."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heredity._core.errors import HeredityError, RecordError
from heredity._core.outside import json_value, read_bytes
from heredity.pages.live.drawing import Block, Shown, View, fragment
from heredity.pages.live.index.rows import bytes_at, size_of
from heredity.pages.live.pages.here import Run, Suite
from heredity.pages.live.place import blob
from heredity.pages.report import html, page_of
from heredity.protocols.registry import PROTOCOLS
from heredity.resources import Candidate
from heredity.results.base import read
from heredity.results.charts import Key, Lines, Mark, Reference, Series
from heredity.results.page import Fact, Facts, Folded, Number, Text
from heredity.results.report import PlainReport, Source
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.text import short_task

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

    A line counts if it names a step, or is a mapping as trainers print it (`{'loss': 1.3, 'epoch': 0.1}`), whose
    position is
    then its step. A step lower than the one before starts another training, which is appended.
    """
    curves: dict[str, list[tuple[float, float]]] = {}
    starts: dict[str, float] = {}
    for line in text.splitlines():
        if len(line) > 2000 or not any(word in line.lower() for word in _WORDS):
            continue
        step = _STEP.search(line)
        if step is None and "{" not in line:
            continue
        for label, number in _VALUE.findall(line):
            name, value = " ".join(label.lower().replace("_", " ").replace("/", " ").split()), float(number)
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
    about: list[Shown] = [Facts(more), Folded("Conditions", (conditions,)), Folded("Packages", (packages,))]
    names = ["rollouts.csv", *(n for n in ("journal.jsonl", "metrics.json", "report.html") if size_of(run.folder / n))]
    exports = [(name, run.url("export", name)) for name in names]
    links = Markup("<p>%s</p>") % Markup(" · ").join(
        Markup('<a href="%s" download>%s</a>') % (url, name) for name, url in exports
    )
    along, idle = over_time(run), bool(facts.get("status") and not facts.get("submissions"))
    curves = training_curves(run)
    blocks = [
        # A protocol may have no submissions, which is certain only after the end of the run.
        *([] if idle else [Block("scores", "Scores", [scores(run), *([along] if along else [])])]),
        *([Block("training", "Training", list[Shown](curves))] if curves else []),
        Block("about", "About the run", about),
        Block("export", "Export", [links]),
    ]
    return View(run.name, blocks, run.suite.crumbs, run.tabs(""), Facts(head), lines, follow=run.suite.follow)


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
