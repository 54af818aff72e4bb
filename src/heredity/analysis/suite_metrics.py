"""The metrics of a suite, computed from those of its runs (`metrics.json`, see `docs/file-formats.md`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np

from heredity.analysis.ranking import (
    Standing,
    competition_ranks,
    group_means,
    mean_of_known,
    normalised_score,
    rank_scores,
    score_table,
    standings,
)
from heredity.analysis.statistics import (
    CONFIDENCE,
    FEW_RUNS,
    case_mean,
    crossed_mean,
    interquartile_mean,
    iqm_interval,
    mean_interval,
)
from heredity.analysis.suite_comparisons import suite_comparisons
from heredity.analysis.suite_table import (
    REFERENCE,
    Run,
    TasksetScores,
    evolver_labels,
    reference_label,
    taskset_scores,
)
from heredity.analysis.usage import TokenUsage, total_usage
from heredity.protocols.agent_learning.skins import skin_comparisons
from heredity.protocols.agent_learning.space import learning_space
from heredity.protocols.harness_evolution.analysis.study import harness_study
from heredity.protocols.post_training.analysis import posttraining_study

SCHEMA_VERSION = 1
_FEATURES = ("functions", "branches", "loops", "state", "lines")


def suite_metrics(runs: Sequence[Run]) -> dict[str, Any]:
    """Compute a suite's metrics.

    Args:
        runs: the content of each run's `metrics.json`; unfinished runs may be among them, missing ones are reported as
            absent.

    Returns:
        The content of the suite's `metrics.json`: JSON values only, no NaN. The same runs in the same order give the
        same bytes.
    """
    labels = evolver_labels(runs)
    tasksets = taskset_scores(runs, labels)
    evolvers = list(dict.fromkeys(labels))
    own = {label: [r for r, x in zip(runs, labels, strict=True) if x == label] for label in evolvers}
    leaderboard = _leaderboard(tasksets, own)
    named = _Named(reference_label(runs))
    protocol = next((run["protocol"] for run in runs if run.get("protocol")), None)
    return {
        "schema_version": SCHEMA_VERSION,
        "protocol": protocol,
        "reference": named.label,
        "suite_id": next((run["suite_id"] for run in runs if run.get("suite_id")), None),
        "runs": len(runs),
        "finished": sum(run["status"] == "finished" for run in runs),
        "confidence": CONFIDENCE,
        "evolvers": evolvers,
        "leaderboard": named(leaderboard),
        "tasksets": named([_taskset(t, evolvers) for t in tasksets]),
        "comparisons": named(suite_comparisons(tasksets, [row["evolver"] for row in leaderboard])),
        "learning": learning_space(tasksets) if protocol == "agent-learning" else None,
        "skins": named(skin_comparisons(tasksets)),
        "harness": harness_study(runs, labels),
        "posttraining": posttraining_study(runs, labels),
        "edits": _by_group(own, _edits),
        "features": _by_group(own, _features),
        "budget": [{"evolver": label, **_budget(found)} for label, found in own.items()],
        "problems": [
            {"evolver": label, **_problems(found), "absent": _absent(runs, found)} for label, found in own.items()
        ],
    }


@dataclass(frozen=True, slots=True)
class _Named:
    """Puts the reference's name where rows have the reference."""

    label: str

    def __call__(self, rows: Any) -> Any:
        if isinstance(rows, Mapping):
            fields = cast(Mapping[str, Any], rows)
            return {
                key: self.label if key in ("evolver", "a", "b") and value == REFERENCE else self(value)
                for key, value in fields.items()
            }
        return [self(row) for row in cast(list[Any], rows)] if isinstance(rows, list) else rows


def _leaderboard(tasksets: Sequence[TasksetScores], own: Mapping[str, Sequence[Run]]) -> list[dict[str, Any]]:
    means = {t.name: t.means for t in tasksets}
    entries = [*own, *([REFERENCE] if any(REFERENCE in row for row in means.values()) else [])]
    table = standings(means, entries, {t.name: t.family for t in tasksets})
    groups = group_means(means, {t.name: t.group for t in tasksets}, REFERENCE)
    rows = [_standing_row(e, table[e], groups, tasksets, own.get(e)) for e in entries]
    return sorted(rows, key=lambda row: (row["rank_score"] is None, -(row["rank_score"] or 0.0)))


def _standing_row(
    entry: str,
    standing: Standing,
    groups: Mapping[str, Mapping[str, float | None]],
    tasksets: Sequence[TasksetScores],
    runs: Sequence[Run] | None,
) -> dict[str, Any]:
    strata = [_normalised_runs(t, entry) for t in tasksets]
    interval = iqm_interval(strata) if runs else None
    return {
        "evolver": entry,
        "kind": runs[0]["evolver"].get("kind") if runs else "reference",
        "reference": runs is None,
        "rank_score": standing.rank_score,
        "family_scores": dict(standing.family_scores),
        "group_scores": {group: row.get(entry) for group, row in groups.items()} if runs else {},
        "wins": standing.wins,
        "top2": standing.top2,
        "tasksets": standing.present,
        "absent": standing.absent,
        "runs": len(runs or ()),
        "iqm": interquartile_mean(np.concatenate([*strata, []])) if runs else None,
        "iqm_ci": None if interval is None else list(interval),
    }


def _normalised_runs(taskset: TasksetScores, entry: str) -> list[float]:
    cell = taskset.cells.get(entry)
    if cell is None:
        return []
    placed = (normalised_score(m, taskset.reference_mean, taskset.best_mean) for m in cell.run_means)
    return [p for p in placed if p is not None]


def _taskset(taskset: TasksetScores, evolvers: Sequence[str]) -> dict[str, Any]:
    means = taskset.means
    entries = list(means)
    row = score_table({taskset.name: means}, entries)[0]
    ranks, points = competition_ranks(row), rank_scores(row)
    cells: list[dict[str, Any]] = [
        {
            "evolver": entry,
            "reference": entry == REFERENCE,
            "mean": means[entry],
            **_cell(taskset, entry),
            "rank": int(ranks[i]),
            "rank_score": None if np.isnan(points[i]) else float(points[i]),
        }
        for i, entry in enumerate(entries)
    ]
    return {
        "taskset": taskset.name,
        "family": taskset.family,
        "group": taskset.group,
        "reference_mean": taskset.reference_mean,
        "best_mean": taskset.best_mean,
        "entries": len(entries),
        "cells": sorted(cells, key=lambda cell: cell["rank"]),
        "absent": [e for e in evolvers if e not in taskset.cells],
    }


def _cell(taskset: TasksetScores, entry: str) -> dict[str, Any]:
    if entry == REFERENCE:
        interval = mean_interval(taskset.reference, bounds=taskset.bounds)
        missing = int(np.isnan(taskset.reference).sum())
        cases = {"cases": taskset.reference.size - missing, "missing": missing, "failures": 0}
        return {"ci": interval and list(interval), "ci_unit": "case", "normalised": None, "seeds": [], **cases}
    cell = taskset.cells[entry]
    several = len(cell.runs) >= FEW_RUNS
    estimate = (crossed_mean if several else case_mean)([cell.scores], bounds=taskset.bounds)
    interval = None if estimate is None else estimate.interval
    return {
        "ci": interval and list(interval),
        "ci_unit": "run" if several else "case",
        "normalised": normalised_score(cell.mean, taskset.reference_mean, taskset.best_mean),
        "seeds": [
            {"seed": run["seed"], "run_id": run["run_id"], "mean": m}
            for run, m in zip(cell.runs, cell.run_means, strict=True)
        ],
        "cases": sum(run["heldout"]["n"] for run in cell.runs),
        "missing": sum(run["heldout"]["missing"] for run in cell.runs),
        "failures": sum(run["heldout"]["failures"] for run in cell.runs),
    }


def _by_group(
    own: Mapping[str, Sequence[Run]], summary: Callable[[Sequence[Run]], dict[str, Any]]
) -> list[dict[str, Any]]:
    groups = sorted({run.get("group") or "" for runs in own.values() for run in runs})
    return [
        {"group": group, "evolver": label, **summary(found)}
        for group, (label, runs) in product(groups, own.items())
        if (found := [run for run in runs if (run.get("group") or "") == group])
    ]


def _edits(runs: Sequence[Run]) -> dict[str, Any]:
    diagnostics = [run["diagnostics"] for run in runs]
    counts: dict[str, Any] = {}
    for kind in ("synthesis", "parametric"):
        n, hits = (sum(d["edits"][kind][name] for d in diagnostics) for name in ("n", "hits"))
        counts[kind] = {"n": n, "hits": hits, "rate": hits / n if n else None}
    return {**counts, **{name: sum(d[name] for d in diagnostics) for name in ("rollbacks", "retests")}}


def _features(runs: Sequence[Run]) -> dict[str, Any]:
    chosen = [features for run in runs if (features := _selected_features(run)) is not None]
    return {"runs": len(chosen), **{name: mean_of_known(f[name] for f in chosen) for name in _FEATURES}}


def _selected_features(run: Run) -> Mapping[str, Any] | None:
    selected = run.get("selected")
    if not selected:
        return None
    return next((s["features"] for s in run["submissions"] if s["candidate"] == selected["candidate"]), None)


def _budget(runs: Sequence[Run]) -> dict[str, Any]:
    budgets = [run["budget"] for run in runs]
    used, submissions = (sum(b[name] for b in budgets) for name in ("used", "submissions"))
    tokens = total_usage(TokenUsage(**(run.get("tokens") or {})) for run in runs)
    return {
        "runs": len(runs),
        "episodes": _known_sum([b["episodes"] for b in budgets]),
        "used": used,
        "submissions": submissions,
        "rejected": sum(b["rejected"] for b in budgets),
        "episodes_per_submission": used / submissions if submissions else None,
        "wall_seconds": _known_sum([b["wall_seconds"] for b in budgets]),
        "resumes": sum(b["resumes"] for b in budgets),
        **tokens.to_json(),
    }


def _problems(runs: Sequence[Run]) -> dict[str, Any]:
    rows = [row for run in runs for row in run["submissions"]]
    heldout = [run["heldout"] for run in runs if run.get("heldout")]
    return {
        "failed_submissions": sum(row["status"] not in (None, "ok") for row in rows),
        "failed_episodes": sum(row["failures"] for row in rows),
        "missing_episodes": sum(row.get("missing", 0) for row in rows),
        "heldout_failures": sum(h["failures"] for h in heldout),
        "heldout_missing": sum(h["missing"] for h in heldout),
        "unfinished": [
            {name: run[name] for name in ("run_id", "taskset", "seed", "status")}
            for run in runs
            if run["status"] != "finished"
        ],
    }


def _absent(runs: Sequence[Run], found: Sequence[Run]) -> list[dict[str, Any]]:
    """List what the suite's grid of tasksets and seeds has and an evolver has no held-out score for."""
    grid = product(dict.fromkeys(run["taskset"] for run in runs), dict.fromkeys(run["seed"] for run in runs))
    scored = {(r["taskset"], r["seed"]) for r in found if r.get("heldout") and r["heldout"]["mean"] is not None}
    unfinished = {(r["taskset"], r["seed"]) for r in found if r["status"] == "unfinished"}
    return [{"taskset": t, "seed": s} for t, s in grid if (t, s) not in scored and (t, s) not in unfinished]


def _known_sum(values: Sequence[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) if len(known) == len(values) else None
