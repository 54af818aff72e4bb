"""The pictures of a report, made with the kit in `svg`.

Each is drawn 360 units wide, so that its letters stay readable on a phone; wide screens put several beside each other.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heredity.reports import svg, text
from heredity.reports.fields import Mean
from heredity.reports.model import Phase, Run
from heredity.reports.terms import POLICIES, Terms

WIDTH = 360.0
EDIT_BINS = ((0, 0), (1, 2), (3, 5), (6, 10), (11, 20), (21, 50), (51, None))
KINDS = {"synthesis": "synthesis", "parametric": "parametric", "initial": "initial"}


@dataclass(frozen=True, slots=True)
class Line:
    """A named value with its interval, for a dot-and-interval plot."""

    name: str
    mean: Mean
    shade: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Best-so-far over budget: (episodes, mean, least, greatest) over seeds, held until episode `until`."""

    name: str
    shade: str
    points: tuple[tuple[float, float, float, float], ...]
    until: float = 0.0


def best_so_far(name: str, shade: str, runs: Sequence[Run]) -> Curve:
    """Return the mean best-so-far validation curve over runs that have one, from where all of them have a value.

    Args:
        name: the evolver.
        shade: its colour class.
        runs: its runs on one taskset, one for each seed.
    """
    lines = [run.best_so_far for run in runs if run.best_so_far]
    if not lines:
        return Curve(name, shade, ())
    start = max(line[0][0] for line in lines)
    budgets = sorted({at for line in lines for at, _ in line if at >= start})
    points: list[tuple[float, float, float, float]] = []
    for at in budgets:
        values = [next(v for when, v in reversed(line) if when <= at) for line in lines]
        points.append((at, statistics.fmean(values), min(values), max(values)))
    used = [run.budget.get("used") or 0.0 for run in runs]
    return Curve(name, shade, tuple(points), max([points[-1][0], *used]))


def interval_axis(lines: Sequence[Line], reference: float | None, start: float, stop: float) -> svg.Axis:
    """Return an axis for the lines that also shows `reference`, unless that would squeeze them into less than half of it."""
    ends = [v for line in lines for v in (line.mean.value, *line.mean.bounds)]
    near = svg.fit(ends, start, stop)
    if reference is None or not _known(ends):
        return near
    wide = svg.fit([*ends, reference], start, stop)
    return wide if wide.high - wide.low <= 2 * (near.high - near.low) else near


def intervals(
    title: str,
    lines: Sequence[Line],
    axis_title: str,
    reference: float | None = None,
    mark: str = POLICIES.mark,
) -> str:
    """Return a dot-and-interval plot, one row for each line, its value written beside it.

    Args:
        title: accessible name.
        lines: rows from top to bottom.
        axis_title: what the values are.
        reference: the reference's mean, marked with a dashed line, or by an arrow when it is far off; None for none.
        mark: what the reference is called, in one word.
    """
    left = min(150.0, max([60.0, *(svg.text_width(text.shorten(line.name, 22)) + 10 for line in lines)]))
    step, top = 26.0, 20.0
    bottom = top + step * max(1, len(lines))
    axis = interval_axis(lines, reference, left, WIDTH - 62)
    largest = max([abs(v) for line in lines for v in _known([line.mean.value])], default=1.0)
    places = text.decimals_for(text.spread_of(line.mean.bounds for line in lines), largest)
    marks = [svg.x_axis(axis, bottom, top - 4, axis_title, axis.ticks(4))]
    if reference is not None:
        marks.append(reference_mark(axis, reference, top - 4, bottom, places, mark))
    for i, line in enumerate(lines):
        y = top + step * (i + 0.5)
        shown = text.number(line.mean.value, places)
        tip = f"{line.name}: {shown} {text.interval(line.mean.low, line.mean.high, places)}"
        marks.append(svg.label(text.shorten(line.name, 22), left - 8, y + 4, "end", "name"))
        marks.append(svg.dot_interval(axis, y, line.mean.value, line.mean.bounds, line.shade, tip))
        marks.append(svg.label(shown, WIDTH, y + 4, "end", "value"))
    return svg.figure(WIDTH, bottom + 36, title, *marks)


def reference_mark(axis: svg.Axis, value: float, top: float, bottom: float, places: int, mark: str) -> str:
    """Return the reference's mean as a dashed line with its value, or as an arrow where it is beyond the axis."""
    at = axis.at(value)
    name = f"{mark} {text.number(value, places)}"
    if axis.low <= value <= axis.high:
        anchor = "start" if at < axis.start + 40 else "end" if at > axis.stop - 40 else "middle"
        line = svg.element("line", x1=at, x2=at, y1=top, y2=bottom, class_="reference")
        return svg.group(line, svg.label(name, at, top - 5, anchor, "tick"))
    below = value < axis.low
    arrow = f"← {name}" if below else f"{name} →"
    return svg.label(arrow, axis.start if below else axis.stop, top - 5, "start" if below else "end", "tick")


def _known(values: Sequence[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def curves(
    title: str,
    entries: Sequence[Curve],
    budget: float,
    reference_mean: float | None = None,
    terms: Terms = POLICIES,
) -> str:
    """Return scores over budget: step lines with a band from the least to the greatest seed.

    Args:
        title: accessible name.
        entries: one for each evolver; those without points are left out.
        budget: episodes at the right end.
        reference_mean: the reference's score on the same scale, drawn where it falls among the curves; None for none.
        terms: the words.
    """
    shown = [c for c in entries if c.points]
    names = [f"{text.shorten(c.name, 15)}" for c in shown]
    right = WIDTH - max([30.0, *(svg.text_width(n) + 8 for n in names)])
    top, bottom = 24.0, 196.0
    y = svg.fit([v for c in shown for p in c.points for v in p[1:]], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    x = svg.Axis(0.0, max(1.0, budget), left, right)
    marks = [
        svg.y_axis(y, left, right, f"train {terms.score}" if terms.commits else "best validation mean so far"),
        svg.x_axis(x, bottom, bottom, f"{terms.attempts} of budget used"),
    ]
    marks += [svg.band([(at, low, high) for at, _, low, high in c.points], x, y, c.shade, c.until) for c in shown]
    marks += [svg.step_line([(at, mean) for at, mean, _, _ in c.points], x, y, c.shade, c.until) for c in shown]
    ends = [(y.at(c.points[-1][1]), name, c.shade) for c, name in zip(shown, names, strict=True)]
    marks.append(svg.end_labels(ends, right, top + 2, bottom - 2))
    if reference_mean is not None and y.low < reference_mean < y.high:
        level = y.at(reference_mean)
        marks.append(svg.element("line", x1=left, x2=right, y1=level, y2=level, class_="reference"))
        marks.append(svg.label(terms.mark, right - 3, level - 4, "end", "tick halo"))
    if not shown:
        nothing = "nothing committed yet" if terms.commits else "no validation score yet"
        marks.append(svg.label(nothing, (left + right) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(WIDTH, bottom + 34, title, *marks)


def _phase_marks(phases: Sequence[Phase], x: svg.Axis, y: float) -> list[str]:
    marks: list[str] = []
    for phase in phases:
        if phase.kind in ("rollback", "retest"):
            continue
        start, stop = x.at(phase.start), x.at(phase.stop)
        tip = f"{phase.kind}, episodes {text.number(phase.start)} to {text.number(phase.stop)}"
        height = 11.0 if phase.kind == "synthesis" else 5.5
        marks.append(
            svg.bar(start, y + 11 - height, stop - start, height, f"phase {KINDS.get(phase.kind, 'other')}", tip)
        )
    return marks


def timeline(
    title: str, runs: Sequence[tuple[str, Run]], budget: float, *, labels: float = 122.0, width: float = WIDTH
) -> str:
    """Return phases of synthesis (tall) and parametric (low) edits over budget, with improvements, rollbacks and retests.

    Args:
        title: accessible name.
        runs: (row label, run), from top to bottom; a label repeated from the row above is not written again.
        budget: episodes at the right end.
        labels: width of the column of labels.
        width: of the picture.
    """
    step, top = 24.0, 12.0
    bottom = top + step * max(1, len(runs)) + 2
    x = svg.Axis(0.0, max(1.0, budget), labels, width - 8)
    marks = [svg.x_axis(x, bottom, top - 6, "episodes of budget used", x.ticks(5))]
    previous = ""
    for i, (name, run) in enumerate(runs):
        y = top + step * i + 7
        if name != previous:
            marks.append(svg.label(text.shorten(name, 16 if labels > 60 else 8), 0, y + 10, class_="name"))
            if i:
                marks.append(svg.element("line", x1=0, x2=width - 8, y1=y - 9, y2=y - 9, class_="rule"))
        if run.seed is not None and labels > 60:
            marks.append(svg.label(str(run.seed), labels - 7, y + 10, "end", "tick"))
        previous = name
        marks.append(svg.bar(x.at(0), y + 10, x.stop - x.start, 1, "track"))
        marks += _phase_marks(run.phases, x, y)
        marks += _event_marks(run, x, y)
    return svg.figure(width, bottom + 34, title, svg.group(*marks))


def _event_marks(run: Run, x: svg.Axis, y: float) -> list[str]:
    marks: list[str] = []
    for s in run.submissions:
        at = x.at(s.budget_used)
        where = f"submission {s.index}, {s.budget_used} episodes"
        if s.edit.kind == "rollback":
            marks.append(svg.mark("back", at, y + 5.5, "event", f"rollback: {where}"))
        elif s.edit.kind == "retest":
            marks.append(svg.mark("ring", at, y + 5.5, "event", f"retest: {where}", 2.8))
        if s.edit.hit:
            marks.append(svg.mark("triangle", at, y - 3.2, "hit", f"new best: {where}", 2.8))
    return marks


def edit_bins(runs: Sequence[Run]) -> list[tuple[str, int, int]]:
    """Count edits by size over runs: (lines changed, edits, edits that raised the validation best)."""
    counted = [[0, 0] for _ in EDIT_BINS]
    for run in runs:
        listed = run.diagnostics.get("edit_size")
        for entry in listed if isinstance(listed, list | tuple) else ():
            lines = text.finite(entry.get("lines")) if isinstance(entry, Mapping) else None
            if lines is None:
                continue
            for i, (low, high) in enumerate(EDIT_BINS):
                if lines >= low and (high is None or lines <= high):
                    counted[i][0] += 1
                    counted[i][1] += entry.get("improved") is True
    names = [str(low) if low == high else f"{low}\u2013{high}" if high else f"> {low - 1}" for low, high in EDIT_BINS]
    return [(name, n, hits) for name, (n, hits) in zip(names, counted, strict=True)]


def wilson(hits: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion (Wilson 1927), which stays inside [0, 1] for few trials."""
    z = statistics.NormalDist().inv_cdf(0.5 + confidence / 2)
    share, scale = hits / n, 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z / scale * (share * (1 - share) / n + z * z / (4 * n * n)) ** 0.5
    return max(0.0, centre - half), min(1.0, centre + half)


def edit_sizes(title: str, bins: Sequence[tuple[str, int, int]], confidence: float = 0.95) -> str:
    """Return how often edits of each size raised the validation best, with Wilson intervals and counts."""
    left, top, bottom = 40.0, 24.0, 176.0
    bounds = [wilson(hits, n, confidence)[1] for _, n, hits in bins if n]
    y = svg.Axis(0.0, min(1.0, max([0.1, *bounds]) * 1.08), bottom, top)
    values = y.ticks(4)
    marks = [svg.element("line", x1=left, x2=WIDTH, y1=y.at(v), y2=y.at(v), class_="grid") for v in values]
    marks += [svg.label(text.percent(v), left - 6, y.at(v) + 3.5, "end", "tick") for v in values]
    marks.append(svg.label("edits that raised the validation best", 0, top - 10, class_="axis-title"))
    slot = (WIDTH - left) / max(1, len(bins))
    for i, (name, n, hits) in enumerate(bins):
        centre = left + slot * (i + 0.5)
        marks.append(svg.label(name, centre, bottom + 14, "middle", "tick"))
        marks.append(svg.label(f"{hits}/{n}" if n else text.DASH, centre, bottom + 27, "middle", "tick faint"))
        if n:
            low, high = wilson(hits, n, confidence)
            tip = f"{name} lines: {hits} of {n} edits ({text.percent(hits / n)}) raised the best"
            height = bottom - y.at(hits / n)
            marks.append(svg.bar(centre - slot * 0.3, y.at(hits / n), slot * 0.6, height, "bar c0", tip))
            marks.append(svg.element("line", x1=centre, x2=centre, y1=y.at(low), y2=y.at(high), class_="whisker ink"))
    marks.append(svg.element("line", x1=left, x2=WIDTH, y1=bottom, y2=bottom, class_="axis"))
    marks.append(
        svg.label(
            "lines changed (below: raised the best / edits)", (left + WIDTH) / 2, bottom + 44, "middle", "axis-title"
        )
    )
    return svg.figure(WIDTH, bottom + 50, title, *marks)
