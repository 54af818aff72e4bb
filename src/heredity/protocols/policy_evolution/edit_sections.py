"""Which edits paid, and what the code of selected programs is like, for the page of a suite of policy evolution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from heredity.analysis.bounds import wilson
from heredity.results import text
from heredity.results.charts import Bar, Bars
from heredity.results.page import Group, Named, Number, Part, Row, Table, Text, columns_of
from heredity.results.report import tones
from heredity.results.run import EditHits, RunResults
from heredity.results.suite import EditRate, EditsRow, FeaturesRow, SuiteResults

EDIT_BINS = ((0, 0), (1, 2), (3, 5), (6, 10), (11, 20), (21, 50), (51, None))
"""Least and greatest number of lines of the edits that are counted together."""
FEATURES = {
    "functions": "functions",
    "branches": "branches",
    "loops": "loops",
    "state": "persistent state",
    "lines": "lines",
}
"""Features of code and what they are called."""

_Grouped = TypeVar("_Grouped", EditsRow, FeaturesRow)


def written_hits(counts: EditHits | EditRate) -> str:
    """Write `3 of 9`."""
    return f"{counts.hits} of {counts.n}"


def edits(suite: SuiteResults, runs: Sequence[RunResults]) -> tuple[Part, ...]:
    """Return how often edits of each kind and size raised the best."""
    about = (
        "An edit pays when it raises the best validation mean of its run. Rollbacks and retests are counted apart. Large "
        "edits differ from small ones in more than size, so what the chart shows is an association."
    )
    colours = tones(suite, runs)
    rows: list[Row] = []
    for group, members in _groups(suite, suite.edits).items():
        rows.append(Row((f"{group} environments",), "group"))
        rows += [
            Row(
                (
                    Named(r.evolver, colours.get(r.evolver), swatch=True),
                    *(
                        v
                        for rate in (r.synthesis, r.parametric)
                        for v in (written_hits(rate), Number(rate.rate, form="percent"))
                    ),
                    *(r.rollbacks, r.retests),
                )
            )
            for r in members
        ]
    columns = columns_of("evolver", "synthesis", "rate", "parametric", "rate ", "rollbacks", "retests")
    caption = "Edits that raised the best, of all edits of their kind, by group of environments"
    table = Table(columns, tuple(rows), caption, empty="No edits recorded yet.")
    bins = edit_bins(runs)
    chart = Bars(
        "Edit size against improvement",
        tuple(_bar(name, n, hits, suite.confidence) for name, n, hits in bins),
        "lines changed (below: how many edits)",
        "edits that raised the validation best",
        f"All runs together; {text.percent(suite.confidence)} intervals (Wilson).",
    )
    return Text(about, "about"), Group((table, chart) if any(n for _, n, _ in bins) else (table,), "pair")


def _groups(suite: SuiteResults, rows: Sequence[_Grouped]) -> dict[str, list[_Grouped]]:
    """Put rows together by group of tasksets, the evolvers of each in the leaderboard's order."""
    order = {entry.evolver: i for i, entry in enumerate(suite.leaderboard)}
    groups: dict[str, list[_Grouped]] = {}
    for row in sorted(rows, key=lambda r: (r.group, order.get(r.evolver, len(order)))):
        groups.setdefault(row.group or "no group", []).append(row)
    return groups


def _bar(name: str, n: int, hits: int, confidence: float) -> Bar:
    if not n:
        return Bar(name, text.DASH, None)
    low, high = wilson(hits, n, confidence)
    tip = f"{name} lines: {hits} of {n} edits ({text.percent(hits / n)}) raised the best"
    return Bar(name, str(n), hits / n, low, high, tip)


def edit_bins(runs: Sequence[RunResults]) -> list[tuple[str, int, int]]:
    """Count edits by size over runs: (lines changed, edits, edits that raised the validation best)."""
    bins: list[tuple[str, int, int]] = []
    for low, high in EDIT_BINS:
        sizes = [edit for run in runs for edit in run.diagnostics.edit_size]
        within = [edit.improved for edit in sizes if low <= edit.lines and (high is None or edit.lines <= high)]
        name = str(low) if low == high else f"{low}\u2013{high}" if high else f"> {low - 1}"
        bins.append((name, len(within), sum(within)))
    return bins


def code(suite: SuiteResults) -> tuple[Part, ...]:
    """Return mean features of the selected programs."""
    about = "Counted in the syntax tree of policy.py and the local modules it reaches; means over runs."
    rows: list[Row] = []
    colours = tones(suite)
    for group, members in _groups(suite, suite.features).items():
        rows.append(Row((f"{group} environments",), "group"))
        rows += [
            Row(
                (
                    Named(r.evolver, colours.get(r.evolver), swatch=True),
                    *(r.runs, *(Number(getattr(r, key), 1) for key in FEATURES)),
                )
            )
            for r in members
        ]
    columns = columns_of("evolver", "runs", *FEATURES.values())
    caption = "Features of the programs that validation selected, by group of environments"
    return Text(about, "about"), Table(columns, tuple(rows), caption, empty="No policy has been selected yet.")
