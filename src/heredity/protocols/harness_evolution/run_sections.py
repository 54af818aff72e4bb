"""What the page of a run of harness evolution says: gains in plain words, snapshots on views, replay, the gate, cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from heredity.protocols.harness_evolution.analysis.curves import ALL
from heredity.protocols.harness_evolution.analysis.replay import CELLS
from heredity.protocols.harness_evolution.results import (
    Collapse,
    Cost,
    Costs,
    Difference,
    FileChange,
    Gain,
    Gate,
    HarnessRunResults,
    Level,
    Plan,
    Point,
    Replay,
    Transfer,
)
from heredity.results import text
from heredity.results.charts import Grid, Key, Lines, Series, Tone
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
    of_rows,
)
from heredity.results.views import in_order, view_name

MOST_TASKS = 240
"""Rows of replay grids that a page shows; of more tasks, those whose outcome changed come first."""

MEASURES = {
    "UVG": "update-validation (UVG)",
    "IDG": "in distribution (IDG)",
    "OODG": "out of distribution (OODG)",
    "FR": "train tasks again (FR)",
}
"""What measures are called, with SEAGym's abbreviations."""

OF = {"final": "final", "best_validation": "best on validation"}
VIEWS = (
    "Update-validation chooses between snapshots; ID are new tasks of the kinds it was trained on (in distribution), OOD new "
    "tasks of other kinds (out of distribution), replay its train tasks again."
)
"""What views are, in plain words."""

_ABOUT_VIEWS = (
    f"Every frozen harness on every view, judged apart. {VIEWS} A_0 is the harness before any update, A_T the one after the "
    "last; ★ is the best on update-validation, which chose it: its score there is no result. Large: mean score (domains weigh "
    "the same) with its 95% interval over tasks. Below: success rate (SR), success without an error on record (clean), tasks."
)
_ABOUT_CURVES = (
    "Mean scores over tasks, by how many train batches came before. Replay grows with training, so its points are of more and "
    "more tasks."
)
_ABOUT_GAINS = (
    "What a later harness scores more than A_0, the one before any update, on the same tasks. IDG is the gain in distribution, "
    "OODG out of distribution; FR, the forgetting rate, is what is lost on train tasks. Tasks weigh alike; macro weighs domains "
    "alike. A gain is better or worse only if its interval excludes zero, it is at least what these tasks could show, and its "
    "corrected p-value is at most 0.05."
)
_ABOUT_REPLAY = (
    "Trained tasks attempted again by each snapshot. What a snapshot had not been trained on is not counted for it."
)
_ABOUT_COST = (
    "Attempts and updates apart; each judgement of a harness is counted once, at however many points it stands. A dash is a cost "
    "that no record holds, not a cost of zero; where only part of it is known, the total is of that part."
)
_TONES: dict[str, Tone] = {"S": "good", "F": "soft", "E": "bad", ".": "faint", "u": "faint"}
LEGEND = tuple(Key("cell", _TONES[letter], meaning, letter) for letter, meaning in CELLS.items())


def run_sections(harness: HarnessRunResults) -> list[Section]:
    """Return the sections of a run's page."""
    models = ("Under other execution models", _models(harness))
    return [
        Section("in-words", "In words", _head(harness), "head", "all"),
        Section("gains", "Gains", _gains(harness), "lead", "all"),
        Section("views", "Snapshots on views", _levels(harness), navigation="Snapshots"),
        Section("curves", "Learning curves", _curves(harness), media="page", navigation="Curves"),
        Section("replay", "Replay", _replay(harness), media="page"),
        Section("updates", "Updates and the contract gate", _updates(harness), navigation="Updates and gate"),
        Section("cost", "Cost", _cost(harness)),
        Section("models", *models, navigation="Other models"),
    ]


def _head(harness: HarnessRunResults) -> tuple[Part, ...]:
    """Return what the run came to in plain words, its figures, and where the harness stopped working."""
    collapses = [Text(line, "warning") for line in collapse_lines(harness.collapses)]
    final = [row for row in _transfer_rows(harness) if row.of == "final"]
    if not final:
        return tuple(collapses)
    sentences = "; ".join([*map(_gain_words, final), _spent_words(harness)])
    batches = "one train batch" if harness.plan.batches == 1 else f"{harness.plan.batches} train batches"
    summary = f"After {batches}: {sentences}."
    facts = tuple(_fact(row) for row in final)
    tokens, spent = _spent(harness)
    money = None if spent is None else f"tokens, {text.cost(spent)}"
    cost = Fact("Training and updates", Number(tokens, form="tokens"), money)
    return Text(summary, "summary"), Facts((*facts, cost)), *collapses


def _spent(harness: HarnessRunResults) -> tuple[float | None, float | None]:
    """Return tokens and dollars of training and updates; None unless all of it is known."""
    train, update = harness.costs.views.get("train"), harness.costs.update
    return whole(train and train.tokens, update.tokens), whole(train and train.cost_usd, update.cost_usd)


def whole(*costs: Cost | None) -> float | None:
    """Return the sum of costs; None unless all of each is known."""
    known = [total for cost in costs if cost and (total := cost.whole) is not None]
    return sum(known) if len(known) == len(costs) else None


def _gain_words(row: Transfer) -> str:
    where = _where(row)
    if row.metric == "FR":
        lost = row.forgetting.micro if row.forgetting else None
        return f"{where} it forgot {text.number(lost, 3)} of its score" if lost else f"{where} it forgot nothing"
    gap = row.micro
    return (
        f"{where} it gained {text.difference(*_bounded(gap))} ({gap.verdict})" if gap else f"{where} nothing is known"
    )


def _where(row: Transfer) -> str:
    _, colon, taskset = row.view.partition(":")
    name = {"IDG": "on new tasks in distribution", "OODG": "out of distribution", "FR": "on its train tasks"}[
        row.metric
    ]
    return name + (f", {text.short_task(taskset)}," if colon else "")


def _bounded(gap: Difference) -> tuple[float, float | None, float | None]:
    low, high = gap.ci or (None, None)
    return gap.difference, low, high


def _spent_words(harness: HarnessRunResults) -> str:
    tokens, spent = _spent(harness)
    return f"training and updates used {text.tokens(tokens)} tokens at a cost of {text.cost(spent)}"


def _fact(row: Transfer) -> Fact:
    if row.metric == "FR":
        return Fact("Forgetting on train tasks", Number(row.forgetting.micro if row.forgetting else None, 3))
    name = {"IDG": "Gain in distribution", "OODG": "Gain out of distribution"}[row.metric]
    _, colon, taskset = row.view.partition(":")
    verdict = Verdict(row.micro.verdict) if row.micro else None
    return Fact(f"{name}, {text.short_task(taskset)}" if colon else name, gained(row.micro), verdict)


def gained(gap: Difference | None) -> Mean | None:
    """Return a paired difference as tables show it."""
    return None if gap is None else Mean(*_bounded(gap), decimals=3, signed=True)


def collapse_lines(collapses: Sequence[Collapse]) -> list[str]:
    """Say at which snapshots the harness stopped working: one line for neighbours that fell alike."""
    alike = groupby(collapses, key=lambda collapse: (collapse.every, collapse.recovered, collapse.reason))
    return [_collapse(list(fallen), *shared) for shared, fallen in alike]


def _collapse(fallen: Sequence[Collapse], every: bool, recovered: bool, reason: str | None) -> str:
    lost: dict[str, int] = {}
    for view in (view for collapse in fallen for view in collapse.views):
        name = view_name(view.view)
        lost[name] = max(lost.get(name, 0), view.lost)
    views = text.listed([f"{name} ({text.plural(number, 'task')})" for name, number in lost.items()])
    reach = "every view that it could fall on" if every else "not on every view, so that it may be chance"
    why = f" What most attempts there end with: {text.shorten(text.clean(reason), 200)}" if reason else ""
    after = "It works again at the end." if recovered else "It does not recover."
    names = text.listed([collapse.snapshot for collapse in fallen])
    return f"Collapse at {names}: nothing that A_0 solved is solved on {views}, {reach}. {after}{why}"


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
    weights = (f"{view_name(view)}: one task is {text.number(harness.views[view].one_task, 3)}" for view in views)
    table = of_rows(["snapshot", *map(view_name, views)], rows, caption=" · ".join(weights))
    return (Text(_ABOUT_VIEWS, "about"), table) if rows else (Text("No snapshot has been judged yet."),)


def _level(level: Level) -> Cell:
    rates = f"SR {text.number(level.sr.macro, 2)} · clean {text.number(level.execution_success.macro, 2)}"
    notes: list[Value] = [f"{rates} · n {level.attempted}"]
    notes += [Verdict(f"{level.errors} with errors", "bad")] if level.errors else []
    notes += [Verdict(f"{level.missing} missing", "bad")] if level.missing else []
    notes += [f"{level.untrained} not trained yet"] if level.untrained else []
    return Cell(Mean(level.perf.macro, *(level.perf.ci or (None, None)), decimals=3), tuple(notes))


def _curves(harness: HarnessRunResults) -> tuple[Part, ...]:
    """Return all views together, then training and each view by source group."""
    curves, train = harness.curves.snapshots, harness.curves.train
    rows = list(zip(curves.view, curves.source, curves.train_batch_index, curves.perf, strict=True))
    views = in_order(dict.fromkeys(curves.view))
    series = [
        _line(view_name(view), i % 8, ((at, perf) for v, source, at, perf in rows if (v, source) == (view, ALL)))
        for i, view in enumerate(views)
    ]
    charts = [over_batches("Scores of snapshots by view", series, "mean score", note="mean score of each snapshot")]
    trained = list(zip(train.source, train.train_batch_index, train.perf, strict=True))
    if trained:
        whole = _line(ALL, 0, ((at, perf) for source, at, perf in trained if source == ALL))
        note = "mean score of each batch, before its update; batches are of different tasks"
        charts.append(over_batches("Train batches", [whole, *_by_source(trained)], "mean score", note=note))
    for view in views:
        lines = _by_source([(source, at, perf) for v, source, at, perf in rows if v == view])
        if lines:
            charts.append(over_batches(f"{view_name(view)} by source group", lines, "mean score"))
    return Text(_ABOUT_CURVES, "about"), Group(tuple(charts))


def _by_source(rows: Sequence[tuple[str, int | None, float]]) -> list[Series]:
    names = [name for name in dict.fromkeys(source for source, _, _ in rows) if name != ALL]
    lines = [_line(n, (i + 1) % 8, ((at, perf) for s, at, perf in rows if s == n)) for i, n in enumerate(names)]
    return lines if len(lines) > 1 else []


def _line(name: str, tone: Tone, points: Iterable[tuple[int | None, float]]) -> Series:
    """Return scores over batches; of several harnesses on one batch the first, which began it."""
    scores: dict[float, float] = {}
    for batch, score in points:
        if batch is not None:
            scores.setdefault(float(batch), score)
    return Series(name, tone, tuple(sorted(scores.items())), dots=True)


def over_batches(title: str, series: Sequence[Series], y: str, x: str = "train batches", note: str = "") -> Lines:
    """Return scores over batches, or over another whole number."""
    return Lines(title, x, y, tuple(series), whole=True, empty="nothing judged yet", note=note)


def _transfer_rows(harness: HarnessRunResults) -> list[Transfer]:
    places = {view: i for i, view in enumerate(in_order(harness.views))}
    return sorted(harness.transfer, key=lambda row: places.get(row.view, len(places)))


def _gains(harness: HarnessRunResults) -> tuple[Part, ...]:
    if not harness.transfer:
        return (Text("Nothing has been compared yet."),)
    parts: list[Part] = [Text(_ABOUT_GAINS, "about"), _transfer(_transfer_rows(harness))]
    rows = [row for view in in_order(harness.uvg) for row in _update_validation(harness, view)]
    if rows:
        head = [
            "snapshot",
            "over the point before",
            "verdict",
            "over A_0",
            "verdict ",
            "detectable effect",
            "paired tasks",
        ]
        caption = "Gain on update-validation (UVG) at each evaluation point"
        parts.append(Table(_columns(head, "verdict", "verdict "), tuple(rows), caption, page_only=True))
    return tuple(parts)


def _columns(names: Sequence[str], *left: str) -> tuple[Column, ...]:
    return tuple(Column(name, "left" if i == 0 or name in left else "right") for i, name in enumerate(names))


def _transfer(listed: Sequence[Transfer]) -> Table:
    """Return the gains of the final snapshot and of the best on validation; once where these are the same."""
    merged: dict[tuple[str, str], tuple[Transfer, list[str]]] = {}
    for row in listed:
        merged.setdefault((row.view, row.after), (row, []))[1].append(OF[row.of])
    rows = [
        Row(
            (
                Cell(MEASURES[row.metric], (view_name(row.view),) if ":" in row.view else ()),
                Cell(row.after, (", and ".join(of),)),
                gained(row.micro),
                _verdict(row.micro),
                Number(row.macro.difference if row.macro else None, 3, "signed"),
                Number(row.forgetting.micro if row.forgetting else None, 3),
                Number(row.micro.p_holm if row.micro else None, form="p"),
                Number(row.micro.mde if row.micro else None, 3),
                Cell(row.tasks, (f"{row.unpaired} unpaired",) if row.unpaired else ()),
            )
        )
        for row, of in merged.values()
    ]
    head = ["tasks", "snapshot", "gain", "verdict", "macro", "forgetting (FR)", "p, corrected", "detectable effect"]
    caption = "Gains over A_0 of the final snapshot and of the best on validation"
    return Table(_columns([*head, "paired tasks"], "snapshot", "verdict"), tuple(rows), caption, csv="gains.csv")


def _verdict(gap: Difference | None) -> Verdict | None:
    return Verdict(gap.verdict) if gap else None


def _update_validation(harness: HarnessRunResults, view: str) -> Iterator[Row]:
    """Yield a row for each evaluation point: its gain over the point before and over the first one."""
    before: dict[str, Gain] = {gain.after: gain for gain in harness.uvg[view].prev}
    for gain in harness.uvg[view].base:
        step = before[gain.after].micro if gain.after in before else None
        micro = gain.micro
        mde = Number(micro.mde if micro else None, 3)
        yield Row((gain.after, gained(step), _verdict(step), gained(micro), _verdict(micro), mde, gain.tasks))


def _replay(harness: HarnessRunResults) -> tuple[Part, ...]:
    if not harness.replay:
        return (Text("Nothing has been replayed."),)
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
    """Return what names are sorted by, so that task 2 comes before task 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def _churn(replay: Replay) -> Table:
    """Return a row for each snapshot: tasks fixed and forgotten since the one before, and rates since the first."""
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
    caption = "Tasks fixed and forgotten: counts since the snapshot before, rates of what A_0 failed and solved"
    return of_rows(head, rows, caption=caption)


def _updates(harness: HarnessRunResults) -> tuple[Part, ...]:
    reasons = [[r.reason, r.count, ", ".join(map(str, r.batches))] for r in harness.gate.reasons]
    changed = [_changed(point) for point in harness.points[1:]]
    caption = "What the updates between two evaluation points changed; the commits below have their reasons"
    head = (Column("snapshot"), Column("after batch", "right"), Column("files", prose=True), Column("harness"))
    parts: list[Part] = [_plan(harness.plan, harness.gate)]
    if reasons:
        columns = (Column("reason", prose=True), Column("times", "right"), Column("at batch"))
        refused = tuple(Row(tuple(row)) for row in reasons)
        parts.append(Table(columns, refused, "Why the contract gate refused"))
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
    files = "not known: a harness's record is gone"
    if point.changed is not None:
        files = "; ".join(map(_file, point.changed)) or "nothing"
    return Row((point.role or point.name, point.batch, files, Mono(point.candidate, 10)))


def _file(change: FileChange) -> str:
    size = "" if change.added is None else f" +{change.added} {text.MINUS}{change.removed}"
    return f"{change.part}: {change.file} {change.status}{size}"


def _cost(harness: HarnessRunResults) -> tuple[Part, ...]:
    costs = harness.costs
    rows = [_cost_row(view_name(view), costs.views[view]) for view in in_order(costs.views) if view != "agent_update"]
    whole = Row(_cost_row("all attempts", costs.rollout).cells, "chosen")
    head = ["for", "attempts or updates", "tokens", "tool calls", "time", "cost"]
    table = Table(
        _columns(head), (*rows, whole, _cost_row("updates", costs.update)), "Totals of the run", csv="cost.csv"
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
                Verdict(level.verdict),
                level.tasks,
            )
        )
        for model, views in harness.cross_model.items()
        for view, level in views.items()
    ]
    if not rows:
        return ()
    about = "The same harnesses, driven by another model than the one they evolved under."
    head = ["model", "tasks of", "A_0", "A_T", "gain", "verdict", "paired tasks"]
    caption = "Mean score before and after evolution, paired by task"
    return Text(about, "about"), Table(_columns(head, "tasks of", "verdict"), tuple(rows), caption)
