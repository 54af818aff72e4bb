"""Page sections of a harness-evolution run: gains, snapshots on views, replay, the gate, cost, other models."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby

from heredity.protocols.harness_evolution.analysis.grids import CELLS
from heredity.protocols.harness_evolution.results import Collapse, FileChange, Gate, HarnessRunResults, Plan, Point
from heredity.protocols.harness_evolution.task_results import (
    ALL,
    Cost,
    Costs,
    Difference,
    Gain,
    Level,
    Points,
    Replay,
    Transfer,
)
from heredity.results import text
from heredity.results.charts import Grid, Key, Lines, Series, Tone
from heredity.results.claims import bounds_note, judged
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

MEASURES = {
    "UVG": "update-validation (UVG)",
    "IDG": "in distribution (IDG)",
    "OODG": "out of distribution (OODG)",
    "FR": "train tasks again",
}
"""Names of the measures, with SEAGym's abbreviations."""

OF = {"final": "final", "best_validation": "best on validation"}
_ABOUT_GAINS = (
    "The gain of a later harness over A_0, the harness before any update, on the same tasks: IDG in distribution, OODG "
    "out of distribution. The forgetting rate (FR), in its own column, is the loss when the train tasks are run again. "
    "All tasks have equal weight; in macro averages, all domains do. Verdicts are about this run's harnesses on "
    "new tasks: better or worse means a corrected p-value of at most 0.05. One run cannot show how the method does with "
    "other seeds."
)


def head(run: RunResults, harness: HarnessRunResults) -> tuple[Part, ...]:
    """Return the summary of the run, its figures, and where the harness stopped working."""
    collapses = [Text(line, "warning") for line in collapse_lines(harness.collapses)]
    final = [row for row in _in_order(harness) if row.of == "final"]
    if not final:
        return tuple(collapses)
    batches = "one train batch" if harness.plan.batches == 1 else f"{harness.plan.batches} train batches"
    tokens, cost_usd = _spent(harness)
    cost = "an unknown cost" if cost_usd is None else f"a cost of {text.cost(cost_usd)}"
    used = f"training and updates used {text.tokens(tokens)} tokens at {cost}"
    gained = [_gain_words(row, tested=not run.stand_ins) for row in final]
    summary = f"After {batches}: {'; '.join([*gained, used])}."
    facts = [fact for row in final for fact in _facts(harness, row)]
    facts.append(Fact("Tokens, training and updates", Number(tokens, form="tokens"), f"cost {text.cost(cost_usd)}"))
    facts += _general_facts(run)
    return Text(summary, "summary"), Facts(tuple(facts)), *collapses


def _facts(harness: HarnessRunResults, row: Transfer) -> Iterator[Fact]:
    """Yield the result of a measure; in distribution, with the scores behind it."""
    name = {"IDG": "Gain in distribution", "OODG": "Gain out of distribution", "FR": "Forgetting, train tasks"}[
        row.metric
    ]
    _, colon, taskset = row.view.partition(":")
    name += f", {text.short_task(taskset)}" if colon else ""
    if row.metric == "FR":
        yield Fact(name, Number(row.forgetting.micro if row.forgetting else None, 3))
        return
    if row.metric == "IDG":
        snapshots = harness.views[row.view].snapshots
        before = text.number(snapshots[row.before].perf.micro, 3)
        yield Fact("Score in distribution", Number(snapshots[row.after].perf.micro, 3), f"{before} before training")
    yield Fact(name, gained(row.micro), judged(row.micro))


def _general_facts(run: RunResults) -> Iterator[Fact]:
    refused = sum(not decision.accepted for decision in run.decisions)
    commits = sum(decision.accepted and bool(decision.baseline) for decision in run.decisions)
    yield Fact("Commits", commits, f"{refused} refused")
    took = f"{text.duration(run.budget.wall_seconds)} without judging, {text.plural(run.budget.resumes, 'resume')}"
    yield Fact("Train rollouts", run.budget.used, took)


def _spent(harness: HarnessRunResults) -> tuple[float | None, float | None]:
    """Return tokens and dollars of training and updates; None unless both are fully known."""
    train, update = harness.costs.views.get("train"), harness.costs.update
    return whole(train and train.tokens, update.tokens), whole(train and train.cost_usd, update.cost_usd)


def whole(*costs: Cost | None) -> float | None:
    """Return the sum of costs; None unless each is fully known."""
    totals = [total for cost in costs if cost and (total := cost.whole) is not None]
    return sum(totals) if len(totals) == len(costs) else None


def _gain_words(row: Transfer, *, tested: bool) -> str:
    """Describe the result of one measure; untested measures have no verdict."""
    _, colon, taskset = row.view.partition(":")
    where = {"IDG": "on new tasks in distribution", "OODG": "out of distribution", "FR": "on its train tasks"}[
        row.metric
    ]
    where += f", {text.short_task(taskset)}," if colon else ""
    gap = row.micro
    if gap is None:
        return f"{where} the gain is unknown"
    lost = row.forgetting.micro if row.forgetting else None
    verdict = f"{gap.verdict}: {gap.because}" if gap.because else gap.verdict
    verdict_words = f" ({verdict}, for this harness on new tasks)" if tested else ""
    if row.metric != "FR":
        bounds = _bounded(gap) if tested else (gap.difference, None, None)
        return f"{where} it gained {text.difference(*bounds)}{verdict_words}"
    return (
        f"{where} it forgot {text.number(lost, 3)} of its score{verdict_words}"
        if lost
        else f"{where} it forgot nothing"
    )


def _bounded(gap: Difference) -> tuple[float, float | None, float | None]:
    low, high = gap.ci or (None, None)
    return gap.difference, low, high


def gained(gap: Difference | None) -> Mean | None:
    """Return a paired difference as a table entry."""
    return None if gap is None else Mean(*_bounded(gap), decimals=3, signed=True)


def collapse_lines(collapses: Sequence[Collapse]) -> list[str]:
    """Report the snapshots at which the harness stopped working: one line for neighbours with the same collapse."""
    alike = groupby(collapses, key=lambda collapse: (collapse.every, collapse.recovered, collapse.reason))
    return [_collapse(list(fallen), *shared) for shared, fallen in alike]


def _collapse(fallen: Sequence[Collapse], every: bool, recovered: bool, reason: str | None) -> str:
    lost: dict[str, int] = {}
    for view in (view for collapse in fallen for view in collapse.views):
        name = view_name(view.view)
        lost[name] = max(lost.get(name, 0), view.lost)
    views = text.listed([f"{name} ({text.plural(number, 'task')})" for name, number in lost.items()])
    reach = "every view where it could collapse" if every else "not every view, so this may be chance"
    why = f" Most rollouts there end with: {text.shorten(text.clean(reason), 200)}" if reason else ""
    after = "It works again at the end." if recovered else "It does not recover."
    names = text.listed([collapse.snapshot for collapse in fallen])
    return f"Collapse at {names}: every task that A_0 solved fails on {views}, {reach}. {after}{why}"


def gains(harness: HarnessRunResults) -> tuple[Part, ...]:
    """Return every gain with its evidence."""
    if not harness.transfer:
        return (Text("No comparisons yet."),)
    parts: list[Part] = [Text(_ABOUT_GAINS, "about"), _transfer(_in_order(harness))]
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
        parts.append(
            Table(columns_of(*head, left=("snapshot", "verdict", "verdict ")), tuple(rows), caption, page_only=True)
        )
    return tuple(parts)


def _in_order(harness: HarnessRunResults) -> list[Transfer]:
    places = {view: i for i, view in enumerate(in_order(harness.views))}
    return sorted(harness.transfer, key=lambda row: places.get(row.view, len(places)))


def _transfer(listed: Sequence[Transfer]) -> Table:
    """Return the gains of the final snapshot and of the best on validation; once if they are the same."""
    merged: dict[tuple[str, str], tuple[Transfer, list[str]]] = {}
    for row in listed:
        merged.setdefault((row.view, row.after), (row, []))[1].append(OF[row.of])
    rows = [
        Row(
            (
                Cell(MEASURES[row.metric], (view_name(row.view),) if ":" in row.view else ()),
                Cell(row.after, (", and ".join(of),)),
                Cell(gained(row.micro), (bounds_note(row.if_missing),) if row.if_missing else ()),
                judged(row.micro),
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
    return Table(
        columns_of(*head, "paired tasks", left=("tasks", "snapshot", "verdict")), tuple(rows), caption, csv="gains.csv"
    )


def _update_validation(harness: HarnessRunResults, view: str) -> Iterator[Row]:
    """Yield a row per evaluation point: its gain over the previous point and over the first."""
    before: dict[str, Gain] = {gain.after: gain for gain in harness.uvg[view].prev}
    for gain in harness.uvg[view].base:
        step = before[gain.after].micro if gain.after in before else None
        micro = gain.micro
        mde = Number(micro.mde if micro else None, 3)
        yield Row((gain.after, gained(step), judged(step), gained(micro), judged(micro), mde, gain.tasks))


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
