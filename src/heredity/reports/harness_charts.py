"""The pictures of harness evolution: scores over batches, the replay grid, what gains cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heredity.reports import svg, text
from heredity.reports.charts import WIDTH

Point = tuple[float, float]
CELLS = {"S": "solved", "F": "failed", "E": "failed with an error", ".": "missing", "u": "not trained yet"}
"""What the letters of a replay grid mean."""

_NAME = 24


@dataclass(frozen=True, slots=True)
class Path:
    """A line over batches.

    Attributes:
        name: written at its end; `""` for a thin line of one run.
        shade: its colour class.
        points: (batch, score), in the order of batches; scores are means, higher is better.
    """

    name: str
    shade: str
    points: tuple[Point, ...]


def over_batches(title: str, paths: Sequence[Path], y_title: str, x_title: str = "train batches") -> str:
    """Return scores over batches, or over another whole number.

    Args:
        title: accessible name.
        paths: those without points are left out; those without a name are thin.
        y_title: what is measured.
        x_title: what is counted along the bottom.
    """
    shown = sorted((p for p in paths if p.points), key=lambda path: bool(path.name))
    names = [text.shorten(path.name, _NAME) for path in shown]
    right = WIDTH - max([20.0, *(1.12 * svg.text_width(name) + 10 for name in names if name)])
    top, bottom = 24.0, 196.0
    values = [value for path in shown for _, value in path.points]
    # An axis around a single value would show scores below zero.
    flat = [values[0] + 0.5] if values and min(values) == max(values) else []
    y = svg.fit([*values, *flat], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    places = [at for path in shown for at, _ in path.points]
    low, high = min(places, default=0.0), max(places, default=1.0)
    x = svg.Axis(low, max(high, low + 1.0), left, right)
    ticks = [t for t in x.ticks(5) if t == int(t)]
    marks = [svg.y_axis(y, left, right, y_title), svg.x_axis(x, bottom, bottom, x_title, ticks)]
    for path in shown:
        outline = "L".join(f"{svg.coordinate(x.at(a))} {svg.coordinate(y.at(b))}" for a, b in path.points)
        marks.append(svg.element("path", d=f"M{outline}", class_=f"line {path.shade}{'' if path.name else ' thin'}"))
        if path.name:
            marks += [_dot(path, x, y, point) for point in path.points]
    ends = [(y.at(p.points[-1][1]), name, p.shade) for p, name in zip(shown, names, strict=True) if name]
    marks.append(svg.end_labels(ends, right, top + 2, bottom - 2))
    if not shown:
        marks.append(svg.label("nothing judged yet", (left + right) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(WIDTH, bottom + 34, title, *marks)


def _dot(path: Path, x: svg.Axis, y: svg.Axis, point: Point) -> str:
    tip = f"{path.name}, at {text.number(point[0])}: {text.number(point[1], 3)}"
    return svg.mark("circle", x.at(point[0]), y.at(point[1]), path.shade, tip, 2.4)


def replay_grid(title: str, tasks: Sequence[tuple[str, str]], snapshots: Sequence[str]) -> str:
    """Return what became of trained tasks: a row for each, a cell with a letter (`CELLS`) for each snapshot.

    Args:
        title: accessible name.
        tasks: (name, one letter for each snapshot).
        snapshots: their names.
    """
    left = min(170.0, max([40.0, *(svg.text_width(text.shorten(name, _NAME)) + 8 for name, _ in tasks)]))
    width = min(26.0, (WIDTH - left) / max(1, len(snapshots)))
    step, top = 17.0, 18.0
    every = -(-30 // int(width)) if snapshots else 1
    marks = [
        svg.label(name, left + width * (i + 0.5), top - 6, "middle", "tick")
        for i, name in enumerate(snapshots)
        if i % every == 0 or i == len(snapshots) - 1
    ]
    for row, (name, letters) in enumerate(tasks):
        y = top + step * row
        marks.append(svg.label(text.shorten(name, _NAME), left - 7, y + 12, "end", "name"))
        for i, (letter, snapshot) in enumerate(zip(letters, snapshots, strict=False)):
            kind = CELLS.get(letter, "missing")
            tip = svg.element("title", text=f"{name} at {snapshot}: {kind}")
            x = left + width * i
            class_ = f"outcome {_CLASSES.get(letter, 'gone')}"
            box = svg.element("rect", x=x + 0.75, y=y + 0.75, width=width - 1.5, height=step - 1.5, rx=2)
            shown = svg.label(letter, x + width / 2, y + 12.2, "middle") if width >= 9 else ""
            marks.append(svg.element("g", tip, box, shown, class_=class_))
    return svg.figure(WIDTH, top + step * max(1, len(tasks)) + 4, title, *marks)


_CLASSES = {"S": "solved", "F": "failed", "E": "errored", ".": "gone", "u": "later"}


def scatter(title: str, points: Sequence[tuple[str, str, float, float]], x_title: str, y_title: str) -> str:
    """Return marks at (x, y), each named once for each colour; zero of y is drawn.

    Args:
        title: accessible name.
        points: (name, colour class, x, y).
        x_title: what is measured along the bottom.
        y_title: what is measured upwards.
    """
    names = {name: shade for name, shade, _, _ in points}
    top, bottom = 24.0, 216.0
    y = svg.fit([0.0, *(p[3] for p in points)], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    right = WIDTH - 12
    x = svg.fit([p[2] for p in points], left, right, 0.12)
    zero = svg.element("line", x1=left, x2=right, y1=y.at(0.0), y2=y.at(0.0), class_="reference")
    marks = [svg.y_axis(y, left, right, y_title), svg.x_axis(x, bottom, bottom, x_title, x.ticks(4)), zero]
    for name, shade, at, value in points:
        tip = f"{name}: {text.amount(at)}, {text.signed(value, 3)}"
        marks.append(svg.mark("circle", x.at(at), y.at(value), shade, tip, 3.6))
    for i, (name, shade) in enumerate(names.items()):
        row = bottom + 46 + 15 * i
        marks.append(svg.mark("circle", left + 4, row - 4, shade, None, 3.6))
        marks.append(svg.label(text.shorten(name, 48), left + 14, row, class_="name"))
    return svg.figure(WIDTH, bottom + 36 + 15 * len(names), title, *marks)
