"""A small plotting kit for self-contained pages: pure functions that return SVG as text.

Coordinates are user units of the figure's view box. Colours come from the page's style sheet through classes, so that one
picture serves light and dark pages; every text is escaped. Figures carry a title for readers who do not see them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from heredity._core.errors import ConfigError
from heredity.results import text as words

CHARACTER_WIDTH = 6.5
_RESERVED = {"class_": "class", "for_": "for"}


def escape(value: str) -> str:
    """Escape text for SVG and HTML, in elements and in quoted attributes."""
    return html.escape(words.clean(value), quote=True)


def element(tag: str, *children: str, text: str | None = None, **attributes: str | float | None) -> str:
    """Return one element.

    Args:
        tag: its name, a constant of the caller.
        *children: markup that is already safe.
        text: text content, escaped here, put before the children.
        **attributes: underscores become hyphens; None leaves the attribute out; numbers are rounded to 0.01.
    """
    parts = [tag]
    for name, value in attributes.items():
        if value is None:
            continue
        key = _RESERVED.get(name, name.replace("_", "-") if name != "viewBox" else name)
        parts.append(f'{key}="{escape(value) if isinstance(value, str) else coordinate(value)}"')
    content = ("" if text is None else escape(text)) + "".join(children)
    return f"<{' '.join(parts)}>{content}</{tag}>" if content else f"<{' '.join(parts)}/>"


def coordinate(value: float) -> str:
    """Write a coordinate with at most two decimals."""
    written = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def figure(width: float, height: float, title: str, *children: str, description: str | None = None) -> str:
    """Return a whole picture that scales to its container, with `title` as its accessible name."""
    inner = [element("title", text=title)]
    if description:
        inner.append(element("desc", text=description))
    box = f"0 0 {coordinate(width)} {coordinate(height)}"
    return element("svg", *inner, *children, role="img", viewBox=box, aria_label=title, class_="plot", width=width)


def group(*children: str, class_: str | None = None, tip: str | None = None) -> str:
    """Return a group of marks with an optional tooltip."""
    tooltip = [element("title", text=tip)] if tip else []
    return element("g", *tooltip, *children, class_=class_) if children else ""


def label(content: str, x: float, y: float, anchor: str = "start", class_: str | None = None) -> str:
    """Return text at a baseline point; `anchor` is start, middle or end."""
    return element("text", text=content, x=x, y=y, text_anchor=anchor if anchor != "start" else None, class_=class_)


def text_width(content: str) -> float:
    """Estimate the width of a label in user units, on the safe side."""
    return len(content) * CHARACTER_WIDTH


@dataclass(frozen=True, slots=True)
class Axis:
    """Linear map from values to positions; positions beyond the ends are clamped.

    Attributes:
        low: the value at `start`, less than `high`.
        high: the value at `stop`.
        start: position of `low` in user units.
        stop: position of `high`; less than `start` for an axis that grows upwards.
    """

    low: float
    high: float
    start: float
    stop: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ConfigError(
                f"an axis from {self.low} to {self.high}: expected finite ends, the lower first; use fit()"
            )

    def at(self, value: float) -> float:
        """Return the position of a value."""
        share = min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))
        return self.start + share * (self.stop - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """Return about `count` round values inside the axis."""
        return nice_ticks(self.low, self.high, count)


def fit(values: Iterable[float | None], start: float, stop: float, pad: float = 0.06) -> Axis:
    """Return an axis that covers the known values with a margin of `pad` of their range; [0, 1] without values."""
    # Beyond a tenth of the largest float there is no room for a margin; values there are clamped.
    numbers = [min(max(v, -1e307), 1e307) for v in values if v is not None and math.isfinite(v)]
    if not numbers:
        return Axis(0.0, 1.0, start, stop)
    low, high = min(numbers), max(numbers)
    if low == high:
        # Scores that cannot be negative get no room below zero.
        room = abs(low) * 0.1 or 1.0
        return Axis(low - room if low else 0.0, high + room, start, stop)
    room = (high - low) * pad
    return Axis(low - room, high + room, start, stop)


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return round values (steps of 1, 2 or 5 times a power of ten) between `low` and `high`."""
    if not low < high:
        return [low]
    raw = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(raw))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda m: abs((high - low) / m - count))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    places = max(12, 2 - math.floor(math.log10(step)))
    return [round(i * step, places) for i in range(first, last + 1)]


def tick_text(value: float, ticks: Sequence[float]) -> str:
    """Format a tick with just enough decimals to distinguish it from its neighbours."""
    step = min((b - a for a, b in pairwise(ticks)), default=abs(value) or 1.0)
    if max(abs(t) for t in ticks) >= 1e5:
        return words.amount(value)
    if step < 1e-6:
        return f"{value:g}"
    return words.number(value, max(0, -math.floor(math.log10(step) + 1e-9)) if step < 1 else 0)


def x_axis(axis: Axis, y: float, top: float, title: str = "", ticks: Sequence[float] | None = None) -> str:
    """Return a horizontal axis at `y`: faint grid lines up to `top`, tick labels, and the axis title below."""
    values = axis.ticks() if ticks is None else ticks
    marks = [element("line", x1=axis.at(v), x2=axis.at(v), y1=top, y2=y, class_="grid") for v in values]
    marks += [label(tick_text(v, values), axis.at(v), y + 15, "middle", "tick") for v in values]
    marks.append(element("line", x1=axis.start, x2=axis.stop, y1=y, y2=y, class_="axis"))
    if title:
        marks.append(label(title, (axis.start + axis.stop) / 2, y + 32, "middle", "axis-title"))
    return group(*marks)


def y_axis(axis: Axis, x: float, right: float, title: str = "", count: int = 4) -> str:
    """Return a vertical axis at `x`: faint grid lines to `right`, tick labels on the left, the title above."""
    values = axis.ticks(count)
    marks = [element("line", x1=x, x2=right, y1=axis.at(v), y2=axis.at(v), class_="grid") for v in values]
    marks += [label(tick_text(v, values), x - 6, axis.at(v) + 3.5, "end", "tick") for v in values]
    if title:
        marks.append(label(title, 0, min(axis.start, axis.stop) - 8, class_="axis-title"))
    return group(*marks)


def _steps(points: Sequence[tuple[float, float]], x: Axis, y: Axis, until: float | None) -> list[tuple[float, float]]:
    corners: list[tuple[float, float]] = []
    for at, value in points:
        if corners:
            corners.append((x.at(at), corners[-1][1]))
        corners.append((x.at(at), y.at(value)))
    if corners and until is not None:
        corners.append((x.at(until), corners[-1][1]))
    return corners


def path(corners: Sequence[tuple[float, float]]) -> str:
    """Return the outline through points, for the attribute `d`."""
    return "M" + "L".join(f"{coordinate(px)} {coordinate(py)}" for px, py in corners)


def step_line(points: Sequence[tuple[float, float]], x: Axis, y: Axis, class_: str, until: float | None = None) -> str:
    """Return a line that holds each value until the next point (and the last one until `until`)."""
    corners = _steps(points, x, y, until)
    return element("path", d=path(corners), class_=f"line {class_}") if corners else ""


def band(
    bounds: Sequence[tuple[float, float, float]], x: Axis, y: Axis, class_: str, until: float | None = None
) -> str:
    """Return the area between two step lines, given as (x, lower, upper)."""
    upper = _steps([(at, high) for at, _, high in bounds], x, y, until)
    lower = _steps([(at, low) for at, low, _ in bounds], x, y, until)
    return element("path", d=path(upper + lower[::-1]) + "Z", class_=f"band {class_}") if upper else ""


def dot_interval(
    axis: Axis, y: float, mean: float | None, bounds: tuple[float | None, float | None], class_: str, tip: str
) -> str:
    """Return a dot at the mean on a line for its interval; either may be missing."""
    marks: list[str] = []
    low, high = bounds
    if low is not None and high is not None:
        left, right = axis.at(low), axis.at(high)
        outline = f"M{coordinate(left)} {coordinate(y)}H{coordinate(right)}"
        caps = "".join(f"M{coordinate(x)} {coordinate(y - 3.5)}v7" for x in (left, right))
        marks.append(element("path", d=outline + caps, class_=f"whisker {class_}"))
    if mean is not None:
        marks.append(element("circle", cx=axis.at(mean), cy=y, r=3.6, class_=f"dot {class_}"))
    return group(*marks, tip=tip)


def bar(x: float, y: float, width: float, height: float, class_: str, tip: str | None = None) -> str:
    """Return a bar; slivers are widened to half a unit so that every bar is visible."""
    tooltip = [element("title", text=tip)] if tip else []
    return element("rect", *tooltip, x=x, y=y, width=max(0.5, width), height=max(0.5, height), class_=class_)


def mark(shape: str, x: float, y: float, class_: str, tip: str | None = None, size: float = 3.4) -> str:
    """Return a mark around a point: circle, ring, triangle (up), back (left), diamond or cross.

    Raises:
        ConfigError: if the shape is none of these.
    """
    tooltip = [element("title", text=tip)] if tip else []
    if shape in ("circle", "ring"):
        return element("circle", *tooltip, cx=x, cy=y, r=size, class_=f"{shape} {class_}")
    outlines = {
        "triangle": ((0.0, -1.1), (1.1, 0.9), (-1.1, 0.9)),
        "back": ((-1.2, 0.0), (0.9, -1.1), (0.9, 1.1)),
        "diamond": ((0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)),
        "cross": ((-1.0, -1.0), (1.0, 1.0), (0.0, 0.0), (1.0, -1.0), (-1.0, 1.0), (0.0, 0.0)),
    }
    if shape not in outlines:
        raise ConfigError(f"mark shape {shape!r}: expected circle, ring, {', '.join(outlines)}")
    corners = [(x + size * dx, y + size * dy) for dx, dy in outlines[shape]]
    return element("path", *tooltip, d=path(corners) + "Z", class_=f"{shape} {class_}")


def end_labels(labels: Sequence[tuple[float, str, str]], x: float, top: float, bottom: float, gap: float = 13.5) -> str:
    """Return labels at the ends of lines, moved apart if they would overlap, each tied to its line by a leader.

    Args:
        labels: (y of the line's end, text, class).
        x: end of the lines; labels start ten units to the right.
        top: minimum y of a label.
        bottom: maximum y of a label.
        gap: minimum distance between two labels.
    """
    ordered = sorted(labels, key=lambda entry: entry[0])
    places = spread([y for y, _, _ in ordered], top, bottom, gap)
    marks: list[str] = []
    for (y, content, class_), target in zip(ordered, places, strict=True):
        if abs(y - target) > 2:
            marks.append(element("path", d=path([(x + 1, y), (x + 8, target)]), class_=f"leader {class_}"))
        marks.append(label(content, x + 10, target + 3.8, class_=f"end {class_}"))
    return group(*marks)


def spread(places: Sequence[float], top: float, bottom: float, gap: float) -> list[float]:
    """Move sorted positions apart until they are `gap` from each other, inside [top, bottom] if they fit."""
    if not places:
        return []
    gap = min(gap, (bottom - top) / max(1, len(places) - 1)) if len(places) > 1 else gap
    moved: list[float] = []
    for position in places:
        moved.append(max(position, moved[-1] + gap if moved else top))
    limit = bottom
    for i in range(len(moved) - 1, -1, -1):
        moved[i] = min(moved[i], limit)
        limit = moved[i] - gap
    return moved
