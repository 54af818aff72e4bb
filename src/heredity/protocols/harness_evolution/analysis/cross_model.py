"""The cross-model matrix: what harnesses that evolved under one model are worth under another (SEAGym, section 5).

A gain is what a task scores with a run's last snapshot minus what it scores with the first, both under the same model. It is
averaged over repeats, then over runs, and paired by task throughout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heredity.analysis.bounds import GAP, share
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.suite_table import coverage_of
from heredity.gateway.settings import stand_in
from heredity.protocols.harness_evolution.analysis.paired import (
    asked_of,
    clusters_of,
    gains_table,
    over_runs,
    paired_gains,
)
from heredity.protocols.harness_evolution.results import MatrixCell, MatrixRow, Paired, Role, harness_of
from heredity.results.run import RunResults
from heredity.results.suite import Claim


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A run that was judged under a model.

    Attributes:
        run: names the run; its repeats share it.
        evolved: the model that it evolved under.
        model: the model that it was judged under.
        results: what came of it.
    """

    run: str
    evolved: str
    model: str
    results: RunResults

    @property
    def tables(self) -> Mapping[str, Paired]:
        """The scores that are compared, by view."""
        harness = harness_of(self.results)
        return {} if harness is None else harness.paired


def cross_model(evaluations: Sequence[Evaluation]) -> list[MatrixRow]:
    """Return the matrix, a row for each view and model of evolution, with a cell for each model of evaluation."""
    models = list(dict.fromkeys(evaluation.model for evaluation in evaluations))
    evolved = list(dict.fromkeys(evaluation.evolved for evaluation in evaluations))
    rows: list[MatrixRow] = []
    least = coverage_of(evaluation.results for evaluation in evaluations)
    for view in dict.fromkeys(view for evaluation in evaluations for view in evaluation.tables):
        judged = [
            _repeats(view, [e for e in evaluations if (e.evolved, e.model) == (home, model)])
            for home in evolved
            for model in models
        ]
        compared = [_compare(runs, least) for runs in judged]
        claimed = iter(claims([both for both in compared if both is not None]))
        pairs = [None if both is None else next(claimed) for both in compared]
        cells = list(map(_cell, [model for _ in evolved for model in models], judged, compared, pairs))
        for i, home in enumerate(evolved):
            rows.append(MatrixRow(view=view, evolved=home, cells=tuple(cells[i * len(models) : (i + 1) * len(models)])))
    return rows


Repeats = list[list[Paired]]
"""The repeats of each run."""


def _repeats(view: str, evaluations: Sequence[Evaluation]) -> Repeats:
    runs: dict[str, list[Paired]] = {}
    for evaluation in evaluations:
        if view in evaluation.tables:
            runs.setdefault(evaluation.run, []).append(evaluation.tables[view])
    return list(runs.values())


def _compare(runs: Repeats, least: float) -> Both | None:
    table = gains_table([_gains(repeats) for repeats in runs])
    strata = [table] if table.size else []
    columns = (np.array(c, dtype=float) for repeats in runs for table in repeats for c in table.scores.values())
    drawn = {(t.kind, task): own for repeats in runs for t in repeats for task, own in clusters_of(t).items()}
    tasks = dict.fromkeys(task for repeats in runs for task in _gains(repeats))
    clusters = [[drawn.get(task) for task in tasks]] if strata else []
    asked = [{(t.kind, task) for t in repeats for task in asked_of(t, "final")} for repeats in runs]
    return compare(
        strata,
        bounds=GAP if share(*columns) else None,
        marked=True,
        cases=over_runs(strata),
        clusters=clusters,
        least=least,
        asked=sum(map(len, asked)),
    )


def _cell(model: str, runs: Repeats, compared: Both | None, pair: tuple[Claim, Claim] | None) -> MatrixCell:
    evolvers, candidates = (None, None) if pair is None or stand_in(model) else pair
    return MatrixCell(
        model=model,
        runs=len(runs),
        tasks=len({task for repeats in runs for task in _gains(repeats)}),
        A_0=_level(runs, "base"),
        A_T=_level(runs, "final"),
        difference=None if compared is None else compared.candidates.difference,
        evolvers=evolvers,
        candidates=candidates,
    )


def _gains(repeats: Iterable[Paired]) -> dict[tuple[str, str], float]:
    """Return the gain of each task of a run, averaged over the repeats in which both snapshots attempted it."""
    gains: dict[tuple[str, str], list[float]] = {}
    for table in repeats:
        for task, gain in paired_gains(table, "final").items():
            gains.setdefault((table.kind, task), []).append(gain)
    return {task: float(np.mean(own)) for task, own in gains.items()}


def _level(runs: Repeats, role: Role) -> float | None:
    """Return the mean score over the runs of a snapshot, each run's repeats and tasks averaged before."""
    means: list[float] = []
    for repeats in runs:
        scores = [score for table in repeats for score in table.scores.get(role, ()) if score is not None]
        means += [float(np.mean(scores))] if scores else []
    return float(np.mean(means)) if means else None
