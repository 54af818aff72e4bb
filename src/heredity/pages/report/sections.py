"""Common parts of the pages of runs and suites: order of sections, failures, versions, labels of runs, commands to rerun."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heredity.analysis.labels import Counts, counts
from heredity.results import text
from heredity.results.charts import Interval, Intervals, Lines, Mark, Strip
from heredity.results.page import (
    Cell,
    Code,
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
from heredity.results.report import Words
from heredity.results.run import AgentAccounts, EvolverFailure, Failure, RunResults, RunStatus, Tokens
from heredity.results.run import Verdict as Judged
from heredity.results.suite import Entry, SuiteResults
from heredity.results.text import amount, dollars, in_order, listed, plural, view_name

NAME = "annotations.jsonl"


def annotation_sections(folder: Path) -> list[Section]:
    """Return a section of labels by snapshot; none if the run has not been annotated, or the file is damaged."""
    try:
        rows = [json.loads(line) for line in (folder / NAME).read_bytes().splitlines()]
        tables = count_tables(counts(rows))
    except (OSError, ValueError, KeyError, TypeError):
        return []
    about = "An annotator's labels of the rollouts, counted by snapshot. Labels are never part of a score."
    return [Section("labels", "Labels", (Text(about, "about"), *tables))] if tables else []


def count_tables(labelled: Counts) -> list[Table]:
    """Return a table for each annotator and view: a row for each label, the most frequent first, a column for each snapshot."""
    tables: list[Table] = []
    for by, views in labelled.items():
        for view in in_order(views):
            snapshots = views[view]
            totals: Counter[str] = Counter()
            for labels in snapshots.values():
                totals.update(labels)
            names = sorted(totals, key=lambda label: (-totals[label], label))
            rows = [[name, *(labels.get(name) for labels in snapshots.values())] for name in names]
            tables.append(of_rows(["label", *snapshots], rows, caption=f"Labels by {by}: {view_name(view)}"))
    return tables


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


@dataclass(frozen=True, slots=True)
class Head:
    """Top of a page."""

    summary: tuple[Text, ...]
    facts: Facts
    warnings: tuple[Part, ...]


def arranged(general: Sequence[Section], own: Sequence[Section]) -> tuple[Section, ...]:
    """Return the sections of a page in order, those of a protocol before general ones of the same place.

    A protocol's section replaces a general one with the same id; empty sections are left out.
    """
    ids = {section.id for section in own}
    listed = [*own, *(section for section in general if section.id not in ids)]
    return tuple(s for area in ("lead", "main", "detail") for s in listed if s.place == area and s.parts)


def headed(head: Head, own: Sequence[Section]) -> Head:
    """Return a head with the protocol's parts added."""
    parts = [part for section in own if section.place == "head" for part in section.parts]
    texts = [part for part in parts if isinstance(part, Text)]
    summary = tuple(t for t in texts if t.role == "summary") or tuple(t for t in head.summary if t.role == "summary")
    cautions = [t for t in (*head.summary, *texts) if t.role == "caution"]
    facts = next((part for part in parts if isinstance(part, Facts)), head.facts)
    others = [p for p in parts if not isinstance(p, Facts) and not (isinstance(p, Text) and p.role != "warning")]
    return Head((*summary, *cautions), facts, (*head.warnings, *others))


def taskset_notes(runs: Sequence[RunResults]) -> Section:
    """Return the notes of tasksets that readers of their scores need, each once."""
    notes = dict.fromkeys((run.taskset or "", note) for run in runs for note in run.notes)
    return Section(
        "notes",
        "Notes on the tasks",
        tuple(Text(f"{taskset}: {note}.") for taskset, note in notes),
    )


def failure_parts(failure: Failure | EvolverFailure) -> tuple[Part, ...]:
    """Return a failure as its author reads it."""
    category = f"{failure.category}: " if isinstance(failure, Failure) else ""
    trace = (Code(failure.traceback, "text"),) if failure.traceback else ()
    return (Text(f"{category}{failure.message}" or "failed", "warning"), *trace)


def marked(sections: Sequence[Section], failed: Collection[str]) -> tuple[Section, ...]:
    """Return sections whose tables mark evolvers that failed in all their runs."""

    def part_of(part: Part) -> Part:
        match part:
            case Table():
                return replace(part, rows=tuple(map(row_of, part.rows)))
            case Group() | Folded():
                return replace(part, parts=tuple(map(part_of, part.parts)))
            case _:
                return part

    def row_of(row: Row) -> Row:
        first = row.cells[0] if isinstance(row.cells[0], Cell) else Cell(row.cells[0])
        name = first.value.name if isinstance(first.value, Named) and not first.value.run else ""
        if name not in failed or any("failed" in str(note) for note in first.notes):
            return row
        noted = replace(first, notes=(*first.notes, "all its runs failed"), tone="bad")
        return replace(row, cells=(noted, *row.cells[1:]))

    return (
        tuple(replace(section, parts=tuple(map(part_of, section.parts))) for section in sections)
        if failed
        else (*sections,)
    )


MOST_FAILED = 5
"""Maximum number of failed runs named at the head of a suite's page."""


def failed_runs(runs: Sequence[RunResults]) -> tuple[Part, ...]:
    """Return the failed runs of a suite with the reasons and their last output."""
    failed = [(run.run_id or "unnamed run", run.evolver_failure) for run in runs if run.evolver_failure]
    parts: list[Part] = []
    for name, failure in failed[:MOST_FAILED]:
        parts.append(Text(f"{name} failed: {failure.message}.", "warning"))
        parts += [Code(failure.traceback, "text", f"Last lines of {name}")] if failure.traceback else []
    rest = len(failed) - MOST_FAILED
    return (*parts, *((Text(f"{plural(rest, 'further run')} failed.", "warning"),) if rest > 0 else ()))


def entry_cell(name: Named, entry: Entry, words: Words) -> Cell:
    """Return a name with problems below it: failed runs, exit codes of agents, unspent budget."""
    codes = f"exit code {listed([str(code) for code in entry.exit_codes])}" if entry.exit_codes else ""
    failed = f"{entry.failed} of {plural(entry.runs, 'run')} failed" if entry.failed else ""
    unspent = f"{plural(entry.unspent, words.rollout)} unspent" if entry.unspent else ""
    notes = tuple(filter(None, (", ".join(filter(None, (failed, codes))), unspent)))
    return Cell(name, notes, "bad" if entry.failed else None)


def versions(packages: Iterable[Mapping[str, str] | None]) -> str:
    """Format the versions of packages; if runs differ, all versions."""
    installed: dict[str, set[str]] = {}
    for named in packages:
        for name, version in (named or {}).items():
            installed.setdefault(name, set()).add(version)
    return ", ".join(f"{name} {' and '.join(sorted(installed[name]))}" for name in sorted(installed)) or "not recorded"


def logged(runs: Sequence[RunResults]) -> str:
    """Format which logs have the starts and ends of runs."""
    started = [run for run in runs if run.commitment]
    finished = [run for run in started if run.status is not RunStatus.UNFINISHED]
    names = dict.fromkeys(one.log for run in started for one in run.logs)
    if not names:
        return "in no log, so nobody can count reruns and dropped runs"
    parts: list[str] = []
    for name in names:
        held = [one for run in started for one in run.logs if one.log == name]
        starts, ends = sum(one.start for one in held), sum(one.end for one in held)
        whole = starts == len(started) and ends == len(finished)
        counts = f"{starts} of {plural(len(started), 'start')}, {ends} of {plural(len(finished), 'end')}"
        parts.append(f"{name} ({'all starts and ends' if whole else counts})")
    return "; ".join(parts)


_COUNTS = {"input": "input_tokens", "cached": "cache_tokens", "output": "output_tokens"}


def token_words(tokens: Tokens, accounts: AgentAccounts | None = None) -> str:
    """Format token counts and cost in one line, with the difference between an agent's count and the broker's."""
    parts = [f"{amount(getattr(tokens, key))} {name}" for name, key in _COUNTS.items()]
    counted = ", ".join([*parts, f"cost {dollars(tokens.cost_usd)}"])
    if accounts is None:
        return counted
    differences = {name: getattr(accounts.difference, key) for name, key in _COUNTS.items()}
    off = [f"{value:+,} {name}" for name, value in differences.items() if value]
    unknown = [name for name, value in differences.items() if value is None]
    agreement = f"differs from the broker's: {', '.join(off)}" if off else "agrees with the broker's"
    return f"{counted}; the agent's count {agreement}" + (f" ({', '.join(unknown)} unknown)" if unknown else "")


def labelled(suite: SuiteResults, runs: Sequence[RunResults]) -> list[RunResults]:
    """Return the runs under the evolver names that the suite compares, in the suite's order of tasksets and evolvers."""
    labels = {seed.run_id: cell.evolver for t in suite.tasksets for cell in t.cells for seed in cell.seeds}
    labels |= {row.run_id: problems.evolver for problems in suite.problems for row in problems.unfinished}
    named = [
        run.model_copy(
            update={"evolver": run.evolver.model_copy(update={"name": labels.get(run.run_id, run.evolver.name)})}
        )
        for run in runs
    ]
    tasksets = {t.taskset: i for i, t in enumerate(suite.tasksets)}
    evolvers = {entry.evolver: i for i, entry in enumerate(suite.leaderboard)}

    def key(run: RunResults) -> tuple[int, str, int, str, int, str]:
        taskset, name = run.taskset or "", run.evolver.name or ""
        places = tasksets.get(taskset, len(tasksets)), evolvers.get(name, len(evolvers))
        return places[0], taskset, places[1], name, run.seed or 0, run.run_id or ""

    return sorted(named, key=key)
