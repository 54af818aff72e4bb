"""results.csv of a suite of post-training: a line for each run, for spreadsheets and for what reads the paper's own results."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from typing import Any

from heredity.reports.fields import Json

NAME = "results.csv"

COLUMNS = (
    *("run_id", "task", "level", "agent", "seed", "base_model", "mode", "baseline_score", "best_score", "improvement"),
    *("heldout_baseline", "heldout_score", "heldout_improvement", "total_submissions", "best_s", "route", "failure"),
)
"""Scores are percentages, as the grading server's; what is not known is empty."""


def results_csv(runs: Iterable[Json]) -> str:
    """Return the table of the runs of a suite that are post-training, sorted by run."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for run in sorted(runs, key=lambda run: str(run["run_id"])):
        if run.get("posttraining"):
            writer.writerow(_row(run, run["posttraining"]))
    return buffer.getvalue()


def _row(run: Json, found: Mapping[str, Any]) -> dict[str, Any]:
    best: Mapping[str, Any] = found["best"] or {}
    heldout: Mapping[str, Any] = found["heldout"] or {}
    return {
        "run_id": run["run_id"],
        "task": str(run["taskset"]).removeprefix("posttraining/"),
        "level": found["level"],
        "agent": run["evolver"]["name"],
        "seed": run["seed"],
        "base_model": found["base_model"],
        "mode": found["mode"],
        "baseline_score": _percent((found["baseline"] or {}).get("graded"), "mean"),
        "best_score": _percent(best.get("score"), "mean"),
        "improvement": _percent(best.get("gain"), "difference"),
        "heldout_baseline": _percent(heldout.get("baseline"), "mean"),
        "heldout_score": _percent(heldout.get("best"), "mean"),
        "heldout_improvement": _percent(heldout.get("gain"), "difference"),
        "total_submissions": found["process"]["graded"],
        "best_s": found["process"]["best_s"],
        "route": best.get("route") or found["routes"]["run"],
        "failure": "; ".join(str(failure["class"]) for failure in found["failures"]),
    }


def _percent(holder: Mapping[str, Any] | None, name: str) -> float | None:
    value = None if holder is None else holder.get(name)
    return None if value is None else round(100.0 * value, 4)
