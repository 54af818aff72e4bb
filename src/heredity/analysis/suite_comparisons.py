"""Paired comparisons between the evolvers of a suite: same taskset, same seed, same held-out cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from heredity.analysis import paired
from heredity.analysis.bounds import GAP, Floats
from heredity.analysis.paired import compare_cases, compare_runs, holm, verdict
from heredity.analysis.samples import differences
from heredity.analysis.statistics import CONFIDENCE, probability_of_improvement
from heredity.analysis.suite_table import REFERENCE, TasksetScores
from heredity.results.run import Verdict
from heredity.results.suite import Claim, Comparison, Comparisons, Scale, TasksetComparison, Unit

LEVEL = 1.0 - CONFIDENCE
MARK_LEVEL = 0.002
"""Level of tests of evolvers against what is the same for all seeds: nothing there cancels the skew of scores, which at 5%
calls an evolver falsely better in up to one case in six."""


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
    whole = _families([_Question(scaled, pair, Scale.NORMALISED) for pair in pairs], name)
    single = _families([_Question([t], pair, Scale.RETURN) for t in tasksets for pair in pairs], name)
    return Comparisons(
        suite=[row for _, row in whole],
        tasksets=[_taskset_row(row, question.tasksets[0].name) for question, row in single],
    )


@dataclass(frozen=True, slots=True)
class _Question:
    tasksets: Sequence[TasksetScores]
    pair: tuple[str, str]
    scale: Scale


@dataclass(frozen=True, slots=True)
class _Answer:
    question: _Question
    evolvers: paired.Comparison
    candidates: paired.Comparison


def _families(questions: Sequence[_Question], name: Callable[[str], str]) -> list[tuple[_Question, Comparison]]:
    """Answer questions, with p corrected in two families, against the reference and between evolvers, and for each claim apart."""
    rows: list[tuple[_Question, Comparison]] = []
    for reference in (False, True):
        asked = [q for q in questions if (REFERENCE in q.pair) is reference]
        answers = [answer for q in asked if (answer := _answer(q, len(asked))) is not None]
        evolvers = holm([answer.evolvers.p if answer.evolvers.enough else None for answer in answers])
        candidates = holm([answer.candidates.p for answer in answers])
        for answer, *corrected in zip(answers, evolvers, candidates, strict=True):
            rows.append((answer.question, _row(answer, corrected[0], corrected[1], name)))
    return rows


def _answer(question: _Question, tests: int) -> _Answer | None:
    tasksets, (a, b), normalised = question.tasksets, question.pair, question.scale is Scale.NORMALISED
    gaps = [_paired_gaps(t, a, b) / ((t.span or 1.0) if normalised else 1.0) for t in tasksets]
    bounds = GAP if not normalised and all(t.bounds for t in tasksets) else None
    strata = [g for g in gaps if g.size]
    # Against a mark the level is lower, as if there were so many more tests.
    mark = REFERENCE in (a, b)
    family = tests * round(LEVEL / MARK_LEVEL) if mark else tests
    evolvers = compare_runs(strata, family, bounds, mark=mark)
    candidates = compare_cases(strata, tests, bounds)
    return _Answer(question, evolvers, candidates) if evolvers is not None and candidates is not None else None


def _row(
    answer: _Answer, p_evolvers: float | None, p_candidates: float | None, name: Callable[[str], str]
) -> Comparison:
    candidates, tasksets, (a, b) = answer.candidates, answer.question.tasksets, answer.question.pair
    case_count = sum(_known_cases(t, entry) for t in tasksets for entry in (a, b) if entry != REFERENCE)
    marked = REFERENCE in (a, b)
    improves = probability_of_improvement([_runs(t, a) for t in tasksets], [_runs(t, b) for t in tasksets])
    return Comparison(
        a=name(a),
        b=name(b),
        scale=answer.question.scale,
        difference=candidates.difference,
        evolvers=of_evolvers(answer.evolvers, p_evolvers, marked=marked),
        candidates=_claim(candidates, p_candidates, LEVEL),
        pairs=candidates.runs,
        cases=candidates.cases,
        unpaired=case_count - (1 if marked else 2) * candidates.cases,
        probability_of_improvement=improves and improves.mean,
        probability_of_improvement_ci=improves and improves.interval,
    )


def of_evolvers(comparison: paired.Comparison, p: float | None, *, marked: bool) -> Claim:
    """Return what can be told of evolvers: nothing of few runs, nor of runs that lie all as far from a mark, without bounds."""
    interval = comparison.interval
    if not comparison.enough or (marked and interval is None):
        return Claim(unit=Unit.RUN, ci=interval, p=None, p_holm=None, mde=comparison.mde, verdict=Verdict.CANNOT_TELL)
    beyond = interval is None or not marked or interval[0] > 0.0 or interval[1] < 0.0
    claim = _claim(comparison, p, MARK_LEVEL if marked else LEVEL)
    return claim if beyond else claim.model_copy(update={"verdict": Verdict.WITHIN_NOISE})


def _claim(comparison: paired.Comparison, p: float | None, level: float) -> Claim:
    return Claim(
        unit=comparison.unit,
        ci=comparison.interval,
        p=comparison.p,
        p_holm=p,
        mde=comparison.mde,
        verdict=verdict(comparison.difference, p, level),
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
    gaps = [differences(x[:width], y[:width]) for x, y in rows]
    return np.array(gaps, dtype=np.float64).reshape(len(rows), width)


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
