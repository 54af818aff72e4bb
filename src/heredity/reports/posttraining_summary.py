"""The summary of a post-training run, summary.md and summary.jsonl: an entry for each iteration (Agent² RL-Bench, appendix A.7)."""

from __future__ import annotations

import json
import re
from pathlib import Path

from heredity.errors import RecordError
from heredity.records.run_folder import write_atomic
from heredity.reports import text
from heredity.reports.fields import Json, items, section, words_of
from heredity.reports.markdown import escaped

FIELDS = (
    "iteration", "timestamp", "duration_s", "status", "exit_code", "score", "improvement", "best", "train_type",
    "failure_type", "submit_id", "candidate", "revision",
)  # fmt: skip
"""What a line of summary.jsonl holds of an iteration."""


def write_summary(metrics: Json, folder: Path) -> None:
    """Write summary.md and summary.jsonl of a run, each atomically.

    Args:
        metrics: the run's metrics.json.
        folder: where to; made if it is not there.

    Raises:
        RecordError: if a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder} cannot be made: {error.strerror}; free some space or choose another") from error
    write_atomic(folder / "summary.md", summary_markdown(metrics).encode())
    write_atomic(folder / "summary.jsonl", summary_jsonl(metrics).encode())


def summary_jsonl(metrics: Json) -> str:
    """Return summary.jsonl: a JSON object for each iteration; `""` for a run of another protocol."""
    rows = items(section(metrics, "posttraining"), "iterations")
    return "".join(json.dumps({name: row.get(name) for name in FIELDS}, allow_nan=False) + "\n" for row in rows)


def summary_markdown(metrics: Json) -> str:
    """Return summary.md: a section for each iteration, for people who want to know what was tried and why."""
    found = section(metrics, "posttraining")
    told = [f"# {escaped(text.short_task(words_of(metrics, 'taskset')))}: iterations"]
    told += [_iteration(row) for row in items(found, "iterations")]
    if len(told) == 1:
        told.append("Nothing has been submitted yet.")
    return "\n\n".join(told) + "\n"


def _iteration(row: Json) -> str:
    when = words_of(row, "timestamp") or f"at {text.duration(row.get('at_s'))}"
    settings = ", ".join(f"{k} {v}" for k, v in section(row, "settings").items())
    changed = row.get("changed")
    named = ", ".join(map(str, changed)) if isinstance(changed, list | tuple) and changed else ""
    facts = {
        "Status": words_of(row, "status"),
        "Exit code": "" if row.get("exit_code") is None else text.number(row.get("exit_code")),
        "Score": _scored(row),
        "Train type": words_of(row, "train_type") or "not known",
        "Configuration": settings,
        "Note": words_of(row, "note"),
        "Tried": words_of(row, "tried") or "not said",
        "Why": words_of(row, "because") or "not said",
        "Signal": words_of(row, "failure_type") or _signal(row),
        "Problem": words_of(row, "problem"),
        "Changed": named,
    }
    head = f"## Iteration {text.number(row.get('iteration'))} ({when}, took {text.duration(row.get('duration_s'))})"
    lines = [f"- {name}: {escaped(value)}" for name, value in facts.items() if value]
    parts = [head, "\n".join(lines)]
    excerpt = section(row, "excerpt")
    if excerpt and re.search(r"\.(py|sh)\b", named):
        code = "\n".join(f"    {line}" for line in words_of(excerpt, "text").split("\n"))
        parts.append(f"{escaped(words_of(excerpt, 'file'))}, from line {text.number(excerpt.get('line'))}:\n\n{code}")
    return "\n\n".join(parts)


def _signal(row: Json) -> str:
    if row.get("new_best") is not True:
        return "no better than the best"
    return (
        "a new best"
        if (text.finite(row.get("improvement")) or 0.0) > 0
        else "the best so far, not above the base model"
    )


def _scored(row: Json) -> str:
    if text.finite(row.get("score")) is None:
        return ""
    gained = f"{text.signed(row.get('improvement'), 4)} over the base model"
    return f"{text.number(row.get('score'), 4)}, {gained}, best so far {text.number(row.get('best'), 4)}"
