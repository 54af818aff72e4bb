"""Paired comparisons between the evolvers of a suite: same taskset, same seed, same held-out cases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from heredity.analysis.bounds import GAP
from heredity.analysis.statistics import (
    Comparison,
    Floats,
    compare_paired,
    holm,
    probability_of_improvement,
    verdict,
)
from heredity.analysis.suite_table import REFERENCE, TasksetScores


def suite_comparisons(tasksets: Sequence[TasksetScores], entries: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """Compare every two entries, over the whole suite and on each taskset.

    Over the suite, differences are of normalised scores (not clipped), so that tasksets weigh the same; tasksets on which
    nobody beats the reference have no such scale and are left out. Tests are Holm-corrected in families: over the suite and on
    single tasksets, between evolvers and against the reference.

    Args:
        tasksets: the suite's scores.
        entries: whom to compare, best first; the reference may be among them.

    Returns:
        `{"suite": [...], "tasksets": [...]}` as in `docs/file-formats.md`; pairs without a paired case are left out.
    """
    pairs = list(combinations(entries, 2))
    scaled = [t for t in tasksets if t.span is not None]
    whole = [("normalised", scaled, pair, {}) for pair in pairs]
    single = [("return", [t], pair, {"taskset": t.name}) for t in tasksets for pair in pairs]
    return {"suite": _families(whole), "tasksets": _families(single)}


_Question = tuple[str, Sequence[TasksetScores], tuple[str, str], dict[str, Any]]


def _families(questions: Sequence[_Question]) -> list[dict[str, Any]]:
    """Answer questions, corrected in two families: against the reference, and between evolvers."""
    rows: list[dict[str, Any]] = []
    for reference in (False, True):
        asked = [q for q in questions if (REFERENCE in q[2]) is reference]
        answers = [(q, _compare(q[1], q[2], q[0], len(asked))) for q in asked]
        rows += _with_verdicts([{**q[3], **answer} for q, answer in answers if answer])
    return rows


def _compare(tasksets: Sequence[TasksetScores], pair: tuple[str, str], scale: str, tests: int) -> dict[str, Any] | None:
    a, b = pair
    gaps = [_paired_gaps(t, a, b) / ((t.span or 1.0) if scale == "normalised" else 1.0) for t in tasksets]
    shares = scale != "normalised" and all(t.bounds for t in tasksets)
    comparison = compare_paired([g for g in gaps if g.size], tests, GAP if shares else None)
    if comparison is None:
        return None
    known = sum(_known_cases(t, entry) for t in tasksets for entry in (a, b) if entry != REFERENCE)
    sides = 1 if REFERENCE in (a, b) else 2
    chance = probability_of_improvement([_runs(t, a) for t in tasksets], [_runs(t, b) for t in tasksets])
    return {
        **_row(a, b, scale, comparison),
        "unpaired": known - sides * comparison.cases,
        "probability_of_improvement": chance,
    }


def _row(a: str, b: str, scale: str, comparison: Comparison) -> dict[str, Any]:
    return {
        "a": a,
        "b": b,
        "scale": scale,
        "difference": comparison.difference,
        "ci": None if comparison.interval is None else list(comparison.interval),
        "p": comparison.p,
        "mde": comparison.mde,
        "unit": comparison.unit,
        "pairs": comparison.runs,
        "cases": comparison.cases,
    }


def _with_verdicts(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    corrected = holm([row["p"] for row in rows])
    return [
        {**row, "p_holm": p, "verdict": verdict(row["difference"], row["ci"] and tuple(row["ci"]), row["mde"], p)}
        for row, p in zip(rows, corrected, strict=True)
    ]


def _paired_gaps(taskset: TasksetScores, a: str, b: str) -> Floats:
    """Return a minus b for the seeds that both have, shape (seeds, cases); the reference pairs with every seed."""
    left, right = _by_seed(taskset, a), _by_seed(taskset, b)
    seeds = left if left is not None else right
    rows = [
        (taskset.reference if left is None else left[seed], taskset.reference if right is None else right[seed])
        for seed in seeds or ()
        if (left is None or seed in left) and (right is None or seed in right)
    ]
    width = min((min(len(x), len(y)) for x, y in rows), default=0)
    return np.array([x[:width] - y[:width] for x, y in rows], dtype=np.float64).reshape(len(rows), width)


def _by_seed(taskset: TasksetScores, entry: str) -> dict[Any, Floats] | None:
    """Return seed to scores; None for the reference, which has no seeds."""
    if entry == REFERENCE:
        return None
    cell = taskset.cells.get(entry)
    return {} if cell is None else dict(zip(cell.seeds, cell.scores, strict=True))


def _known_cases(taskset: TasksetScores, entry: str) -> int:
    cell = taskset.cells.get(entry)
    return 0 if cell is None else int((~np.isnan(cell.scores)).sum())


def _runs(taskset: TasksetScores, entry: str) -> list[float]:
    if entry == REFERENCE:
        return [] if taskset.reference_mean is None else [taskset.reference_mean]
    cell = taskset.cells.get(entry)
    return [] if cell is None else cell.run_means
