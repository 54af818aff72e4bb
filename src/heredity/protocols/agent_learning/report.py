"""What agent learning has to say on pages: the space of learning methods, and skins beside their inverse (AutoEnv)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heredity.protocols.agent_learning.results import (
    BestFixed,
    BoardRow,
    Controller,
    LearningSpace,
    LearningSuite,
    SkinComparison,
)
from heredity.protocols.agent_learning.table_sections import table_sections
from heredity.protocols.resource_evolution.report import WORDS as COMMITTED
from heredity.protocols.resource_evolution.report import CommitReport
from heredity.results import text
from heredity.results.charts import Lines, Series, Tone
from heredity.results.claims import claimed
from heredity.results.page import (
    Cell,
    Group,
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
from heredity.results.report import taskset_names, tones
from heredity.results.run import RunResults
from heredity.results.suite import SuiteResults
from heredity.results.words import Words

WORDS = replace(COMMITTED, score="score", taskset="environment")
_BOUND = "upper bound"
_OF_WHAT = ("evolver", "agents", "level")


@dataclass(frozen=True)
class LearningReport(CommitReport):
    """The report of agent learning: commits, and what methods can reach together."""

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
        return [*own, *super().suite(suite, runs)]


def _board(board: Sequence[BoardRow], colours: Mapping[str, Tone], words: Words) -> list[Section]:
    """Return the leaderboard in the worlds' own scores, and the sentence that a page opens with."""
    about = (
        f"Held-out {words.score}, mean over {words.tasksets}, as it is: gains are not divided by the best one, which may be near "
        f"zero. Compared are evolvers with a {words.score} on every one of them; each gain makes two claims, of the evolver, "
        "for new runs, which takes six, and of the agents that these runs ended with, on new levels."
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
    return ("not told apart from the first",) if row.tied else ()


def _headline_text(board: Sequence[BoardRow], words: Words) -> str:
    first = board[0]
    if first.mean is None:
        return f"No evolver has a {words.score} on all {words.tasksets}, so none are compared."
    tied = [row.evolver for row in board[1:] if row.tied]
    where = f"Over {text.plural(first.tasksets, words.taskset)}"
    reached = f"{where} {first.evolver} has a mean held-out {words.score} of {text.number(first.mean, 3)}"
    if first.gain is not None and first.evolvers is not None and first.candidates is not None:
        reached += (
            f", {text.signed(first.gain, 3)} over the {words.reference}: of the evolver {first.evolvers.verdict}, of these "
            f"agents on new levels {first.candidates.verdict}"
        )
    others = f" {text.listed(tied)} cannot be told apart from it, so there is no winner." if tied else ""
    return f"{reached}.{others}"


def _space(
    space: LearningSpace, names: Mapping[str, str], colours: Mapping[str, Tone], words: Words
) -> tuple[Part, ...]:
    about = (
        f"The upper bound picks the best method of each {words.taskset} after the fact: it is the most that choosing among "
        "these methods once and for all could reach. A controller may change its choice while it learns."
    )

    def named(evolver: str, note: str) -> Cell:
        return Cell(Named(evolver, colours.get(evolver), swatch=True), (note,))

    fixed, upper_bound = space.best_fixed, space.upper_bound
    rows = [
        Row(
            (Cell(_BOUND, ("the best method of each, picked afterwards",)), Number(upper_bound.mean, 3), None, None),
            "chosen",
        ),
        Row((named(fixed.method, "best fixed method"), Number(fixed.mean, 3), Number(fixed.gap, 3), "0%")),
        *(
            Row(
                (
                    named(row.evolver, "controller"),
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
    caption = f"What the bound picked: the best method of each {words.taskset}"
    chosen = of_rows([words.taskset, "method", "mean"], picked, left=2, caption=caption)
    folded = replace(chosen, folded=True, page_only=True)
    return Text(about, "about"), table, Group(_charts(space, colours, words)), folded


def _covered(row: Controller, fixed: BestFixed) -> Value:
    """Return the share of the way to the bound that a controller covers, or why there is none."""
    if row.covered is not None:
        return Number(row.covered, form="percent")
    if row.mean < fixed.mean:
        return f"{text.number(fixed.mean - row.mean, 3)} below the best fixed method"
    if row.gap < 0.0:
        return f"{text.number(-row.gap, 3)} above the bound"
    return f"no way to go: {text.number(fixed.gap, 3)} between the two"


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
        Lines(title, f"{words.tasksets}, those of most gain first", "mean gain", gains, whole=True),
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
        "The same levels, seen as they are and with symbols or numbers inverted while the legend stays. Rules and rewards "
        "are the same, so the difference is what the inversion costs; negative is worse."
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
