"""The held-out scores of a suite as a table: tasksets x evolvers x seeds x cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heredity._core.ids import canonical_json
from heredity.analysis.samples import LARGEST, SHARE, Clusters, Floats, Interval, mean_of, share
from heredity.results.base import COVERAGE
from heredity.results.run import HeldOut, RunResults, RunStatus

if TYPE_CHECKING:
    from heredity.analysis.contract import MetricsOf

REFERENCE = "reference"
"""The entry that runs are compared with, scored on the same held-out cases and named by the protocol. If runs of a suite have
different conditions there is one per condition, with the difference appended to the name."""


def is_reference(entry: str) -> bool:
    """Return True if an entry is a reference."""
    return entry == REFERENCE or entry.startswith(f"{REFERENCE} (")


@dataclass(frozen=True, slots=True)
class Named:
    """Names an entry: an evolver by its label, the reference by its protocol's name for it."""

    reference: str

    def __call__(self, entry: str) -> str:
        """Return the entry's name."""
        return entry.replace(REFERENCE, self.reference, 1) if is_reference(entry) else entry


@dataclass(frozen=True)
class Cell:
    """One evolver on one taskset, over the seeds with a held-out score.

    Attributes:
        runs: the runs, by seed, each with its held-out scores.
        scores: shape (runs, cases), NaN where one is missing.
        reference: the entry that the runs are compared with, under the same conditions.
        unscored: seeds of its runs without a held-out score, which verdicts count as missing.
    """

    runs: Sequence[tuple[RunResults, HeldOut]]
    scores: Floats
    reference: str = REFERENCE
    unscored: Sequence[int | None] = ()

    @property
    def asked(self) -> Floats:
        """The scores, with a row of NaN for each run without any."""
        return np.vstack([self.scores, np.full((len(self.unscored), self.scores.shape[1]), np.nan)])

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
    """Scores of all evolvers on one taskset.

    Attributes:
        name: the taskset.
        family: its family label.
        group: its group label.
        cells: evolver to cell; evolvers without a held-out score have none, and those whose runs all failed are in
            `failed`.
        failed: evolver to the cell of its runs' submissions before they failed, which is not compared with anything.
        references: scores of references by entry, each of shape (cases,); unknown ones are absent.
        returns: whether scores are unbounded returns, even if all happen to lie between 0 and 1.
        labels: other labels that distinguish it.
        clusters: cluster of each case (`samples.clustered`); None if cases are not clustered.
        coverage: share of scores that verdicts require.
    """

    name: str
    family: str
    group: str
    cells: Mapping[str, Cell]
    references: Mapping[str, Floats]
    returns: bool = False
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    clusters: Clusters | None = None
    coverage: float = COVERAGE
    failed: Mapping[str, Cell] = field(default_factory=dict[str, Cell])

    def reference_of(self, entry: str) -> str:
        """Return the reference of an entry's conditions; a reference's is itself."""
        cell = self.cells.get(entry) or self.failed.get(entry)
        return entry if cell is None else cell.reference

    def scores_of(self, entry: str) -> Floats:
        """Return the scores of an entry, shape (runs, cases); one row for a reference."""
        return self.references[entry][np.newaxis, :] if entry in self.references else self.cells[entry].scores

    def reference_mean(self, entry: str) -> float | None:
        """Return the mean score of the reference of an entry's conditions; None if unknown."""
        scores = self.references.get(self.reference_of(entry))
        return None if scores is None or np.isnan(scores).all() else mean_of(scores)

    def best_mean(self, entry: str) -> float | None:
        """Return the mean of the best evolver under an entry's conditions; None if there is none."""
        reference = self.reference_of(entry)
        return max((cell.mean for cell in self.cells.values() if cell.reference == reference), default=None)

    @property
    def means(self) -> dict[str, float]:
        """Entry to mean, including known references."""
        marks = {entry: mean for entry in self.references if (mean := self.reference_mean(entry)) is not None}
        return {**{name: cell.mean for name, cell in self.cells.items()}, **marks}

    @property
    def bounds(self) -> Interval | None:
        """Bounds of scores: 0 and 1 if all lie there and they are not returns, else unknown."""
        cells = (*self.cells.values(), *self.failed.values())
        shares = share(*self.references.values(), *(cell.scores for cell in cells))
        return SHARE if shares and not self.returns else None

    def span(self, entry: str) -> float | None:
        """Return best minus reference under an entry's conditions: the unit of normalised scores.

        None if unknown, or if no evolver beats the reference.
        """
        best, reference = self.best_mean(entry), self.reference_mean(entry)
        return None if reference is None or best is None or best <= reference else min(best - reference, LARGEST)


def evolver_labels(runs: Sequence[RunResults], metrics_of: MetricsOf) -> list[str]:
    """Name the evolver of each run.

    If a name occurs with several options or settings, the differing ones are added. All names get the conditions that
    differ within the suite, such as the execution model.
    """
    conditions = differing_conditions(runs)
    options = [{**run.evolver.options, **metrics_of(run.protocol).settings(run)} for run in runs]
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for run, own in zip(runs, options, strict=True):
        by_name.setdefault(str(run.evolver.name), []).append(own)
    differing = {name: _differing(several) for name, several in by_name.items()}
    return [
        _label(str(run.evolver.name), {**own, **run.conditions}, [*differing[str(run.evolver.name)], *conditions])
        for run, own in zip(runs, options, strict=True)
    ]


def differing_conditions(runs: Sequence[RunResults]) -> list[str]:
    """Return the conditions that differ between runs, by their dotted keys."""
    return _differing([run.conditions for run in runs])


def taskset_scores(runs: Sequence[RunResults], labels: Sequence[str], metrics_of: MetricsOf) -> list[TasksetScores]:
    """Collect the held-out scores of each taskset, in order of first occurrence."""
    names, conditions = dict.fromkeys(str(run.taskset) for run in runs), differing_conditions(runs)
    return [_scores_of(name, runs, labels, metrics_of, conditions) for name in names]


def _scores_of(
    name: str, runs: Sequence[RunResults], labels: Sequence[str], metrics_of: MetricsOf, conditions: Sequence[str]
) -> TasksetScores:
    own = [(run, label) for run, label in zip(runs, labels, strict=True) if str(run.taskset) == name]
    scored: dict[str, list[tuple[RunResults, HeldOut]]] = {}
    for run, label in own:
        if run.heldout is not None and run.heldout.mean is not None:
            scored.setdefault(label, []).append((run, run.heldout))
    cells: dict[str, Cell] = {}
    failed: dict[str, Cell] = {}
    for label in dict.fromkeys(labels):
        rows = sorted(scored.get(label, []), key=lambda row: (row[0].seed is None, row[0].seed or 0))
        if rows:
            reference = _label(REFERENCE, rows[0][0].conditions, conditions)
            unscored = [run.seed for run, x in own if x == label and (run.heldout is None or run.heldout.mean is None)]
            cell = Cell(rows, table_of([heldout.scores for _, heldout in rows]), reference, unscored)
            wrecked = all(run.status is RunStatus.FAILED for run, x in own if x == label)
            (failed if wrecked else cells)[label] = cell
    references: dict[str, Floats] = {}
    for run, _ in own:
        entry = _label(REFERENCE, run.conditions, conditions)
        if run.reference is not None and entry not in references:
            references[entry] = table_of([run.reference.heldout_scores])[0]
    first = own[0][0]
    returns = any(metrics_of(cell.runs[0][0].protocol).returns for cell in (*cells.values(), *failed.values()))
    clusters = next((held.clusters for rows in scored.values() for _, held in rows if held.clusters), None)
    of = name, first.family or "", first.group or ""
    return TasksetScores(*of, cells, references, returns, first.labels, clusters, coverage_of(runs), failed)


def coverage_of(several: Iterable[RunResults | TasksetScores]) -> float:
    """Return the share of scores that verdicts about several runs or tasksets require: the greatest of any."""
    return max((one.coverage for one in several), default=COVERAGE)


def table_of(rows: Sequence[Sequence[float | None]]) -> Floats:
    """Return lists of scores as an array of shape (rows, cases), NaN where one is missing."""
    width = max(map(len, rows))
    padded = [[np.nan if x is None else x for x in row] + [np.nan] * (width - len(row)) for row in rows]
    return np.array(padded, dtype=np.float64).reshape(len(rows), width)


def _label(name: str, options: Mapping[str, Any], keys: Iterable[str]) -> str:
    shown = ", ".join(f"{key}={options[key]}" for key in keys if key in options)
    return f"{name} ({shown})" if shown else name


def _differing(several: Sequence[Mapping[str, Any]]) -> list[str]:
    keys = sorted({key for options in several for key in options})
    return [key for key in keys if len({canonical_json(options.get(key)) for options in several}) > 1]
