"""What the page of a suite of post-training shows: gains by agent and task, modes, scaling, pass@k, routes, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heredity.reports import charts, page, text
from heredity.reports.charts import wilson
from heredity.reports.fields import Json, count, items, mean_of, numbers, section, words_of
from heredity.reports.harness_charts import Path, over_batches
from heredity.reports.harness_suite import short
from heredity.reports.posttraining_charts import Spent, spent_plot
from heredity.reports.posttraining_pages import SPENT, spent_points
from heredity.reports.suite_model import Suite
from heredity.reports.text import finite, short_task

ROUTES = ("GRPO", "PPO", "DPO", "other RL", "SFT+RL", "SFT-only", "unrecognised", "copy", "placeholder/missing")
"""Routes in the order in which they are shown."""


def sections(suite: Suite) -> list[tuple[str, str]]:
    """Return the sections of a suite's page that are about post-training, those that have something to show."""
    if not suite.posttraining:
        return []
    names = {
        "agents": "Agents",
        "heatmap": "Modes",
        "scaling": "Scaling",
        "repeated": "Repeated runs",
        "routes": "Routes and failures",
    }
    return [(id_, name) for id_, name in names.items() if id_ != "heatmap" or heatmap(suite.posttraining)[1]]


def suite_parts(suite: Suite, tones: Mapping[str, str]) -> dict[str, Any]:
    """Return what the template of a suite's page is filled with; nothing but `training` None without post-training.

    Args:
        suite: the suite.
        tones: the colour class of each evolver.
    """
    study = suite.posttraining
    if not study:
        return {"training": None}
    entries = [entry_row(entry) for entry in items(study, "entries")]
    tasks = list(dict.fromkeys(entry["taskset"] for entry in entries))
    routes = [r for r in ROUTES if any(r in entry["routes"] for entry in entries)]
    classes = list(dict.fromkeys(name for entry in entries for name in entry["failures"]))
    modes, heat = heatmap(study)
    return {
        "training": study,
        "entries": entries,
        "by_task": [(task, [e for e in entries if e["taskset"] == task]) for task in tasks],
        "gain_plots": [(task, page.picture(_gains(task, entries, tones))) for task in tasks],
        "modes": modes,
        "heat": heat,
        "spent_plots": [
            (task, title, page.picture(plot)) for task in tasks for title, plot in _spent(study, task, tones)
        ],
        "pass_plots": [(task, page.picture(_pass(task, entries, tones))) for task in tasks],
        "routes": routes,
        "classes": classes,
        "shortcuts": items(study, "shortcuts"),
    }


def entry_row(entry: Json) -> dict[str, Any]:
    """Return an agent on a task as tables show it."""
    success = section(entry, "success")
    runs, improved = count(success, "runs"), count(success, "improved")
    compared = {name: section(entry, name) for name in ("graded", "heldout")}
    return {
        "evolver": words_of(entry, "evolver"),
        "taskset": words_of(entry, "taskset"),
        "level": words_of(entry, "level"),
        "mode": words_of(entry, "mode"),
        "runs": count(entry, "runs"),
        "baseline": finite(entry.get("baseline")),
        "improvement": finite(entry.get("improvement")),
        "best_improvement": finite(entry.get("best_improvement")),
        "graded": mean_of(compared["graded"], "difference"),
        "graded_verdict": words_of(compared["graded"], "verdict"),
        "heldout": mean_of(compared["heldout"], "difference"),
        "heldout_verdict": words_of(compared["heldout"], "verdict"),
        "mde": finite(compared["heldout"].get("mde")),
        "unit": {"run": "runs", "case": "items"}.get(words_of(compared["heldout"], "unit"), ""),
        "noise": finite(entry.get("noise")),
        "improved": improved,
        "scored": runs,
        "rate": improved / runs if runs else None,
        "rate_ci": wilson(improved, runs) if runs else (None, None),
        "beyond": count(success, "beyond_noise"),
        "coding": count(success, "coding"),
        "pass": items(entry, "pass_at_k"),
        "process": numbers(section(entry, "process")),
        "routes": {str(k): count(section(entry, "routes"), str(k)) for k in section(entry, "routes")},
        "failures": {str(k): count(section(entry, "failures"), str(k)) for k in section(entry, "failures")},
        "broken": count(entry, "broken"),
    }


def heat_cells(study: Json) -> list[dict[str, Any]]:
    """Return the cells of the heatmap: agent, mode, task, improvement, runs, best and worst."""
    return [
        {
            **{name: words_of(cell, name) for name in ("agent", "mode", "task")},
            "improvement": finite(cell.get("improvement")),
            "runs": count(cell, "runs"),
            "best": cell.get("best") is True,
            "worst": cell.get("worst") is True,
        }
        for cell in items(study, "heatmap")
    ]


def heatmap(study: Json) -> tuple[list[str], list[dict[str, Any]]]:
    """Return modes, and a row for each agent and task under several, with a cell for each (None where there is no run).

    A cell's `heat` is its improvement over the largest of its row, -100 to 100.
    """
    cells = heat_cells(study)
    order = ["free", "sft-only", "rl-only", "multi-task"]
    modes = sorted({c["mode"] for c in cells}, key=lambda m: (order.index(m) if m in order else len(order), m))
    rows: list[dict[str, Any]] = []
    for agent, task in dict.fromkeys((c["agent"], c["task"]) for c in cells):
        own = {c["mode"]: c for c in cells if (c["agent"], c["task"]) == (agent, task)}
        if len(own) < 2:
            continue
        most = max((abs(c["improvement"] or 0.0) for c in own.values()), default=0.0) or 1.0
        for cell in own.values():
            cell["heat"] = round(100 * (cell["improvement"] or 0.0) / most)
        rows.append({"agent": agent, "task": short_task(task), "cells": [own.get(mode) for mode in modes]})
    return modes, rows


def _gains(task: str, entries: Sequence[dict[str, Any]], tones: Mapping[str, str]) -> str:
    lines = [
        charts.Line(short(e["evolver"]), e["heldout"], tones[e["evolver"]]) for e in entries if e["taskset"] == task
    ]
    return charts.intervals(f"Held-out gain on {task}", lines, "held-out gain over the base", 0.0, "no gain")


def _spent(study: Json, task: str, tones: Mapping[str, str]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, title in SPENT.items():
        lines = [
            Spent(
                short(words_of(row, "evolver")),
                tones[words_of(row, "evolver")],
                spent_points(row.get("points") or (), name),
            )
            for row in items(section(study, "scaling"), name)
            if words_of(row, "taskset") == task
        ]
        if any(line.points for line in lines):
            found.append((title, spent_plot(f"Improvement on {task} over {title}", lines, title)))
    return found


def _pass(task: str, entries: Sequence[dict[str, Any]], tones: Mapping[str, str]) -> str:
    paths: list[Path] = []
    for entry in entries:
        if entry["taskset"] == task:
            pairs = [(finite(row.get("k")), finite(row.get("improvement"))) for row in entry["pass"]]
            known = tuple((k, gain) for k, gain in pairs if k is not None and gain is not None)
            paths.append(Path(short(entry["evolver"]), tones[entry["evolver"]], known))
    return over_batches(f"Best of k runs on {task}", paths, "expected best improvement", "runs (k)")


def pass_words(entry: dict[str, Any]) -> str:
    """Write pass@k in one line."""
    rows = [f"k={text.number(row.get('k'))}: {text.signed(row.get('improvement'), 3)}" for row in entry["pass"]]
    return ", ".join(rows) or text.DASH
