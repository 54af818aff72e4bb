"""The held-out scores of a suite as a table: tasksets x evolvers x seeds x cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heredity.analysis.bounds import SHARE, Floats, Interval, share
from heredity.analysis.samples import LARGEST, mean_of
from heredity.ids import canonical_json
from heredity.results.run import HeldOut, RunResults

if TYPE_CHECKING:
    from heredity.analysis.contract import MetricsOf

REFERENCE = "reference"
"""The entry that every run is compared with, scored on the same held-out cases; protocols say what it is called."""


@dataclass(frozen=True, slots=True)
class Named:
    """Says what an entry is called: an evolver by its label, the reference by the name that its protocol gives it."""

    reference: str

    def __call__(self, entry: str) -> str:
        """Return the entry's name."""
        return self.reference if entry == REFERENCE else entry


@dataclass(frozen=True)
class Cell:
    """One evolver on one taskset, over the seeds that have a held-out score.

    Attributes:
        runs: the runs, by seed, each with its held-out scores.
        scores: shape (runs, cases), NaN where one is missing.
    """

    runs: Sequence[tuple[RunResults, HeldOut]]
    scores: Floats

    @property
    def seeds(self) -> list[int | None]:
        """The runs' seeds, in the order of the rows of `scores`."""
        return [run.seed for run, _ in self.runs]

    @property
    def run_means(self) -> list[float]:
        """Held-out mean of each run."""
        return [mean_of(row) for row in self.scores]

    @property
    def mean(self) -> float:
        """Mean over seeds of the held-out means."""
        return mean_of(self.run_means)


@dataclass(frozen=True)
class TasksetScores:
    """What all evolvers scored on one taskset.

    Attributes:
        name: the taskset.
        family: its family label.
        group: its group label.
        cells: evolver to cell; evolvers without a held-out score have none.
        reference: scores of what runs are compared with, shape (cases,); empty if unknown.
        returns: whether scores are returns, which may be anything, also where all happen to lie between 0 and 1.
    """

    name: str
    family: str
    group: str
    cells: Mapping[str, Cell]
    reference: Floats
    returns: bool = False

    @property
    def reference_mean(self) -> float | None:
        """Mean score of the reference; None if unknown."""
        return None if np.isnan(self.reference).all() else mean_of(self.reference)

    @property
    def best_mean(self) -> float | None:
        """Mean of the best evolver; None if there is none."""
        return max((cell.mean for cell in self.cells.values()), default=None)

    @property
    def means(self) -> dict[str, float]:
        """Entry to mean, the reference included where it is known."""
        reference = {} if self.reference_mean is None else {REFERENCE: self.reference_mean}
        return {**{name: cell.mean for name, cell in self.cells.items()}, **reference}

    @property
    def bounds(self) -> Interval | None:
        """What scores can only lie between: 0 and 1 where all do, unless they are returns, of which that is not known."""
        shares = share(self.reference, *(cell.scores for cell in self.cells.values()))
        return SHARE if shares and not self.returns else None

    @property
    def span(self) -> float | None:
        """Best minus reference: the unit of normalised scores; None if unknown, or if nobody beats the reference."""
        if self.reference_mean is None or self.best_mean is None or self.best_mean <= self.reference_mean:
            return None
        return min(self.best_mean - self.reference_mean, LARGEST)


def evolver_labels(runs: Sequence[RunResults], metrics_of: MetricsOf) -> list[str]:
    """Name the evolver of each run; where a name occurs with several options or settings, what differs is added."""
    options = [{**run.evolver.options, **metrics_of(run.protocol).settings(run)} for run in runs]
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for run, own in zip(runs, options, strict=True):
        by_name.setdefault(str(run.evolver.name), []).append(own)
    differing = {name: _differing(several) for name, several in by_name.items()}
    return [
        _label(str(run.evolver.name), own, differing[str(run.evolver.name)])
        for run, own in zip(runs, options, strict=True)
    ]


def taskset_scores(runs: Sequence[RunResults], labels: Sequence[str], metrics_of: MetricsOf) -> list[TasksetScores]:
    """Collect the held-out scores of each taskset, in the order in which tasksets first occur."""
    names = dict.fromkeys(str(run.taskset) for run in runs)
    return [_one_taskset(name, runs, labels, metrics_of) for name in names]


def _one_taskset(name: str, runs: Sequence[RunResults], labels: Sequence[str], metrics_of: MetricsOf) -> TasksetScores:
    own = [(run, label) for run, label in zip(runs, labels, strict=True) if str(run.taskset) == name]
    scored: dict[str, list[tuple[RunResults, HeldOut]]] = {}
    for run, label in own:
        if run.heldout is not None and run.heldout.mean is not None:
            scored.setdefault(label, []).append((run, run.heldout))
    cells: dict[str, Cell] = {}
    for label in dict.fromkeys(labels):
        rows = sorted(scored.get(label, []), key=lambda row: (row[0].seed is None, row[0].seed or 0))
        if rows:
            cells[label] = Cell(rows, _table([heldout.scores for _, heldout in rows]))
    reference = next((run.reference.heldout_scores for run, _ in own if run.reference is not None), [])
    first = own[0][0]
    returns = any(metrics_of(cell.runs[0][0].protocol).returns for cell in cells.values())
    return TasksetScores(name, first.family or "", first.group or "", cells, _table([reference])[0], returns)


def _table(rows: Sequence[Sequence[float | None]]) -> Floats:
    width = max(map(len, rows))
    padded = [[np.nan if x is None else x for x in row] + [np.nan] * (width - len(row)) for row in rows]
    return np.array(padded, dtype=np.float64).reshape(len(rows), width)


def _label(name: str, options: Mapping[str, Any], keys: Iterable[str]) -> str:
    shown = ", ".join(f"{key}={options[key]}" for key in keys if key in options)
    return f"{name} ({shown})" if shown else name


def _differing(several: Sequence[Mapping[str, Any]]) -> list[str]:
    keys = sorted({key for options in several for key in options})
    return [key for key in keys if len({canonical_json(options.get(key)) for options in several}) > 1]
