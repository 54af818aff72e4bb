"""Entries by environment and by kind of environment, on the page of a suite (AutoEnv, tables 5 and A9)."""

from __future__ import annotations

from collections.abc import Mapping

from heredity.protocols.agent_learning.results import EntryKind, GroupMean, LearningTable, TableRow
from heredity.results.charts import Tone
from heredity.results.page import Cell, Column, Mean, Named, Number, Part, Row, Section, Table, Text, Value
from heredity.results.suite import Unit
from heredity.results.words import Words

_FIRST = {
    EntryKind.START: "before learning",
    EntryKind.METHOD: "methods",
    EntryKind.CONTROLLER: "controllers",
    EntryKind.BOUND: "upper bounds",
}


def table_sections(
    table: LearningTable, names: Mapping[str, str], tones: Mapping[str, Tone], words: Words, *, ranked: bool
) -> list[Section]:
    """Return the sections of a suite's table.

    Args:
        table: its entries.
        names: taskset to a short name.
        tones: the colour of each evolver.
        words: what things are called.
        ranked: whether anything is compared.
    """
    shown = _Shown(table, names, tones, words, ranked)
    placement = "lead" if ranked else "main"
    sections = [
        Section("by-environment", f"By {words.taskset}", shown.by_taskset(), placement, navigation="By environment")
    ]
    if table.groups:
        sections.append(
            Section("by-kind", f"By kind of {words.taskset}", shown.by_group(), placement, navigation="Kinds")
        )
    return sections


class _Shown:
    def __init__(
        self,
        table: LearningTable,
        names: Mapping[str, str],
        tones: Mapping[str, Tone],
        words: Words,
        ranked: bool,
    ) -> None:
        self._table, self._names, self._tones, self._words, self._ranked = table, names, tones, words, ranked

    def by_taskset(self) -> tuple[Part, ...]:
        words, table = self._words, self._table
        bounds = (
            f" An upper bound takes the best method of each {words.taskset}, picked by the same levels that score it: it flatters, "
            "and has no interval."
            if self._ranked
            else ""
        )
        about = (
            f"Held-out {words.score} of each entry that has one everywhere. Cost is that of rollouts at train tasks and of the "
            f"method, of a run, averaged over {words.tasksets}.{bounds}"
        )
        heads = [*(self._names.get(name, name) for name in table.tasksets), "mean", "cost"]
        best = {name: self._best(name) for name in table.tasksets}
        rows: list[Row] = []
        for kind in EntryKind:
            members = [row for row in table.rows if row.kind is kind]
            rows += [Row((_FIRST[kind],), "group")] if members else []
            rows += [self._row(row, [self._score(row, name, best) for name in table.tasksets]) for row in members]
        return Text(about, "about"), Table(_columns(heads), tuple(rows), self._caption(), csv="environments.csv")

    def by_group(self) -> tuple[Part, ...]:
        words, table = self._words, self._table
        sizes = {name: table.rows[0].groups[name].tasksets for name in table.groups}
        counts = ", ".join(f"{count} {name}" for name, count in sizes.items())
        about = (
            f"The same means over {words.tasksets} of one kind ({counts}): by what pays, by what is seen, and by whether words "
            "mean what they say. Kinds overlap, and differ in more than their name."
        )
        rows = tuple(
            Row(
                (*self._named(row), *(_mean(row.groups[name]) for name in table.groups), _mean(row.overall)),
                "reference" if row.kind is EntryKind.START else "",
            )
            for row in table.rows
        )
        columns = (Column("entry"), *(Column(name, "right") for name in (*table.groups, "all")))
        return Text(about, "about"), Table(columns, rows, self._caption(), csv="kinds.csv")

    def _caption(self) -> str:
        return f"Held-out {self._words.score}, mean over {self._words.tasksets} and seeds"

    def _best(self, taskset: str) -> float | None:
        """Return the best mean of a method on a taskset; nothing is marked where nothing is ranked."""
        kinds = (EntryKind.METHOD, EntryKind.CONTROLLER)
        return max((row.means[taskset] for row in self._table.rows if row.kind in kinds), default=None)

    def _score(self, row: TableRow, taskset: str, best: Mapping[str, float | None]) -> Cell:
        of_entry = row.kind in (EntryKind.METHOD, EntryKind.CONTROLLER)
        strong = self._ranked and of_entry and row.means[taskset] == best[taskset]
        return Cell(Number(row.means[taskset], 3), strong=strong)

    def _named(self, row: TableRow) -> tuple[Value | Cell, ...]:
        return (
            Named(row.entry, self._tones.get(row.entry), swatch=row.kind not in (EntryKind.START, EntryKind.BOUND)),
        )

    def _row(self, row: TableRow, cells: list[Cell]) -> Row:
        role = "reference" if row.kind is EntryKind.START else ""
        return Row((*self._named(row), *cells, _mean(row.overall), Number(row.cost_usd, form="dollars")), role)


def _columns(heads: list[str]) -> tuple[Column, ...]:
    return (Column("entry"), *(Column(name, "right") for name in heads))


def _mean(of: GroupMean) -> Cell:
    over = {Unit.RUN: "over new runs", Unit.CASE: "over new levels"}
    unknown = f"no interval: {of.ci_unknown}" if of.ci_unknown else ""
    unit = over[of.ci_unit] if of.ci and of.ci_unit else ""
    notes = tuple(filter(None, (unknown or unit,)))
    return Cell(Mean(of.mean, *(of.ci or (None, None)), 3), notes)
