"""The pictures of post-training: scores of submissions over time, and improvement over what was spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heredity.reports import svg, text
from heredity.reports.charts import WIDTH
from heredity.reports.fields import Json, items, section, words_of
from heredity.reports.text import finite

_NAME = 22


@dataclass(frozen=True, slots=True)
class Spent:
    """Improvement over what was spent: (spent, mean, least, greatest) over runs, as steps; drawn in the colour `shade`."""

    name: str
    shade: str
    points: tuple[tuple[float, float, float, float], ...]


def trajectory(title: str, posttraining: Json, width: float = WIDTH) -> str:
    """Return the score of each submission over the run's time, the best so far, and the base model's score.

    Args:
        title: accessible name.
        posttraining: the section of a run's metrics.
        width: of the picture.
    """
    rows = items(posttraining, "iterations")
    base = finite(section(section(posttraining, "baseline"), "graded").get("mean"))
    process = section(posttraining, "process")
    scored = [(at, score, row) for row in rows if (at := _at(row)) is not None and (score := _score(row)) is not None]
    top, bottom = 24.0, 208.0 if width == WIDTH else 286.0
    y = svg.fit([base, *(score for _, score, _ in scored)], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    ends = [at for row in rows if (at := _at(row)) is not None]
    end = max([finite(process.get("budget_s")) or 0.0, finite(process.get("ended_s")) or 0.0, *ends, 1.0])
    unit, name = (60.0, "minutes") if end >= 300 else (1.0, "seconds")
    x = svg.Axis(0.0, end / unit, left, width - 10)
    marks = [
        svg.y_axis(y, left, width - 10, "score on the graded view"),
        svg.x_axis(x, bottom, bottom, f"{name} of the run"),
    ]
    if base is not None:
        level = y.at(base)
        marks.append(svg.element("line", x1=left, x2=width - 10, y1=level, y2=level, class_="reference"))
        marks.append(svg.label("base model", width - 13, level - 4, "end", "tick halo"))
    best = [(at / unit, score) for at, score, row in scored if row.get("new_best") is True]
    marks.append(svg.step_line(best, x, y, "c0", max(ends, default=0.0) / unit))
    marks += [_mark(row, x, y, bottom, unit) for row in rows]
    if best:
        marks.append(svg.mark("ring", x.at(best[-1][0]), y.at(best[-1][1]), "chosen", "the best, which is judged", 6.5))
    if not rows:
        marks.append(svg.label("no submission yet", (left + width) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(width, bottom + 34, title, *marks)


def _mark(row: Json, x: svg.Axis, y: svg.Axis, bottom: float, unit: float) -> str:
    at, score = _at(row), _score(row)
    if at is None:
        return ""
    what = f"iteration {text.number(row.get('iteration'))}, {text.duration(at)}"
    if score is None:
        tip = f"{what}: {words_of(row, 'failure_type') or words_of(row, 'status')}"
        return svg.mark("cross", x.at(at / unit), bottom - 5, "bad", tip, 3.2)
    route = words_of(row, "train_type") or "route unknown"
    shape = "ring" if route == "copy" else "circle"
    return svg.mark(shape, x.at(at / unit), y.at(score), "c0", f"{what}: {text.number(score, 3)}, {route}", 2.8)


def _at(row: Json) -> float | None:
    return finite(row.get("at_s"))


def _score(row: Json) -> float | None:
    return finite(row.get("score"))


def spent_plot(title: str, lines: Sequence[Spent], x_title: str) -> str:
    """Return the best improvement so far over what was spent; bands run from the least to the greatest run.

    Args:
        title: accessible name.
        lines: those without points are left out; one without a name is not labelled.
        x_title: what was spent.
    """
    shown = [line for line in lines if line.points]
    names = [text.shorten(line.name, _NAME) for line in shown]
    right = WIDTH - max([20.0, *(1.12 * svg.text_width(name) + 10 for name in names if name)])
    top, bottom = 24.0, 196.0
    y = svg.fit([0.0, *(value for line in shown for point in line.points for value in point[1:])], bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    most = max([point[0] for line in shown for point in line.points], default=1.0)
    x = svg.Axis(0.0, most or 1.0, left, right)
    marks = [svg.y_axis(y, left, right, "best improvement so far"), svg.x_axis(x, bottom, bottom, x_title, x.ticks(3))]
    for line in shown:
        stop = line.points[-1][0]
        marks.append(svg.band([(at, low, high) for at, _, low, high in line.points], x, y, line.shade, stop))
        marks.append(svg.step_line([(at, mean) for at, mean, _, _ in line.points], x, y, line.shade, most))
    ends = [(y.at(p.points[-1][1]), name, p.shade) for p, name in zip(shown, names, strict=True) if name]
    marks.append(svg.end_labels(ends, right, top + 2, bottom - 2))
    if not shown:
        marks.append(svg.label("nothing graded yet", (left + right) / 2, (top + bottom) / 2, "middle", "tick"))
    return svg.figure(WIDTH, bottom + 34, title, *marks)
