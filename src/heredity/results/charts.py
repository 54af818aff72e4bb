"""Charts in neutral terms: shapes, numbers and tones; renderers decide on their look.

Points are (x, y) in the units of their axes. A tone is an index into the page's palette (`tones_of` assigns those of
evolvers), or a word with a meaning; None is the tone of a reference.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Tone = int | Literal["good", "bad", "soft", "ink", "faint"] | None
"""Colour: an index (8 different ones), or good, bad, soft (text of less weight), ink (text), faint (nothing happened)."""

Shape = Literal["circle", "ring", "triangle", "back", "diamond", "cross"]
"""Mark: filled, hollow, pointing up, pointing left, diamond, cross."""

Point = tuple[float, float]
Bounds = tuple[float, float, float]
"""x, minimum, maximum."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Named value to compare with, drawn as a dashed line if it is inside the chart."""

    value: float
    name: str


@dataclass(frozen=True, slots=True)
class Interval:
    """Named value with its interval, None if unknown, and the values it summarises, such as those of seeds."""

    name: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    tone: Tone = None
    singles: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark at a point; without `y` it is at the bottom of the chart.

    Attributes:
        tip: tooltip.
        size: relative size; usually 1, or 2 for a mark around another.
        low: lower end of a whisker; None for none.
        high: upper end.
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
    """Line.

    Attributes:
        name: label at its end; "" for none.
        tone: its colour.
        points: points by x.
        band: area around it.
        steps: whether a value holds until the next point.
        until: for steps, the end of the last value (None for its x).
        dots: whether each point is marked.
        thin: whether it is one of many background lines.
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
    """Entry of a legend: a mark (`span` for a bar of a timeline, `cell` for a square with `letter`), its tone, its meaning."""

    shape: Shape | Literal["span", "low-span", "cell"]
    tone: Tone
    meaning: str
    letter: str = ""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Dot and interval for each line, from top to bottom, with the value next to it."""

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
        x: label of the horizontal axis.
        y: label of the vertical axis.
        series: lines; those without points are left out.
        marks: marks over the lines.
        reference: a value of y.
        x_range: minimum and maximum x; None to fit the content.
        y_from: a value that the scale of y always includes, such as 0; None for none.
        whole: whether x values, and so the ticks, are integers.
        empty: text for a chart without content.
        note: text below the heading.
        legend: marks and their meanings; for a scatter, its names.
        wide: whether it takes the width of the page.
        height: relative height; usually 1.
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
    """Bar: its name, the text below it, its value (None for none), the ends of its interval."""

    name: str
    count: str
    value: float | None
    low: float | None = None
    high: float | None = None
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Shares (0 to 1) of named groups as vertical bars with intervals."""

    title: str
    bars: tuple[Bar, ...]
    x: str
    y: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Strip:
    """Every value as a tick, their mean with its interval below, a reference as a dashed line.

    Attributes:
        mean: (mean, low, high) of the values, None if unknown.
        counted: whether a few distinct values show their counts.
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
    """Stretch of a timeline from `start` to `stop`; a `low` one is half as high."""

    start: float
    stop: float
    tone: Tone = None
    low: bool = False
    tip: str = ""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """Row of a timeline: its name (once for neighbours of one name), a distinguishing label such as a seed, spans, events at x.

    The renderer thins overlapping marks; `y` of a mark is 0 on the row and 1 above it.
    """

    name: str
    note: str
    spans: tuple[Span, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """Stretches and events of several rows over one scale from 0 to `stop`."""

    title: str
    rows: tuple[TimelineRow, ...]
    x: str
    stop: float
    note: str = ""
    legend: tuple[Key, ...] = ()
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """Matrix of outcomes: a row per name, a letter per column; `legend` gives every letter its tone and meaning."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str], ...]
    legend: tuple[Key, ...]
    note: str = ""


Chart = Intervals | Lines | Bars | Strip | Timeline | Grid


def tones_of(names: Iterable[str]) -> dict[str, Tone]:
    """Assign colours to names, in order; repeated names share one."""
    return {name: i % 8 for i, name in enumerate(dict.fromkeys(names))}


def mean_steps(name: str, tone: Tone, lines: Sequence[Sequence[tuple[float, float]]], until: float) -> Series:
    """Return the mean of step lines, one for each seed, from where all have a value, with a band from minimum to maximum."""
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
