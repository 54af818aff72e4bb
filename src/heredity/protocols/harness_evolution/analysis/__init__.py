"""Metrics of harness evolution from task results, at scale."""

from heredity.protocols.harness_evolution.analysis.coded import run_ids, view_kind
from heredity.protocols.harness_evolution.analysis.metrics import harness_metrics
from heredity.protocols.harness_evolution.analysis.rows import (
    Damage,
    Inspection,
    Split,
    TaskIndex,
    TaskRows,
    inspect_split,
    read_rows,
    read_split,
    read_task_index,
    rows_of,
    write_rows,
)

__all__ = [
    "Damage",
    "Inspection",
    "Split",
    "TaskIndex",
    "TaskRows",
    "harness_metrics",
    "inspect_split",
    "read_rows",
    "read_split",
    "read_task_index",
    "rows_of",
    "run_ids",
    "view_kind",
    "write_rows",
]
