"""Gains of a harness-evolution run: a summary at the top of its page, then the full tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from heredity.protocols.harness_evolution.results import Collapse, HarnessRunResults
from heredity.protocols.harness_evolution.task_results import Cost, Difference, Gain, Transfer
from heredity.results import text
from heredity.results.claims import bounds_note, judged
from heredity.results.page import Cell, Fact, Facts, Mean, Number, Part, Row, Table, Text, columns_of
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
