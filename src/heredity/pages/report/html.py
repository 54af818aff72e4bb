"""report.html: one self-contained page.

It has no scripts and makes no requests: style sheet and pictures are embedded. Notes, tracebacks and names come from
evolvers and are escaped everywhere.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from typing import Any

import jinja2
from markupsafe import Markup, escape

from heredity.pages.report import svg, values
from heredity.results import charts, text
from heredity.results.page import Cell, Mean, Mono, Named, Page, Table, Value, Verdict

WIDTH, WIDE, WIDEST = 310.0, 640.0, 1080.0
"""Widths of a picture in a card, of one that takes most of a page's width, and of a full-width one."""

_NAME, _LONG = 21, 40
_AT_ENDS = 0.4
"""Maximum share of a picture's width for names at the ends of lines."""
_FEW = 6
"""Maximum number of different values of a strip that are counted in words."""
_APART = 8.0
"""Minimum distance of marks of a timeline; closer ones are drawn as one."""


def tone_class(tone: charts.Tone) -> str:
    """Return the CSS class for a tone's colour."""
    return "ref" if tone is None else f"c{tone % 8}" if isinstance(tone, int) else f"t-{tone}"


@singledispatch
def draw(chart: charts.Chart, width: float = WIDTH) -> str:
    """Return a chart as SVG, `width` units wide.

    Raises:
        TypeError: if the chart has an unknown type.
    """
    raise TypeError(f"a chart of type {type(chart).__name__}: expected one of heredity.results.charts")


def reference_mark(axis: svg.Axis, reference: charts.Reference, top: float, bottom: float, places: int) -> str:
    """Draw the reference as a dashed line with its value, or as an arrow if it is beyond the axis."""
    value, at = reference.value, axis.at(reference.value)
    name = f"{reference.name} {text.number(value, places)}"
    if axis.low <= value <= axis.high:
        half = svg.text_width(name) / 2
        anchor = "start" if at < axis.start + half else "end" if at > axis.stop - half else "middle"
        line = svg.element("line", x1=at, x2=at, y1=top, y2=bottom, class_="reference")
        return svg.group(line, svg.label(name, at, top - 5, anchor, "tick"))
    below = value < axis.low
    arrow = f"← {name}" if below else f"{name} →"
    return svg.label(arrow, axis.start if below else axis.stop, top - 5, "start" if below else "end", "tick")


def interval_axis(ends: Sequence[float], reference: charts.Reference | None, start: float, stop: float) -> svg.Axis:
    """Return an axis for the values that also includes the reference, unless that would squeeze them into half of it."""
    near = svg.fit(ends, start, stop)
    if reference is None or not ends:
        return near
    wide = svg.fit([*ends, reference.value], start, stop)
    return wide if wide.high - wide.low <= 2 * (near.high - near.low) else near


@draw.register
def _intervals(chart: charts.Intervals, width: float = WIDTH) -> str:
    left = min(140.0, max([50.0, *(svg.text_width(text.shorten(line.name, _NAME)) + 10 for line in chart.lines)]))
    step, top = 26.0, 22.0
    bottom = top + step * max(1, len(chart.lines))
    ends = [v for line in chart.lines for v in (line.value, line.low, line.high, *line.singles) if v is not None]
    axis = interval_axis(ends, chart.reference, left, width - 62)
    largest = max([abs(line.value) for line in chart.lines if line.value is not None], default=1.0)
    places = text.decimals_for(text.spread_of((line.low, line.high) for line in chart.lines), largest)
    marks = [svg.x_axis(axis, bottom, top - 4, chart.scale, axis.ticks(3))]
    if chart.reference is not None:
        marks.append(reference_mark(axis, chart.reference, top - 4, bottom, places))
    for i, line in enumerate(chart.lines):
        y = top + step * (i + 0.5)
        shown = text.number(line.value, places)
        tip = f"{line.name}: {shown} {text.interval(line.low, line.high, places)}"
        marks.append(svg.label(text.shorten(line.name, _NAME), left - 8, y + 4, "end", "name"))
        tone = tone_class(line.tone)
        marks += [svg.mark("ring", axis.at(v), y + 8, tone, text.number(v, places), 2.0) for v in line.singles]
        marks.append(svg.dot_interval(axis, y, line.value, (line.low, line.high), tone, tip))
        marks.append(svg.label(shown, width, y + 4, "end", "value"))
    return svg.figure(width, bottom + 38, chart.title, *marks)


@draw.register
def _lines(chart: charts.Lines, width: float = WIDTH) -> str:
    shown = sorted((s for s in chart.series if s.points), key=lambda s: not s.thin)
    names = [s.name if len(s.name) <= _LONG else f"…{s.name[1 - _LONG :]}" for s in shown]
    room = max([10.0, *(1.12 * svg.text_width(name) + 12 for name in names if name)])
    # Long names go below the picture, which would have no room otherwise.
    below: list[tuple[charts.Tone, str]] = [
        (s.tone, name) for s, name in zip(shown, names, strict=True) if name and room > width * _AT_ENDS
    ]
    right = width - (10.0 if below else room)
    top = 26.0
    bottom = top + (170.0 if width == WIDTH else 250.0) * chart.height
    y = svg.fit([chart.y_from, *_heights(chart)], bottom, top)
    left = 12.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    x = _across(chart, left, right)
    ticks = [t for t in x.ticks(max(3, int((right - left) / 62))) if not chart.whole or t == int(t)]
    marks = [svg.y_axis(y, left, right, chart.y), svg.x_axis(x, bottom, bottom, chart.x, ticks)]
    reference = chart.reference
    if reference is not None and y.low <= reference.value <= y.high:
        level = y.at(reference.value)
        marks.append(svg.element("line", x1=left, x2=right, y1=level, y2=level, class_="reference"))
        marks.append(svg.label(reference.name, right - 3, level - 4, "end", "tick halo") if reference.name else "")
    marks += [_band(series, x, y) for series in shown]
    marks += [_line(series, x, y) for series in shown]
    marks += [_mark(m, x.at(m.x), bottom - 5 if m.y is None else y.at(m.y), y) for m in chart.marks]
    ends = [(y.at(s.points[-1][1]), n, tone_class(s.tone)) for s, n in zip(shown, names, strict=True) if n]
    marks.append("" if below else svg.end_labels(ends, right, top + 2, bottom - 2))
    marks += [_end_label(tone, name, left, bottom + 54 + 17 * i) for i, (tone, name) in enumerate(below)]
    if not shown and not chart.marks:
        marks.append(svg.label(chart.empty, (left + right) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(width, bottom + 38 + (17 * len(below) + 6 if below else 0), chart.title, *marks)


def _end_label(tone: charts.Tone, name: str, x: float, y: float) -> str:
    return svg.group(svg.mark("circle", x + 4, y - 4, tone_class(tone), None, 3.6), svg.label(name, x + 14, y))


def _heights(chart: charts.Lines) -> list[float | None]:
    values: list[float | None] = [v for s in chart.series for _, v in s.points]
    values += [v for s in chart.series for band in s.band for v in band[1:]]
    return [*values, *(v for mark in chart.marks for v in (mark.y, mark.low, mark.high))]


def _across(chart: charts.Lines, left: float, right: float) -> svg.Axis:
    if chart.x_range is not None:
        low, high = chart.x_range
        return svg.Axis(low, high if high > low else low + 1.0, left, right)
    places = [at for s in chart.series for at, _ in s.points] + [mark.x for mark in chart.marks]
    if not any(s.points for s in chart.series):
        return svg.fit(places, left, right, 0.12)
    low, high = min(places), max([*places, *(s.until or 0.0 for s in chart.series)])
    return svg.Axis(low, max(high, low + 1.0) if chart.whole or high == low else high, left, right)


def _band(series: charts.Series, x: svg.Axis, y: svg.Axis) -> str:
    if series.steps or not series.band:
        return svg.band(series.band, x, y, tone_class(series.tone), series.until)
    upper = [(x.at(at), y.at(high)) for at, _, high in series.band]
    lower = [(x.at(at), y.at(low)) for at, low, _ in series.band]
    return svg.element("path", d=f"{svg.path(upper + lower[::-1])}Z", class_=f"band {tone_class(series.tone)}")


def _line(series: charts.Series, x: svg.Axis, y: svg.Axis) -> str:
    tone = tone_class(series.tone) + (" thin" if series.thin else "")
    if series.steps:
        line = svg.step_line(series.points, x, y, tone, series.until)
    else:
        outline = svg.path([(x.at(at), y.at(value)) for at, value in series.points])
        line = svg.element("path", d=outline, class_=f"line {tone}")
    tips = [(at, value, f"{series.name}, at {text.number(at)}: {text.number(value, 3)}") for at, value in series.points]
    dots = [svg.mark("circle", x.at(at), y.at(value), tone, tip, 2.4) for at, value, tip in tips if series.dots]
    return svg.group(line, *dots)


def _mark(mark: charts.Mark, at: float, height: float, y: svg.Axis | None = None) -> str:
    tone = tone_class(mark.tone)
    whisker = ""
    if y is not None and mark.low is not None and mark.high is not None:
        whisker = svg.element("line", x1=at, x2=at, y1=y.at(mark.low), y2=y.at(mark.high), class_=f"whisker {tone}")
    outer = " around" if mark.shape == "ring" and mark.size >= 2 else ""
    return whisker + svg.mark(mark.shape, at, height, tone + outer, mark.tip, 3.0 * mark.size)


@draw.register
def _bars(chart: charts.Bars, width: float = WIDTH) -> str:
    left, top, bottom = 42.0, 26.0, 176.0
    ends = [b.high if b.high is not None else b.value for b in chart.bars]
    y = svg.Axis(0.0, min(1.0, max([0.1, *(v for v in ends if v is not None)]) * 1.08), bottom, top)
    values = y.ticks(4)
    marks = [svg.element("line", x1=left, x2=width, y1=y.at(v), y2=y.at(v), class_="grid") for v in values]
    marks += [svg.label(text.percent(v), left - 6, y.at(v) + 4, "end", "tick") for v in values]
    marks.append(svg.label(chart.y, 0, top - 11, class_="axis-title"))
    slot = (width - left) / max(1, len(chart.bars))
    for i, b in enumerate(chart.bars):
        centre = left + slot * (i + 0.5)
        marks.append(svg.label(b.name, centre, bottom + 15, "middle", "tick"))
        marks.append(svg.label(b.count, centre, bottom + 30, "middle", "tick"))
        if b.value is not None:
            height = bottom - y.at(b.value)
            marks.append(svg.bar(centre - slot * 0.3, y.at(b.value), slot * 0.6, height, "bar c0", b.tip))
        if b.low is not None and b.high is not None:
            low, high = y.at(b.low), y.at(b.high)
            marks.append(svg.element("line", x1=centre, x2=centre, y1=low, y2=high, class_="whisker t-ink"))
    marks.append(svg.element("line", x1=left, x2=width, y1=bottom, y2=bottom, class_="axis"))
    marks.append(svg.label(chart.x, (left + width) / 2, bottom + 48, "middle", "axis-title"))
    return svg.figure(width, bottom + 54, chart.title, *marks)


@draw.register
def _strip(chart: charts.Strip, width: float = WIDTH) -> str:
    mean, low, high = chart.mean
    ends = [*chart.values, *(v for v in chart.mean if v is not None)]
    axis = interval_axis(ends, chart.reference, 10.0, width - 10)
    marks = [svg.x_axis(axis, 86.0, 16.0, chart.scale, axis.ticks(4))]
    for value in chart.values:
        at = axis.at(value)
        marks.append(
            svg.group(
                svg.element("line", x1=at, x2=at, y1=24, y2=48, class_="tick-mark c0"),
                tip=text.number(value),
            )
        )
    alike = Counter(chart.values)
    for value, times in alike.items() if chart.counted and len(alike) <= _FEW else ():
        at, last = axis.at(value), axis.at(value) > axis.stop - 34
        marks.append(svg.label(f"× {times}", at - 6 if last else at + 6, 40, "end" if last else "start", "tick"))
    tip = f"mean {text.number(mean)} {text.interval(low, high)}"
    marks.append(svg.dot_interval(axis, 66.0, mean, (low, high), "c0", tip))
    if chart.reference is not None:
        places = text.decimals_for(text.spread_of([(low, high)]), chart.reference.value)
        marks.append(reference_mark(axis, chart.reference, 16.0, 86.0, places))
    return svg.figure(width, 124, chart.title, *marks)


@draw.register
def _timeline(chart: charts.Timeline, width: float = WIDTH) -> str:
    room = 118.0 if width == WIDTH else 220.0
    notes = max([svg.text_width(row.note) + 8 for row in chart.rows if row.note], default=0.0)
    names = max([svg.text_width(text.shorten(row.name, 16)) for row in chart.rows], default=0.0)
    labels = min(room, names + notes + 10)
    step, top = 24.0, 14.0
    bottom = top + step * max(1, len(chart.rows)) + 2
    x = svg.Axis(0.0, max(1.0, chart.stop), labels, width - 8)
    marks = [svg.x_axis(x, bottom, top - 6, chart.x, x.ticks(max(3, int((width - labels) / 62))))]
    previous = ""
    fits = max(6, int((labels - notes - 6) / svg.CHARACTER_WIDTH))
    for i, row in enumerate(chart.rows):
        y = top + step * i + 7
        if row.name != previous:
            marks.append(svg.label(text.shorten(row.name, fits), 0, y + 10, class_="name"))
            if i:
                marks.append(svg.element("line", x1=0, x2=width - 8, y1=y - 9, y2=y - 9, class_="rule"))
        previous = row.name
        marks.append(svg.label(row.note, labels - 7, y + 10, "end", "tick") if row.note else "")
        marks.append(svg.bar(x.at(0), y + 10, x.stop - x.start, 1, "track"))
        for span in row.spans:
            height, start = (5.5 if span.low else 11.0), x.at(span.start)
            marks.append(
                svg.bar(
                    start, y + 11 - height, x.at(span.stop) - start, height, f"phase {tone_class(span.tone)}", span.tip
                )
            )
        marks += _thinned(row.marks, x.at, y)
    return svg.figure(width, bottom + 38, chart.title, svg.group(*marks))


def _thinned(marks: Sequence[charts.Mark], at: Callable[[float], float], y: float) -> list[str]:
    """Return marks of a row; overlapping marks of one kind become one with their number."""
    drawn: list[str] = []
    kinds: dict[tuple[charts.Shape, float | None], list[charts.Mark]] = {}
    for mark in sorted(marks, key=lambda m: m.x):
        kinds.setdefault((mark.shape, mark.y), []).append(mark)
    for alike in kinds.values():
        runs = [[alike[0]]]
        for mark in alike[1:]:
            if at(mark.x) - at(runs[-1][0].x) < _APART:
                runs[-1].append(mark)
            else:
                runs.append([mark])
        for run in runs:
            more = f"; {len(run)} close together" if len(run) > 1 else ""
            middle = (at(run[0].x) + at(run[-1].x)) / 2
            first = charts.Mark(run[0].x, 0.0, run[0].shape, run[0].tone, run[0].tip + more, 0.95)
            drawn.append(_mark(first, middle, y - 3.2 if run[0].y else y + 5.5))
    return drawn


@draw.register
def _grid(chart: charts.Grid, width: float = WIDTH) -> str:
    meanings = {key.letter: key for key in chart.legend}
    left = min(150.0, max([40.0, *(svg.text_width(text.shorten(name, _NAME)) + 8 for name, _ in chart.rows)]))
    cell = min(26.0, (width - left) / max(1, len(chart.columns)))
    step, top = 18.0, 20.0
    widest = max([svg.text_width(name) for name in chart.columns], default=1.0) + 4
    every = max(1, -(-int(widest) // max(1, int(cell))))
    last = len(chart.columns) - 1
    marks = [
        svg.label(name, left + cell * (i + 0.5), top - 6, "middle", "tick")
        for i, name in enumerate(chart.columns)
        if (i % every == 0 and last - i >= every) or i == last
    ]
    for row, (name, letters) in enumerate(chart.rows):
        y = top + step * row
        marks.append(svg.label(text.shorten(name, _NAME), left - 7, y + 13, "end", "name"))
        for i, (letter, column) in enumerate(zip(letters, chart.columns, strict=False)):
            key = meanings.get(letter)
            tip = svg.element("title", text=f"{name} at {column}: {key.meaning if key else 'missing'}")
            x = left + cell * i
            box = svg.element("rect", x=x + 0.75, y=y + 0.75, width=cell - 1.5, height=step - 1.5, rx=2)
            shown = svg.label(letter, x + cell / 2, y + 13, "middle") if cell >= 10 else ""
            marks.append(svg.element("g", tip, box, shown, class_=f"cell {tone_class(key.tone if key else None)}"))
    return svg.figure(width, top + step * max(1, len(chart.rows)) + 4, chart.title, *marks)


def key_picture(key: charts.Key) -> str:
    """Draw the symbol of a legend's entry."""
    tone = tone_class(key.tone)
    if key.shape == "cell":
        box = svg.element("rect", x=1.0, y=0.5, width=16.0, height=15.0, rx=2)
        inner = svg.group(box, svg.label(key.letter, 9, 12.4, "middle"), class_=f"cell {tone}")
    elif key.shape in ("span", "low-span"):
        height = 11.0 if key.shape == "span" else 5.5
        inner = svg.element("rect", x=0.0, y=13 - height, width=18.0, height=height, class_=f"phase {tone}")
    else:
        inner = svg.mark(key.shape, 9, 8, tone, None, 3.4)
    return svg.element("svg", inner, class_="plot", viewBox="0 0 18 16", aria_hidden="true")


_LONG_NOTE = 26
_INTERVAL = re.compile(r"\[[^\]]*\]")

LONG = 24
"""Number of rows from which a table is folded under its caption."""


def render(page: Page, links: Mapping[str, str] | None = None) -> str:
    """Return a page as HTML.

    Args:
        page: the page.
        links: run id to the address of that run's page.
    """
    return environment().get_template("page.html.j2").render(page=page, style=style(), **drawn_with(links or {}))


def style() -> Markup:
    """Return the style sheet of pages."""
    loaded = environment()
    return Markup(loaded.loader.get_source(loaded, "page.css")[0] if loaded.loader else "")


def drawn_with(links: Mapping[str, str]) -> dict[str, Any]:
    """Return the context of `parts.html.j2`, which draws the parts of pages; `links` has the address of each `Named.run`."""
    return {
        "show": functools.partial(_render_value, links=links),
        "as_cell": values.as_cell,
        "kind": _kind,
        "is_long": _long,
        "picture": _picture,
        "key_picture": _key,
        "diff_class": _diff_class,
        "WIDE": WIDE,
        "WIDEST": WIDEST,
    }


@functools.cache
def environment(*packages: str) -> jinja2.Environment:
    """Return the template environment: autoescaping on, undefined names are errors.

    Args:
        *packages: packages whose folder `templates` has further templates.
    """
    loaders = [jinja2.PackageLoader(package, "templates") for package in (*packages, "heredity.pages.report")]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: Any) -> Any:
    """Return a value for the template, with control characters removed from plain text."""
    return text.clean(value) if type(value) is str else value


def _kind(part: Any) -> str:
    return "Chart" if isinstance(part, charts.Chart) else type(part).__name__


def _long(table: Table) -> bool:
    return table.folded or len(table.rows) > LONG


def _picture(chart: charts.Chart, width: float = WIDTH) -> Markup:
    # The SVG kit has escaped the texts of its pictures.
    return Markup(draw(chart, width))


def _key(key: charts.Key) -> Markup:
    return Markup(key_picture(key))


def _diff_class(line: str) -> str:
    return {"+": "add", "-": "del", "@": "at"}.get(line[:1], "")


def _render_value(value: Value | Cell, links: Mapping[str, str]) -> Markup:
    if isinstance(value, Cell):
        shown = _render_value(value.value, links)
        tone = ' class="bad-text"' if value.tone == "bad" and not isinstance(value.value, Verdict) else ""
        inner = Markup("<span%s>%s</span>") % (Markup(tone), shown) if tone else shown
        return inner + Markup("").join(_note(note, links) for note in value.notes)
    main, interval = values.written(value)
    if isinstance(value, Mean) and interval:
        return Markup('%s<span class="ci">%s</span>') % (main, interval)
    return _inline(value, links)


def _note(note: Value, links: Mapping[str, str]) -> Markup:
    """Format a small line below a value; a long one wraps between words but not inside an interval."""
    if isinstance(note, str) and len(note) > _LONG_NOTE:
        whole = _INTERVAL.sub(lambda interval: interval[0].replace(" ", "\u00a0"), text.clean(note))
        return Markup('<span class="ci why">%s</span>') % whole
    return Markup('<span class="ci">%s</span>') % _inline(note, links)


def _inline(value: Value, links: Mapping[str, str]) -> Markup:
    main = escape(values.written(value)[0])
    match value:
        case Verdict():
            kind = values.TONES.get(value.word or "", values.TONES.get(str(value.tone), "noise"))
            sign = f"{values.SIGNS[value.word]} " if value.word in values.SIGNS else ""
            why = Markup('<span class="ci why">%s</span>') % value.because if value.because else ""
            return Markup('<span class="verdict %s">%s%s</span>%s') % (kind, sign, main, why)
        case Named():
            swatch = Markup('<span class="swatch %s"></span>') % tone_class(value.tone)
            name = main if value.tone is None and not value.swatch else swatch + main
            if value.title and value.title != value.name:
                name = Markup('<span title="%s">%s</span>') % (text.clean(value.title), name)
            address = links.get(value.run or "")
            return Markup('<a href="%s">%s</a>') % (address, name) if address else name
        case Mono():
            return Markup("<code>%s</code>") % main
        case Mean():
            return Markup(escape(values.line(value)))
        case _:
            return Markup(main)
