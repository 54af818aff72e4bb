"""Tables of rollout labels for annotated runs; labels are never part of a score."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from heredity.analysis.labels import Counts, counts
from heredity.results.page import Section, Table, Text, of_rows
from heredity.results.text import in_order, view_name

NAME = "annotations.jsonl"


def annotation_sections(folder: Path) -> list[Section]:
    """Return a section of labels by snapshot; none if the run has not been annotated, or the file is damaged."""
    try:
        rows = [json.loads(line) for line in (folder / NAME).read_bytes().splitlines()]
        tables = count_tables(counts(rows))
    except (OSError, ValueError, KeyError, TypeError):
        return []
    about = "An annotator's labels of the rollouts, counted by snapshot. Labels are never part of a score."
    return [Section("labels", "Labels", (Text(about, "about"), *tables))] if tables else []


def count_tables(labelled: Counts) -> list[Table]:
    """Return a table for each annotator and view: a row for each label, the most frequent first, a column for each snapshot."""
    tables: list[Table] = []
    for by, views in labelled.items():
        for view in in_order(views):
            snapshots = views[view]
            totals: Counter[str] = Counter()
            for labels in snapshots.values():
                totals.update(labels)
            names = sorted(totals, key=lambda label: (-totals[label], label))
            rows = [[name, *(labels.get(name) for labels in snapshots.values())] for name in names]
            tables.append(of_rows(["label", *snapshots], rows, caption=f"Labels by {by}: {view_name(view)}"))
    return tables
