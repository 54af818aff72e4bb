"""Files next to a report: the summary of a run (Agent² RL-Bench, appendix A.7), and results.csv of a suite."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from heredity.protocols.post_training.results import (
    Gain,
    Iteration,
    ScoreSummary,
    TrainingRunResults,
    WinRate,
    WinRateGain,
)
from heredity.results import text
from heredity.results.charts import Lines, Series
from heredity.results.page import Code, File, Mean, Part, Section, Text
from heredity.results.run import RunResults

MINUTES = 60.0
"""Seconds per unit."""

SPENT = {"time": "minutes of the run", "submissions": "graded submissions", "tokens": "tokens of the agent"}
"""X axes of improvement curves, and their headings."""


def level(of: ScoreSummary | WinRate | None) -> Mean:
    """Return a score or a win rate with its interval."""
    if of is None:
        return Mean()
    return Mean(of.mean if isinstance(of, ScoreSummary) else of.rate, *(of.ci or (None, None)), 3)


def difference(gain: Gain | WinRateGain | None) -> Mean:
    """Return a gain with its interval."""
    return Mean(gain.difference, *(gain.ci or (None, None)), 3, signed=True) if gain else Mean()


def spent_lines(title: str, spent: str, series: Sequence[Series]) -> Lines:
    """Return the best improvement so far against spending."""
    empty = "nothing graded yet"
    return Lines(title, spent, "best improvement so far", tuple(series), x_range=None, y_from=0.0, empty=empty)


FIELDS = (
    "iteration", "timestamp", "duration_s", "status", "exit_code", "score", "improvement", "best", "train_type",
    "failure_type", "submit_id", "candidate", "revision",
)  # fmt: skip
"""Fields of an iteration in summary.jsonl."""

COLUMNS = (
    *("run_id", "task", "level", "agent", "seed", "base_model", "mode", "baseline_score", "best_score", "improvement"),
    *("heldout_baseline", "heldout_score", "heldout_improvement", "total_submissions", "best_s", "route", "failure"),
)
"""Columns of a run in results.csv: scores are percentages, like the grading server's; unknown values are empty."""


def summary_files(run: RunResults, part: TrainingRunResults) -> tuple[File, File]:
    """Return summary.md, with a section per iteration on what was tried and why, and summary.jsonl."""
    rows = (row.model_dump(mode="json", include=set(FIELDS)) for row in part.iterations)
    lines = "".join(json.dumps({name: row[name] for name in FIELDS}) + "\n" for row in rows)
    sections = tuple(_section(row) for row in part.iterations)
    nothing = (Section("none", "No submissions yet", (Text("No iterations."),)),)
    title = f"{text.short_task(run.taskset or 'unknown taskset')}: iterations"
    return File("reports/summary.md", sections or nothing, title), File("reports/summary.jsonl", lines)


def _section(row: Iteration) -> Section:
    when = row.timestamp or f"at {text.duration(row.at_s)}"
    changed = ", ".join(row.changed)
    facts = {
        "Status": row.status,
        "Exit code": "" if row.exit_code is None else str(row.exit_code),
        "Score": _scored(row),
        "Train type": row.train_type or "not known",
        "Configuration": ", ".join(f"{name} {value}" for name, value in row.settings.items()),
        "Note": row.note,
        "Tried": row.tried or "not said",
        "Why": row.because or "not said",
        "Signal": row.failure_type or _signal(row),
        "Problem": row.problem,
        "Changed": changed,
    }
    parts: list[Part] = [Text(f"{name}: {value}", "item") for name, value in facts.items() if value]
    if row.excerpt and any(name.endswith((".py", ".sh")) for name in row.changed):
        parts.append(Code(row.excerpt.text, title=row.excerpt.file, note=f"from line {row.excerpt.line}"))
    title = f"Iteration {row.iteration} ({when}, took {text.duration(row.duration_s)})"
    return Section(f"iteration-{row.iteration}", title, tuple(parts))


def _signal(row: Iteration) -> str:
    if not row.new_best:
        return "no better than the best"
    return "a new best" if (row.improvement or 0.0) > 0 else "the best so far, not above the base model"


def _scored(row: Iteration) -> str:
    if row.score is None:
        return ""
    gained = f"{text.signed(row.improvement, 4)} over the base model"
    return f"{text.number(row.score, 4)}, {gained}, best so far {text.number(row.best, 4)}"


def results_csv(runs: Iterable[RunResults]) -> File:
    """Return results.csv of a suite: a line per post-training run, sorted by run."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for run in sorted(runs, key=lambda run: str(run.run_id)):
        if isinstance(run.part, TrainingRunResults):
            writer.writerow(_row(run, run.part))
    return File("results.csv", buffer.getvalue())


def _row(run: RunResults, part: TrainingRunResults) -> dict[str, Any]:
    best, heldout = part.best, part.heldout
    return {
        "run_id": run.run_id,
        "task": str(run.taskset).removeprefix("posttraining/"),
        "level": part.level,
        # A suite appends settings to names to tell runs apart; here they have separate columns.
        "agent": (run.evolver.name or "").partition(" (")[0],
        "seed": run.seed,
        "base_model": part.base_model,
        "mode": part.mode,
        "baseline_score": _mean(part.baseline.graded),
        "best_score": _mean(best.score if best else None),
        "improvement": _percent(best.gain.difference if best and best.gain else None),
        "heldout_baseline": _mean(heldout.baseline if heldout else None),
        "heldout_score": _mean(heldout.best if heldout else None),
        "heldout_improvement": _percent(heldout.gain.difference if heldout and heldout.gain else None),
        "total_submissions": part.process.graded,
        "best_s": part.process.best_s,
        "route": (best and best.route) or part.routes.run,
        "failure": "; ".join(failure.kind for failure in part.failures),
    }


def _mean(score: ScoreSummary | None) -> float | None:
    return _percent(score.mean if score else None)


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100.0 * value, 4)
