"""Runs of post-training compared: improvements, success, pass@k, modes by tasks, scaling, routes and failures of a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP
from heredity.analysis.run_record import mean
from heredity.analysis.statistics import Floats, compare_paired, verdict
from heredity.protocols.post_training.analysis.failures import RULES, SHORTCUT

_PROCESS = (
    "graded", "refused", "valid_rate", "zero_rate", "first_improvement_s", "best_s", "monotonic_ratio",
    "time_used_ratio", "last_submit_gap_s", "tokens", "cost_usd",
)  # fmt: skip
_CURVES = ("time", "submissions", "tokens")
Run = Mapping[str, Any]
"""The content of one run's `metrics.json`."""


def mode_of(run: Run) -> dict[str, str]:
    """Return what a run's mode allowed, which tells runs of one agent apart; nothing of a run of another protocol.

    Multi-task mode allows what free mode does; that there were several tasks is said by the taskset.
    """
    found = run.get("posttraining")
    return {"mode": "free" if found["mode"] == "multi-task" else found["mode"]} if found else {}


def posttraining_study(runs: Sequence[Run], labels: Sequence[str]) -> dict[str, Any] | None:
    """Compare the runs of a suite.

    Args:
        runs: the content of each run's `metrics.json`; unfinished ones may be among them.
        labels: the evolver of each, told apart by its options and mode.

    Returns:
        JSON values only, no NaN, as in `docs/post-training-diagnosis.md`; None if no run is of post-training.
    """
    groups: dict[tuple[str, str], list[Run]] = {}
    for run, label in zip(runs, labels, strict=True):
        if run.get("posttraining"):
            groups.setdefault((label, str(run["taskset"])), []).append(run)
    if not groups:
        return None
    entries = [_entry(label, taskset, found) for (label, taskset), found in groups.items()]
    return {
        "entries": entries,
        "heatmap": _heatmap([run for found in groups.values() for run in found]),
        "scaling": {
            name: [
                {"evolver": label, "taskset": taskset, "points": points}
                for (label, taskset), found in groups.items()
                if (points := _curve(name, found))
            ]
            for name in _CURVES
        },
        "shortcuts": _shortcuts(groups),
    }


def improvement(run: Run) -> float | None:
    """Return the best graded score less the base model's; 0 where nothing was graded, None without a baseline."""
    found = run["posttraining"]
    base = (found["baseline"]["graded"] or {}).get("mean")
    if base is None:
        return None
    best = ((found["best"] or {}).get("score") or {}).get("mean")
    return 0.0 if best is None else best - base


def _entry(label: str, taskset: str, runs: Sequence[Run]) -> dict[str, Any]:
    told = [run["posttraining"] for run in runs]
    gains = [gain for run in runs if (gain := improvement(run)) is not None]
    routes = Counter(str(each["routes"]["run"]) for each in told if each["routes"]["run"])
    failures = Counter(found["class"] for each in told for found in each["failures"])
    return {
        "evolver": label,
        "taskset": taskset,
        "level": told[0]["level"],
        "mode": told[0]["mode"],
        "runs": len(runs),
        "baseline": mean((each["baseline"]["graded"] or {}).get("mean") for each in told),
        "improvement": mean(gains),
        "best_improvement": max(gains, default=None),
        "graded": _compared([_graded(each) for each in told]),
        "heldout": _compared([_heldout(run) for run in runs]),
        "success": {
            "runs": len(gains),
            "improved": sum(gain > 0 for gain in gains),
            "beyond_noise": sum(_verdict(each) == "better" for each in told),
            "coding": sum(each["routes"]["coding_success"] is True for each in told),
        },
        "pass_at_k": pass_at_k(gains),
        "noise": mean((each["noise"] or {}).get("sd") for each in told),
        "process": {name: mean(each["process"].get(name) for each in told) for name in _PROCESS},
        "routes": dict(sorted(routes.items())),
        "failures": dict(sorted(failures.items())),
        "broken": sum(each["audit"]["verdict"] == "broken" for each in told),
    }


def _verdict(told: Run) -> str | None:
    return ((told["best"] or {}).get("gain") or {}).get("verdict")


def _graded(told: Run) -> list[float]:
    best = told["best"]
    if best is None:
        # What has nothing better than the base model has the base model.
        return [0.0] * ((told["baseline"]["graded"] or {}).get("n") or 0)
    return _gaps(best.get("scores") or (), best.get("baseline_scores") or ())


def _heldout(run: Run) -> list[float]:
    after = (run.get("heldout") or {}).get("scores") or ()
    return _gaps(after, (run.get("reference") or {}).get("heldout_scores") or ())


def _gaps(after: Iterable[float | None], before: Iterable[float | None]) -> list[float]:
    pairs = zip(after, before, strict=False)
    return [float("nan") if a is None or b is None else a - b for a, b in pairs]


def _compared(rows: Sequence[Sequence[float]]) -> dict[str, Any] | None:
    """Return the mean gain over runs and tasks; runs of a suite have the same tasks, so a column is a task."""
    known = [row for row in rows if row]
    width = max(map(len, known), default=0)
    table: Floats = np.array([[*row, *[np.nan] * (width - len(row))] for row in known], dtype=np.float64)
    found = compare_paired([table], bounds=GAP) if known else None
    if found is None:
        return None
    return {
        "difference": found.difference,
        "ci": None if found.interval is None else list(found.interval),
        "p": found.p,
        "mde": found.mde,
        "unit": found.unit,
        "runs": found.runs,
        "cases": found.cases,
        "verdict": verdict(found.difference, found.interval, found.mde, found.p),
    }


def pass_at_k(gains: Sequence[float]) -> list[dict[str, Any]]:
    """Return what the best of k runs is expected to improve, for k from 1 to all of them (Agent² RL-Bench, table 10).

    The mean over all choices of k of the runs, which does not favour large k; `success` is the chance that one of them improves.
    """
    ordered, n = sorted(gains), len(gains)
    failed = sum(gain <= 0 for gain in ordered)
    return [
        {
            "k": k,
            "improvement": sum(g * comb(i, k - 1) for i, g in enumerate(ordered)) / comb(n, k),
            "success": 1.0 - comb(failed, k) / comb(n, k),
        }
        for k in range(1, n + 1)
    ]


def _heatmap(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the mean improvement by agent, mode and task, with the best and the worst mode of each (figure 6).

    A run of several tasks counts for each of them.
    """
    cells: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        found = run["posttraining"]
        parts = [(task["name"], (task["gain"] or {}).get("difference")) for task in found["tasks"]]
        for task, gain in parts or [(str(run["taskset"]), improvement(run))]:
            if gain is not None:
                cells.setdefault((str(run["evolver"]["name"]), found["mode"], task), []).append(gain)
    means = {key: float(np.mean(values)) for key, values in cells.items()}
    rows: list[dict[str, Any]] = []
    for (agent, mode, task), value in means.items():
        rivals = [v for (a, _, t), v in means.items() if (a, t) == (agent, task)]
        several = min(rivals) < max(rivals)
        rows.append(
            {
                "agent": agent,
                "mode": mode,
                "task": task,
                "improvement": value,
                "runs": len(cells[agent, mode, task]),
                "best": several and value == max(rivals),
                "worst": several and value == min(rivals),
            }
        )
    return rows


def _curve(name: str, runs: Sequence[Run]) -> list[list[float]]:
    """Return (spent, mean, least, greatest) best improvement over runs, as steps; a run without a score stays at 0."""
    lines = [run["posttraining"]["scaling"][name] for run in runs]
    if name == "tokens":
        lines = [line for line in lines if line]
    if not any(lines):
        return []
    known = [line or [[0.0, 0.0]] for line in lines]
    points: list[list[float]] = []
    for at in sorted({at for line in known for at, _ in line}):
        values = [next(v for when, v in reversed(line) if when <= at) for line in known]
        points.append([at, float(np.mean(values)), min(values), max(values)])
    return points


def _shortcuts(groups: Mapping[tuple[str, str], Sequence[Run]]) -> list[dict[str, Any]]:
    """Return the agents whose competence on static tasks does not carry over to interactive ones (table 13, last row)."""
    found: list[dict[str, Any]] = []
    for label in dict.fromkeys(label for label, _ in groups):
        static, interactive = set[str](), dict[str, bool]()
        for (own, taskset), runs in groups.items():
            for told in (run["posttraining"] for run in runs if own == label):
                better = _verdict(told) == "better"
                if told["level"] == "L3":
                    interactive[taskset] = interactive.get(taskset, False) or better
                elif better and told["routes"]["coding_success"]:
                    static.add(taskset)
        if static and interactive and not any(interactive.values()):
            row = {"evolver": label, "class": SHORTCUT, "rule": RULES[SHORTCUT]}
            found.append({**row, "improved": sorted(static), "failed": sorted(interactive)})
    return found
