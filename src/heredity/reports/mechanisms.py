"""Pages of runs and suites that show mechanisms: nothing on them ranks, bounds or judges what programs in a model's place did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heredity.results import text
from heredity.results.charts import Interval, Intervals, Lines, Mark, Strip
from heredity.results.page import (
    Cell,
    Fact,
    Facts,
    Folded,
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
    Verdict,
    of_rows,
)
from heredity.results.run import RunResults
from heredity.results.run import Verdict as Judged
from heredity.results.suite import SuiteResults
from heredity.results.words import Words

_INFERRED = {"detectable effect", "p, corrected", "p (holm)", "rank score", "wins", "top 2"}
"""What columns are called that only mean something where what is compared has learned."""

_VERDICTS = {str(verdict) for verdict in Judged}


def notice(models: Sequence[str]) -> str:
    """Say that a run shows mechanisms alone, since these models are stand-ins."""
    are = "is a program" if len(models) == 1 else "are programs"
    return (
        f"{text.listed(list(models))} {are} in a language model's place: this run shows that mechanisms work, no more."
    )


def plain(page: Page, because: str) -> Page:
    """Return a page that says first why nothing is ranked, without intervals, tests and verdicts."""
    facts = Facts(tuple(_fact(fact) for fact in page.facts.facts))
    sections = tuple(replace(s, parts=tuple(map(_part, s.parts))) for s in page.sections)
    foot = page.foot.partition("Intervals are ")[0] if page.foot.startswith("Intervals are ") else page.foot
    return replace(page, summary=(Text(because, "summary"), *page.summary), facts=facts, sections=sections, foot=foot)


def mechanisms(suite: SuiteResults, runs: Sequence[RunResults], words: Words) -> Section:
    """Return what took place in the runs of each evolver, in the order in which they were configured."""
    rows: list[list[Value | Cell]] = []
    for row in suite.budget:
        own = [run for run in runs if run.evolver.name == row.evolver]
        calls = [run.model_usage.method.calls for run in own if run.model_usage]
        decided = [decision for run in own for decision in run.decisions]
        accepted = sum(d.accepted and bool(d.baseline) for d in decided)
        judged = sum(run.heldout is not None for run in own)
        did = (sum(calls) if calls else None, accepted, sum(not d.accepted for d in decided), judged) if runs else ()
        failed = next((entry.failed for entry in suite.leaderboard if entry.evolver == row.evolver), 0)
        notes = (f"{failed} of {text.plural(row.runs, 'run')} failed",) if failed else ()
        named = Cell(Named(row.evolver), notes, "bad" if failed else None)
        rows.append([named, row.runs, row.submissions, row.used, *did])
    head = ("evolver", "runs", "submissions", f"{words.rollouts} used")
    did = ("calls of its model", "commits", "refusals", "runs judged") if runs else ()
    table = of_rows((*head, *did), rows, caption="What took place, in the order of the configuration")
    about = (
        f"What each evolver did, summed over its runs; held-out {words.score} by {words.taskset} stands below. Programs do what "
        "they were written to do, so a higher score here is no merit of a method."
    )
    return Section("leaderboard", "Mechanisms shown", (Text(about, "about"), table), "lead", "all")


def bare(run: RunResults) -> RunResults:
    """Return a run whose gain has no interval, test and detectable effect."""
    gain = run.gain and run.gain.model_copy(update={"ci": None, "p": None, "mde": None})
    heldout = run.heldout and run.heldout.model_copy(update={"ci": None})
    return run.model_copy(update={"gain": gain, "heldout": heldout})


def _fact(fact: Fact) -> Fact:
    note = None if isinstance(fact.note, Verdict) else fact.note
    return Fact(fact.name, _value(fact.value), note)


def _part(part: Part) -> Part:
    match part:
        case Table():
            return _table(part)
        case Facts():
            return Facts(tuple(_fact(fact) for fact in part.facts))
        case Group():
            return replace(part, parts=tuple(map(_part, part.parts)))
        case Folded():
            return replace(part, parts=tuple(map(_part, part.parts)))
        case Intervals():
            return replace(part, lines=tuple(Interval(i.name, i.value, tone=i.tone) for i in part.lines))
        case Strip():
            return replace(part, mean=(part.mean[0], None, None))
        case Lines():
            return replace(part, marks=tuple(map(_mark, part.marks)))
        case _:
            return part


def _mark(mark: Mark) -> Mark:
    return replace(mark, low=None, high=None)


def _table(table: Table) -> Table:
    rows = [row for row in table.rows if row.role != "group"]
    kept = [i for i, column in enumerate(table.columns) if column.name.strip().lower() not in _INFERRED]
    # A verdict of something else than a test, such as of gates, stays.
    kept = [i for i in kept if not any(_tested(row.cells[i]) for row in rows) and not _untested(table, rows, i)]
    rows = tuple(
        row if row.role == "group" else Row(tuple(_cell(row.cells[i]) for i in kept), row.role) for row in table.rows
    )
    return replace(table, columns=tuple(table.columns[i] for i in kept), rows=rows)


def _untested(table: Table, rows: Sequence[Row], column: int) -> bool:
    """Return whether a column is for the verdicts of tests and holds none yet."""
    named = table.columns[column].name.strip().lower() == "verdict"
    return named and all(row.cells[column] is None or row.cells[column] == Verdict(None) for row in rows)


def _tested(value: Value | Cell) -> bool:
    """Return whether a cell holds a p-value or a verdict of a test."""
    inner = value.value if isinstance(value, Cell) else value
    return (isinstance(inner, Verdict) and inner.word in _VERDICTS) or (isinstance(inner, Number) and inner.form == "p")


def _cell(value: Value | Cell) -> Value | Cell:
    if isinstance(value, Cell):
        return replace(value, value=_value(value.value), strong=False)
    return _value(value)


def _value(value: Value) -> Value:
    return replace(value, low=None, high=None) if isinstance(value, Mean) else value
