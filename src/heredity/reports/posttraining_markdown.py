"""What report.md says of post-training, as tables of rows: head, cells, how many columns are aligned to the left."""

from __future__ import annotations

from typing import Any

from heredity.reports import text
from heredity.reports.fields import Json, Mean, items, section, words_of
from heredity.reports.harness_markdown import Table
from heredity.reports.posttraining_pages import gain_rows, length_rows, process_rows
from heredity.reports.posttraining_suite import entry_row, heatmap, pass_words

_LENGTHS = ["items", "base", "best", "gain", "best as it is", "mean length", "of references"]


def run_tables(posttraining: Json) -> list[Table]:
    """Return the tables of one run; none for a run of another protocol."""
    if not posttraining:
        return []
    gains = [
        [r["name"], _mean(r["before"]), _mean(r["after"]), _gain(r["gain"]), r["verdict"] or text.DASH]
        for r in gain_rows(posttraining)
    ]
    iterations = [
        [
            text.number(r.get("iteration")),
            words_of(r, "train_type") or text.DASH,
            words_of(r, "failure_type") or text.DASH,
            text.duration(r.get("at_s")),
            text.number(r.get("score"), 3),
            text.signed(r.get("improvement"), 3),
            text.number(r.get("best"), 3),
        ]
        for r in items(posttraining, "iterations")
    ]
    audit = section(posttraining, "audit")
    findings = [
        [words_of(f, "grade"), words_of(f, "what"), f"{words_of(f, 'file')}:{text.number(f.get('line'))}"]
        for f in items(audit, "findings")
    ]
    failures = [
        [words_of(f, "class"), "; ".join(map(str, f.get("evidence") or ()))] for f in items(posttraining, "failures")
    ]
    mode = f"Audit of mode {words_of(audit, 'mode')}: {words_of(audit, 'verdict')}"
    lengths = [
        [r["name"], _mean(r["before"]), _mean(r["after"]), _gain(r["gain"]), text.number(r["won"], 3),
         text.number(r["length"], 0), text.number(r["reference_length"], 0)]
        for r in length_rows(posttraining)
    ]  # fmt: skip
    found: list[Table] = [
        ("Gains over the base model", ["items", "base", "best", "gain", "verdict"], gains, 1),
        ("Win rate at equal length", _LENGTHS, lengths, 1),
        ("Iterations", ["#", "route", "what is wrong", "at", "score", "improvement", "best"], iterations, 3),
        ("Process", ["measure", "value"], [[name, value] for name, value, _ in process_rows(posttraining)], 1),
        ("Failures", ["class", "what it rests on"], failures, 2),
        (mode, ["grade", "what", "line"], findings, 3),
    ]
    return [table for table in found if table[2]]


def suite_tables(study: Json) -> list[Table]:
    """Return the tables of a suite; none without post-training."""
    entries = [entry_row(entry) for entry in items(study, "entries")]
    if not entries:
        return []
    rows = [
        [
            e["evolver"],
            text.short_task(e["taskset"]),
            _gain(e["heldout"]),
            e["heldout_verdict"] or text.DASH,
            _gain(e["graded"]),
            f"{e['improved']} of {e['scored']}",
            ", ".join(f"{name} {n}" for name, n in e["routes"].items()) or text.DASH,
            ", ".join(f"{name} {n}" for name, n in e["failures"].items()) or text.DASH,
        ]
        for e in entries
    ]
    head = ["agent", "task", "held-out gain", "verdict", "graded gain", "improved", "routes", "failures"]
    repeated = [[e["evolver"], text.short_task(e["taskset"]), pass_words(e)] for e in entries]
    found: list[Table] = [
        ("Improvement over the base model", head, rows, 2),
        ("Expected best of k runs (pass@k), graded improvement", ["agent", "task", "pass@k"], repeated, 3),
    ]
    modes, heat = heatmap(study)
    if heat:
        cells = [[r["agent"], r["task"], *(_cell(cell) for cell in r["cells"])] for r in heat]
        found.append(("Modes by tasks (★ best, ▽ worst)", ["agent", "task", *modes], cells, 2))
    return found


def _cell(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return text.DASH
    return text.signed(cell["improvement"], 3) + (" ★" if cell["best"] else " ▽" if cell["worst"] else "")


def _mean(mean: Mean) -> str:
    return text.number(mean.value, 3) + ("" if mean.low is None else f" {text.interval(*mean.bounds, 3)}")


def _gain(mean: Mean) -> str:
    return text.signed(mean.value, 3) + ("" if mean.low is None else f" {text.interval(*mean.bounds, 3)}")
