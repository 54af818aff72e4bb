"""Pilots: the runs of a suite's folder, as input for a plan."""

from __future__ import annotations

from pathlib import Path

from heredity._core.errors import ConfigError
from heredity.analysis.costs import RunCost, run_cost
from heredity.analysis.planning import Pilot
from heredity.analysis.run_record import read_run as read_record
from heredity.analysis.suite_table import evolver_labels, taskset_scores
from heredity.experiments.results import is_suite, metrics_of, read_runs
from heredity.records import read_journal


def read_pilot(folder: Path) -> Pilot:
    """Read the runs of a suite.

    Raises:
        ConfigError: if the folder does not hold a suite, or none of its runs was judged.
    """
    results = read_runs(folder)[0] if is_suite(folder) else []
    runs = [result.metrics for result in results]
    labels = evolver_labels(runs, metrics_of)
    tasksets = [t for t in taskset_scores(runs, labels, metrics_of) if t.cells]
    if not tasksets:
        raise ConfigError(
            f"{folder} does not hold a suite with judged runs; give a suite's folder, such as runs/demo-20260101-120000"
        )
    costs: dict[tuple[str, str], list[RunCost]] = {}
    for result, label in zip(results, labels, strict=True):
        if result.metrics.heldout is not None:
            record = read_record(event.to_json() for event in read_journal(result.folder / "journal.jsonl"))
            costs.setdefault((str(result.metrics.taskset), label), []).append(run_cost(record))
    return Pilot(tasksets, costs)
