"""Metrics of harness evolution from task results, at scale."""

from heredity.analysis.harness.metrics import harness_metrics
from heredity.analysis.harness.results import run_ids, view_kind
from heredity.analysis.harness.rows import Damage, TaskRows, read_rows, rows_of, write_rows
from heredity.analysis.harness.splits import Inspection, Split, TaskIndex, inspect_split, read_split, read_task_index

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
