"""What the page of a suite of harness evolution shows: methods side by side, the gate, sweeps, cost, execution models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heredity.reports import charts, page, text
from heredity.reports.fields import Json, count, items, mean_of, section, words_of
from heredity.reports.harness_charts import Path, over_batches, scatter
from heredity.reports.harness_pages import in_order, view_name
from heredity.reports.model import Run
from heredity.reports.suite_model import Suite
from heredity.reports.text import finite

_OF = {"final": "final snapshot", "best_validation": "best on validation"}
_KEYS = {
    "batch_size": "batch size",
    "epochs": "epochs",
    "updates": "updates for each batch",
    "persistence": "persistence",
    "sources": "sources of train tasks",
}
_SPENT = {"tokens": "tokens", "cost_usd": "US dollars"}
_ALL = "all"


def sections(suite: Suite) -> list[tuple[str, str]]:
    """Return the sections of a suite's page that are about harnesses, those that have something to show."""
    if not suite.harness:
        return []
    names = {
        "methods": "Methods",
        "validation": "Curves",
        "gate": "Contract gate",
        "sweeps": "Sweeps",
        "spent": "Cost and gain",
        "models": "Execution models",
    }
    kept = {"gate": "gate", "sweeps": "sweeps", "models": "cross_model"}
    return [(id_, name) for id_, name in names.items() if id_ not in kept or items(suite.harness, kept[id_])]


def suite_parts(suite: Suite, members: Sequence[Run], tones: Mapping[str, str]) -> dict[str, Any]:
    """Return what the template of a suite's page is filled with; nothing but `study` None without harnesses.

    Args:
        suite: the suite.
        members: its runs, under the names that the suite compares; may be empty.
        tones: the colour class of each evolver.
    """
    study = suite.harness
    if not study:
        return {"study": None}
    methods = [Method(entry) for entry in items(study, "methods")]
    columns = columns_of(methods)
    return {
        "study": study,
        "methods": methods,
        "columns": columns,
        "of_names": _OF,
        "method_plots": _plots(methods, columns, tones),
        "study_pairs": _pairs(items(study, "comparisons")),
        "view_plots": _curves(members, tones),
        "gates": [_gate(entry, methods) for entry in items(study, "gate")],
        "sweeps": [_sweep(entry, columns) for entry in items(study, "sweeps")],
        "spent_plots": _spent_plots(members, tones),
        "matrices": _matrices(items(study, "cross_model")),
    }


class Method:
    """One entry: its measures by view and by which snapshot they are of."""

    def __init__(self, entry: Json) -> None:
        """Read an entry of `methods`."""
        self.name = words_of(entry, "evolver")
        self.runs = count(entry, "runs")
        self.collapsed = section(entry, "collapsed")
        self.gate = section(entry, "gate")
        self.spent = section(entry, "spent")
        self.measures = {(words_of(m, "view"), words_of(m, "of")): m for m in items(entry, "measures")}

    def cell(self, view: str, of: str) -> dict[str, Any] | None:
        """Return a measure as a table shows it; None if it was not judged."""
        found = self.measures.get((view, of))
        if found is None:
            return None
        unit = words_of(found, "unit")
        number = count(found, "tasks") if unit == "task" else len(items(found, "runs"))
        return {
            "gain": mean_of(found),
            "unit": f"{number} {unit}s",
            "forgetting": finite(found.get("forgetting")),
        }


def short(evolver: str) -> str:
    """Return a name for pictures: `ace (batch_size=5, gate=on)` becomes `ace 5, gate on`."""
    name, options, told = evolver.partition(" (")
    if not options or not told.endswith(")") or "=" not in told:
        return evolver
    pairs = [part.partition("=") for part in told.removesuffix(")").split(", ")]
    values = [f"{key} {value}" if value in ("on", "off") else value or key for key, _, value in pairs]
    return f"{name} {', '.join(values)}"


def columns_of(methods: Sequence[Method]) -> list[tuple[str, str]]:
    """Return (view, what is measured on it) of all that were judged, in order."""
    names = {view: words_of(m, "measure") for each in methods for (view, _), m in each.measures.items()}
    return [(view, _title(view, names[view])) for view in in_order(names)]


def _title(view: str, measure: str) -> str:
    return f"{measure} {view_name(view)}" if ":" in view else {"FR": "Replay"}.get(measure, measure)


def _plots(
    methods: Sequence[Method], columns: Sequence[tuple[str, str]], tones: Mapping[str, str]
) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for view, title in columns:
        cells = [(m.name, m.cell(view, "final")) for m in methods]
        lines = [charts.Line(short(name), cell["gain"], tones[name]) for name, cell in cells if cell]
        plot = charts.intervals(f"{title} of the final snapshots", lines, "gain over A_0", 0.0, "no gain")
        found.append((title, page.picture(plot)))
    return found


def _pairs(rows: Sequence[Json]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return comparisons by measure, of final snapshots first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: words_of(row, "of") != "final"):
        title = f"{_title(words_of(row, 'view'), words_of(row, 'measure'))}, {_OF.get(words_of(row, 'of'), '')}"
        found.setdefault(title, []).append(_pair(row))
    return list(found.items())


def pair_rows(rows: Sequence[Json]) -> list[dict[str, Any]]:
    """Return comparisons as tables show them."""
    return list(map(_pair, rows))


def _pair(row: Json) -> dict[str, Any]:
    return {
        "title": _title(words_of(row, "view"), words_of(row, "measure")),
        "of": _OF.get(words_of(row, "of"), ""),
        "a": words_of(row, "a"),
        "b": words_of(row, "b"),
        "difference": mean_of(row, "difference"),
        "verdict": words_of(row, "verdict"),
        "p": finite(row.get("p_holm")),
        "mde": finite(row.get("mde")),
        "unit": {"run": "the methods", "task": "these runs only"}.get(words_of(row, "unit"), ""),
        "pairs": count(row, "pairs"),
        "tasks": count(row, "tasks"),
        "unpaired": count(row, "unpaired"),
    }


def _curves(members: Sequence[Run], tones: Mapping[str, str]) -> list[tuple[str, Any]]:
    """Return a picture for each view: means of each method over its runs, and each run as a thin line."""
    lines: dict[str, dict[str, list[dict[float, float]]]] = {}
    for run in members:
        for view, points in _lines(run).items():
            lines.setdefault(view, {}).setdefault(run.evolver, []).append(points)
    found: list[tuple[str, Any]] = []
    for view in in_order(lines):
        paths: list[Path] = []
        for evolver, runs in lines[view].items():
            shared = sorted(set.intersection(*map(set, runs)))
            means = tuple((at, sum(run[at] for run in runs) / len(runs)) for at in shared)
            paths.append(Path(short(evolver), tones[evolver], means))
            paths += [Path("", tones[evolver], tuple(sorted(run.items()))) for run in runs if len(runs) > 1]
        title = view_name(view)
        found.append((title, page.picture(over_batches(f"Scores on {title} by method", paths, "mean score"))))
    return found


def _lines(run: Run) -> dict[str, dict[float, float]]:
    """Return the points of a run by view, over all sources."""
    columns = section(section(run.harness, "curves"), "snapshots")
    names = ("view", "source", "train_batch_index", "perf")
    found: dict[str, dict[float, float]] = {}
    for view, source, at, perf in zip(*(columns.get(name) or () for name in names), strict=False):
        if source == _ALL and finite(at) is not None and finite(perf) is not None:
            found.setdefault(str(view), {})[float(at)] = float(perf)
    return found


def _gate(entry: Json, methods: Sequence[Method]) -> dict[str, Any]:
    """Return what the contract gate changed for one method."""
    by_name = {method.name: method for method in methods}
    sides = [by_name.get(words_of(entry, side)) for side in ("off", "on")]
    return {
        "sides": [side for side in sides if side is not None],
        "gains": pair_rows(items(entry, "gains")),
    }


def _sweep(entry: Json, columns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return a table of gains by a setting, with curves over numbers, and intervals where it is none."""
    key = _KEYS.get(words_of(entry, "key"), words_of(entry, "key"))
    rows = [(row.get("value"), Method(row)) for row in items(entry, "entries")]
    plots: list[tuple[str, Any]] = []
    if all(finite(value) is not None for value, _ in rows):
        for of, title in _OF.items():
            paths = [_swept(rows, view, of, name, f"c{i % 8}") for i, (view, name) in enumerate(columns)]
            plots.append((title, page.picture(over_batches(f"Gains by {key}, {title}", paths, "gain over A_0", key))))
    else:
        for view, title in columns:
            cells = [(value, method.cell(view, "final")) for value, method in rows]
            lines = [
                charts.Line(str(value), cell["gain"], f"c{i % 8}") for i, (value, cell) in enumerate(cells) if cell
            ]
            plots.append((title, page.picture(charts.intervals(title, lines, "gain over A_0", 0.0, "no gain"))))
    return {
        "key": key,
        "name": words_of(entry, "evolver"),
        "rows": [{"value": text.clean(value), "method": method} for value, method in rows],
        "plots": plots,
    }


def _swept(rows: Sequence[tuple[Any, Method]], view: str, of: str, name: str, shade: str) -> Path:
    points: list[tuple[float, float]] = []
    for value, method in rows:
        cell = method.cell(view, of)
        at, gain = finite(value), cell["gain"].value if cell else None
        if at is not None and gain is not None:
            points.append((at, gain))
    return Path(name, shade, tuple(sorted(points)))


def _spent_plots(members: Sequence[Run], tones: Mapping[str, str]) -> list[tuple[str, Any]]:
    """Return what runs spent on training and updates against their gain on held-out tasks: in tokens, and in dollars."""
    found: list[tuple[str, Any]] = []
    for name, unit in _SPENT.items():
        points: list[tuple[str, str, float, float]] = []
        for run in members:
            spent, gained = _whole(run.harness, name), run.commits.gain
            if spent is not None and gained is not None and gained.difference.value is not None:
                points.append((short(run.evolver), tones[run.evolver], spent, gained.difference.value))
        if any(spent for _, _, spent, _ in points):
            title = f"Gain on ID tasks against {unit}"
            found.append((title, page.picture(scatter(title, points, f"{unit} of training and updates", "gain"))))
    return found


def _whole(harness: Json, name: str) -> float | None:
    """Return what training and updates of a run cost; None unless all of it is known."""
    costs = section(harness, "costs")
    stats = [section(section(section(costs, "views"), "train"), name), section(section(costs, "update"), name)]
    total = [finite(s.get("total")) if s.get("rows") == s.get("known") else None for s in stats]
    return None if None in total else sum(value for value in total if value is not None)


def _matrices(rows: Sequence[Json]) -> list[dict[str, Any]]:
    """Return a matrix for each view: harnesses, by what they evolved under, by execution models."""
    found: dict[str, list[Json]] = {}
    for row in rows:
        found.setdefault(words_of(row, "view"), []).append(row)
    matrices: list[dict[str, Any]] = []
    for view in in_order(found):
        models = list(dict.fromkeys(words_of(cell, "model") for row in found[view] for cell in items(row, "cells")))
        matrices.append(
            {"view": view_name(view), "models": models, "rows": [_model_row(r, models) for r in found[view]]}
        )
    return matrices


def _model_row(row: Json, models: Sequence[str]) -> dict[str, Any]:
    cells = {words_of(cell, "model"): cell for cell in items(row, "cells")}
    return {
        "evolver": words_of(row, "evolver"),
        "evolved": words_of(row, "evolved"),
        "cells": [
            {
                "before": finite(cell.get("A_0")),
                "after": finite(cell.get("A_T")),
                "gain": mean_of(cell, "difference"),
                "runs": count(cell, "runs"),
                "home": model == words_of(row, "evolved"),
            }
            if (cell := cells.get(model))
            else None
            for model in models
        ],
    }
