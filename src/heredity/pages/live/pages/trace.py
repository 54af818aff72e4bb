"""Timeline of a run's trace, with nesting and zoom."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from markupsafe import Markup

from heredity.pages.live.drawing import Block, Field, Form, View
from heredity.pages.live.pages.here import Run
from heredity.pages.report.svg import Axis, element, figure, group, label, x_axis
from heredity.results.page import Number, Row, Table, Text, columns_of
from heredity.results.text import duration, shorten

MOST_BARS = 500
"""Maximum spans of a picture: the longest in its time window."""

_WIDTH, _ROW, _PAD, _MOST_LANES = 1080.0, 20.0, 8.0, 60


def trace_view(run: Run, begin: str, end: str) -> View:
    """Return the timeline of a run between two times, in seconds since its start; "" means an open end."""
    bounds = run.suite.index.rows(
        "SELECT min(start_ns) AS low, max(end_ns) AS high, count(*) AS n FROM spans WHERE run = ?", (run.id,)
    )[0]
    tabs = run.tabs("trace")
    if not bounds["n"]:
        note = Text("No trace available: spans are written as they end, and stay with the owner of the run.")
        return View("Trace", [Block("none", "", [note])], run.crumbs, tabs, follow=run.suite.follow)
    zero, whole = bounds["low"], max(1e-6, (bounds["high"] - bounds["low"]) / 1e9)
    start, stop = _seconds(begin, 0.0, whole), _seconds(end, whole, whole)
    start, stop = (start, stop) if start < stop else (0.0, whole)
    rows = run.suite.index.rows(
        "SELECT * FROM spans WHERE run = ? AND start_ns < ? AND end_ns > ? ORDER BY end_ns - start_ns DESC LIMIT ?",
        (run.id, zero + int(stop * 1e9), zero + int(start * 1e9), MOST_BARS),
    )
    drawn = Markup('<div class="wide-plot" tabindex="0" role="group" aria-label="Timeline">%s</div>') % Markup(
        timeline(run, rows, zero, start, stop)
    )
    about = Text(
        f"{len(rows)} of {bounds['n']} spans, the longest first; nested spans are below their parent. Each bar is a link.",
        "about",
    )
    fields = [Field("from", "From second", f"{start:.3f}"), Field("to", "to second", f"{stop:.3f}")]
    middle, half = (start + stop) / 2, (stop - start) / 4
    zooms = [
        ("Closer", middle - half, middle + half),
        ("Wider", middle - 4 * half, middle + 4 * half),
        ("Earlier", start - 2 * half, stop - 2 * half),
        ("Later", start + 2 * half, stop + 2 * half),
    ]
    links = [
        Markup('<a href="%s">%s</a>')
        % (run.url("trace", **{"from": f"{max(0.0, a):.3f}", "to": f"{min(whole, b):.3f}"}), name)
        for name, a, b in zooms
    ]
    nav = Markup('<p class="pager">%s <a href="%s">All</a> <a href="%s">As a list</a></p>') % (
        Markup(" ").join(links),
        run.url("trace"),
        run.url("spans"),
    )
    blocks = [
        Block("timeline", "", [about, drawn, nav, Form(run.url("trace"), "Show", fields)]),
        Block("totals", "By kind", [_totals(run)]),
    ]
    return View("Trace", blocks, run.crumbs, tabs, follow=run.suite.follow)


def timeline(run: Run, rows: Sequence[sqlite3.Row], zero: int, start: float, stop: float) -> str:
    """Draw spans as bars over time: each in the first free lane below that of its parent."""
    row_ends: list[float] = []
    lane_of: dict[str, int] = {}
    bars: list[str] = []
    axis = Axis(start, stop, _PAD, _WIDTH - _PAD)
    dropped = 0
    for row in sorted(rows, key=lambda row: (row["start_ns"], -row["end_ns"])):
        begin, end = (row["start_ns"] - zero) / 1e9, (row["end_ns"] - zero) / 1e9
        row_index = lane_of.get(row["parent"], -1) + 1
        while row_index < len(row_ends) and row_ends[row_index] > begin:
            row_index += 1
        if row_index >= _MOST_LANES:
            dropped += 1
            continue
        row_ends += [0.0] * (row_index + 1 - len(row_ends))
        row_ends[row_index] = end
        lane_of[row["id"]] = row_index
        bars.append(_bar(run, row, axis, begin, end, row_index))
    height = _PAD + len(row_ends) * _ROW
    more = (
        [label(f"{dropped} more spans at the same time", _WIDTH / 2, height + 44, "middle", "tick")] if dropped else []
    )
    picture = figure(
        _WIDTH,
        height + 48,
        f"Spans from second {start:.1f} to {stop:.1f}",
        x_axis(axis, height, _PAD, "seconds since the start of the trace"),
        *bars,
        *more,
    )
    return picture.replace('role="img"', 'role="group"', 1)


def _bar(run: Run, row: sqlite3.Row, axis: Axis, begin: float, end: float, row_index: int) -> str:
    left, right, top = axis.at(begin), axis.at(end), _PAD + row_index * _ROW
    words = f"{row['name']} {row['about']}".strip()
    tip = f"{words}, {row['kind']}, {duration(end - begin)} from second {begin:.2f}" + (
        f": {row['problem']}" if row["problem"] else ""
    )
    kind = row["kind"] if row["kind"] in ("model", "tool", "operator", "rollout", "commit", "run") else "other"
    wide = max(1.5, right - left)
    rect = element("rect", x=left, y=top + 2, width=wide, height=_ROW - 5, rx=2, opacity=0.78)
    room = int((wide - 8) / 7)
    text = [label(shorten(words, room), left + 4, top + 13.5)] if room >= 4 else []
    bar = group(rect, *text, class_=f"span {kind}{' bad' if row['problem'] else ''}", tip=tip)
    return element("a", bar, href=run.url("span", row["number"]))


def _totals(run: Run) -> Table:
    rows = run.suite.index.rows(
        "SELECT kind, count(*) AS n, sum(problem != '') AS bad, sum(end_ns - start_ns) AS ns "
        "FROM spans WHERE run = ? GROUP BY kind ORDER BY ns DESC LIMIT 40",
        (run.id,),
    )
    cells = tuple(
        Row((row["kind"], row["n"], row["bad"] or None, Number(row["ns"] / 1e9, form="duration"))) for row in rows
    )
    return Table(
        columns_of("Kind", "Spans", "With problems", "Total time"),
        cells,
        "Parallel spans count in full",
    )


def _seconds(text: str, otherwise: float, most: float) -> float:
    try:
        value = float(text)
    except ValueError:
        return otherwise
    return min(max(0.0, value), most) if value == value else otherwise
