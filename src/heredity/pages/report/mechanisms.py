"""Pages of runs with scripted models: without ranks, intervals and verdicts, as such programs prove nothing about methods."""

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
"""Names of columns that are meaningless unless the compared methods have learned."""

_VERDICTS = {str(verdict) for verdict in Judged}


def notice(models: Sequence[str]) -> str:
    """Say that a run only demonstrates mechanisms, since its models are scripted."""
    are = "is a program, not a language model" if len(models) == 1 else "are programs, not language models"
    return f"{text.listed(list(models))} {are}: this run only shows that mechanisms work."


def plain(page: Page, because: str) -> Page:
    """Return a page without intervals, tests and verdicts that first says why nothing is ranked."""
    facts = Facts(tuple(_fact(fact) for fact in page.facts.facts))
    sections = tuple(replace(s, parts=tuple(map(_part, s.parts))) for s in page.sections)
    foot = page.foot.partition("Intervals are ")[0] if page.foot.startswith("Intervals are ") else page.foot
    return replace(page, summary=(Text(because, "summary"), *page.summary), facts=facts, sections=sections, foot=foot)


def mechanisms(suite: SuiteResults, runs: Sequence[RunResults], words: Words) -> Section:
    """Return a table of the activity in each evolver's runs, in the order of the configuration."""
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
    table = of_rows((*head, *did), rows, caption="Activity, in the order of the configuration")
    about = (
        f"What each evolver did, summed over its runs; held-out {words.score} by {words.taskset} is below. Programs do what "
        "they were written to do, so a higher score does not speak for a method."
    )
    return Section("leaderboard", "Mechanisms shown", (Text(about, "about"), table), "lead", "all")


def bare(run: RunResults) -> RunResults:
    """Return a run without the interval, test and detectable effect of its gain."""
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
    # Other verdicts than those of tests, such as those of gates, stay.
    kept = [i for i in kept if not any(_tested(row.cells[i]) for row in rows) and not _untested(table, rows, i)]
    rows = tuple(
        row if row.role == "group" else Row(tuple(_cell(row.cells[i]) for i in kept), row.role) for row in table.rows
    )
    return replace(table, columns=tuple(table.columns[i] for i in kept), rows=rows)


def _untested(table: Table, rows: Sequence[Row], column: int) -> bool:
    """Report whether a column is for the verdicts of tests and does not hold any yet."""
    named = table.columns[column].name.strip().lower() == "verdict"
    return named and all(row.cells[column] is None or row.cells[column] == Verdict(None) for row in rows)


def _tested(value: Value | Cell) -> bool:
    """Report whether a cell holds a p-value or a verdict of a test."""
    inner = value.value if isinstance(value, Cell) else value
    return (isinstance(inner, Verdict) and inner.word in _VERDICTS) or (isinstance(inner, Number) and inner.form == "p")


def _cell(value: Value | Cell) -> Value | Cell:
    if isinstance(value, Cell):
        return replace(value, value=_value(value.value), strong=False)
    return _value(value)


def _value(value: Value) -> Value:
    return replace(value, low=None, high=None) if isinstance(value, Mean) else value
