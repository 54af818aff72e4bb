"""What the page of a run of harness evolution shows beside its commits: snapshots on views, replay, the gate, cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from heredity.reports import page, text
from heredity.reports.fields import Json, count, items, mean_of, section, whole, words_of
from heredity.reports.harness_charts import CELLS, Path, over_batches, replay_grid
from heredity.reports.model import Run
from heredity.reports.sentences import listed, plural
from heredity.reports.text import finite

_SECTIONS = {
    "views": "Snapshots",
    "curves": "Curves",
    "gains": "Gains",
    "replay": "Replay",
    "updates": "Updates and gate",
    "cost": "Cost",
}
MOST_TASKS = 240
"""Rows of replay grids that a page shows; of more tasks, those whose outcome changed come first."""

_VIEWS = {
    "train": "train batches",
    "canary": "canaries",
    "update_validation": "update-validation",
    "id": "ID",
    "ood": "OOD",
    "replay": "replay",
}
"""What views are called, in the order in which they are shown."""

_MEASURES = {"FR": "Replay"}
_ALL = "all"
_COSTS = ("tokens", "tool_calls", "wall_time", "cost_usd")


def sections(run: Run) -> dict[str, str]:
    """Return the sections of a run's page, id to name; none for a run without a schedule."""
    models = {"models": "Other models"} if section(run.harness, "cross_model") else {}
    return {**_SECTIONS, **models} if run.harness else {}


def run_parts(run: Run) -> dict[str, Any]:
    """Return what the template of a run's page is filled with."""
    harness = run.harness
    views = section(harness, "views")
    shown = in_order(views)
    return {
        "views": [view_name(name) for name in shown],
        "levels": levels(harness, shown),
        "one_task": {view_name(name): finite(section(views, name).get("one_task")) for name in shown},
        "collapses": collapse_lines(harness),
        "curve_plots": _curves(harness),
        "uvg": [row for view in section(harness, "uvg") for row in _uvg(section(section(harness, "uvg"), view))],
        "transfer": transfer_rows(harness),
        "churn": [
            row for view in section(harness, "replay") for row in _churn(section(section(harness, "replay"), view))
        ],
        "grids": _grids(harness),
        "letters": CELLS,
        "updates": _updates(harness),
        "gate": section(harness, "gate"),
        "reasons": items(section(harness, "gate"), "reasons"),
        "plan": _plan(section(harness, "plan")),
        "costs": _costs(section(harness, "costs")),
        "models": _models(section(harness, "cross_model")),
    }


def view_name(name: str) -> str:
    """Return what a view is called."""
    base, under, model = name.partition(" under ")
    kind, colon, taskset = base.partition(":")
    return _VIEWS.get(kind, kind) + (f" {text.short_task(taskset)}" if colon else "") + under + model


def in_order(views: Iterable[str]) -> list[str]:
    """Sort views as they are shown: training, validation, ID, OOD, replay, then others."""
    kinds = list(_VIEWS)

    def place(view: str) -> tuple[bool, int, bool, str]:
        kind = view.partition(" under ")[0].partition(":")[0]
        return " under " in view, kinds.index(kind) if kind in kinds else len(kinds), kind not in kinds, view

    return sorted(map(str, views), key=place)


def levels(harness: Json, views: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row for each snapshot, with a cell for each view (None where it was not judged)."""
    best = words_of(section(harness, "best_validation"), "snapshot")
    judged = section(harness, "views")
    rows: list[dict[str, Any]] = []
    for snapshot in items(harness, "snapshots"):
        name = words_of(snapshot, "name")
        found = [section(section(section(judged, view), "snapshots"), name) for view in views]
        rows.append(
            {
                "name": name,
                "batch": whole(snapshot, "train_batch_index"),
                "best": name == best,
                "cells": [_level(level) if level else None for level in found],
            }
        )
    return rows


def _level(level: Json) -> dict[str, Any]:
    rates = {name: finite(section(level, key).get("macro")) for name, key in _RATES.items()}
    counts = {name: count(level, name) for name in ("attempted", "missing", "untrained", "errors")}
    return {"perf": mean_of(section(level, "perf"), "macro"), **rates, **counts}


_RATES = {"sr": "sr", "clean": "execution_success"}


def collapse_lines(harness: Json) -> list[str]:
    """Say at which snapshots the harness stopped working: one line for neighbours that fell alike."""
    alike = groupby(
        items(harness, "collapses"),
        key=lambda found: (found.get("every") is True, found.get("recovered") is True, words_of(found, "reason")),
    )
    return [_collapse(list(found), *shared) for shared, found in alike]


def _collapse(found: Sequence[Json], every: bool, recovered: bool, reason: str) -> str:
    names = listed([words_of(each, "snapshot") for each in found])
    lost: dict[str, int] = {}
    for view in (view for each in found for view in items(each, "views")):
        name = view_name(words_of(view, "view"))
        lost[name] = max(lost.get(name, 0), count(view, "lost"))
    views = listed([f"{name} ({plural(number, 'task')})" for name, number in lost.items()])
    reach = "every view that it could fall on" if every else "not on every view, so that it may be chance"
    why = f" What most attempts there end with: {text.shorten(text.clean(reason), 200)}" if reason else ""
    after = "It works again at the end." if recovered else "It does not recover."
    return f"Collapse at {names}: nothing that A_0 solved is solved on {views}, {reach}. {after}{why}"


def _curves(harness: Json) -> list[tuple[str, str, Any]]:
    """Return (title, what it shows, picture): all views together, then each view and training by source group."""
    judged, train = section(section(harness, "curves"), "snapshots"), section(section(harness, "curves"), "train")
    rows = _rows(judged, ("view", "source", "train_batch_index", "perf"))
    views = in_order(dict.fromkeys(row[0] for row in rows))
    tones = {view: f"c{i % 8}" for i, view in enumerate(views)}
    every = [Path(view_name(view), tones[view], _points(r for r in rows if r[:2] == (view, _ALL))) for view in views]
    found = [("Views", "mean score of each snapshot", over_batches("Scores of snapshots by view", every, "mean score"))]
    for view in views:
        own = [row for row in rows if row[0] == view]
        found += _by_source(view_name(view), "snapshots, by source group", [row[1:] for row in own])
    batches = _rows(train, ("source", "train_batch_index", "perf"))
    if batches:
        points = [Path(_ALL, "c0", _points(row for row in batches if row[0] == _ALL))]
        title, about = "Train batches", "mean score of each batch, before its update; batches are of different tasks"
        found.insert(1, (title, about, over_batches(title, [*points, *_sources(batches)], "mean score")))
    return [(title, about, page.picture(plot)) for title, about, plot in found]


def _by_source(title: str, about: str, rows: Sequence[tuple[Any, ...]]) -> list[tuple[str, str, str]]:
    lines = _sources(rows)
    return [(title, about, over_batches(f"{title} by source group", lines, "mean score"))] if len(lines) > 1 else []


def _sources(rows: Sequence[tuple[Any, ...]]) -> list[Path]:
    names = [name for name in dict.fromkeys(row[0] for row in rows) if name != _ALL]
    lines = [Path(str(n), f"c{(i + 1) % 8}", _points(r for r in rows if r[0] == n)) for i, n in enumerate(names)]
    return lines if len(lines) > 1 else []


def _rows(columns: Json, names: Sequence[str]) -> list[tuple[Any, ...]]:
    listed = [columns.get(name) for name in names]
    known = [column for column in listed if isinstance(column, list | tuple)]
    return list(zip(*known, strict=False)) if len(known) == len(names) else []


def _points(rows: Iterable[tuple[Any, ...]]) -> tuple[tuple[float, float], ...]:
    """Return (batch, score) of rows that end with them; several harnesses on one batch: the first, which began it."""
    found: dict[float, float] = {}
    for row in rows:
        at, score = finite(row[-2]), finite(row[-1])
        if at is not None and score is not None:
            found.setdefault(at, score)
    return tuple(sorted(found.items()))


def transfer_rows(harness: Json) -> list[dict[str, Any]]:
    """Return the gains of the final snapshot and of the best on validation; once where these are the same."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in items(harness, "transfer"):
        row = gain_row(entry)
        same = found.setdefault((row["view"], row["after"]), row)
        if same is not row:
            same["of"] = f"{same['of']}, and {row['of']}"
    places = {view_name(view): i for i, view in enumerate(in_order(section(harness, "views")))}
    return sorted(found.values(), key=lambda row: places.get(row["view"], len(places)))


def gain_row(row: Json) -> dict[str, Any]:
    """Return a paired gain as a table shows it."""
    macro, micro = section(row, "macro"), section(row, "micro")
    said = micro or macro
    return {
        "measure": _MEASURES.get(words_of(row, "metric"), words_of(row, "metric")),
        "view": view_name(words_of(row, "view")),
        "of": {"final": "final", "best_validation": "best on validation"}.get(words_of(row, "of"), ""),
        "before": words_of(row, "before"),
        "after": words_of(row, "after"),
        "macro": finite(macro.get("difference")),
        "micro": mean_of(micro, "difference"),
        "p": finite(said.get("p_holm")),
        "mde": finite(said.get("mde")),
        "verdict": words_of(said, "verdict"),
        "tasks": count(row, "tasks"),
        "unpaired": count(row, "unpaired"),
        "forgetting": finite(section(row, "forgetting").get("micro")),
    }


def _uvg(found: Json) -> list[dict[str, Any]]:
    """Return a row for each evaluation point: its gain over the point before and over the first one."""
    before = {words_of(row, "after"): gain_row(row) for row in items(found, "prev")}
    rows = [gain_row(row) for row in items(found, "base")]
    return [{"point": row["after"], "base": row, "prev": before.get(row["after"])} for row in rows]


def _churn(found: Json) -> list[dict[str, Any]]:
    """Return a row for each snapshot: tasks fixed and forgotten since the one before, and rates since the first."""
    since = section(found, "since_base")
    steps = {words_of(row, "after"): row for row in items(found, "delta")}
    return [
        {
            "snapshot": words_of(row, "snapshot"),
            "delta": steps.get(words_of(row, "snapshot")),
            "fix": finite(row.get("fix")),
            "forget": finite(row.get("forget")),
            "fixed": count(row, "fixed"),
            "forgotten": count(row, "forgotten"),
            "failed": count(since, "failed"),
            "solved": count(since, "solved"),
        }
        for row in items(since, "snapshots")
    ]


def _grids(harness: Json) -> list[tuple[str, str, Any]]:
    """Return a replay grid for each source group: (title, what is left out, picture)."""
    found: list[tuple[str, str, Any]] = []
    for view in section(harness, "replay"):
        grid = section(section(section(harness, "replay"), view), "grid")
        snapshots = [str(name) for name in grid.get("snapshots") or ()]
        groups: dict[str, list[tuple[str, str]]] = {}
        for source, task, cells in sorted(_rows(grid, ("sources", "tasks", "cells")), key=lambda row: _natural(row[1])):
            groups.setdefault(str(source), []).append((text.clean(task), str(cells)))
        most = max(12, MOST_TASKS // max(1, len(groups)))
        for source, tasks in groups.items():
            changed = sorted(tasks, key=lambda task: len(set(task[1]) & set("SFE")) < 2)
            shown = tasks if len(tasks) <= most else changed[:most]
            left_out = f"{len(tasks) - len(shown)} more tasks are in metrics.json" if len(shown) < len(tasks) else ""
            picture = replay_grid(f"Replay of {source}", shown, snapshots)
            found.append((source, left_out, page.picture(picture)))
    return found


def _natural(name: Any) -> list[tuple[int, str]]:
    """Return what names are sorted by, so that task 2 comes before task 10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", str(name))]


def _updates(harness: Json) -> list[dict[str, Any]]:
    """Return a row for each evaluation point but the first: which files its updates changed."""
    rows: list[dict[str, Any]] = []
    for point in items(harness, "points")[1:]:
        changed = point.get("changed")
        rows.append(
            {
                "name": words_of(point, "role") or words_of(point, "name"),
                "batch": whole(point, "batch"),
                "candidate": words_of(point, "candidate"),
                "known": isinstance(changed, list | tuple),
                "files": [_file(change) for change in items(point, "changed")],
            }
        )
    return rows


def _file(change: Json) -> str:
    name = f"{words_of(change, 'part')}: {words_of(change, 'file')}"
    added, removed = whole(change, "added"), whole(change, "removed")
    size = "" if added is None or removed is None else f" +{added} {text.MINUS}{removed}"
    return f"{name} {words_of(change, 'status')}{size}"


def _plan(plan: Json) -> list[tuple[str, str]]:
    """Return the schedule in words."""
    if not plan:
        return []
    batches = f"{text.number(plan.get('batches'))}, each of {plural(count(plan, 'batch_size'), 'task')}"
    assess = whole(plan, "assess")
    timing = "the ends of epochs" if assess == 0 else "each batch" if assess == 1 else f"every {assess} batches"
    sources = plan.get("sources")
    epochs = plural(count(plan, "epochs"), "epoch")
    return [
        ("Batches", f"{batches}; {epochs} over {plural(count(plan, 'train_tasks'), 'train task')}"),
        ("Updates for each batch", text.number(plan.get("updates"))),
        ("What was learned", words_of(plan, "persistence", text.DASH)),
        ("Judged after", timing),
        ("Sources", text.clean(", ".join(map(str, sources))) if isinstance(sources, list | tuple) else text.DASH),
        ("Plan", words_of(plan, "digest")[:12] or text.DASH),
    ]  # fmt: skip


def _costs(costs: Json) -> list[dict[str, Any]]:
    """Return a row for each view, for all rollouts and for updates; a cell is (total, how much of it is known)."""
    views = section(costs, "views")
    told = [(view_name(name), section(views, name), "") for name in in_order(views) if name != "agent_update"]
    told += [("all attempts", section(costs, "rollout"), "total"), ("updates", section(costs, "update"), "")]
    return [
        {"name": name, "class": kind, "rows": count(section(stats, "tokens"), "rows"), "cells": _cost_cells(stats)}
        for name, stats, kind in told
        if stats
    ]


def _cost_cells(stats: Json) -> list[tuple[str, str]]:
    written = {"wall_time": text.duration, "cost_usd": page.dollars}
    cells: list[tuple[str, str]] = []
    for name in _COSTS:
        stat = section(stats, name)
        rows, known = count(stat, "rows"), count(stat, "known")
        part = f"of {known} in {rows}" if 0 < known < rows else ""
        cells.append((written.get(name, text.amount)(stat.get("total")), part))
    return cells


def _models(found: Json) -> list[dict[str, Any]]:
    """Return the first and the last harness under other execution models."""
    return [
        {
            "model": text.clean(model),
            "view": view_name(str(view)),
            "before": finite(row.get("A_0")),
            "after": finite(row.get("A_T")),
            "difference": mean_of(row, "difference"),
            "verdict": words_of(row, "verdict"),
            "tasks": count(row, "tasks"),
        }
        for model in found
        for view in section(found, model)
        if (row := section(section(found, model), str(view)))
    ]
