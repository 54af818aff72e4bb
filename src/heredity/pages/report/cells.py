"""Cells of a suite's table on pages and in sentences: a mean with its interval, or each of a few seeds."""

from __future__ import annotations

from heredity.results import text
from heredity.results.claims import in_clusters, missing_note
from heredity.results.page import Fact, Facts, Mean, Number
from heredity.results.suite import CellResults, SuiteResults, TasksetResults, Unit
from heredity.results.words import Words

FEW = 3
"""Maximum number of tasksets named individually in titles, sentences and figures."""


def best_cells(taskset: TasksetResults) -> list[CellResults]:
    """Return the cells of the evolvers with the greatest mean: several if they are equal, none without a ranking."""
    cells = [cell for cell in taskset.cells if not (cell.reference or cell.failed)]
    return [cell for cell in cells if cell.mean == max(c.mean for c in cells)]


def behind(cell: CellResults) -> bool:
    """Report whether a cell's mean is at most that of the reference: then the best evolver gained nothing."""
    return cell.reference_mean is not None and cell.mean <= cell.reference_mean


def few_seeds(cell: CellResults) -> bool:
    """Report whether a cell has several seeds, but too few for an interval over them, so each is shown."""
    return cell.ci_unit is Unit.CASE and len(cell.seeds) > 1


def cell_digits(cell: CellResults) -> int:
    """Return the number of decimals of a cell."""
    return text.decimals_for(text.spread_of([cell.ci or (None, None)]), cell.mean)


def cell_mean(cell: CellResults, places: int | None = None) -> Mean:
    """Return a cell's mean with its interval, but without one if its few seeds are shown (`seeds_note`)."""
    bounds = (None, None) if few_seeds(cell) else cell.ci or (None, None)
    return Mean(cell.mean, *bounds, decimals=cell_digits(cell) if places is None else places)


def seeds_note(cell: CellResults, places: int) -> tuple[str, ...]:
    """Return the means of a few seeds, which have no interval; nothing otherwise."""
    return (f"seeds {', '.join(text.number(seed.mean, places) for seed in cell.seeds)}",) if few_seeds(cell) else ()


def cell_notes(cell: CellResults, places: int) -> tuple[str, ...]:
    """Return notes on failures, the kind of interval or why there is none, few seeds and missing values."""
    failed = "failed: mean of earlier submissions" if cell.failed else ""
    about = "over new runs" if cell.ci_unit is Unit.RUN else "this candidate, over new cases"
    unknown = f"no interval: {cell.ci_unknown}" if cell.ci_unknown else ""
    interval = unknown if cell.ci is None else "" if cell.reference or few_seeds(cell) else about
    together = () if cell.clusters is None else (in_clusters(cell.clusters),)
    missing = (missing_note(cell.missing, cell.if_missing),) if cell.if_missing else ()
    return tuple(note for note in (failed, interval, *together, *seeds_note(cell, places), *missing) if note)


def places_of(taskset: TasksetResults) -> int:
    """Return the number of decimals of a taskset's scores."""
    return text.decimals_for(text.spread_of(cell.ci or (None, None) for cell in taskset.cells), taskset.reference_mean)


def suite_facts(suite: SuiteResults, words: Words) -> Facts:
    """Return the key figures; if tasksets are few and evolvers ranked, the best scores come first."""
    facts: list[Fact] = []
    for taskset in suite.tasksets if suite.ranked and len(suite.tasksets) <= FEW else ():
        best = best_cells(taskset)
        if best:
            names = text.listed([cell.evolver for cell in best])
            notes = [
                f"{names}, not above the {best[0].against or words.reference}" if behind(best[0]) else names,
                *seeds_note(best[0], places_of(taskset)),
                f"{words.mark} {text.number(best[0].reference_mean)}",
            ]
            name = f"Best {words.score}, {text.short_task(taskset.taskset)}"
            facts.append(Fact(name, cell_mean(best[0]), "; ".join(notes)))
    sums = [row.wall_seconds for row in suite.budget]
    seconds = None if None in sums or not sums else sum(v for v in sums if v is not None)
    bought = [row.episodes for row in suite.budget]
    allowed = (
        None if None in bought or not bought else f"of {text.number(sum(v for v in bought if v is not None))} bought"
    )
    used = sum(row.used for row in suite.budget)
    return Facts(
        (
            *facts,
            Fact("Evolvers", len(suite.evolvers)),
            *(() if facts else (Fact(words.tasksets.capitalize(), len(suite.tasksets)),)),
            Fact("Runs finished", f"{suite.finished} of {suite.runs}"),
            Fact(f"{words.rollouts.capitalize()} used", used, allowed),
            Fact("Wall time of evolvers", Number(seconds, form="duration"), "added up, without judging"),
        )
    )
