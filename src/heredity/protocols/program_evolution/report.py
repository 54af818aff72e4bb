"""Pages of program evolution: those of policy evolution, and the map of elites."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.analysis.contract import CommonMetrics
from heredity.protocols.shared.validated_report import ValidatedReport
from heredity.results import text
from heredity.results.page import Cell, Column, Folded, Part, Row, Section, Table, Text
from heredity.results.report import Words
from heredity.results.run import RunResults, SubmissionRow
from heredity.results.suite import SuiteResults

WORDS = Words(
    score="score",
    rollout="evaluation",
    taskset="program task",
    product="program",
    products="programs",
    case="hidden seed",
    faulty="the scorer",
    reference="start program",
    mark="start",
    reference_id="start",
    foot="The held-out score is the result. Where the scorer takes no seed, train, validation and held-out scores are the same "
    "measurement, made again.",
)

METRICS = CommonMetrics(reference="start program", returns=True)
"""Scores are the scorer's, in any range."""

PLACE = re.compile(r"\bisland (\d+), size (\d+), change (\d+)\b")
"""Pattern of a submission note that has its program's place on the map."""


@dataclass(frozen=True)
class ProgramReport(ValidatedReport):
    """The report of program evolution."""

    words: Words = WORDS

    def run(self, run: RunResults) -> list[Section]:
        """Return the sections of a run's page, with the map of elites if there is one."""
        sections = super().run(run)
        elites = _map(run)
        return (
            [*sections[:1], Section("elites", "Map of elites", elites, navigation="Elites"), *sections[1:]]
            if elites
            else sections
        )

    def suite(self, suite: SuiteResults, runs: Sequence[RunResults]) -> list[Section]:
        """Return the sections of a suite's page."""
        folded = tuple(
            Folded(f"{run.evolver.name or 'unknown evolver'}, seed {text.number(run.seed)}", parts)
            for run in runs
            if (parts := _map(run))
        )
        elites = [Section("elites", "Maps of elites", folded, "detail", navigation="Elites")] if folded else []
        return [*super().suite(suite, runs), *elites]


def _map(run: RunResults) -> tuple[Part, ...]:
    best: dict[tuple[int, int], tuple[float, SubmissionRow, int]] = {}
    islands: dict[int, float] = {}
    for row in run.submissions:
        niche = PLACE.search(row.note or "")
        if niche is None or row.train_mean is None or row.status != "ok":
            continue
        island, size, change = map(int, niche.groups())
        islands[island] = max(islands.get(island, row.train_mean), row.train_mean)
        if (size, change) not in best or row.train_mean > best[size, change][0]:
            best[size, change] = row.train_mean, row, island
    if not best:
        return ()
    about = (
        "The best program found of each kind, by size and by distance from the start program; the number is its "
        "train score, the letter below its island."
    )
    head = (
        Column("size, syntax nodes"),
        *(Column(f"{10 * c} to {10 * c + 10}% changed", "right") for c in _span(best, 1)),
    )
    scores = [score for score, _, _ in best.values()]
    rows = tuple(
        Row(
            (
                f"{2**size} to {2 ** (size + 1)}",
                *(_cell(best.get((size, c)), min(scores), max(scores)) for c in _span(best, 1)),
            )
        )
        for size in _span(best, 0)
    )
    letters = ", ".join(f"{_letter(i)} {text.number(score)}" for i, score in sorted(islands.items()))
    return (
        Text(about, "about"),
        Table(head, rows, "Elites: train scores", csv="elites.csv"),
        Text(f"Best of each island: {letters}.", "item"),
    )


def _span(best: Mapping[tuple[int, int], object], axis: int) -> range:
    values = [niche[axis] for niche in best]
    return range(min(values), max(values) + 1)


def _cell(best_of_cell: tuple[float, SubmissionRow, int] | None, low: float, top: float) -> Cell | None:
    if best_of_cell is None:
        return None
    score, row, island = best_of_cell
    heat = (score - low) / (top - low) if top > low else 1.0
    return Cell(text.number(score), (f"{_letter(island)}, submission {row.index}",), strong=score == top, heat=heat)


def _letter(island: int) -> str:
    return chr(ord("a") + (island - 1) % 26)


REPORT = ProgramReport()
