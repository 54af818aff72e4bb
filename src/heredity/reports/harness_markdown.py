"""What report.md says of harness evolution, as tables of rows: head, cells, how many columns are aligned to the left."""

from __future__ import annotations

from typing import Any

from heredity.reports import text
from heredity.reports.fields import Json, Mean, count, items, section, words_of
from heredity.reports.harness_pages import in_order, levels, transfer_rows, view_name
from heredity.reports.harness_suite import Method, columns_of, pair_rows

Table = tuple[str, list[str], list[list[str]], int]
"""Title, head, rows, left-aligned columns; nothing is escaped yet."""


def run_tables(harness: Json) -> list[Table]:
    """Return the tables of one run; none for a run without a schedule."""
    if not harness:
        return []
    views = in_order(section(harness, "views"))
    rows = [
        [row["name"] + (" ★" if row["best"] else ""), text.number(row["batch"]), *map(_level, row["cells"])]
        for row in levels(harness, views)
    ]
    gains = [
        [
            row["measure"],
            f"{row['after']}, {row['of']}",
            row["verdict"] or text.DASH,
            _gain(row["micro"]),
            text.number(row["forgetting"], 3),
            str(row["tasks"]),
        ]
        for row in transfer_rows(harness)
    ]
    gate = section(harness, "gate")
    reasons = [[words_of(row, "reason"), text.number(row.get("count"))] for row in items(gate, "reasons")]
    found: list[Table] = [
        (
            "Perf of snapshots (★ is the best on update-validation, which chose it)",
            ["snapshot", "batch", *map(view_name, views)],
            rows,
            1,
        ),
        ("Gains over A_0", ["measure", "snapshot", "verdict", "gain", "FR", "tasks"], gains, 3),
        ("Why the contract gate refused", ["reason", "times"], reasons, 1),
    ]
    return [table for table in found if table[2]]


def suite_tables(study: Json) -> list[Table]:
    """Return the tables of a suite; none without harnesses."""
    methods = [Method(entry) for entry in items(study, "methods")]
    if not methods:
        return []
    columns = columns_of(methods)
    head = ["evolver", "runs", *(name for _, name in columns), "collapses"]
    found: list[Table] = []
    for of, title in (
        ("final", "final snapshot"),
        ("best_validation", "best on validation (its UVG chose it, and is no result)"),
    ):
        rows = [
            [
                m.name,
                str(m.runs),
                *(_cell(m.cell(view, of)) for view, _ in columns),
                str(count(m.collapsed, "snapshots")),
            ]
            for m in methods
        ]
        found.append((f"Gains over A_0 of the {title}", head, rows, 1))
    gates = [
        [row["a"], row["title"], row["of"], row["verdict"] or text.DASH, _gain(row["difference"]), str(row["pairs"])]
        for entry in items(study, "gate")
        for row in pair_rows(items(entry, "gains"))
    ]
    if gates:
        head = ["with the gate", "measure", "snapshot", "verdict", "minus without", "paired runs"]
        found.append(("With and without the contract gate", head, gates, 4))
    return found


def _level(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return text.DASH
    return f"{_bounded(cell['perf'], text.number(cell['perf'].value, 3), 2)} n {cell['attempted']}"


def _cell(cell: dict[str, Any] | None) -> str:
    return text.DASH if cell is None else f"{_gain(cell['gain'])} ({cell['unit']})"


def _gain(gain: Mean) -> str:
    return _bounded(gain, text.signed(gain.value, 3), 3)


def _bounded(mean: Mean, value: str, places: int) -> str:
    return value if mean.low is None else f"{value} {text.interval(*mean.bounds, places)}"
