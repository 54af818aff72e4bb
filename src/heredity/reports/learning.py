"""What a suite of learning methods shows beside its runs: the space they span, and skins compared with their inverse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heredity.reports import page, svg, text
from heredity.reports.charts import WIDTH
from heredity.reports.model import Json, finite, items, section, words_of
from heredity.reports.terms import Terms

_BOUND = "upper bound"
_PLAIN = "ref"
_NAME = 26
"""The longest name at the end of a line; of a longer one the end is shown, where methods differ."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a chart: its name, its colour class, its points (x, y), and a band (x, low, high) around it, or none."""

    name: str
    shade: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()


def learning_parts(learning: Json, skins: Sequence[Json], tones: Mapping[str, str], terms: Terms) -> dict[str, Any]:
    """Return what the page of a suite shows of `learning` and `skins` of its metrics; empty values where there are none.

    Args:
        learning: see `heredity.protocols.agent_learning.space`; an empty object without one.
        skins: rows of `heredity.protocols.agent_learning.skins`.
        tones: the colour class of each evolver.
        terms: the words.
    """
    if not learning:
        return {"learning": None, "skins": list(skins)}
    return {
        "learning": learning,
        "learning_plots": [
            (
                f"Gain over the {terms.reference}, by number of {terms.places}",
                page.picture(_by_tasksets(learning, tones, terms)),
            ),
            ("Upper bound by number of methods", page.picture(_by_methods(learning))),
        ],
        "skins": list(skins),
    }


def learning_markdown(learning: Json, terms: Terms) -> list[list[str]]:
    """Return the table of the learning space as rows of text: what, held-out score, how it relates to the bound."""
    bound, fixed = section(learning, "upper_bound"), section(learning, "best_fixed")
    rows = [
        [_BOUND, text.number(finite(bound.get("mean")), 3), f"the best method of each {terms.place}, picked afterwards"]
    ]
    gap = text.number(finite(fixed.get("gap")), 3)
    rows.append(
        [words_of(fixed, "method"), text.number(finite(fixed.get("mean")), 3), f"best fixed method, {gap} below"]
    )
    for row in items(learning, "controllers"):
        covered = finite(row.get("covered"))
        share = "no gap to cover" if covered is None else f"{text.number(100 * covered, 0)}% of the way to the bound"
        rows.append([words_of(row, "evolver"), text.number(finite(row.get("mean")), 3), f"controller, {share}"])
    return rows


def _by_tasksets(learning: Json, tones: Mapping[str, str], terms: Terms) -> str:
    """Return mean gains over the k tasksets of most gain: what one method loses as they become more."""
    lines: list[Line] = []
    for row in items(learning, "by_tasksets"):
        name = words_of(row, "evolver")
        gains = [g for g in map(finite, row.get("gains") or ()) if g is not None]
        lines.append(
            Line(
                name,
                tones.get(name, _PLAIN) if name != _BOUND else _PLAIN,
                tuple((k + 1.0, gain) for k, gain in enumerate(gains)),
            )
        )
    return chart(f"Gain over the {terms.reference}", lines, f"{terms.places}, those of most gain first", "mean gain")


def _by_methods(learning: Json) -> str:
    rows = items(learning, "by_methods")
    points = tuple((float(row["methods"]), float(row["mean"])) for row in rows)
    band = tuple((float(row["methods"]), float(row["low"]), float(row["high"])) for row in rows)
    return chart(
        "Upper bound by number of methods", [Line("mean over subsets", "c0", points, band)], "methods", "score"
    )


def chart(title: str, lines: Sequence[Line], x_title: str, y_title: str) -> str:
    """Return a chart of straight lines over whole numbers, each named at its end.

    Args:
        title: accessible name.
        lines: those without points are left out.
        x_title: what is counted along the bottom.
        y_title: what is measured.
    """
    shown = [line for line in lines if line.points]
    names = [line.name if len(line.name) <= _NAME else f"…{line.name[1 - _NAME :]}" for line in shown]
    # Names at the end are bold, and ten units from the line.
    right = WIDTH - max([30.0, *(1.12 * svg.text_width(name) + 10 for name in names)])
    top, bottom = 24.0, 216.0
    values = [v for line in shown for _, v in line.points] + [v for line in shown for b in line.band for v in b[1:]]
    y = svg.fit(values, bottom, top)
    left = 14.0 + max([svg.text_width(svg.tick_text(v, y.ticks(4))) for v in y.ticks(4)], default=20.0)
    most = max([x for line in shown for x, _ in line.points], default=1.0)
    x = svg.Axis(1.0, max(2.0, most), left, right)
    ticks = [float(k) for k in range(1, int(most) + 1)] if most <= 12 else x.ticks(6)
    marks = [svg.y_axis(y, left, right, y_title), svg.x_axis(x, bottom, bottom, x_title, ticks)]
    for line in shown:
        marks.append(_band(line, x, y))
        path = "M" + "L".join(f"{svg.coordinate(x.at(a))} {svg.coordinate(y.at(b))}" for a, b in line.points)
        marks.append(svg.element("path", d=path, class_=f"line {line.shade}"))
        marks += [
            svg.mark("circle", x.at(a), y.at(b), line.shade, f"{line.name}: {b:.3g}", 2.4) for a, b in line.points
        ]
    ends = [(y.at(line.points[-1][1]), name, line.shade) for line, name in zip(shown, names, strict=True)]
    marks.append(svg.end_labels(ends, right, top + 2, bottom - 2))
    return svg.figure(WIDTH, bottom + 34, title, *marks)


def _band(line: Line, x: svg.Axis, y: svg.Axis) -> str:
    if not line.band:
        return ""
    upper = [(x.at(a), y.at(high)) for a, _, high in line.band]
    lower = [(x.at(a), y.at(low)) for a, low, _ in line.band]
    outline = "L".join(f"{svg.coordinate(a)} {svg.coordinate(b)}" for a, b in upper + lower[::-1])
    return svg.element("path", d=f"M{outline}Z", class_=f"band {line.shade}")
