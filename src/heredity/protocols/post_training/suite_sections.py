"""The page of a suite: gains by agent and task, modes, scaling, repeated runs, routes and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.analysis.samples import wilson
from heredity.protocols.post_training.analysis.routes import MODES, ROUTES
from heredity.protocols.post_training.run_sections import MINUTES, SPENT, results_csv, spent_lines
from heredity.protocols.post_training.suite_results import (
    Behaviour,
    Entry,
    GainOverRuns,
    HeatmapCell,
    MethodTried,
    Outcome,
    OverRuns,
    SettingGroup,
    SettingScores,
    Stability,
    SuiteCurve,
    TaskStructure,
    TrainingSuiteResults,
    TrainingTables,
    Workspace,
)
from heredity.results import text
from heredity.results.base import Unknown
from heredity.results.charts import Interval, Intervals, Lines, Reference, Series, Tone
from heredity.results.claims import bounds_note, claimed, intervals_shown, of_runs
from heredity.results.page import (
    Cell,
    Column,
    Group,
    Mean,
    Named,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    Verdict,
    columns_of,
    of_rows,
)
from heredity.results.report import tones
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.text import plural, short_evolver

_STABLE: Mapping[Stability, Tone] = {Stability.YES: "good", Stability.PARTLY: None, Stability.NO: "bad"}
_METHODS = {"RL": "other policy gradient"}


def table_sections(
    tables: TrainingTables, names: Mapping[str, str], tones: Mapping[str, Tone], *, ranked: bool
) -> list[Section]:
    """Return the sections of the tables.

    Args:
        tables: the tables of a suite.
        names: taskset to a short name.
        tones: the colour of each agent.
        ranked: True to show intervals of means and shares.
    """
    shown = _Tables(tables, names, tones, ranked)
    return [
        Section("outcomes", "Outcomes and fixed budgets", shown.outcomes(), "lead", navigation="Outcomes"),
        Section("workspaces", "How agents worked", shown.work(), "lead", navigation="Workspaces"),
        Section("settings", "Settings and methods", shown.tuned(), "lead", navigation="Settings"),
        Section("structure", "What the tasks ask for", shown.structure(), "detail", navigation="Tasks"),
    ]


class _Tables:
    def __init__(
        self, tables: TrainingTables, names: Mapping[str, str], tones: Mapping[str, Tone], ranked: bool
    ) -> None:
        self._tables, self._names, self._tones, self._ranked = tables, names, tones, ranked

    def _agent(self, evolver: str) -> Named:
        return Named(evolver, self._tones.get(evolver), swatch=True)

    def _task(self, taskset: str) -> Named:
        return Named(self._names.get(taskset, taskset), title=taskset)

    # --- outcomes and fixed budgets

    def outcomes(self) -> tuple[Part, ...]:
        about = (
            "Improvements are on the graded view, which was fed back and selected the checkpoint: they are optimistic, unlike the "
            "held-out gain. Shares are of all ended runs: one that graded nothing has not improved. A run is executed if a "
            "trained checkpoint was submitted and graded. Bounds are the mean if the runs that graded "
            "nothing had lost or gained everything. A mean has an interval from six runs on."
        )
        columns = columns_of(
            *("Agent", "Task", "Base model", "Mean improvement", "SD over runs", "Best run", "Improved", "Executed"),
            left=3,
        )
        rows = tuple(Row(self._outcome(row)) for row in self._tables.outcomes)
        table = Table(columns, rows, "Graded improvement over runs, by agent, task and base model", csv="outcomes.csv")
        return Text(about, "about"), table, *self._budgets()

    def _outcome(self, row: Outcome) -> tuple[Value | Cell, ...]:
        gone, bounds = row.runs - row.improvement.runs, row.if_missing
        missing = (f"{gone} missing", f"bounds {text.interval(bounds.low, bounds.high, 3)}") if bounds else ()
        return (
            self._agent(row.evolver),
            *(self._task(row.taskset), row.base_model),
            _over_runs(row.improvement, missing),
            *(Number(row.sd, 3), Number(row.improvement.high, 3, "signed")),
            *(self._share(row.improved, row.runs), self._share(row.executed, row.runs)),
        )

    def _share(self, hits: int, of: int) -> Cell:
        low, high = wilson(hits, of) if of else (None, None)
        bounds = (f"{text.percent(low)} to {text.percent(high)}",) if of and self._ranked else ()
        return Cell(f"{hits} of {of}", bounds)

    def _budgets(self) -> tuple[Part, ...]:
        tables = self._tables.budgets
        if not tables:
            return ()
        marks = [f"after {text.duration(mark.seconds)}" for mark in tables[0].marks]
        rows = tuple(
            Row((self._agent(t.evolver), self._task(t.taskset), *(_over_runs(m.improvement) for m in t.marks)))
            for t in tables
        )
        note = (
            "The best graded improvement so far, never below 0: an agent can keep the base model. Runs whose "
            "budget is shorter, or that graded nothing, are not counted."
        )
        caption = "Improvement at fixed budgets"
        return Table(columns_of("Agent", "Task", *marks, left=2), rows, caption, csv="budgets.csv"), Text(note, "note")

    # --- workspaces and behaviour

    def work(self) -> tuple[Part, ...]:
        about = (
            "The best workspace of an agent at a task is selected afterwards, by its graded improvement, so it is not "
            "typical of the agent; sums over all its runs are below."
        )
        names = ("Agent", "Task", "Improvement", "Graded", "Code files", "Checkpoints", "Zero scores", "Best at")
        columns = (*columns_of(*names, left=2), Column("Routes, in order", prose=True))
        table = Table(columns, tuple(Row(self._workspace(row)) for row in self._tables.workspaces), "Best workspaces")
        used = ("Driver", "Runs", "Graded", "Rollbacks", "Calls", "Input", "Cached", "Output", "Cost", "Best run")
        rows = tuple(Row(self._behaviour(row)) for row in self._tables.behaviour)
        return (
            Text(about, "about"),
            table,
            Table(
                columns_of("Agent", "Task", *used, left=3),
                rows,
                "Actions and usage of agents, sums over runs",
                csv="behaviour.csv",
            ),
            Text(
                "Rollbacks are revisions that restore earlier code. A dash is unrecorded.",
                "note",
            ),
        )

    def _workspace(self, row: Workspace) -> tuple[Value | Cell, ...]:
        best = None if row.best_at is None else f"{row.best_at} of {row.graded}"
        picked = (f"best of {text.plural(row.of_runs, 'run')}",) if row.of_runs > 1 else ()
        return (
            Cell(Named(row.evolver, self._tones.get(row.evolver), row.run_id, swatch=True), (row.mode,)),
            *(self._task(row.taskset), Cell(Number(row.improvement, 3, "signed"), picked)),
            *(row.graded, row.code_files, row.checkpoints, Number(row.zero_rate, form="percent"), best),
            " → ".join(row.routes) or None,
        )

    def _behaviour(self, row: Behaviour) -> tuple[Value | Cell, ...]:
        share = (f"{text.percent(row.cached)} of input",) if row.cached is not None else ()
        return (
            *(
                self._agent(row.evolver),
                self._task(row.taskset),
                row.driver,
                row.runs,
                row.submissions,
                row.rollbacks,
                row.calls,
            ),
            *(Number(row.input_tokens, form="amount"), Cell(Number(row.cache_tokens, form="amount"), share)),
            *(Number(row.output_tokens, form="amount"), Number(row.cost_usd, form="dollars")),
            Number(row.best_improvement, 3, "signed"),
        )

    # --- settings and methods

    def tuned(self) -> tuple[Part, ...]:
        parts = (*self._settings(), *self._methods())
        about = (
            "Settings in the code of each submission, and its score. Agents choose settings, "
            "change several at once, and adapt to earlier scores: this is an association, not an effect."
        )
        return (Text(about, "about"), *parts) if parts else ()

    def _settings(self) -> tuple[Part, ...]:
        settings = self._tables.settings
        if not settings:
            return ()
        columns = columns_of(
            *("Agent", "Task", "Setting", "Value", "Mean score", "Least", "Greatest", "Graded", "Failed"), left=3
        )
        rows = tuple(Row(self._setting(row, group)) for row in settings for group in row.groups)
        caption = "Graded scores of submissions by the value of a setting; the best value of each is bold"
        return (Table(columns, rows, caption, csv="settings.csv"),)

    def _setting(self, row: SettingScores, group: SettingGroup) -> tuple[Value | Cell, ...]:
        ends = (group.least,) if group.least == group.greatest else (group.least, group.greatest)
        return (
            *(self._agent(row.evolver), self._task(row.taskset), row.setting, " to ".join(f"{end:g}" for end in ends)),
            *(Cell(Number(group.mean, 3), strong=group.best), Number(group.low, 3), Number(group.high, 3)),
            *(group.graded, Cell(group.failed, tone="bad" if group.failed else None)),
        )

    def _methods(self) -> tuple[Part, ...]:
        audits = self._tables.methods
        if not audits:
            return ()
        rows: list[Row] = []
        for audit in audits:
            best = Cell(audit.best_route, (f"{text.signed(audit.best_improvement, 3)} over the base",))
            rows += [
                Row((self._agent(audit.evolver), self._task(audit.taskset), *self._tried(tried), best))
                for tried in audit.methods
            ]
        head = ("Agent", "Task", "Method", "Runs", "Graded above 0", "Stable", "Route of the best")
        columns = tuple(Column(name, "right" if name in ("Runs", "Graded above 0") else "left") for name in head)
        note = (
            "A method counts if the code in force at a submission has it. Stable: every such submission was graded above 0; "
            "partly: some were."
        )
        caption = "Reinforcement learning methods tried"
        return Table(columns, tuple(rows), caption, csv="methods.csv"), Text(note, "note")

    def _tried(self, tried: MethodTried) -> tuple[Value | Cell, ...]:
        word = Verdict(tried.stable.value, _STABLE[tried.stable])
        shown = _METHODS.get(tried.method, tried.method)
        return shown, tried.runs, self._share(tried.sound, tried.submissions), word

    # --- structure

    def structure(self) -> tuple[Part, ...]:
        rows = self._tables.structure
        if not rows:
            return ()
        dimensions = list(dict.fromkeys(name for row in rows for name in row.scores))
        about = "Demands of each task, on scales from 1 to 5 set by its author: metadata, not results."
        columns = columns_of("Task", "Level", *dimensions, left=2)
        table = Table(columns, tuple(Row(self._demands(row, dimensions)) for row in rows), "Structure of the tasks")
        return Text(about, "about"), table

    def _demands(self, row: TaskStructure, dimensions: Sequence[str]) -> tuple[Value | Cell, ...]:
        scores = (row.scores.get(name) for name in dimensions)
        return self._task(row.taskset), row.level, *(None if s is None else Cell(s, heat=(s - 1) / 4) for s in scores)


def _over_runs(of: OverRuns, notes: tuple[str, ...] = ()) -> Cell:
    spread = f"{text.signed(of.low, 3)} to {text.signed(of.high, 3)}, " if of.runs > 1 else ""
    counted = (f"{spread}{text.plural(of.runs, 'run')}",) if of.runs else ()
    few = of.ci_unknown is None or of.ci_unknown is Unknown.FEW_RUNS
    unknown = () if few else (f"no interval: {of.ci_unknown}",)
    return Cell(Mean(of.mean, *(of.ci or (None, None)), 3, signed=True), (*counted, *unknown, *notes))


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
