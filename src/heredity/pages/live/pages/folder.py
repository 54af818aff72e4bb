"""Pages of a folder: its suites and startable suites; a suite with its runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from heredity.pages.live.actions import Actions, holder
from heredity.pages.live.drawing import Block, Field, Form, View
from heredity.pages.live.pages.here import Run, Suite, part
from heredity.pages.live.place import Place, configuration
from heredity.results.page import Cell, Code, Column, Fact, Facts, Named, Number, Row, Table, Text, Value
from heredity.results.text import duration, plural, short_task


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
