"""Tables of scores in worlds: AutoEnv's table 3, with intervals.

A score is the total reward divided by the level's certified upper bound: at most 1, negative if a world gives
penalties. All worlds weigh the same, regardless of their rewards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heredity.analysis.samples import SHARE, share
from heredity.analysis.statistics import Floats, evolver_mean

GROUPS = ("binary", "accumulative", "full", "partial", "aligned", "inverse")
"""Columns of table 3 before the average; each world is in one of each pair."""

PUBLISHED: Mapping[str, tuple[float, ...]] = {
    "GPT-4o-mini": (7.96, 15.97, 12.65, 11.48, 12.36, 10.58, 11.96, 29.79),
    "GPT-5": (56.25, 37.35, 49.81, 44.65, 45.44, 51.55, 46.80, 24.98),
    "o3": (61.16, 36.31, 53.42, 45.38, 47.56, 52.84, 48.73, 24.61),
    "Claude-4-Sonnet": (45.09, 36.25, 45.69, 37.09, 38.14, 49.53, 40.67, 24.88),
    "Kimi-K2": (31.44, 31.55, 34.59, 29.28, 28.86, 40.70, 31.49, 26.07),
    "DeepSeek-V3.1": (34.63, 33.38, 35.66, 32.82, 32.68, 38.63, 34.01, 26.93),
    "Gemini-2.5-Flash": (43.89, 34.93, 46.84, 34.10, 38.95, 41.02, 39.41, 24.32),
}
"""Table 3 as published by AutoEnv's authors, not measured here: accuracy in % by `GROUPS` and on average, then steps."""
RELEASED = 36
"""Worlds of the release, numbered from 1; compare published figures only on these."""


def world_table(rows: Sequence[Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Tabulate episodes.

    Args:
        rows: one per episode: `world`, `level`, `run`, `score`, `steps`, and `status`, `cost_usd` and `unread` if
            known.
        groups: each world to its groups in `GROUPS`.

    Returns:
        `groups` (each group, and `average`, to mean score, interval and number of worlds), `std` (of the average, over
        runs; None for one run), `steps` (mean), `cost_usd` (total; None if a part of it is unknown), `episodes`,
        `failed` (count by status other than `"ok"`), `unread` (number of replies without an action), `runs`, and
        `worlds` (the same for each world).
    """
    names = [name for name in groups if any(row["world"] == name for row in rows)]
    tables = {name: _scores([row for row in rows if row["world"] == name]) for name in names}
    columns = {group: [tables[name] for name in names if group in groups[name]] for group in GROUPS}
    return {
        "groups": {group: _estimate(strata) for group, strata in {**columns, "average": list(tables.values())}.items()},
        "std": _spread(rows, names),
        **_sums(rows),
        "worlds": {
            name: {**_estimate([tables[name]]), **_sums([row for row in rows if row["world"] == name])}
            for name in names
        },
    }


def _scores(rows: Sequence[Mapping[str, Any]]) -> Floats:
    """Return scores of shape (runs, levels); NaN where an episode is missing."""
    runs, levels = sorted({row["run"] for row in rows}), sorted({row["level"] for row in rows})
    table = np.full((len(runs), len(levels)), np.nan)
    for row in rows:
        table[runs.index(row["run"]), levels.index(row["level"])] = row["score"]
    return table


def _estimate(strata: Sequence[Floats]) -> dict[str, Any]:
    mean_of_evolver = evolver_mean(strata, SHARE if share(*strata) else None)
    if mean_of_evolver is None:
        return {"mean": None, "interval": None, "worlds": len(strata)}
    estimate, _ = mean_of_evolver
    return {
        "mean": estimate.mean,
        "interval": list(estimate.interval) if estimate.interval else None,
        "worlds": len(strata),
    }


def _spread(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> float | None:
    """Return the standard deviation over runs of the mean over worlds, among runs that have all of them."""
    averages: list[float] = []
    for run in sorted({row["run"] for row in rows}):
        means = [_mean([r["score"] for r in rows if r["run"] == run and r["world"] == name]) for name in names]
        if all(mean is not None for mean in means):
            averages.append(float(np.mean([mean for mean in means if mean is not None])))
    return float(np.std(averages, ddof=1)) if len(averages) > 1 else None


def _sums(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    costs = [row.get("cost_usd") for row in rows]
    known_costs = [cost for cost in costs if cost is not None]
    return {
        "steps": _mean([row["steps"] for row in rows]),
        "cost_usd": sum(known_costs) if len(known_costs) == len(costs) else None,
        "episodes": len(rows),
        "failed": dict(Counter(row["status"] for row in rows if row.get("status", "ok") != "ok")),
        "unread": sum(row.get("unread") or 0 for row in rows),
        "runs": len({row["run"] for row in rows}),
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
