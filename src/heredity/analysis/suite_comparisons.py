"""Paired comparisons between the evolvers of a suite: same taskset, same seed, same held-out cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from heredity.analysis import anytime, paired
from heredity.analysis.amounts import mean, run_amount, times, total
from heredity.analysis.claims import Both, claims, compare
from heredity.analysis.samples import GAP, Floats, Interval, differences
from heredity.analysis.statistics import probability_of_improvement
from heredity.analysis.suite_table import TasksetScores, coverage_of, is_reference
from heredity.results.base import covered
from heredity.results.run import Verdict
from heredity.results.suite import Amount, Claim, Comparison, Comparisons, Scale, TasksetComparison, Unit

_EVERY = "every seed"


def suite_comparisons(
    tasksets: Sequence[TasksetScores],
    entries: Sequence[str],
    name: Callable[[str], str] = str,
    *,
    sequential: bool = False,
) -> Comparisons:
    """Compare every two entries, over the whole suite and on each taskset.

    Over the suite, differences are of normalised scores (not clipped), so all tasksets weigh the same. Tasksets on
    which no evolver beats the reference have no such scale and are skipped. Entries under other conditions have
    separate references, and are compared only with these. Tests are Holm-corrected in families: over the suite and on
    single tasksets, between evolvers and against the reference. Pairs without a paired case are skipped.

    Args:
        tasksets: the suite's scores.
        entries: entries to compare, best first; may include the reference.
        name: returns the name of an entry.
        sequential: whether the suite was checked after every seed. Evolvers are then compared only by results that hold
            at every stopping time.
    """
    pairs = [pair for pair in combinations(entries, 2) if not _marked(pair) or _own(tasksets, pair)]
    whole = _families([_Question(_scaled(tasksets, pair), pair, Scale.NORMALISED) for pair in pairs], name, sequential)
    single = _families([_Question([t], pair, Scale.RETURN) for t in tasksets for pair in pairs], name, sequential)
    return Comparisons(
        suite=[row for _, row in whole],
        tasksets=[_taskset_row(row, question.tasksets[0].name) for question, row in single],
    )


def _marked(pair: tuple[str, str]) -> bool:
    return any(map(is_reference, pair))


def _own(tasksets: Sequence[TasksetScores], pair: tuple[str, str]) -> bool:
    """Return True if one of two entries is the reference of the other's conditions."""
    return any(t.cells[e].reference in pair for t in tasksets for e in pair if e in t.cells)


def _scaled(tasksets: Sequence[TasksetScores], pair: tuple[str, str]) -> list[TasksetScores]:
    """Return the tasksets on which entries have a scale, each under its conditions."""
    return [t for t in tasksets if all(t.span(e) is not None for e in pair if e in t.cells or e in t.references)]


@dataclass(frozen=True, slots=True)
class _Question:
    tasksets: Sequence[TasksetScores]
    pair: tuple[str, str]
    scale: Scale


def _families(
    questions: Sequence[_Question], name: Callable[[str], str], sequential: bool
) -> list[tuple[_Question, Comparison]]:
    """Answer questions, with p corrected in two families (against the reference, between evolvers) and per claim."""
    rows: list[tuple[_Question, Comparison]] = []
    for reference in (False, True):
        asked = [q for q in questions if _marked(q.pair) is reference]
        answers = [(q, both) for q in asked if (both := _answer(q, len(asked), sequential)) is not None]
        claimed = claims([both for _, both in answers])
        for (question, both), (evolvers, candidates) in zip(answers, claimed, strict=True):
            row = _row(question, both, evolvers, candidates, name)
            rows.append((question, _sequential(row) if sequential else row))
    return rows


def _answer(question: _Question, tests: int, sequential: bool) -> Both | None:
    gaps, bounds = _gaps(question)
    normalised = question.scale is Scale.NORMALISED
    sides = [paired_scores(t, *question.pair, normalised=normalised) for t in question.tasksets]
    kept = [(g, s, t.clusters) for g, s, t in zip(gaps, sides, question.tasksets, strict=True) if g.size]
    both = compare(
        [gap for gap, _, _ in kept],
        tests,
        bounds,
        sides=None if _marked(question.pair) else [scores for _, scores, _ in kept],
        clusters=[clusters for *_, clusters in kept],
        least=coverage_of(question.tasksets),
    )
    return replace(both, evolvers=_looked(question)) if both is not None and sequential else both


def _gaps(question: _Question) -> tuple[list[Floats], Interval | None]:
    """Return the paired differences on each taskset, and their bounds."""
    normalised = question.scale is Scale.NORMALISED
    gaps = [paired_gaps(t, *question.pair, normalised=normalised) for t in question.tasksets]
    return gaps, GAP if not normalised and all(t.bounds for t in question.tasksets) else None


def sequential_look(tasksets: Sequence[TasksetScores], pair: tuple[str, str]) -> tuple[anytime.Look | None, Scale]:
    """Return the anytime comparison of two entries by the seeds so far, and its unit: normalised scores over several tasksets.

    Their scale is taken as known, as in every comparison over a suite.
    """
    scale = Scale.RETURN if len(tasksets) == 1 else Scale.NORMALISED
    chosen = tasksets if scale is Scale.RETURN else _scaled(tasksets, pair)
    return _look(_Question(chosen, pair, scale)), scale


def _look(question: _Question) -> anytime.Look | None:
    seeds = [_paired_seeds(t, *question.pair) for t in question.tasksets]
    if not seeds:
        return None
    common = set(seeds[0]).intersection(*seeds)
    gaps, bounds = _gaps(question)
    aligned = [g[[seed in common for seed in own]] for g, own in zip(gaps, seeds, strict=True)] if common else []
    looked = anytime.look(aligned, bounds, [t.clusters for t in question.tasksets] if aligned else None)
    differences = sum(int(np.isfinite(g).sum()) for g in aligned)
    enough = covered(differences, sum(g.size for g in aligned), coverage_of(question.tasksets))
    return looked and replace(looked, covered=enough)


def _looked(question: _Question) -> paired.Comparison | None:
    looked = None if _marked(question.pair) else _look(question)
    if looked is None:
        return paired.Comparison(0.0, None, None, None, Unit.RUN, 0, 0, enough=False, covered=True)
    tested = looked.p is not None
    of_seeds = looked.difference, looked.interval, looked.p, None, Unit.RUN, looked.seeds, 0
    return paired.Comparison(*of_seeds, enough=tested, covered=looked.covered)


def _sequential(row: Comparison) -> Comparison:
    """Return a comparison without the results that hold only for a number of seeds fixed in advance."""
    decided = row.evolvers.verdict in (Verdict.BETTER, Verdict.WORSE)
    evolvers: dict[str, Any] = {
        "always_valid": row.evolvers.p is not None,
        **({} if decided else {"verdict": Verdict.CANNOT_TELL}),
    }
    evolvers["more_seeds"] = None
    candidates = {"ci": None, "p": None, "p_holm": None, "mde": None, "verdict": Verdict.CANNOT_TELL}
    return row.model_copy(
        update={
            "more_cost": None,
            "evolvers": row.evolvers.model_copy(update=evolvers),
            "candidates": row.candidates.model_copy(update=candidates),
        }
    )


def _row(question: _Question, both: Both, evolvers: Claim, candidates: Claim, name: Callable[[str], str]) -> Comparison:
    compared, tasksets, (a, b) = both.candidates, question.tasksets, question.pair
    case_count = sum(_count_cases(t, entry) for t in tasksets for entry in (a, b) if not is_reference(entry))
    improves = probability_of_improvement([_runs(t, a) for t in tasksets], [_runs(t, b) for t in tasksets])
    return Comparison(
        a=name(a),
        b=name(b),
        scale=question.scale,
        difference=compared.difference,
        evolvers=evolvers,
        candidates=candidates,
        pairs=compared.runs,
        cases=compared.cases,
        unpaired=case_count - (1 if both.marked else 2) * compared.cases,
        probability_of_improvement=improves and improves.mean,
        probability_of_improvement_ci=improves and improves.interval,
        more_cost=_cost(tasksets, (a, b), evolvers.more_seeds),
    )


def _cost(tasksets: Sequence[TasksetScores], pair: tuple[str, str], seeds: int | None) -> Amount | None:
    """Return the cost of so many further seeds of two entries on each taskset, at the mean of their runs."""
    cells = [t.cells[entry] for t in tasksets for entry in pair if entry in t.cells]
    if seeds is None or not cells:
        return None
    return times(total(mean(run_amount(run) for run, _ in cell.runs) for cell in cells), seeds)


def _taskset_row(row: Comparison, taskset: str) -> TasksetComparison:
    return TasksetComparison(taskset=taskset, **dict(row))


def paired_gaps(taskset: TasksetScores, a: str, b: str, *, normalised: bool = False) -> Floats:
    """Return a minus b for the seeds that both have, shape (seeds, cases). See `paired_scores`."""
    left, right = paired_scores(taskset, a, b, normalised=normalised)
    return differences(left, right)


def paired_scores(taskset: TasksetScores, a: str, b: str, *, normalised: bool = False) -> tuple[Floats, Floats]:
    """Return the scores of two entries for the seeds that both have, shape (seeds, cases); a reference pairs with every seed.

    Optionally, scores are in units of the distance from the reference of each entry's conditions to the best under
    them.
    """
    left, right = by_seed(taskset, a, normalised=normalised), by_seed(taskset, b, normalised=normalised)
    rows = [(left.get(s, left.get(_EVERY)), right.get(s, right.get(_EVERY))) for s in _paired_seeds(taskset, a, b)]
    pairs = [(x, y) for x, y in rows if x is not None and y is not None]
    width = min((min(len(x), len(y)) for x, y in pairs), default=0)
    shape = len(pairs), width
    first, second = (np.array([pair[i][:width] for pair in pairs], np.float64).reshape(shape) for i in (0, 1))
    return first, second


def _paired_seeds(taskset: TasksetScores, a: str, b: str) -> list[int | str | None]:
    left, right = by_seed(taskset, a), by_seed(taskset, b)
    seeds = dict.fromkeys(seed for side in (left, right) for seed in side if seed is not _EVERY)
    return [seed for seed in seeds if all(seed in side or _EVERY in side for side in (left, right))]


def by_seed(taskset: TasksetScores, entry: str, *, normalised: bool = False) -> dict[int | str | None, Floats]:
    """Return seed to scores (NaN for runs without any), optionally in units of the distance from reference to best.

    A reference has no seeds.
    """
    cell = taskset.cells.get(entry)
    if cell is None:
        rows: dict[int | str | None, Floats] = (
            {_EVERY: taskset.references[entry]} if entry in taskset.references else {}
        )
    else:
        rows = dict(zip([*cell.seeds, *cell.unscored], cell.asked, strict=True))
    if not normalised or not rows:
        return rows
    mark, unit = taskset.reference_mean(entry) or 0.0, taskset.span(entry) or 1.0
    return {seed: (scores - mark) / unit for seed, scores in rows.items()}


def _count_cases(taskset: TasksetScores, entry: str) -> int:
    cell = taskset.cells.get(entry)
    return 0 if cell is None else int((~np.isnan(cell.scores)).sum())


def _runs(taskset: TasksetScores, entry: str) -> list[float]:
    if entry in taskset.references:
        mean = taskset.reference_mean(entry)
        return [] if mean is None else [mean]
    cell = taskset.cells.get(entry)
    return [] if cell is None else cell.run_means
