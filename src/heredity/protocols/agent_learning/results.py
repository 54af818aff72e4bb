"""Results of agent learning: the bound over a set of methods, and the cost of inverted skins (AutoEnv)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from heredity.protocols.shared.commit_report import WORDS as COMMITTED
from heredity.protocols.shared.commit_report import CommitReport
from heredity.protocols.shared.published import published_section
from heredity.results import text
from heredity.results.base import Interval, Result, Unknown
from heredity.results.charts import Lines, Series, Tone
from heredity.results.claims import claimed
from heredity.results.page import (
    Cell,
    Column,
    Group,
    Mean,
    Named,
    Number,
    Part,
    Row,
    Section,
    Table,
    Text,
    Value,
    columns_of,
    of_rows,
)
from heredity.results.report import Words, taskset_names, tones
from heredity.results.run import RunResults
from heredity.results.suite import Claim, SuiteResults, Unit


class PickedMethod(Result):
    """The best method of one taskset, picked after the fact; `tied` lists others with the same mean."""

    taskset: str
    method: str
    mean: float
    tied: list[str]


class UpperBound(Result):
    """Mean of the best method of each taskset, its gain over the reference, and the choices; not a result of any method.

    `gain` is None if any start is unknown.
    """

    mean: float
    gain: float | None
    picked: list[PickedMethod]


class BestFixed(Result):
    """The method with the greatest mean; `gap` is its distance to the upper bound."""

    method: str
    mean: float
    gap: float


class Controller(Result):
    """An evolver that chooses among methods; `covered` is its share of the way from the best fixed method to the bound.

    None if it lies below the best fixed method or above the bound, or if the two differ by less than 0.01.
    """

    evolver: str
    mean: float
    gap: float
    covered: float | None


class BoundOfSubsets(Result):
    """The upper bound with this number of methods, over subsets of that size: mean, minimum and maximum."""

    methods: int
    subsets: int
    mean: float
    low: float
    high: float


class GainsByTasksets(Result):
    """Mean of the k greatest gains of a method, or of the upper bound, for k = 1, 2, …."""

    evolver: str
    gains: list[float]


class LearningSpace(Result):
    """The bound over a set of methods (AutoEnv, sections 4.2 and 5.3)."""

    methods: list[str]
    upper_bound: UpperBound
    best_fixed: BestFixed
    controllers: list[Controller]
    by_methods: list[BoundOfSubsets]
    by_tasksets: list[GainsByTasksets]


class SkinComparison(Result):
    """An entry on a taskset and on its counterpart with an inverse skin; `difference` is inverse minus plain.

    Attributes:
        evolvers: the claim about the evolver: new runs on new levels.
        candidates: the claim about these runs' final agents on new levels. Both None if nothing is ranked.
    """

    taskset: str
    evolver: str
    plain: float
    inverse: float
    difference: float
    evolvers: Claim | None
    candidates: Claim | None
    cases: int


class BoardRow(Result):
    """An evolver on all tasksets of a suite, in raw scores, not normalised.

    Attributes:
        tasksets: number of tasksets with a score; evolvers without a score on all have no `mean` and `gain`.
        mean: over tasksets of the held-out means; `gain`: its difference to the start.
        evolvers: the gain's claim about the evolver (new runs on new levels).
        candidates: its claim about these runs' final agents on new levels.
        tied: True if its agents are indistinguishable from those of the first.
    """

    evolver: str
    tasksets: int
    mean: float | None
    gain: float | None
    evolvers: Claim | None
    candidates: Claim | None
    tied: bool


class EntryKind(StrEnum):
    """Kind of a table row: the start of learning, a method, one that chooses among methods, or a bound."""

    START = "start"
    METHOD = "method"
    CONTROLLER = "controller"
    BOUND = "bound"


class GroupMean(Result):
    """Mean over `tasksets` of held-out means; `ci` is over `ci_unit`, None for a bound or for the reason `ci_unknown`."""

    mean: float
    ci: Interval | None
    ci_unit: Unit | None
    ci_unknown: Unknown | None
    tasksets: int


class TableRow(Result):
    """An entry with a score on all tasksets.

    Attributes:
        select: the method's way to select parents, if declared; of a bound, the way its methods share, None for all.
        means: by taskset.
        groups: means over the tasksets with a label.
        cost_usd: learning cost of one run, mean over tasksets; None if any part is unknown.
    """

    entry: str
    kind: EntryKind
    select: str | None
    means: dict[str, float]
    overall: GroupMean
    groups: dict[str, GroupMean]
    cost_usd: float | None


class LearningTable(Result):
    """Entries by taskset and by kind of taskset (AutoEnv, tables 5 and A9), with upper bounds if anything is ranked."""

    tasksets: list[str]
    groups: list[str]
    rows: list[TableRow]


class LearningSuite(Result):
    """The part of agent learning in a suite's results.

    Attributes:
        board: best mean first (empty if nothing is ranked).
        learning: None with fewer than two methods, or if nothing is ranked.
        table: None if no entry has a score on all tasksets.
    """

    board: list[BoardRow]
    learning: LearningSpace | None
    skins: list[SkinComparison]
    table: LearningTable | None = None


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
        table: the entries.
        names: taskset to a short name.
        tones: the colour of each evolver.
        words: the vocabulary.
        ranked: True if entries are compared.
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
            f" An upper bound takes the best method of each {words.taskset}, selected on the levels that score it: it is "
            "optimistic and has no interval."
            if self._ranked
            else ""
        )
        about = (
            f"Held-out {words.score} of each entry that has one everywhere. Cost covers the rollouts on train tasks and the "
            f"method, per run, averaged over {words.tasksets}.{bounds}"
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
            f"The same means over {words.tasksets} of one kind ({counts}): by reward, by observability, and by whether words "
            "mean what they say. Kinds overlap, and differ in more than their name."
        )
        rows = tuple(
            Row(
                (*self._name_cells(row), *(_mean(row.groups[name]) for name in table.groups), _mean(row.overall)),
                "reference" if row.kind is EntryKind.START else "",
            )
            for row in table.rows
        )
        columns = (Column("entry"), *(Column(name, "right") for name in (*table.groups, "all")))
        return Text(about, "about"), Table(columns, rows, self._caption(), csv="kinds.csv")

    def _caption(self) -> str:
        return f"Held-out {self._words.score}, mean over {self._words.tasksets} and seeds"

    def _best(self, taskset: str) -> float | None:
        """Return the best mean of a method on a taskset; None if nothing is ranked."""
        kinds = (EntryKind.METHOD, EntryKind.CONTROLLER)
        return max((row.means[taskset] for row in self._table.rows if row.kind in kinds), default=None)

    def _score(self, row: TableRow, taskset: str, best: Mapping[str, float | None]) -> Cell:
        of_entry = row.kind in (EntryKind.METHOD, EntryKind.CONTROLLER)
        strong = self._ranked and of_entry and row.means[taskset] == best[taskset]
        return Cell(Number(row.means[taskset], 3), strong=strong)

    def _name_cells(self, row: TableRow) -> tuple[Value | Cell, ...]:
        return (
            Named(row.entry, self._tones.get(row.entry), swatch=row.kind not in (EntryKind.START, EntryKind.BOUND)),
        )

    def _row(self, row: TableRow, cells: list[Cell]) -> Row:
        role = "reference" if row.kind is EntryKind.START else ""
        return Row((*self._name_cells(row), *cells, _mean(row.overall), Number(row.cost_usd, form="dollars")), role)


def _columns(heads: list[str]) -> tuple[Column, ...]:
    return (Column("entry"), *(Column(name, "right") for name in heads))


def _mean(of: GroupMean) -> Cell:
    over = {Unit.RUN: "over new runs", Unit.CASE: "over new levels"}
    unknown = f"no interval: {of.ci_unknown}" if of.ci_unknown else ""
    unit = over[of.ci_unit] if of.ci and of.ci_unit else ""
    notes = tuple(filter(None, (unknown or unit,)))
    return Cell(Mean(of.mean, *(of.ci or (None, None)), 3), notes)


WORDS = replace(COMMITTED, score="score", taskset="environment")
_BOUND = "upper bound"
_OF_WHAT = ("evolver", "agents", "level")


@dataclass(frozen=True)
class LearningReport(CommitReport):
    """The report of agent learning: commits, and the bound over all methods."""

    words: Words = WORDS

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        part = suite.part
        if not isinstance(part, LearningSuite):
            return super().suite(suite, runs)
        names, colours = taskset_names(suite, runs), tones(suite, runs)
        own: list[Section] = _board(part.board, colours, self.words) if part.board else []
        if part.learning is not None:
            shown = _space(part.learning, names, colours, self.words)
            own.append(Section("learning", "The space of learning methods", shown, navigation="Learning methods"))
        if part.table is not None:
            own += table_sections(part.table, names, colours, self.words, ranked=suite.ranked)
        if part.skins:
            shown = _skins(part.skins, names, colours, suite, self.words)
            own.append(Section("skins", "Skins and their inverse", shown, navigation="Skins"))
        return [*own, *super().suite(suite, runs), *published_section(__package__ or "", runs)]


def _board(board: Sequence[BoardRow], colours: Mapping[str, Tone], words: Words) -> list[Section]:
    """Return the leaderboard in the worlds' raw scores, and the opening sentence of the page."""
    about = (
        f"Held-out {words.score}, mean over {words.tasksets}, not normalised: the best gain may be close to "
        f"zero. Only evolvers with a {words.score} on all of them are compared. Each gain makes two claims: about the evolver "
        "on new runs, which needs four on one taskset or three on several, and about these runs' final agents on new levels."
    )
    rows = tuple(
        Row(
            (
                Cell(Named(row.evolver, colours.get(row.evolver), swatch=True), _standing(row, i, board, words)),
                *(row.tasksets, Number(row.mean, 3)),
                None if row.gain is None else claimed(row.gain, row.evolvers, row.candidates, _OF_WHAT),
            )
        )
        for i, row in enumerate(board)
    )
    columns = columns_of("evolver", words.tasksets, "held-out mean", f"gain over the {words.reference}")
    table = Table(columns, rows, f"Held-out {words.score}, not normalised", csv="leaderboard.csv")
    summary = Section("board-said", "", (Text(_headline_text(board, words), "summary"),), "head", "all")
    return [summary, Section("leaderboard", "Leaderboard", (Text(about, "about"), table), "lead", "all")]


def _standing(row: BoardRow, position: int, board: Sequence[BoardRow], words: Words) -> tuple[str, ...]:
    if row.mean is None:
        return (f"not compared: no {words.score} on some {words.tasksets}",)
    if position == 0:
        return ("first, with others",) if any(other.tied for other in board[1:]) else ("first",)
    return ("indistinguishable from the first",) if row.tied else ()


def _headline_text(board: Sequence[BoardRow], words: Words) -> str:
    first = board[0]
    if first.mean is None:
        return f"No evolver has a {words.score} on all {words.tasksets}, so there is no comparison."
    tied = [row.evolver for row in board[1:] if row.tied]
    where = f"Over {text.plural(first.tasksets, words.taskset)}"
    reached = f"{where} {first.evolver} has a mean held-out {words.score} of {text.number(first.mean, 3)}"
    if first.gain is not None and first.evolvers is not None and first.candidates is not None:
        reached += (
            f", {text.signed(first.gain, 3)} over the {words.reference} (verdict on the evolver: {first.evolvers.verdict}; "
            f"on these agents on new levels: {first.candidates.verdict})"
        )
    others = f" {text.listed(tied)} cannot be distinguished from it, so there is no winner." if tied else ""
    return f"{reached}.{others}"


def _space(
    space: LearningSpace, names: Mapping[str, str], colours: Mapping[str, Tone], words: Words
) -> tuple[Part, ...]:
    about = (
        f"The upper bound picks the best method of each {words.taskset} after the fact: the maximum that a fixed choice among "
        "these methods could reach. A controller may change its choice while it learns."
    )

    def name_cell(evolver: str, note: str) -> Cell:
        return Cell(Named(evolver, colours.get(evolver), swatch=True), (note,))

    fixed, upper_bound = space.best_fixed, space.upper_bound
    rows = [
        Row(
            (Cell(_BOUND, ("the best method of each, picked afterwards",)), Number(upper_bound.mean, 3), None, None),
            "chosen",
        ),
        Row((name_cell(fixed.method, "best fixed method"), Number(fixed.mean, 3), Number(fixed.gap, 3), "0%")),
        *(
            Row(
                (
                    name_cell(row.evolver, "controller"),
                    *(Number(row.mean, 3), Number(row.gap, 3)),
                    _covered(row, fixed),
                )
            )
            for row in space.controllers
        ),
    ]
    columns = columns_of("entry", "held-out mean", "below the bound", "of the way from the best fixed method")
    table = Table(columns, tuple(rows), f"Held-out {words.score}, mean over {words.tasksets} and seeds")
    picked = [
        [
            Named(names.get(p.taskset, p.taskset), title=p.taskset),
            Cell(Named(p.method, colours.get(p.method), swatch=True), tuple(f"and {other}" for other in p.tied)),
            Number(p.mean, 3),
        ]
        for p in upper_bound.picked
    ]
    caption = f"The bound's choice: the best method of each {words.taskset}"
    chosen = of_rows([words.taskset, "method", "mean"], picked, left=2, caption=caption)
    folded = replace(chosen, folded=True, page_only=True)
    return Text(about, "about"), table, Group(_charts(space, colours, words)), folded


def _covered(row: Controller, fixed: BestFixed) -> Value:
    """Return a controller's share of the way to the bound, or the reason why there is none."""
    if row.covered is not None:
        return Number(row.covered, form="percent")
    if row.mean < fixed.mean:
        return f"{text.number(fixed.mean - row.mean, 3)} below the best fixed method"
    if row.gap < 0.0:
        return f"{text.number(-row.gap, 3)} above the bound"
    return f"no share: the two differ by only {text.number(fixed.gap, 3)}"


def _charts(space: LearningSpace, colours: Mapping[str, Tone], words: Words) -> tuple[Lines, Lines]:
    gains = tuple(
        Series(row.evolver, colours.get(row.evolver), tuple((k + 1.0, g) for k, g in enumerate(row.gains)), dots=True)
        for row in space.by_tasksets
    )
    rows = space.by_methods
    means = tuple((float(row.methods), row.mean) for row in rows)
    band = tuple((float(row.methods), row.low, row.high) for row in rows)
    upper_bound = Series("mean over subsets", 0, means, band, dots=True)
    title = f"Gain over the {words.reference}, by number of {words.tasksets}"
    return (
        Lines(title, f"{words.tasksets}, largest gain first", "mean gain", gains, whole=True),
        Lines("Upper bound by number of methods", "methods", "score", (upper_bound,), whole=True),
    )


def _skins(
    skins: Sequence[SkinComparison],
    names: Mapping[str, str],
    colours: Mapping[str, Tone],
    suite: SuiteResults,
    words: Words,
) -> tuple[Part, ...]:
    about = (
        "The same levels, shown normally and with symbols or numbers inverted while the legend stays. Rules and rewards "
        "are the same, so the difference is the cost of the inversion; negative is worse."
    )
    columns = columns_of(words.taskset, "entry", "plain", "inverse", "difference", left=2)
    rows = tuple(
        Row(
            (
                Named(names.get(row.taskset, row.taskset), title=row.taskset),
                Named(row.evolver, colours.get(row.evolver), swatch=True),
                *(Number(row.plain, 3), Number(row.inverse, 3)),
                claimed(row.difference, row.evolvers, row.candidates, _OF_WHAT),
            )
        )
        for row in skins
    )
    caption = f"Held-out {words.score}, paired by level, with {text.percent(suite.confidence)} intervals"
    return Text(about, "about"), Table(columns, rows, caption)


REPORT = LearningReport()
