"""The held-out scores of a suite as a table: tasksets x evolvers x seeds x cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heredity.analysis.bounds import SHARE, Floats, Interval, share
from heredity.analysis.ranking import mean_of_known
from heredity.ids import canonical_json
from heredity.protocols.harness_evolution.analysis.study import settings
from heredity.protocols.post_training.analysis.study import mode_of

REFERENCE = "reference"
"""The entry that every run is compared with, scored on the same held-out cases; see `reference_label` for its name."""

Run = Mapping[str, Any]
"""The content of one run's `metrics.json`."""


@dataclass(frozen=True)
class Cell:
    """One evolver on one taskset, over the seeds that have a held-out score.

    Attributes:
        runs: the runs, by seed.
        scores: shape (runs, cases), NaN where one is missing.
    """

    runs: Sequence[Run]
    scores: Floats

    @property
    def seeds(self) -> list[Any]:
        """The runs' seeds, in the order of the rows of `scores`."""
        return [run["seed"] for run in self.runs]

    @property
    def run_means(self) -> list[float]:
        """Held-out mean of each run."""
        return [float(np.nanmean(row)) for row in self.scores]

    @property
    def mean(self) -> float:
        """Mean over seeds of the held-out means."""
        return float(np.mean(self.run_means))


@dataclass(frozen=True)
class TasksetScores:
    """What all evolvers scored on one taskset.

    Attributes:
        name: the taskset.
        family: its family label.
        group: its group label.
        cells: evolver to cell; evolvers without a held-out score have none.
        reference: scores of what runs are compared with, shape (cases,); empty if unknown.
    """

    name: str
    family: str
    group: str
    cells: Mapping[str, Cell]
    reference: Floats

    @property
    def reference_mean(self) -> float | None:
        """Mean score of the reference; None if unknown."""
        return mean_of_known(float(x) for x in self.reference[~np.isnan(self.reference)])

    @property
    def best_mean(self) -> float | None:
        """Mean of the best evolver; None if there is none."""
        return max((cell.mean for cell in self.cells.values()), default=None)

    @property
    def means(self) -> dict[str, float | None]:
        """Entry to mean, the reference included where it is known."""
        reference = {} if self.reference_mean is None else {REFERENCE: self.reference_mean}
        return {**{name: cell.mean for name, cell in self.cells.items()}, **reference}

    @property
    def bounds(self) -> Interval | None:
        """What scores can only lie between: 0 and 1 where all do, unless they are returns, of which that is not known."""
        returns = any(cell.runs[0].get("protocol") == "policy-evolution" for cell in self.cells.values())
        shares = share(self.reference, *(cell.scores for cell in self.cells.values()))
        return SHARE if shares and not returns else None

    @property
    def span(self) -> float | None:
        """Best minus reference: the unit of normalised scores; None if unknown, or if nobody beats the reference."""
        if self.reference_mean is None or self.best_mean is None or self.best_mean <= self.reference_mean:
            return None
        return self.best_mean - self.reference_mean


def reference_label(runs: Sequence[Run]) -> str:
    """Return what the reference of a suite is called: the random policy, or what the runs began with."""
    name = next((run["reference"]["name"] for run in runs if run.get("reference")), "random")
    return {"random": "random policy", "initial": "starting point", "base": "base model"}.get(name, name)


def evolver_labels(runs: Sequence[Run]) -> list[str]:
    """Name the evolver of each run; where a name occurs with several options or schedules, what differs is added."""
    options: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        options.setdefault(_name(run), []).append(_options(run))
    differing = {name: _differing(found) for name, found in options.items()}
    return [_label(run, differing[_name(run)]) for run in runs]


def taskset_scores(runs: Sequence[Run], labels: Sequence[str]) -> list[TasksetScores]:
    """Collect the held-out scores of each taskset, in the order in which tasksets first occur."""
    names = dict.fromkeys(str(run["taskset"]) for run in runs)
    return [_one_taskset(name, runs, labels) for name in names]


def _one_taskset(name: str, runs: Sequence[Run], labels: Sequence[str]) -> TasksetScores:
    own = [(run, label) for run, label in zip(runs, labels, strict=True) if str(run["taskset"]) == name]
    scored: dict[str, list[Run]] = {}
    for run, label in own:
        if run.get("heldout") and run["heldout"]["mean"] is not None:
            scored.setdefault(label, []).append(run)
    cells: dict[str, Cell] = {}
    for label in dict.fromkeys(labels):
        rows = sorted(scored.get(label, []), key=lambda run: (run["seed"] is None, run["seed"]))
        if rows:
            cells[label] = Cell(rows, _table([run["heldout"]["scores"] for run in rows]))
    reference = next((run["reference"]["heldout_scores"] for run, _ in own if run.get("reference")), [])
    first = own[0][0]
    return TasksetScores(name, first.get("family") or "", first.get("group") or "", cells, _table([reference])[0])


def _table(rows: Sequence[Sequence[float | None]]) -> Floats:
    width = max(map(len, rows))
    padded = [[np.nan if x is None else x for x in row] + [np.nan] * (width - len(row)) for row in rows]
    return np.array(padded, dtype=np.float64).reshape(len(rows), width)


def _name(run: Run) -> str:
    return str(run["evolver"].get("name"))


def _options(run: Run) -> dict[str, Any]:
    return {**(run["evolver"].get("options") or {}), **settings(run), **mode_of(run)}


def _label(run: Run, keys: Iterable[str]) -> str:
    options = _options(run)
    shown = ", ".join(f"{key}={options[key]}" for key in keys if key in options)
    return f"{_name(run)} ({shown})" if shown else _name(run)


def _differing(found: Sequence[Mapping[str, Any]]) -> list[str]:
    keys = sorted({key for options in found for key in options})
    return [key for key in keys if len({canonical_json(options.get(key)) for options in found}) > 1]
