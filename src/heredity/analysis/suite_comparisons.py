"""Paired comparisons between the evolvers of a suite: same taskset, same seed, same held-out cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from heredity.analysis import statistics
from heredity.analysis.bounds import GAP, Floats
from heredity.analysis.statistics import compare_paired, holm, probability_of_improvement, verdict
from heredity.analysis.suite_table import REFERENCE, TasksetScores
from heredity.results.suite import Comparison, Comparisons, Scale, TasksetComparison


def suite_comparisons(
    tasksets: Sequence[TasksetScores], entries: Sequence[str], name: Callable[[str], str] = str
) -> Comparisons:
    """Compare every two entries, over the whole suite and on each taskset.

    Over the suite, differences are of normalised scores (not clipped), so that tasksets weigh the same; tasksets on which
    nobody beats the reference have no such scale and are left out. Tests are Holm-corrected in families: over the suite and on
    single tasksets, between evolvers and against the reference. Pairs without a paired case are left out.

    Args:
        tasksets: the suite's scores.
        entries: whom to compare, best first; the reference may be among them.
        name: what an entry is called.
    """
    pairs = list(combinations(entries, 2))
    scaled = [t for t in tasksets if t.span is not None]
    whole = _families([_Question(scaled, pair, Scale.NORMALISED) for pair in pairs])
    single = _families([_Question([t], pair, Scale.RETURN) for t in tasksets for pair in pairs])
    return Comparisons(
        suite=[_row(answer, p, name) for answer, p in whole],
        tasksets=[_taskset_row(_row(answer, p, name), answer.question.tasksets[0].name) for answer, p in single],
    )


@dataclass(frozen=True, slots=True)
class _Question:
    tasksets: Sequence[TasksetScores]
    pair: tuple[str, str]
    scale: Scale


@dataclass(frozen=True, slots=True)
class _Answer:
    question: _Question
    comparison: statistics.Comparison


def _families(questions: Sequence[_Question]) -> list[tuple[_Answer, float | None]]:
    """Answer questions, with p corrected in two families: against the reference, and between evolvers."""
    answered: list[tuple[_Answer, float | None]] = []
    for reference in (False, True):
        asked = [q for q in questions if (REFERENCE in q.pair) is reference]
        answers = [_Answer(q, c) for q in asked if (c := _compare(q, len(asked))) is not None]
        answered += zip(answers, holm([answer.comparison.p for answer in answers]), strict=True)
    return answered


def _compare(question: _Question, tests: int) -> statistics.Comparison | None:
    tasksets, (a, b), normalised = question.tasksets, question.pair, question.scale is Scale.NORMALISED
    gaps = [_paired_gaps(t, a, b) / ((t.span or 1.0) if normalised else 1.0) for t in tasksets]
    shares = not normalised and all(t.bounds for t in tasksets)
    return compare_paired([g for g in gaps if g.size], tests, GAP if shares else None)


def _row(answer: _Answer, p_holm: float | None, name: Callable[[str], str]) -> Comparison:
    comparison, tasksets, (a, b) = answer.comparison, answer.question.tasksets, answer.question.pair
    case_count = sum(_known_cases(t, entry) for t in tasksets for entry in (a, b) if entry != REFERENCE)
    sides = 1 if REFERENCE in (a, b) else 2
    return Comparison(
        a=name(a),
        b=name(b),
        scale=answer.question.scale,
        difference=comparison.difference,
        ci=comparison.interval,
        p=comparison.p,
        p_holm=p_holm,
        mde=comparison.mde,
        unit=comparison.unit,
        pairs=comparison.runs,
        cases=comparison.cases,
        unpaired=case_count - sides * comparison.cases,
        probability_of_improvement=probability_of_improvement(
            [_runs(t, a) for t in tasksets], [_runs(t, b) for t in tasksets]
        ),
        verdict=verdict(comparison.difference, comparison.interval, comparison.mde, p_holm),
    )


def _taskset_row(row: Comparison, taskset: str) -> TasksetComparison:
    return TasksetComparison(taskset=taskset, **dict(row))


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


def _by_seed(taskset: TasksetScores, entry: str) -> dict[int | None, Floats] | None:
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
