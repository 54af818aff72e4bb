"""Common parts of the pages of runs and suites: order of sections, failures, versions, labels of runs, commands to rerun."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from heredity.results.agents import AgentAccounts, Tokens
from heredity.results.page import Cell, Code, Facts, Folded, Group, Named, Part, Row, Section, Table, Text
from heredity.results.run import EvolverFailure, Failure, RunResults
from heredity.results.suite import Entry, SuiteResults
from heredity.results.text import amount, dollars, listed, plural
from heredity.results.words import Words


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
