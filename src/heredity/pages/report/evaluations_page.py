"""Page of a comparison of evaluations: findings, every entry on every taskset, every pair."""

from __future__ import annotations

from collections.abc import Sequence

from heredity.results import text
from heredity.results.charts import Interval, Intervals
from heredity.results.claims import in_clusters, judged
from heredity.results.evaluations import EvaluatedEntry, EvaluatedPair, EvaluationComparison
from heredity.results.page import (
    Cell,
    Column,
    Fact,
    Facts,
    Group,
    Mean,
    Named,
    Number,
    Page,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    columns_of,
)
from heredity.results.run import Verdict

_MOST_SENTENCES = 5
_MOST_CHARTS = 12

_FOUND = {Verdict.BETTER: "is better than", Verdict.WORSE: "is worse than"}


def evaluations_page(comparison: EvaluationComparison) -> Page:
    """Return the page of a comparison."""
    # Decided pairs come first in the summary.
    shown = sorted(comparison.pairs or comparison.tasksets, key=lambda pair: pair.claim.verdict not in _FOUND)
    sentences = [Text(sentence(pair), "summary") for pair in shown[:_MOST_SENTENCES]]
    more = len(shown) - len(sentences)
    if more > 0:
        sentences.append(Text(f"{text.plural(more, 'more pair')} in the tables.", "summary"))
    tasksets = list(dict.fromkeys(entry.taskset for entry in comparison.entries))
    facts = (
        Fact("logs", comparison.logs),
        Fact("entries", len({entry.entry for entry in comparison.entries})),
        Fact("tasks", len(tasksets)),
        Fact("scorer", comparison.scorer),
        Fact("direction", "higher is better" if comparison.higher_is_better else "lower is better"),
    )
    sections = (
        _pairs("all-tasks", "Over all tasks", comparison.pairs),
        _pairs("pairs", "Comparisons on each task", comparison.tasksets),
        _entries(comparison, tasksets),
        Section("notes", "Notes", tuple(Text(note, "item") for note in comparison.notes), "detail"),
    )
    return Page(
        title="Comparison of evaluations",
        summary=tuple(sentences),
        facts=Facts(facts),
        sections=tuple(section for section in sections if section.parts),
        foot=(
            f"Intervals are {text.percent(comparison.confidence)} intervals over new samples; the entries are fixed. Epochs of a "
            "sample are averaged first. p-values are Holm-corrected over all pairs of a table."
        ),
    )


def sentence(pair: EvaluatedPair) -> str:
    """Return what a pair shows, in one sentence."""
    where = f" on {pair.taskset}" if pair.taskset else ""
    claim, n = pair.claim, text.plural(pair.samples, "sample")
    places = text.decimals_for((claim.ci[1] - claim.ci[0]) / 2, max(map(abs, claim.ci))) if claim.ci else None
    ends = f", {text.interval(*claim.ci, places)}" if claim.ci else ""
    figures = f"difference {text.number(pair.difference, places)}{ends} over {n}"
    if claim.verdict in _FOUND:
        return f"{pair.a} {_FOUND[claim.verdict]} {pair.b}{where}: {figures}."
    why = f" ({claim.because})" if claim.because else ""
    seen = "is not told apart from" if claim.verdict is Verdict.WITHIN_NOISE else "cannot be compared with"
    return f"{pair.a} {seen} {pair.b}{where}{why}: {figures}."


def _pairs(id: str, title: str, pairs: Sequence[EvaluatedPair]) -> Section:  # noqa: A002
    if not pairs:
        return Section(id, title)
    named = any(pair.taskset for pair in pairs)
    head = (
        Column("a"),
        Column("b"),
        *((Column("task"),) if named else ()),
        Column("a is"),
        *columns_of("a minus b", "p (Holm)", "detectable effect", "samples", "missing", "unpaired", left=0),
    )
    rows = tuple(Row(_cells(pair, named)) for pair in pairs)
    about = Text("Paired by sample; positive differences favour a, whatever the direction of the score.", "about")
    return Section(id, title, (about, Table(head, rows, title, csv=f"{id}.csv")), "main", "all")


def _cells(pair: EvaluatedPair, named: bool) -> tuple[Value | Cell, ...]:
    claim = pair.claim
    mean = Mean(pair.difference, *(claim.ci or (None, None)), signed=True)
    difference = mean if claim.clusters is None else Cell(mean, (in_clusters(claim.clusters),))
    counts = pair.samples, pair.missing, pair.unpaired
    tested = judged(claim), difference, Number(claim.p_holm, form="p"), Number(claim.mde)
    return Named(pair.a), Named(pair.b), *((pair.taskset,) if named else ()), *tested, *counts


def _entries(comparison: EvaluationComparison, tasksets: Sequence[str]) -> Section:
    head = columns_of(
        "entry", "task", "mean", "samples", "missing", "epochs", "logs", "status", left=("entry", "task", "status")
    )
    table = Table(
        head, tuple(Row(_entry(entry)) for entry in comparison.entries), "Every entry on each task", csv="entries.csv"
    )
    charts: list[Part] = []
    for taskset in tasksets if len(tasksets) <= _MOST_CHARTS else ():
        own = [entry for entry in comparison.entries if entry.taskset == taskset]
        lines = tuple(Interval(entry.entry, entry.mean, *(entry.ci or (None, None))) for entry in own)
        charts.append(Intervals(taskset, lines, comparison.scorer))
    return Section("entries", "Every entry", (table, *((Group(tuple(charts)),) if charts else ())), "main", "all")


def _entry(entry: EvaluatedEntry) -> tuple[Value | Cell, ...]:
    mean = Mean(entry.mean, *(entry.ci or (None, None)))
    notes = (
        *((str(entry.ci_unknown),) if entry.ci_unknown else ()),
        *((in_clusters(entry.clusters),) if entry.clusters else ()),
    )
    statuses = ", ".join(
        status if count == entry.logs else f"{count} {status}" for status, count in entry.statuses.items()
    )
    return (
        Named(entry.entry),
        entry.taskset,
        Cell(mean, notes),
        entry.samples,
        entry.missing,
        entry.epochs,
        entry.logs,
        statuses,
    )
