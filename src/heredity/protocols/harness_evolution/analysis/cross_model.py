"""The cross-model matrix: what harnesses that evolved under one model are worth under another (SEAGym, section 5).

A gain is what a task scores with a run's last snapshot minus what it scores with the first, both under the same model. It is
averaged over repeats, then over runs, and paired by task throughout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP, share
from heredity.analysis.statistics import compare_paired, holm, verdict
from heredity.protocols.harness_evolution.analysis.coded import Floats


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A run that was judged under a model.

    Attributes:
        run: names the run; its repeats share it.
        evolved: the model that it evolved under.
        model: the model that it was judged under.
        metrics: the content of the evaluation's metrics.json.
    """

    run: str
    evolved: str
    model: str
    metrics: Mapping[str, Any]


def cross_model(evaluations: Sequence[Evaluation]) -> list[dict[str, Any]]:
    """Return the matrix, a row for each view and model of evolution.

    Returns:
        Rows with `view`, `evolved`, and `cells`, one for each model of evaluation: `model`, `runs`, `tasks`, the mean scores
        `A_0` and `A_T`, and of the gain `difference`, `ci`, `p` (Holm-corrected over a view's cells), `mde`, `verdict` and
        `unit` (`"run"`: the interval is for new runs; `"task"`: for new tasks of these runs). What is not known is None.
    """
    models = list(dict.fromkeys(each.model for each in evaluations))
    rows: list[dict[str, Any]] = []
    for view in dict.fromkeys(view for each in evaluations for view in _tables(each)):
        places = [
            (evolved, model) for evolved in dict.fromkeys(each.evolved for each in evaluations) for model in models
        ]
        found = {
            place: _cell(place[1], view, [e for e in evaluations if (e.evolved, e.model) == place]) for place in places
        }
        _correct(list(found.values()))
        rows += [
            {"view": view, "evolved": evolved, "cells": [found[evolved, model] for model in models]}
            for evolved in dict.fromkeys(evolved for evolved, _ in places)
        ]
    return rows


def _tables(evaluation: Evaluation) -> Mapping[str, Mapping[str, Any]]:
    return (evaluation.metrics.get("harness") or {}).get("paired") or {}


def _cell(model: str, view: str, evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    tables = {
        run: [t for e in evaluations if e.run == run and (t := _tables(e).get(view))] for run in _runs(evaluations)
    }
    tables = {run: found for run, found in tables.items() if found}
    gained = [_gains(found) for found in tables.values()]
    strata = _strata(gained)
    columns = (
        np.array(column, dtype=float) for each in tables.values() for t in each for column in t["scores"].values()
    )
    bounds = GAP if share(*columns) else None
    found = compare_paired(strata, bounds=bounds)
    if found is not None and found.unit == "case":
        found = compare_paired([np.nanmean(table, axis=0, keepdims=True) for table in strata], bounds=bounds)
    return {
        "model": model,
        "runs": len(tables),
        "tasks": len({task for gains in gained for task in gains}),
        "A_0": _level(tables.values(), "base"),
        "A_T": _level(tables.values(), "final"),
        "difference": None if found is None else found.difference,
        "ci": None if found is None or found.interval is None else list(found.interval),
        "p": None if found is None else found.p,
        "mde": None if found is None else found.mde,
        "verdict": None,
        "unit": None if found is None else ("run" if found.unit == "run" else "task"),
    }


def _runs(evaluations: Sequence[Evaluation]) -> list[str]:
    return list(dict.fromkeys(each.run for each in evaluations))


def _gains(repeats: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """Return the gain of each task of a run, averaged over the repeats in which both snapshots attempted it."""
    found: dict[tuple[str, str], list[float]] = {}
    for table in repeats:
        before, after = (table["scores"].get(role) for role in ("base", "final"))
        for task, x, y in zip(table["tasks"], before or (), after or (), strict=False):
            if x is not None and y is not None:
                found.setdefault((str(table["kind"]), task), []).append(y - x)
    return {task: float(np.mean(gains)) for task, gains in found.items()}


def _strata(gained: Sequence[Mapping[tuple[str, str], float]]) -> list[Floats]:
    """Return the gains as one array of shape (runs, tasks), NaN where a run has none."""
    tasks = {task: i for i, task in enumerate(dict.fromkeys(task for gains in gained for task in gains))}
    table = np.full((len(gained), len(tasks)), np.nan)
    for i, gains in enumerate(gained):
        table[i, [tasks[task] for task in gains]] = list(gains.values())
    return [table] if tasks else []


def _level(tables: Any, role: str) -> float | None:
    """Return the mean score over the runs of a snapshot, each run's repeats and tasks averaged before."""
    means: list[float] = []
    for repeats in tables:
        known = [s for table in repeats for s in table["scores"].get(role) or () if s is not None]
        means += [float(np.mean(known))] if known else []
    return float(np.mean(means)) if means else None


def _correct(cells: Sequence[dict[str, Any]]) -> None:
    for cell, p in zip(cells, holm([cell["p"] for cell in cells]), strict=True):
        cell["p"] = p
        if cell["difference"] is not None:
            interval = None if cell["ci"] is None else (cell["ci"][0], cell["ci"][1])
            cell["verdict"] = verdict(cell["difference"], interval, cell["mde"], p)
