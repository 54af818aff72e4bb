"""Charts in neutral terms: what is drawn, from which numbers, in which tone; how it looks is the renderers' matter.

Points are (x, y) in the units of their axes. A tone is an index into the page's palette (evolvers take theirs by `tones_of`),
or a word for what has a meaning of its own; None is that of a reference.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Tone = int | Literal["good", "bad", "soft", "ink", "faint"] | None
"""Colour: an index (8 different ones), or good, bad, soft (text of less weight), ink (text), faint (nothing happened)."""

Shape = Literal["circle", "ring", "triangle", "back", "diamond", "cross"]
"""A mark: filled, hollow, pointing up, pointing left, diamond, cross."""

Point = tuple[float, float]
Bounds = tuple[float, float, float]
"""x, least, greatest."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A value to compare with, drawn as a dashed line where it falls into the chart, and what it is called."""

    value: float
    name: str


@dataclass(frozen=True, slots=True)
class Interval:
    """A named value with its interval, None where unknown, and the single values that it sums up, such as those of seeds."""

    name: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    tone: Tone = None
    singles: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark at a point; without `y` it lies at the bottom of the chart.

    Attributes:
        tip: what is told where the pointer rests.
        size: of the mark; 1 is usual, 2 for what surrounds another.
        low: the lower end of a whisker; None for none.
        high: the upper end.
    """

    x: float
    y: float | None
    shape: Shape = "circle"
    tone: Tone = None
    tip: str = ""
    size: float = 1.0
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """A line.

    Attributes:
        name: written at its end; "" for a line that needs no name.
        tone: its colour.
        points: by x.
        band: the area around it.
        steps: whether a value holds until the next point.
        until: for steps, up to where the last value holds; None for its own x.
        dots: whether each point is marked.
        thin: whether it is one of many, behind the others.
    """

    name: str
    tone: Tone
    points: tuple[Point, ...]
    band: tuple[Bounds, ...] = ()
    steps: bool = False
    until: float | None = None
    dots: bool = False
    thin: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """An entry of a legend: a mark (`span` for a bar of a timeline, `cell` for a square with `letter`), its tone, its meaning."""

    shape: Shape | Literal["span", "low-span", "cell"]
    tone: Tone
    meaning: str
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Intervals:
    """A dot and an interval for each line, from top to bottom; the value is written beside it."""

    title: str
    lines: tuple[Interval, ...]
    scale: str
    reference: Reference | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines, steps and marks over a scale: curves, progress, scatter.

    Attributes:
        title: its accessible name and its heading.
        x: what runs along the bottom.
        y: what is measured.
        series: those without points are left out.
        marks: over the lines.
        reference: a value of y.
        x_range: least and greatest x; None to fit what is drawn.
        y_from: a value that the scale of y always shows, such as 0; None for none.
        whole: whether x are whole numbers, so that ticks are.
        empty: what is said when there is nothing to draw.
        note: below the heading.
        legend: marks and what they mean; for a scatter, its names.
        wide: whether it is worth the width of the page.
        height: of the drawing; 1 is usual.
    """

    title: str
    x: str
    y: str
    series: tuple[Series, ...] = ()
    marks: tuple[Mark, ...] = ()
    reference: Reference | None = None
    x_range: tuple[float, float] | None = None
    y_from: float | None = None
    whole: bool = False
    empty: str = "nothing to show yet"
    note: str = ""
    legend: tuple[Key, ...] = ()
    wide: bool = False
    height: float = 1.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its name, what is written below it, its value (None for none), the ends of its interval."""

    name: str
    count: str
    value: float | None
    low: float | None = None
    high: float | None = None
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Shares (0 to 1) of named groups, upright, with intervals."""

    title: str
    bars: tuple[Bar, ...]
    x: str
    y: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """Every value as a tick, their mean with its interval below, a reference as a dashed line.

    Attributes:
        mean: (mean, low, high) of the values, None where unknown.
        counted: whether values that are few and alike have their number written.
    """

    title: str
    values: tuple[float, ...]
    mean: tuple[float | None, float | None, float | None]
    scale: str
    reference: Reference | None = None
    note: str = ""
    counted: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a timeline from `start` to `stop`; a `low` one is half as high."""

    start: float
    stop: float
    tone: Tone = None
    low: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A row: its name (once for neighbours of one name), what tells it apart, such as a seed, its spans, and events at x.

    Marks that would lie over one another are thinned by the renderer; `y` of a mark is 0 on the row and 1 above it.
    """

    name: str
    note: str
    spans: tuple[Span, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """Stretches and events of several rows over one scale, which runs from 0 to `stop`."""

    title: str
    rows: tuple[TimelineRow, ...]
    x: str
    stop: float
    note: str = ""
    legend: tuple[Key, ...] = ()
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """A matrix of outcomes: a row for each name, one letter for each column; `legend` gives every letter its tone and meaning."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    legend: tuple[Key, ...]
    note: str = ""


Chart = Intervals | Lines | Bars | Strip | Timeline | Grid


def tones_of(names: Iterable[str]) -> dict[str, Tone]:
    """Give names their colours, in their order; what is named twice has one."""
    return {name: i % 8 for i, name in enumerate(dict.fromkeys(names))}


def mean_steps(name: str, tone: Tone, lines: Sequence[Sequence[tuple[float, float]]], until: float) -> Series:
    """Return the mean of step lines, one for each seed, from where all have a value, between the least and the greatest.

    Args:
        name: the evolver.
        tone: its colour.
        lines: points (budget used, value) of each run that has any.
        until: up to where the last value holds.
    """
    if not lines:
        return Series(name, tone, ())
    start = max(line[0][0] for line in lines)
    points: list[tuple[float, float]] = []
    band: list[tuple[float, float, float]] = []
    for at in sorted({at for line in lines for at, _ in line if at >= start}):
        values = [next(v for when, v in reversed(line) if when <= at) for line in lines]
        points.append((at, statistics.fmean(values)))
        band.append((at, min(values), max(values)))
    return Series(name, tone, tuple(points), tuple(band), steps=True, until=max(points[-1][0], until))
