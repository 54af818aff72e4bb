"""Page sections of a harness-evolution run: gains, snapshots on views, replay, the gate, cost, other models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from heredity.protocols.harness_evolution.analysis.replay import CELLS
from heredity.protocols.harness_evolution.gain_sections import gains, head
from heredity.protocols.harness_evolution.results import FileChange, Gate, HarnessRunResults, Plan, Point
from heredity.protocols.harness_evolution.task_results import ALL, Cost, Costs, Level, Points, Replay
from heredity.results import text
from heredity.results.charts import Grid, Key, Lines, Series, Tone
from heredity.results.claims import judged
from heredity.results.page import (
    Cell,
    Column,
    Fact,
    Facts,
    Group,
    Mean,
    Mono,
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
from heredity.results.run import RunResults
from heredity.results.text import in_order, view_name

MOST_TASKS = 240
"""Rows of replay grids on a page; of more tasks, those whose outcome changed come first."""

VIEWS = (
    "Update-validation selects among snapshots. ID: new tasks of the trained kinds (in distribution). OOD: new "
    "tasks of other kinds (out of distribution). Replay: its train tasks again."
)
"""Explanation of the views."""

_ABOUT_VIEWS = (
    f"Every frozen harness, judged separately on every view. {VIEWS} A_0 is the harness before any update, A_T the one after the "
    "last; ★ is the best on update-validation, so its score there is not a result. Large: mean score (domains weigh "
    "the same) with its 95% interval over tasks. Below: success rate (SR), success without a recorded error (clean), tasks."
)
_ABOUT_CURVES = (
    "Mean scores over tasks, by number of train batches before them. Replay grows with training, so its points are of more and "
    "more tasks."
)
_ABOUT_REPLAY = (
    "Train tasks, run again with each snapshot. Tasks that a snapshot had not been trained on do not count for it."
)
_ABOUT_COST = (
    "Rollouts and updates are listed separately. Each judgement of a harness counts once, even for several points. A dash is an "
    "unrecorded cost, not zero; if a cost is partly known, the total covers that part."
)
_TONES: dict[str, Tone] = {"S": "good", "F": "soft", "E": "bad", ".": "faint", "u": "faint"}
LEGEND = tuple(Key("cell", _TONES[letter], meaning, letter) for letter, meaning in CELLS.items())


def run_sections(run: RunResults, harness: HarnessRunResults) -> list[Section]:
    """Return the sections of a run's page; `harness` is its part."""
    models = ("Under other execution models", _models(harness))
    return [
        Section("in-words", "In words", head(run, harness), "head", "all"),
        Section("gains", "Gains", gains(harness), "lead", "all"),
        Section("views", "Snapshots on views", _levels(harness), navigation="Snapshots"),
        Section("curves", "Learning curves", _curves(harness), media="page", navigation="Curves"),
        Section("replay", "Replay", _replay(harness), media="page"),
        Section("updates", "Updates and the contract gate", _updates(harness), navigation="Updates and gate"),
        Section("cost", "Cost", _cost(harness)),
        Section("models", *models, navigation="Other models"),
    ]


def _levels(harness: HarnessRunResults) -> tuple[Part, ...]:
    views = in_order(harness.views)
    best = harness.best_validation.snapshot if harness.best_validation else None
    rows: list[list[Value | Cell]] = []
    for snapshot in harness.snapshots:
        batch = snapshot.train_batch_index
        name = snapshot.name + (" ★" if snapshot.name == best else "")
        when = "before training" if batch == 0 else f"batch {text.number(batch)}"
        levels = [harness.views[view].snapshots.get(snapshot.name) for view in views]
        rows.append([Cell(name, (when,)), *(level and _level(level) for level in levels)])
    weights = (f"{view_name(view)}: one task weighs {text.number(harness.views[view].one_task, 3)}" for view in views)
    table = of_rows(["snapshot", *map(view_name, views)], rows, caption=" · ".join(weights))
    return (Text(_ABOUT_VIEWS, "about"), table) if rows else (Text("No snapshot judged yet."),)


def _level(level: Level) -> Cell:
    rates = f"SR {text.number(level.sr.macro, 2)} · clean {text.number(level.execution_success.macro, 2)}"
    notes: list[Value] = [f"{rates} · n {level.attempted}"]
    notes += [Verdict(f"{level.errors} with errors", "bad")] if level.errors else []
    notes += [Verdict(_missing(level), "bad")] if level.missing else []
    notes += [f"{level.untrained} not trained yet"] if level.untrained else []
    return Cell(Mean(level.perf.macro, *(level.perf.ci or (None, None)), decimals=3), tuple(notes))


def _missing(level: Level) -> str:
    if level.perf.bounds is None:
        return f"{level.missing} missing"
    low, high = (text.number(bound, 3) for bound in level.perf.bounds)
    return f"{level.missing} missing: {low} to {high} with them"


def _curves(harness: HarnessRunResults) -> tuple[Part, ...]:
    """Return all views together, then training and each view by source group."""
    curves, train = harness.curves.snapshots, harness.curves.train
    views = in_order(dict.fromkeys(curves.view))
    series = [Series(view_name(view), i % 8, curves.line(view), dots=True) for i, view in enumerate(views)]
    charts = [over_batches("Scores of snapshots by view", series, "mean score", note="mean score of each snapshot")]
    if train.source:
        lines = [Series(ALL, 0, train.line(), dots=True), *_by_source(train.source, train.line)]
        note = "mean score of each batch, before its update; batches are of different tasks"
        charts.append(over_batches("Train batches", lines, "mean score", note=note))
    for view in views:
        sources = [source for on, source in zip(curves.view, curves.source, strict=True) if on == view]
        lines = _by_source(sources, partial(curves.line, view))
        charts += [over_batches(f"{view_name(view)} by source group", lines, "mean score")] if lines else []
    return Text(_ABOUT_CURVES, "about"), Group(tuple(charts))


def _by_source(sources: Iterable[str], line: Callable[[str], Points]) -> list[Series]:
    """Return a line per source group; none if there is only one."""
    names = [name for name in dict.fromkeys(sources) if name != ALL]
    return [Series(n, (i + 1) % 8, line(n), dots=True) for i, n in enumerate(names)] if len(names) > 1 else []


def over_batches(title: str, series: Sequence[Series], y: str, x: str = "train batches", note: str = "") -> Lines:
    """Return scores over batches, or over another whole number."""
    return Lines(title, x, y, tuple(series), whole=True, empty="nothing judged yet", note=note)


def _replay(harness: HarnessRunResults) -> tuple[Part, ...]:
    if not harness.replay:
        return (Text("No tasks replayed."),)
    parts: list[Part] = [Text(_ABOUT_REPLAY, "about")]
    for view in in_order(harness.replay):
        parts += [Group(tuple(_grids(harness.replay[view]))), _churn(harness.replay[view])]
    return tuple(parts)


def _grids(replay: Replay) -> Iterator[Grid]:
    """Yield a replay grid for each source group."""
    grid = replay.grid
    groups: dict[str, list[tuple[str, str]]] = {}
    for source, task, cells in zip(grid.sources, grid.tasks, grid.cells, strict=True):
        groups.setdefault(source, []).append((task, cells))
    most = max(12, MOST_TASKS // max(1, len(groups)))
    for source in sorted(groups):
        tasks = sorted(groups[source], key=lambda task: _natural(task[0]))
        if len(tasks) > most:
            tasks = sorted(tasks, key=lambda task: len(set(task[1]) & set("SFE")) < 2)[:most]
        left_out = len(groups[source]) - len(tasks)
        note = f"{left_out} more tasks are in metrics.json" if left_out else ""
        yield Grid(f"Replay of {source}", grid.snapshots, tuple(tasks), LEGEND, note)


def _natural(name: str) -> list[tuple[int, str]]:
    """Return the natural sort key of names, so that task 2 comes before task 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _churn(replay: Replay) -> Table:
    """Return a row per snapshot: tasks fixed and forgotten since the previous one, and rates since the first."""
    since, steps = replay.since_base, {churn.after: churn for churn in replay.delta}
    rows: list[list[Value | Cell]] = []
    for churn in since.snapshots if since else ():
        step = steps.get(churn.snapshot)
        rows.append(
            [
                churn.snapshot,
                *((step.fixed, step.forgotten, step.tasks) if step else (None, None, None)),
                Cell(Number(churn.fix, form="percent"), (f"{churn.fixed} of {since.failed if since else 0}",)),
                Cell(Number(churn.forget, form="percent"), (f"{churn.forgotten} of {since.solved if since else 0}",)),
            ]
        )
    head = [
        "snapshot",
        "fixed since before",
        "forgotten since before",
        "compared",
        "fixed since A_0",
        "forgotten since A_0",
    ]
    caption = (
        "Tasks fixed and forgotten: counts since the previous snapshot, rates of the tasks that A_0 failed and solved"
    )
    return of_rows(head, rows, caption=caption)


def _updates(harness: HarnessRunResults) -> tuple[Part, ...]:
    reasons = [[r.reason, r.count, ", ".join(map(str, r.batches))] for r in harness.gate.reasons]
    changed = [_changed(point) for point in harness.points[1:]]
    caption = "Changes by updates between evaluation points; the commits below list their reasons"
    head = (Column("snapshot"), Column("after batch", "right"), Column("files", prose=True), Column("harness"))
    parts: list[Part] = [_plan(harness.plan, harness.gate)]
    if reasons:
        columns = (Column("reason", prose=True), Column("times", "right"), Column("at batch"))
        refused = tuple(Row(tuple(row)) for row in reasons)
        parts.append(Table(columns, refused, "Reasons for refusals by the contract gate"))
    parts.append(Table(head, tuple(changed), caption, page_only=True))
    return tuple(parts)


def _plan(plan: Plan, gate: Gate) -> Facts:
    """Return the schedule in words."""
    size = text.plural(plan.batch_size or 0, "task")
    timing = {None: text.DASH, 0: "the ends of epochs", 1: "each batch"}.get(
        plan.assess, f"every {plan.assess} batches"
    )
    epochs = f"{text.plural(plan.epochs or 0, 'epoch')} over {text.plural(plan.train_tasks, 'train task')}"
    done = f"on, {gate.canaries} canaries: {gate.refused} of {gate.proposed} harnesses refused"
    return Facts(
        (
            Fact("Batches", f"{text.number(plan.batches)}, each of {size}; {epochs}"),
            Fact("Updates for each batch", plan.updates),
            Fact("What was learned", plan.persistence),
            Fact("Judged after", timing),
            Fact("Sources", ", ".join(plan.sources)),
            Fact("Plan", Mono(plan.digest, 12)),
            Fact("Contract gate", done if gate.on else "off"),
        )
    )


def _changed(point: Point) -> Row:
    files = "unknown: a harness's record is missing"
    if point.changed is not None:
        files = "; ".join(map(_file, point.changed)) or "nothing"
    return Row((point.role or point.name, point.batch, files, Mono(point.candidate, 10)))


def _file(change: FileChange) -> str:
    size = "" if change.added is None else f" +{change.added} {text.MINUS}{change.removed}"
    return f"{change.part}: {change.file} {change.status}{size}"


def _cost(harness: HarnessRunResults) -> tuple[Part, ...]:
    costs = harness.costs
    rows = [_cost_row(view_name(view), costs.views[view]) for view in in_order(costs.views) if view != "agent_update"]
    whole = Row(_cost_row("all rollouts", costs.rollout).cells, "chosen")
    head = ["for", "rollouts or updates", "tokens", "tool calls", "time", "cost"]
    table = Table(
        columns_of(*head), (*rows, whole, _cost_row("updates", costs.update)), "Totals of the run", csv="cost.csv"
    )
    return Text(_ABOUT_COST, "about"), table


def _cost_row(name: str, costs: Costs) -> Row:
    cells = (
        _total(costs.tokens, Number(costs.tokens.total, form="amount")),
        _total(costs.tool_calls, Number(costs.tool_calls.total, form="amount")),
        _total(costs.wall_time, Number(costs.wall_time.total, form="duration")),
        _total(costs.cost_usd, Number(costs.cost_usd.total, form="dollars")),
    )
    return Row((name, costs.tokens.rows, *cells))


def _total(cost: Cost, number: Number) -> Cell:
    return Cell(number, (f"of {cost.known} in {cost.rows}",) if 0 < cost.known < cost.rows else ())


def _models(harness: HarnessRunResults) -> tuple[Part, ...]:
    """Return the first and the last harness under other execution models."""
    rows = [
        Row(
            (
                model,
                view_name(view),
                Number(level.A_0, 3),
                Number(level.A_T, 3),
                Mean(level.difference, *(level.ci or (None, None)), decimals=3, signed=True),
                judged(level),
                level.tasks,
            )
        )
        for model, views in harness.cross_model.items()
        for view, level in views.items()
    ]
    if not rows:
        return ()
    about = "The same harnesses under other models than the one they evolved with."
    head = ["model", "tasks of", "A_0", "A_T", "gain", "verdict", "paired tasks"]
    caption = "Mean score before and after evolution, paired by task"
    return Text(about, "about"), Table(columns_of(*head, left=(head[0], "tasks of", "verdict")), tuple(rows), caption)
