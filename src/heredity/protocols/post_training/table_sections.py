"""Tables of how agents worked, on the page of a suite (Agent² RL-Bench, appendix A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.analysis.samples import wilson
from heredity.protocols.post_training.tables import (
    Behaviour,
    MethodTried,
    Outcome,
    OverRuns,
    SettingGroup,
    SettingScores,
    Stability,
    TaskStructure,
    TrainingTables,
    Workspace,
)
from heredity.results import text
from heredity.results.base import Unknown
from heredity.results.charts import Tone
from heredity.results.page import (
    Cell,
    Column,
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
)

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
