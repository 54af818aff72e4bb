"""Page sections of a harness-evolution suite: methods side by side, gate, sweeps, cost, execution models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heredity.protocols.harness_evolution.analysis.metrics import ROLES
from heredity.protocols.harness_evolution.results import (
    HarnessRunResults,
    HarnessSuiteResults,
    Measured,
    Method,
    MethodComparison,
    ModelRow,
    Sweep,
    harness_of,
)
from heredity.protocols.harness_evolution.run_sections import MEASURES, VIEWS, over_batches, whole
from heredity.protocols.harness_evolution.task_results import Of
from heredity.results import text
from heredity.results.charts import Interval, Intervals, Key, Lines, Mark, Reference, Series, Tone
from heredity.results.claims import bounds_note, claim_cells, claim_columns, claimed, intervals_shown, of_runs
from heredity.results.page import Cell, Column, Folded, Group, Named, Number, Part, Row, Section, Table, Text, Value
from heredity.results.run import RunResults
from heredity.results.text import in_order, view_name

Tones = Mapping[str, Tone]

_OF: dict[Of, str] = {"final": "final snapshot", "best_validation": "best on validation"}
_SETTINGS = {
    "batch_size": "batch size",
    "epochs": "epochs",
    "updates": "updates for each batch",
    "persistence": "persistence",
    "sources": "sources of train tasks",
}
_ABOUT_METHODS = (
    "Gains of harnesses after evolution over A_0, the harness before any update, on the same tasks: new tasks of "
    "the kinds they were trained on (in distribution, IDG), tasks of other kinds (out of distribution, OODG), the tasks "
    "that select among snapshots (update-validation gain, UVG), and their train tasks again. Positive figures are always "
    "gains; the loss on train tasks is the forgetting rate (FR), shown below the gain. The best on validation "
    "is selected by its score there, so its UVG is not a result. Each gain makes two claims: about the method on new runs, which "
    "needs four runs on one taskset, or three on each of several; and about these runs' final harnesses on new tasks."
)
_ABOUT_COLLAPSES = (
    "A snapshot collapses on a view if it fails every task that A_0 solved. On every view, the harness no longer works; on "
    "only some views, it may be chance if A_0 solved few tasks."
)
_ABOUT_CURVES = (
    f"Mean snapshot score by number of train batches. {VIEWS} Bold lines are means over runs, thin lines single runs, "
    "one per seed. Replay grows with training, so its points are of more and more tasks."
)
_ABOUT_GATE = (
    "The same method under the same batches. The gate only accepts harnesses that load, keep their contract and work on "
    "canary tasks."
)
_ABOUT_MODELS = (
    "Rows: the model a harness evolved under. Columns: the model that runs it. Score after evolution, and the gain over "
    "the starting point under the same model; shaded if both are the same."
)


def suite_sections(
    study: HarnessSuiteResults, runs: Sequence[RunResults], tones: Tones, interval_name: str
) -> list[Section]:
    """Return the sections of a suite's page.

    Args:
        study: the comparison of its runs.
        runs: its runs (may be empty), by the suite's names for them.
        tones: the colour of each evolver.
        interval_name: the name of intervals, such as `95% interval`.
    """
    curves = _curves(runs, tones)
    empty = (Text("The runs are not available."),)
    columns = _columns_of(study.methods)
    return [
        Section(
            "methods", "Methods side by side", _methods(study, columns, tones, interval_name), "lead", "all", "Methods"
        ),
        Section("validation", "Curves by method", curves or empty, media="page", navigation="Curves"),
        Section("gate", "With and without the contract gate", _gate(study, columns, tones), navigation="Contract gate"),
        Section("sweeps", "Sweeps", _sweeps(study.sweeps, columns)),
        Section("spent", "Cost and gain", _spent(study.methods, runs, tones)),
        Section("models", "Across execution models", _models(study.cross_model, tones), navigation="Execution models"),
    ]


def short(evolver: str) -> str:
    """Return a short name for plots: `ace (batch_size=5, gate=on)` becomes `ace 5, gate on`."""
    name, options, settings = evolver.partition(" (")
    if not options or not settings.endswith(")") or "=" not in settings:
        return evolver
    pairs = [part.partition("=") for part in settings.removesuffix(")").split(", ")]
    values = [f"{key} {value}" if value in ("on", "off") else value or key for key, _, value in pairs]
    return f"{name} {', '.join(values)}"


def _columns_of(methods: Sequence[Method]) -> dict[str, str]:
    """Return the measures of the judged views, in their order; last the view that selects, which is not a result."""
    measures = {measured.view: measured.measure for method in methods for measured in method.measures}
    ordered = sorted(in_order(measures), key=lambda view: measures[view] == "UVG")
    return {view: _title(view, measures[view]) for view in ordered}


def _title(view: str, measure: str) -> str:
    return MEASURES[measure] + (f", {view_name(view)}" if ":" in view else "")


def _measured(method: Method, view: str, of: Of) -> Measured | None:
    return next((m for m in method.measures if (m.view, m.of) == (view, of)), None)


OF_WHAT = ("method", "harnesses", "task")
"""The claim of a gain: about the method over runs, or about these harnesses over tasks."""


def _cell(measured: Measured | None) -> Cell | None:
    if measured is None:
        return None
    counts = f"{text.plural(len(measured.runs), 'run')}, {text.plural(measured.tasks, 'task')}"
    forgot = [] if measured.forgetting is None else [f"forgetting (FR) {text.number(measured.forgetting, 3)}"]
    missing = [bounds_note(measured.if_missing)] if measured.if_missing else []
    return claimed(measured.mean, measured.evolvers, measured.candidates, OF_WHAT, [counts, *forgot, *missing])


def _name_cells(method: str, tones: Tones) -> Named:
    return Named(method, tones.get(method), swatch=True)


def _right(first: str, *names: str) -> tuple[Column, ...]:
    return Column(first), *(Column(name, "right") for name in names)


def _collapses(method: Method) -> Cell:
    fallen = method.collapsed
    if not fallen.snapshots:
        return Cell("none")
    notes = (f"{fallen.whole} on every view", f"{fallen.unrecovered} not recovered")
    return Cell(f"▼ {fallen.snapshots} in {fallen.runs} of {text.plural(method.runs, 'run')}", notes, "bad")


def _methods(
    study: HarnessSuiteResults, columns: Mapping[str, str], tones: Tones, interval_name: str
) -> tuple[Part, ...]:
    parts: list[Part] = [Text(_ABOUT_METHODS, "about")]
    for of, title in _OF.items():
        rows = tuple(
            Row(
                (
                    *(_name_cells(method.evolver, tones), method.runs),
                    *(_cell(_measured(method, view, of)) for view in columns),
                    *((_collapses(method),) if of == "final" else ()),
                )
            )
            for method in study.methods
        )
        head = _right("evolver", "runs", *columns.values())
        last = (Column("collapses"),) if of == "final" else ()
        why = " (its UVG selected it and is not a result)" if of == "best_validation" else ""
        caption = f"Gains over A_0 of the {title}{why}, with {interval_name}s"
        parts.append(Table((*head, *last), rows, caption, csv="methods.csv" if of == "final" else ""))
    charts = [_intervals(study.methods, view, title, tones) for view, title in columns.items()]
    parts += [Text(_ABOUT_COLLAPSES, "note"), Group(tuple(charts))]
    return (*parts, *_pairs(study.comparisons))


def _intervals(methods: Sequence[Method], view: str, title: str, tones: Tones) -> Intervals:
    gains = [(method, gain) for method in methods if (gain := _measured(method, view, "final"))]
    claims = [(gain.evolvers, gain.candidates) for _, gain in gains]
    lines = tuple(
        Interval(short(method.evolver), gain.mean, *(ci or (None, None)), tone=tones.get(method.evolver))
        for (method, gain), ci in zip(gains, intervals_shown(claims), strict=True)
    )
    over = "new runs of the methods" if of_runs(claims) else "new tasks, for these harnesses only"
    note = f"final snapshots; intervals over {over}"
    return Intervals(f"Gain, {title}", lines, "gain over A_0", Reference(0.0, "no gain"), note)


def _pairs(comparisons: Sequence[MethodComparison]) -> list[Part]:
    """Return comparisons grouped by measure, final snapshots first."""
    groups: dict[str, list[MethodComparison]] = {}
    for row in sorted(comparisons, key=lambda row: ROLES.index(row.of)):
        groups.setdefault(f"{_title(row.view, row.measure)}, {_OF[row.of]}", []).append(row)
    about = "Method against method: runs with the same seed and batches, paired by task; under the same schedule only."
    folded = [
        Folded(title, (_pair_table(rows, title),), text.plural(len(rows), "pair")) for title, rows in groups.items()
    ]
    return [Text(about, "note"), *folded] if folded else []


def _pair_table(rows: Sequence[MethodComparison], caption: str, *, by_measure: bool = False) -> Table:
    columns = (
        Column("measure" if by_measure else "first against second"),
        *claim_columns("methods", "harnesses", "task"),
        *_right("", "paired runs", "paired tasks")[1:],
    )
    shown = [
        Row(
            (
                Cell(_title(row.view, row.measure), (_OF[row.of],))
                if by_measure
                else Cell(row.a, (f"against {row.b}",)),
                *claim_cells(row.difference, row.evolvers, row.candidates, 3),
                Cell(row.pairs, (f"{row.unpaired} unpaired",) if row.unpaired else ()),
                row.tasks,
            )
        )
        for row in rows
    ]
    return Table(columns, tuple(shown), caption)


def _curves(runs: Sequence[RunResults], tones: Tones) -> tuple[Part, ...]:
    """Return a plot per view: the mean of each method over its runs, and each run as a thin line."""
    lines: dict[str, dict[str, list[dict[float, float]]]] = {}
    for run in runs:
        harness = harness_of(run)
        for view in dict.fromkeys(harness.curves.snapshots.view) if harness else ():
            points = dict(harness.curves.snapshots.line(view)) if harness else {}
            lines.setdefault(view, {}).setdefault(run.evolver.name or "", []).append(points)
    charts: list[Lines] = []
    for view in in_order(lines):
        series: list[Series] = []
        for evolver, own in lines[view].items():
            tone, shared = tones.get(evolver), sorted(set.intersection(*map(set, own)))
            means = tuple((at, sum(points[at] for points in own) / len(own)) for at in shared)
            thin = [Series("", tone, tuple(sorted(points.items())), thin=True) for points in own if len(own) > 1]
            series += [*thin, Series(short(evolver), tone, means, dots=True)]
        charts.append(over_batches(f"Scores on {view_name(view)} by method", series, "mean score"))
    return (Text(_ABOUT_CURVES, "about"), Group(tuple(charts))) if charts else ()


def _gate(study: HarnessSuiteResults, columns: Mapping[str, str], tones: Tones) -> tuple[Part, ...]:
    """Return the effect of the contract gate for each method run with and without it."""
    by_name = {method.evolver: method for method in study.methods}
    parts: list[Part] = []
    for effect in study.gate:
        rows = tuple(_gate_row(by_name[name], columns, tones) for name in (effect.off, effect.on) if name in by_name)
        head = _right("evolver", *columns.values(), "refused", "collapses", "runs not recovered")
        parts.append(Table(head, rows, "Gains of the final snapshot, refusals and collapses"))
        caption = "With minus without the gate; runs with the same seed and batches, paired by task"
        parts += [_pair_table(effect.gains, caption, by_measure=True)] if effect.gains else []
    return (Text(_ABOUT_GATE, "about"), *parts) if parts else ()


def _gate_row(method: Method, columns: Mapping[str, str], tones: Tones) -> Row:
    gate, fallen = method.gate, method.collapsed
    cells = [_cell(_measured(method, view, "final")) for view in columns]
    refused = f"{gate.refused} of {gate.proposed}" if gate.proposed else None
    collapses = Cell(fallen.snapshots, tone="bad" if fallen.snapshots else None)
    return Row((_name_cells(method.evolver, tones), *cells, refused, collapses, fallen.unrecovered))


def _sweeps(sweeps: Sequence[Sweep], columns: Mapping[str, str]) -> tuple[Part, ...]:
    about = (
        "Runs that differ in a single setting, each on its own views. Their batches differ too, so they are not paired."
    )
    parts = [part for sweep in sweeps for part in _sweep(sweep, columns)]
    return (Text(about, "about"), *parts) if parts else ()


def _sweep(sweep: Sweep, columns: Mapping[str, str]) -> tuple[Part, ...]:
    """Return a table of gains by a setting, with curves over numbers, and intervals where available."""
    key = _SETTINGS.get(sweep.key, sweep.key)
    rows = [
        Row(
            (
                *(str(entry.value), entry.runs),
                *(_swept_cell(entry, view) for view in columns),
                Cell(entry.collapsed.snapshots, tone="bad" if entry.collapsed.snapshots else None),
                *(Number(part.tokens, form="amount") for part in (entry.spent.train, entry.spent.update)),
            )
        )
        for entry in sweep.entries
    ]
    head = _right(key, "runs", *columns.values(), "collapses", "tokens, training", "tokens, updates")
    caption = f"{sweep.evolver}: {key}. Gains of the final snapshot and, below, of the best on validation"
    charts: list[Lines | Intervals] = []
    if all(isinstance(entry.value, int) for entry in sweep.entries):
        for of, title in _OF.items():
            lines = [_swept(sweep, view, of, name, i % 8) for i, (view, name) in enumerate(columns.items())]
            charts.append(over_batches(f"Gains by {key}, {title}", lines, "gain over A_0", key))
    else:
        valued = [entry.model_copy(update={"evolver": str(entry.value)}) for entry in sweep.entries]
        tones: Tones = {entry.evolver: i % 8 for i, entry in enumerate(valued)}
        charts += [_intervals(valued, view, title, tones) for view, title in columns.items()]
    return Table(head, tuple(rows), caption), Group(tuple(charts))


def _swept_cell(entry: Method, view: str) -> Cell | None:
    final, best = (_measured(entry, view, of) for of in ROLES)
    cell = _cell(final)
    if cell is None or best is None:
        return cell
    return Cell(cell.value, (*cell.notes, f"best {text.signed(best.mean, 3)}"))


def _swept(sweep: Sweep, view: str, of: Of, name: str, tone: Tone) -> Series:
    means = [(entry.value, gain.mean) for entry in sweep.entries if (gain := _measured(entry, view, of))]
    return Series(name, tone, tuple(sorted((float(value), mean) for value, mean in means)), dots=True)


def _spent(methods: Sequence[Method], runs: Sequence[RunResults], tones: Tones) -> tuple[Part, ...]:
    about = "Cost of training and updates, means over runs; a dash if any run's cost is partly unknown."
    rows = [
        Row(
            (
                _name_cells(method.evolver, tones),
                *(Number(part.tokens, form="amount") for part in (method.spent.train, method.spent.update)),
                Number(method.spent.train.wall_time, form="duration"),
                *(Number(part.cost_usd, form="dollars") for part in (method.spent.train, method.spent.update)),
            )
        )
        for method in methods
    ]
    head = ("tokens, training", "tokens, updates", "time, training", "cost, training", "cost, updates")
    table = Table(_right("evolver", *head), tuple(rows), "Per run, without judging")
    charts = [chart for chart in (_cost_and_gain(runs, tones, money=m) for m in (False, True)) if chart]
    return Text(about, "about"), table, *((Group(tuple(charts)),) if charts else ())


def _cost_and_gain(runs: Sequence[RunResults], tones: Tones, *, money: bool) -> Lines | None:
    """Return the cost of training and updates against the gain in distribution; None if no cost is known."""
    unit = "US dollars" if money else "tokens"
    marks: list[Mark] = []
    legend: dict[str, Key] = {}
    for run in runs:
        harness, name = harness_of(run), run.evolver.name or ""
        amount = _whole(harness, money=money) if harness else None
        if amount is None or run.gain is None:
            continue
        tip = f"{short(name)}: {text.amount(amount)}, {text.signed(run.gain.difference, 3)}"
        marks.append(Mark(amount, run.gain.difference, tone=tones.get(name), tip=tip, size=1.2))
        legend[name] = Key("circle", tones.get(name), short(name))
    if not any(mark.x for mark in marks):
        return None
    return Lines(
        f"Gain in distribution against {unit}",
        f"{unit} of training and updates",
        "gain",
        marks=tuple(marks),
        reference=Reference(0.0, ""),
        y_from=0.0,
        note="each mark is a run",
        legend=tuple(legend.values()),
    )


def _whole(harness: HarnessRunResults, *, money: bool) -> float | None:
    train, update = harness.costs.views.get("train"), harness.costs.update
    if train is None:
        return None
    return whole(train.cost_usd, update.cost_usd) if money else whole(train.tokens, update.tokens)


def _models(rows: Sequence[ModelRow], tones: Tones) -> tuple[Part, ...]:
    """Return a matrix per view: harnesses, by the model they evolved under, against execution models."""
    tables: list[Table] = []
    for view in in_order(dict.fromkeys(row.view for row in rows)):
        own = [row for row in rows if row.view == view]
        models = list(dict.fromkeys(cell.model for row in own for cell in row.cells))
        caption = f"{view_name(view)}, means over runs"
        tables.append(
            Table(_right("evolved under", *models), tuple(_model_row(r, models, tones) for r in own), caption)
        )
    return (Text(_ABOUT_MODELS, "about"), *tables) if tables else ()


def _model_row(row: ModelRow, models: Sequence[str], tones: Tones) -> Row:
    cells: list[Value | Cell] = [Cell(row.evolved, (_name_cells(row.evolver, tones),))]
    by_model = {cell.model: cell for cell in row.cells}
    for model in models:
        cell = by_model.get(model)
        if cell is None:
            cells.append(None)
            continue
        gain = f"{text.signed(cell.difference, 3)} from {text.number(cell.A_0, 3)}"
        notes = (gain, text.plural(cell.runs, "run"))
        cells.append(Cell(Number(cell.A_T, 3), notes, shaded=model == row.evolved))
    return Row(tuple(cells))
