"""The page of a suite: gains by agent and task, modes, scaling, repeated runs, routes and failures."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.analysis.samples import wilson
from heredity.protocols.post_training.analysis.audit import MODES
from heredity.protocols.post_training.analysis.routes import ROUTES
from heredity.protocols.post_training.cells import MINUTES, SPENT, spent_lines
from heredity.protocols.post_training.suite_results import (
    Entry,
    GainOverRuns,
    HeatmapCell,
    SuiteCurve,
    TrainingSuiteResults,
)
from heredity.protocols.post_training.summaries import results_csv
from heredity.protocols.post_training.table_sections import table_sections
from heredity.results import text
from heredity.results.charts import Interval, Intervals, Lines, Reference, Series
from heredity.results.claims import bounds_note, claimed, intervals_shown, of_runs
from heredity.results.page import (
    Cell,
    Column,
    Group,
    Named,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    columns_of,
    of_rows,
)
from heredity.results.report import tones
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.text import plural, short_evolver


def suite_sections(suite: SuiteResults, part: TrainingSuiteResults, runs: Sequence[RunResults]) -> list[Section]:
    """Return the sections of a suite's page."""
    return _Sections(suite, part, runs).all()


class _Sections:
    def __init__(self, suite: SuiteResults, part: TrainingSuiteResults, runs: Sequence[RunResults]) -> None:
        self._part, self._runs, self._ranked = part, runs, suite.ranked
        self._tones = tones(suite, runs)
        self._interval = f"{text.percent(suite.confidence)} intervals"
        self._names = text.task_names(entry.taskset for entry in part.entries)
        self._tasks = {task: [e for e in part.entries if e.taskset == task] for task in self._names}

    def all(self) -> list[Section]:
        return [
            Section("agents", "Improvement over the base model", self._agents(), "lead", navigation="Agents"),
            Section("heatmap", "Modes by tasks", self._modes(), "lead", navigation="Modes"),
            Section("scaling", "Scaling", self._scaling(), "lead", "page"),
            Section("repeated", "Repeated runs and process", self._repeated(), "lead", navigation="Repeated runs"),
            Section("routes", "Routes and failures", self._routes(), "lead"),
            *table_sections(self._part.tables, self._names, self._tones, ranked=self._ranked),
        ]

    def _cells_of(self, entry: Entry) -> Named:
        return Named(entry.evolver, self._tones.get(entry.evolver), swatch=True)

    # --- agents

    def _agents(self) -> tuple[Part, ...]:
        about = (
            "Held-out: the best graded checkpoint of each run against the base model, on items that no submission returned, "
            "paired item by item. Graded: the same on the view that was fed back and selected the checkpoint, so it "
            "is optimistic. Each gain makes two claims: about the agent on new runs, which needs six; and about "
            "these runs' final checkpoints on new items. Means cover the runs that graded anything."
        )
        tables = (self._gains(task, entries) for task, entries in self._tasks.items())
        charts = tuple(self._intervals(task, entries) for task, entries in self._tasks.items())
        return Text(about, "about"), *tables, Group(charts), results_csv(self._runs)

    def _gains(self, task: str, entries: Sequence[Entry]) -> Table:
        level = f" · {entries[0].level}" if entries[0].level else ""
        base = f" · base model {text.number(entries[0].baseline, 3)} on the graded view"
        head = (
            "Agent",
            "Runs",
            "Held-out gain",
            "Graded gain",
            "Runs that improve",
            "Beyond noise",
            "Noise of grading",
        )
        columns = columns_of(*head)
        return Table(columns, tuple(self._gain_row(entry) for entry in entries), f"{task}{level}{base}")

    def _gain_row(self, entry: Entry) -> Row:
        heldout, success = entry.heldout, entry.success
        troubles = ((entry.broken, "mode broken"), (entry.ungraded, "nothing graded"))
        notes = tuple(f"{what} in {runs} of {entry.runs}" for runs, what in troubles if runs)
        agent = Cell(self._cells_of(entry), notes, "bad") if notes else self._cells_of(entry)
        low, high = wilson(success.improved, success.runs) if success.runs else (None, None)
        shares = (f"{text.percent(low)} to {text.percent(high)}",) if success.runs else ()
        ungraded = (f"nothing graded in {entry.ungraded}",) if entry.ungraded else ()
        cells = (
            *(agent, Cell(entry.runs, ungraded), _gain(heldout), _gain(entry.graded)),
            *(Cell(f"{success.improved} of {success.runs}", shares), success.beyond_noise, Number(entry.noise, 4)),
        )
        return Row(cells)

    def _intervals(self, task: str, entries: Sequence[Entry]) -> Intervals:
        gained = [(entry, entry.heldout) for entry in entries if entry.heldout is not None]
        claims = [(gain.evolvers, gain.candidates) for _, gain in gained]
        bounds = [ci or (None, None) for ci in intervals_shown(claims)]
        lines = tuple(
            Interval(short_evolver(entry.evolver), gain.difference, *ci, self._tones.get(entry.evolver))
            for (entry, gain), ci in zip(gained, bounds, strict=True)
        )
        title, scale = f"Held-out gain on {self._names[task]}", "held-out gain over the base"
        over = "new runs of the agents" if of_runs(claims) else "new items, for these checkpoints only"
        return Intervals(title, lines, scale, Reference(0.0, "no gain"), f"{self._interval} over {over}")

    # --- modes

    def _modes(self) -> tuple[Part, ...]:
        modes = sorted({c.mode for c in self._part.heatmap}, key=lambda m: ((*MODES, m).index(m), m))
        rows: list[Row] = []
        for agent, task in dict.fromkeys((c.agent, c.task) for c in self._part.heatmap):
            own = {c.mode: c for c in self._part.heatmap if (c.agent, c.task) == (agent, task)}
            if len(own) > 1:
                most = max(abs(c.improvement) for c in own.values()) or 1.0
                cells = (_heat(own[mode], most) if mode in own else None for mode in modes)
                rows.append(Row((Cell(text.short_task(task), (agent,)), *cells)))
        if not rows:
            return ()
        about = (
            "Mean graded improvement of each agent on each task under each mode, if there are several; ★ is the best mode "
            "of a row, ▽ the worst. A stronger colour is a larger improvement within its row."
        )
        columns = (Column("Task"), *(Column(mode, "right") for mode in modes))
        return Text(about, "about"), Table(columns, tuple(rows), "Mean graded improvement (★ best, ▽ worst mode)")

    # --- scaling

    def _scaling(self) -> tuple[Part, ...]:
        about = (
            "The best improvement so far against spending: means over runs; bands span all runs. An "
            "agent can always keep the base model, so no curve falls below 0."
        )
        scaling = self._part.scaling
        curves = (("time", scaling.time), ("submissions", scaling.submissions), ("tokens", scaling.tokens))
        charts = tuple(
            spent_lines(f"{self._names[task]} over {SPENT[name]}", SPENT[name], self._series(drawn, name))
            for task in self._tasks
            for name, listed in curves
            if (drawn := [curve for curve in listed if curve.taskset == task])
        )
        return Text(about, "about"), Group(charts) if charts else Text("Nothing graded yet.")

    def _series(self, curves: Sequence[SuiteCurve], name: str) -> list[Series]:
        unit = MINUTES if name == "time" else 1.0
        most = max(curve.points[-1][0] for curve in curves) / unit
        return [
            Series(
                short_evolver(curve.evolver),
                self._tones.get(curve.evolver),
                tuple((amount / unit, mean) for amount, mean, _, _ in curve.points),
                tuple((amount / unit, least, greatest) for amount, _, least, greatest in curve.points),
                steps=True,
                until=most,
            )
            for curve in curves
        ]

    # --- repeated runs

    def _repeated(self) -> tuple[Part, ...]:
        about = (
            "pass@k: the expected improvement of the best of k runs, averaged over all choices of k runs. "
            "Steep curves mean that only a few runs find improvements."
        )
        charts = tuple(self._best_of_runs(task, entries) for task, entries in self._tasks.items())
        words = [
            [self._cells_of(e), self._names[e.taskset], ", ".join(f"k={b.k}: {text.signed(b.improvement, 3)}" for b in e.pass_at_k)]
            for e in self._part.entries
        ]  # fmt: skip
        table = of_rows(
            ("Agent", "Task", "pass@k"), words, left=3, caption="Expected best graded improvement of k runs"
        )
        return Text(about, "about"), Group(charts), table, self._process()

    def _best_of_runs(self, task: str, entries: Sequence[Entry]) -> Lines:
        series = tuple(
            Series(
                short_evolver(entry.evolver),
                self._tones.get(entry.evolver),
                tuple((best.k, best.improvement) for best in entry.pass_at_k),
                dots=True,
            )
            for entry in entries
        )
        title, y = f"Best of k runs on {self._names[task]}", "expected best improvement"
        return Lines(title, "runs (k)", y, series, whole=True, empty="nothing judged yet")

    def _process(self) -> Table:
        head = ("Agent", "Task", "Graded", "Valid", "Zero scores", "First improvement", "Best at", "Monotonic")
        rows: list[list[Value | Cell]] = []
        for entry in self._part.entries:
            p = entry.process
            rows.append(
                [
                    *(self._cells_of(entry), self._names[entry.taskset], Number(p.graded, 1)),
                    *(Number(p.valid_rate, form="percent"), Number(p.zero_rate, form="percent")),
                    *(Number(p.first_improvement_s, form="duration"), Number(p.best_s, form="duration")),
                    *(Number(p.monotonic_ratio, form="percent"), Number(p.time_used_ratio, form="percent")),
                    *(Number(p.last_submit_gap_s, form="duration"), Number(p.tokens, form="amount")),
                ]
            )
        head += ("Time used", "Last-submit gap", "Tokens")
        return of_rows(head, rows, left=2, caption="Process metrics, means over runs")

    # --- routes

    def _routes(self) -> tuple[Part, ...]:
        about = (
            "The route to each run's best checkpoint, read from the code in force; failure classes follow "
            "fixed rules on the record. A run may have several failures or none."
        )
        entries = self._part.entries
        routes = [route for route in ROUTES if any(route in entry.routes for entry in entries)]
        kinds = list(dict.fromkeys(kind for entry in entries for kind in entry.failures))
        rows = [
            [
                *(
                    self._cells_of(entry),
                    self._names[entry.taskset],
                    entry.runs,
                    *(entry.routes.get(r) for r in routes),
                ),
                f"{entry.success.coding} of {entry.runs}",
                *(Cell(entry.failures.get(kind), tone="bad" if kind in entry.failures else None) for kind in kinds),
            ]
            for entry in entries
        ]
        head = ("Agent", "Task", "Runs", *routes, "Code that trains", *kinds)
        shortcuts = (
            Text(
                f"{s.evolver}: {s.kind}. It improves {', '.join(s.improved)}, but none of {', '.join(s.failed)}.",
            )
            for s in self._part.shortcuts
        )
        return Text(about, "about"), of_rows(head, rows, left=2, caption="Counts of runs"), *shortcuts


def _heat(cell: HeatmapCell, most: float) -> Cell:
    mark = " ★" if cell.best else " ▽" if cell.worst else ""
    shown = text.signed(cell.improvement, 3) + mark
    return Cell(shown, (plural(cell.runs, "run"),), heat=cell.improvement / most)


def _gain(gain: GainOverRuns | None) -> Cell | None:
    if gain is None:
        return None
    counts = f"{plural(gain.runs, 'run')}, {plural(gain.cases, 'item')}"
    notes = [counts, *([bounds_note(gain.if_missing)] if gain.if_missing else [])]
    return claimed(gain.difference, gain.evolvers, gain.candidates, ("agent", "checkpoints", "item"), notes)
