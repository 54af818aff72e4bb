"""Runs of harness evolution compared: methods side by side, the contract gate on and off, sweeps, other execution models.

Everything is about gains: what a task scores with a later snapshot minus what it scores with the first one. Gains are averaged
over tasks, then over runs. Runs are compared task by task, and only with runs that were given the same batches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP, Interval, share
from heredity.analysis.statistics import (
    FEW_RUNS,
    case_mean,
    compare_paired,
    crossed_mean,
    holm,
    verdict,
)
from heredity.ids import canonical_json
from heredity.protocols.harness_evolution.analysis.coded import Floats
from heredity.protocols.harness_evolution.analysis.metrics import MEASURES

SWEPT = ("batch_size", "epochs", "updates", "persistence", "sources")
"""Settings of a schedule whose effect a suite shows where they differ between runs that are otherwise alike."""

_MEASURES = {"validation": "UVG", **MEASURES}
_OF = ("final", "best_validation")
_LABELLED = ("batch_size", "epochs", "updates", "persistence", "gate", "execution")

Run = Mapping[str, Any]
"""The content of one run's `metrics.json`."""


def settings(run: Run) -> dict[str, Any]:
    """Return the settings of a run's schedule that tell runs of one method apart; none for a run without a schedule."""
    plan = (run.get("harness") or {}).get("plan") or {}
    found = {name: plan[name] for name in _LABELLED if plan.get(name) is not None}
    return found | ({"gate": "on" if found["gate"] else "off"} if "gate" in found else {})


def harness_study(runs: Sequence[Run], labels: Sequence[str]) -> dict[str, Any] | None:
    """Compare the runs of a suite.

    Args:
        runs: the content of each run's `metrics.json`; unfinished ones may be among them.
        labels: the evolver of each, told apart by its options and settings.

    Returns:
        JSON values only, no NaN, as in `docs/harness-metrics.md`; None if no run has a schedule.
    """
    own: dict[str, list[Run]] = {}
    for run, label in zip(runs, labels, strict=True):
        if run.get("harness"):
            own.setdefault(label, []).append(run)
    if not own:
        return None
    return {
        "methods": [_method(label, found) for label, found in own.items()],
        "comparisons": _compared([(a, b) for a, b in combinations(own, 2) if _alike(own[a][0], own[b][0])], own),
        "gate": _gates(own),
        "sweeps": _sweeps([run for found in own.values() for run in found]),
        "cross_model": [row for label, found in own.items() for row in _cross_model(label, found)],
    }


@dataclass(frozen=True, slots=True)
class _Measure:
    """What is compared: a measure on one view, of one snapshot against the first."""

    name: str
    view: str
    of: str


def _measures(runs: Sequence[Run]) -> list[_Measure]:
    views = {view: table["kind"] for run in runs for view, table in run["harness"]["paired"].items()}
    kinds = list(_MEASURES)
    ordered = sorted((v for v in views if views[v] in _MEASURES), key=lambda v: (kinds.index(views[v]), v))
    return [_Measure(_MEASURES[views[view]], view, of) for view in ordered for of in _OF]


def _gains(run: Run, measure: _Measure) -> dict[str, float]:
    """Return the gain of each task that both snapshots attempted."""
    table = run["harness"]["paired"].get(measure.view) or {"scores": {}}
    before, after = (table["scores"].get(role) for role in ("base", measure.of))
    if before is None or after is None:
        return {}
    rows = zip(table["tasks"], before, after, strict=True)
    return {task: y - x for task, x, y in rows if x is not None and y is not None}


def _table(rows: Sequence[Mapping[str, float]]) -> Floats:
    """Return gains as an array of shape (runs, tasks), NaN where a run has none."""
    tasks = {task: i for i, task in enumerate(dict.fromkeys(task for row in rows for task in row))}
    table = np.full((len(rows), len(tasks)), np.nan)
    for i, row in enumerate(rows):
        table[i, [tasks[task] for task in row]] = list(row.values())
    return table


def _method(label: str, runs: Sequence[Run]) -> dict[str, Any]:
    fallen = [run["harness"]["collapses"] for run in runs]
    gates = [run["harness"]["gate"] for run in runs]
    return {
        "evolver": label,
        "runs": len(runs),
        "settings": settings(runs[0]),
        "measures": [row for m in _measures(runs) if (row := _measured(m, runs))],
        "collapsed": {
            "runs": sum(bool(found) for found in fallen),
            "snapshots": sum(map(len, fallen)),
            "whole": sum(each["every"] for found in fallen for each in found),
            "unrecovered": sum(any(not each["recovered"] for each in found) for found in fallen),
        },
        "gate": {name: sum(gate[name] for gate in gates) for name in ("proposed", "refused")},
        "spent": _spent(runs),
    }


def _measured(measure: _Measure, runs: Sequence[Run]) -> dict[str, Any] | None:
    """Return the mean gain over runs; its interval is for new runs where there are enough of them, else for new tasks."""
    scored = [(run, row) for run in runs if (row := _gains(run, measure))]
    strata = _by_taskset(scored)
    several = strata and min(len(table) for table in strata) >= FEW_RUNS
    bounds = _bounds(measure, runs)
    found = crossed_mean(strata, bounds=bounds) if several else case_mean(_over_runs(strata), bounds=bounds)
    if found is None:
        return None
    return {
        "measure": measure.name,
        "view": measure.view,
        "of": measure.of,
        "mean": found.mean,
        "ci": None if found.interval is None else list(found.interval),
        "unit": "run" if several else "task",
        "forgetting": max(0.0, -found.mean) if measure.name == "FR" else None,
        "tasks": sum(table.shape[1] for table in strata),
        "runs": [
            {"run_id": run["run_id"], "seed": run["seed"], "gain": float(np.mean(list(row.values())))}
            for run, row in scored
        ],
    }


def _bounds(measure: _Measure, runs: Sequence[Run]) -> Interval | None:
    """Return what gains on a view can only lie between: -1 and 1 where all its scores are shares."""
    tables = [run["harness"]["paired"].get(measure.view, {}).get("scores", {}) for run in runs]
    shares = share(*(np.array(column, float) for table in tables for column in table.values()))
    return GAP if shares else None


def _by_taskset(scored: Sequence[tuple[Run, Mapping[str, float]]]) -> list[Floats]:
    found: dict[str, list[Mapping[str, float]]] = {}
    for run, row in scored:
        found.setdefault(str(run["taskset"]), []).append(row)
    return [_table(rows) for rows in found.values()]


def _over_runs(strata: Sequence[Floats]) -> list[Floats]:
    """Return the mean gain of each task, shape (1, tasks): where runs attempted different tasks, all count alike."""
    return [np.nanmean(table, axis=0, keepdims=True) for table in strata]


def _spent(runs: Sequence[Run]) -> dict[str, dict[str, float | None]]:
    """Return the mean over runs of what training and updates cost; None where a run does not know all of it."""
    names = ("tokens", "wall_time", "cost_usd")
    found: dict[str, dict[str, float | None]] = {}
    for part in ("train", "update"):
        each = [_part(run, part) for run in runs]
        found[part] = {name: _mean([stats.get(name) for stats in each]) for name in names}
    return found


def _part(run: Run, part: str) -> Mapping[str, Any]:
    costs = run["harness"]["costs"]
    return costs["update"] if part == "update" else costs["views"].get("train") or {}


def _mean(stats: Sequence[Mapping[str, Any] | None]) -> float | None:
    whole = [s["total"] for s in stats if s is not None and s["rows"] and s["known"] == s["rows"]]
    return float(np.mean(whole)) if whole and len(whole) == len(stats) else None


def _alike(a: Run, b: Run) -> bool:
    """Say whether two runs have the same settings, so that what differs is the method."""
    return canonical_json(settings(a)) == canonical_json(settings(b))


def _compared(pairs: Sequence[tuple[str, str]], own: Mapping[str, Sequence[Run]]) -> list[dict[str, Any]]:
    """Compare gains of two entries, by task; tests are Holm-corrected for each measure over the pairs."""
    rows: list[dict[str, Any]] = []
    for measure in _measures([run for a, b in pairs for run in (*own[a], *own[b])]):
        found = [row for a, b in pairs if (row := _difference(measure, (a, b), own, len(pairs)))]
        corrected = holm([row["p"] for row in found])
        for row, p in zip(found, corrected, strict=True):
            said = verdict(row["difference"], row["ci"] and tuple(row["ci"]), row["mde"], p)
            rows.append({**row, "p_holm": p, "verdict": said})
    return rows


def _difference(
    measure: _Measure, pair: tuple[str, str], own: Mapping[str, Sequence[Run]], tests: int
) -> dict[str, Any] | None:
    left, right = ({_plan_of(run): run for run in own[label]} for label in pair)
    scored: list[tuple[Run, Mapping[str, float]]] = []
    for plan, run in left.items():
        if plan in right:
            mine, theirs = _gains(run, measure), _gains(right[plan], measure)
            gaps = {task: gain - theirs[task] for task, gain in mine.items() if task in theirs}
            scored += [(run, gaps)] if gaps else []
    strata = _by_taskset(scored)
    # A difference between two gains is twice as wide as a gain.
    bounds = (2.0 * GAP[0], 2.0 * GAP[1]) if _bounds(measure, [*own[pair[0]], *own[pair[1]]]) else None
    found = compare_paired(strata, tests, bounds)
    if found is not None and found.unit == "case":
        found = compare_paired(_over_runs(strata), bounds=bounds)
    if found is None:
        return None
    return {
        "a": pair[0],
        "b": pair[1],
        "measure": measure.name,
        "view": measure.view,
        "of": measure.of,
        "difference": found.difference,
        "ci": None if found.interval is None else list(found.interval),
        "p": found.p,
        "mde": found.mde,
        "unit": "run" if found.unit == "run" else "task",
        "pairs": len(scored),
        "tasks": sum(table.shape[1] for table in strata),
        "unpaired": len(left) + len(right) - 2 * len(scored),
    }


def _plan_of(run: Run) -> tuple[Any, ...]:
    """Return what runs must share to be paired: the same tasks in the same batches."""
    return run["taskset"], run["seed"], run["harness"]["plan"]["digest"]


def _family(run: Run, name: str) -> bytes:
    """Identify what a run has in common with those that differ in one setting alone."""
    rest = {key: value for key, value in _varied(run).items() if key != name}
    return canonical_json([_name(run, name), run["evolver"].get("options") or {}, rest])


def _varied(run: Run) -> dict[str, Any]:
    return {**settings(run), "sources": "+".join(run["harness"]["plan"]["sources"])}


def _gates(own: Mapping[str, Sequence[Run]]) -> list[dict[str, Any]]:
    """Return what the contract gate changes, for each entry that was run with and without it."""
    families: dict[bytes, dict[str, str]] = {}
    for label, runs in own.items():
        if "gate" in settings(runs[0]):
            families.setdefault(_family(runs[0], "gate"), {})[settings(runs[0])["gate"]] = label
    pairs = [(family["on"], family["off"]) for family in families.values() if len(family) == 2]
    rows = _compared(pairs, own)
    return [{"on": on, "off": off, "gains": [r for r in rows if (r["a"], r["b"]) == (on, off)]} for on, off in pairs]


def _sweeps(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the settings that were varied, with the gains at each value; each run is judged on its own views."""
    found: list[dict[str, Any]] = []
    for name in SWEPT:
        families: dict[bytes, dict[Any, list[Run]]] = {}
        for run in runs:
            if name in _varied(run):
                families.setdefault(_family(run, name), {}).setdefault(_varied(run)[name], []).append(run)
        for family in families.values():
            if len(family) > 1:
                first = next(iter(family.values()))[0]
                entries = [{"value": value, **_method(str(value), members)} for value, members in family.items()]
                entries.sort(key=lambda entry: _place(entry["value"]))
                found.append({"key": name, "evolver": _name(first, name), "entries": entries})
    return found


def _name(run: Run, setting: str) -> str:
    """Return the name of a run's evolver without a setting that its suite has put there."""
    value = str(run["harness"]["plan"].get(setting)).lower()
    return str(run["evolver"].get("name")).replace(f"-{setting}={value}", "")


def _place(value: Any) -> tuple[int, str]:
    """Return what values are sorted by: numbers, then sources, fewer first."""
    return (value, "") if isinstance(value, int) else (value.count("+"), value)


def _cross_model(label: str, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return, by view, the mean over runs of what harnesses are worth under their own execution model and under others."""
    evolved = runs[0]["harness"]["plan"].get("execution") or "own model"
    under: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        for model, views in run["harness"]["cross_model"].items():
            for view, row in views.items():
                under.setdefault((view, model), []).append(row)
    rows: list[dict[str, Any]] = []
    for view in dict.fromkeys(view for view, _ in under):
        home = [row for run in runs if (row := _at_home(run, view))]
        cells = {evolved: home} | {model: found for (v, model), found in under.items() if v == view}
        rows.append(
            {
                "evolver": label,
                "evolved": evolved,
                "view": view,
                "cells": [{"model": model, **_cell(found)} for model, found in cells.items()],
            }
        )
    return rows


def _at_home(run: Run, view: str) -> dict[str, float | None] | None:
    snapshots = run["harness"]["views"].get(view, {}).get("snapshots", {})
    chosen = run["harness"]["paired"].get(view, {}).get("snapshots", {})
    levels = [snapshots.get(chosen.get(role)) for role in ("base", "final")]
    if None in levels:
        return None
    before, after = (level["perf"]["micro"] for level in levels)
    gained = None if before is None or after is None else after - before
    return {"A_0": before, "A_T": after, "difference": gained}


def _cell(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"runs": len(rows)}
    for name in ("A_0", "A_T", "difference"):
        known = [row[name] for row in rows if row[name] is not None]
        found[name] = float(np.mean(known)) if known else None
    # Of several runs, the interval of one would say too little.
    found["ci"] = rows[0].get("ci") if len(rows) == 1 else None
    return found
