"""Curves of training: what an agent's own output says of loss and reward, step by step, and scores along the run's clock."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

from heredity.errors import RecordError
from heredity.results.charts import Key, Lines, Mark, Reference, Series
from heredity.view.index.tail import bytes_at, size_of
from heredity.view.pages.here import Run

MOST_READ = 8 << 20
"""Bytes of an output that are looked through, its last ones."""

_MOST_FILES, _MOST_CURVES, _MOST_POINTS = 40, 8, 1500
_STEP = re.compile(r"\b(?:global[_ ])?(?:steps?|iter(?:ation)?s?|updates?)['\"]?\s*[:=#]?\s*(\d{1,9})\b", re.IGNORECASE)
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_VALUE = re.compile(
    r"\b((?:[A-Za-z]{1,16}[_/ ]){0,2}(?:loss|reward|accuracy|perplexity))['\"]?\s*(?:[:=]\s*|\bis\b\s*|\s)['\"]?"
    + _NUMBER,
    re.IGNORECASE,
)
_WORDS = ("loss", "reward", "accuracy", "perplexity")


def training_curves(run: Run) -> list[Lines]:
    """Return a chart for each quantity that an output of the run names with its steps, such as `step 40: loss 1.31`."""
    charts: list[Lines] = []
    for path in _outputs(run.folder / "logs"):
        size = size_of(path)
        try:
            data = bytes_at(path, max(0, size - MOST_READ), min(size, MOST_READ))
        except RecordError:
            continue
        for name, points in curves_in(data.decode("utf-8", "replace")).items():
            if len(points) > 1:
                step = max(1, len(points) // _MOST_POINTS)
                title = f"{name[:1].upper()}{name[1:]}, as {path.name} says"
                charts.append(
                    Lines(title, "step", name, (Series("", 0, tuple(points[::step])),), whole=False, wide=True)
                )
    return charts[:_MOST_CURVES]


def curves_in(text: str) -> dict[str, list[tuple[float, float]]]:
    """Return what lines of a text say of a loss, a reward, an accuracy or a perplexity: name to (step, value).

    A line counts that names a step, or is a mapping as trainers print it (`{'loss': 1.3, 'epoch': 0.1}`), whose place is its step
    then. A step that is lower than the one before begins another training: it goes on behind it.
    """
    curves: dict[str, list[tuple[float, float]]] = {}
    starts: dict[str, float] = {}
    for line in text.splitlines():
        if len(line) > 2000 or not any(word in line.lower() for word in _WORDS):
            continue
        step = _STEP.search(line)
        if step is None and "{" not in line:
            continue
        for label, number in _VALUE.findall(line):
            name, value = " ".join(label.lower().replace("_", " ").replace("/", " ").split()), float(number)
            points = curves.setdefault(name, [])
            at = starts.get(name, 0.0) + (float(step[1]) if step else len(points) + 1.0)
            if points and step and at <= points[-1][0]:
                starts[name] = points[-1][0]
                at = starts[name] + float(step[1])
            if math.isfinite(value):
                points.append((at, value))
    return curves


def over_time(run: Run) -> Lines | None:
    """Return the scores of submissions along the run's clock; None where time is no part of the budget or nothing was scored."""
    if not (run.facts.get("budget") or {}).get("seconds"):
        return None
    rows = run.suite.index.rows(
        "SELECT number, at, mean FROM evaluations WHERE run = ? AND number IS NOT NULL AND mean IS NOT NULL ORDER BY number",
        (run.id,),
    )
    base = run.suite.index.rows(
        "SELECT mean FROM evaluations WHERE run = ? AND number IS NULL AND mean IS NOT NULL ORDER BY id LIMIT 1",
        (run.id,),
    )
    zero = run.facts.get("started", 0.0)
    points = [(row["at"] - zero, row["mean"]) for row in rows]
    if not points:
        return None
    best: list[tuple[float, float]] = []
    for at, mean in points:
        if not best or mean > best[-1][1]:
            best.append((at, mean))
    step = max(1, len(points) // _MOST_POINTS)
    marks = tuple(Mark(at, mean, "circle", "soft", f"{mean:.4g} after {at:.0f} s", 0.7) for at, mean in points[::step])
    return Lines(
        "Score along the run's clock",
        "seconds",
        "score",
        (Series("best so far", 0, tuple(best), steps=True, until=points[-1][0]),),
        marks,
        Reference(base[0]["mean"], "scored first") if base else None,
        whole=False,
        legend=(Key("circle", "soft", "a submission"),),
        wide=True,
    )


def _outputs(folder: Path) -> Iterator[Path]:
    """Yield plain files of a folder and of those right below it, by name; links are left out."""
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name)[:_MOST_FILES]:
                if entry.is_file(follow_symlinks=False):
                    yield Path(entry.path)
                elif entry.is_dir(follow_symlinks=False):
                    inner = sorted(Path(entry.path).iterdir())[:_MOST_FILES]
                    yield from (path for path in inner if size_of(path))
    except OSError:
        return
