"""The labels of a run's attempts as tables, where the run has been annotated; they are never part of a score."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from heredity.protocols.harness_evolution.analysis.labels import Counts, counts
from heredity.reports import text
from heredity.reports.harness_markdown import Table
from heredity.reports.harness_pages import in_order, view_name

NAME = "annotations.jsonl"


def annotation_tables(folder: Path) -> list[Table]:
    """Return tables of labels by snapshot; none if the run has not been annotated, or the file is damaged."""
    try:
        rows = [json.loads(line) for line in (folder / NAME).read_bytes().splitlines()]
        return count_tables(counts(rows))
    except (OSError, ValueError, KeyError, TypeError):
        return []


def count_tables(found: Counts) -> list[Table]:
    """Return a table for each annotator and view: a row for each label, the most frequent first, and a column for each snapshot."""
    return [
        (f"Labels by {by}: {view_name(view)}", ["label", *views[view]], _rows(views[view]), 1)
        for by, views in found.items()
        for view in in_order(views)
    ]


def _rows(places: Mapping[str, Mapping[str, int]]) -> list[list[str]]:
    totals: Counter[str] = Counter()
    for labels in places.values():
        totals.update(labels)
    return [
        [label, *(str(labels[label]) if label in labels else text.DASH for labels in places.values())]
        for label in sorted(totals, key=lambda label: (-totals[label], label))
    ]
