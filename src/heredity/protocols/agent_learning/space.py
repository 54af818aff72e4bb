"""The space of learning methods: the upper bound, and gains by number of methods and of worlds.

AutoEnv, sections 4.2 and 5.3 and figure 3. An upper bound picks the best method of each environment after the fact. It is
the maximum over all choices of a method per environment, not the result of one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from heredity.analysis.suite_table import TasksetScores
from heredity.protocols.agent_learning.results import (
    BestFixed,
    BoundOfSubsets,
    Controller,
    GainsByTasksets,
    LearningSpace,
    PickedMethod,
    UpperBound,
)

_MOST_SUBSETS = 5000
LEAST_WAY = 0.01
"""Minimum distance between the best fixed method and the bound for reporting a share; below it, shares are noise."""
CONTROLLER = "adaptive"
"""Label prefix of evolvers that choose among methods; they are compared with the bound and not part of it."""


def learning_space(tasksets: Sequence[TasksetScores]) -> LearningSpace | None:
    """Compute upper bounds and both curves from held-out means.

    Args:
        tasksets: the scores of every evolver; a method counts if it has a score on all of them.

    Returns:
        `controllers` have their shares of the way from the best fixed method to the upper bound; `by_methods`,
        for M = 1, 2, …, the upper bound over all subsets of M methods; `by_tasksets`, for each method and the bound the mean
        gain over the k tasksets where it gains most, k = 1, 2, …. None with fewer than two methods.
    """
    means = {t.name: {name: cell.mean for name, cell in t.cells.items()} for t in tasksets}
    everywhere = [e for e in next(iter(means.values()), {}) if all(e in row for row in means.values())]
    methods = [e for e in everywhere if not e.startswith(CONTROLLER)]
    if len(methods) < 2:
        return None
    marks = {m: [t.reference_mean(m) for t in tasksets] for m in everywhere}
    columns = {m: [row[m] for row in means.values()] for m in everywhere}
    picked = {name: max(methods, key=row.__getitem__) for name, row in means.items()}
    of_picked = [t.reference_mean(picked[t.name]) for t in tasksets]
    upper_bound = [means[name][method] for name, method in picked.items()]
    fixed = max(methods, key=lambda m: math.fsum(columns[m]))
    best, top = _mean(columns[fixed]), _mean(upper_bound)
    gains = {**{m: _gains(columns[m], marks[m]) for m in methods}, "upper bound": _gains(upper_bound, of_picked)}
    return LearningSpace(
        methods=methods,
        upper_bound=UpperBound(
            mean=top,
            gain=_mean(gains["upper bound"]) if gains["upper bound"] else None,
            picked=[_picked(taskset, method, means[taskset], methods) for taskset, method in picked.items()],
        ),
        best_fixed=BestFixed(method=fixed, mean=best, gap=top - best),
        controllers=[_controller(e, _mean(columns[e]), best, top) for e in everywhere if e.startswith(CONTROLLER)],
        by_methods=[_subsets(columns, methods, size) for size in range(1, len(methods) + 1)],
        by_tasksets=[GainsByTasksets(evolver=name, gains=_top(listed)) for name, listed in gains.items() if listed],
    )


def _picked(taskset: str, method: str, means: Mapping[str, float], methods: Sequence[str]) -> PickedMethod:
    tied = [other for other in methods if other != method and means[other] == means[method]]
    return PickedMethod(taskset=taskset, method=method, mean=means[method], tied=tied)


def _controller(evolver: str, mean: float, best: float, top: float) -> Controller:
    on_the_way = best <= mean <= top and top - best >= LEAST_WAY
    covered = (mean - best) / (top - best) if on_the_way else None
    return Controller(evolver=evolver, mean=mean, gap=top - mean, covered=covered)


def _subsets(columns: Mapping[str, Sequence[float]], methods: Sequence[str], size: int) -> BoundOfSubsets:
    chosen = itertools.islice(itertools.combinations(methods, size), _MOST_SUBSETS)
    bounds = [_mean([max(row) for row in zip(*(columns[m] for m in subset), strict=True)]) for subset in chosen]
    return BoundOfSubsets(methods=size, subsets=len(bounds), mean=_mean(bounds), low=min(bounds), high=max(bounds))


def _gains(scores: Sequence[float], reference: Sequence[float | None]) -> list[float]:
    """Return gains over the start; None if any is unknown."""
    gains = [score - before for score, before in zip(scores, reference, strict=True) if before is not None]
    return gains if len(gains) == len(scores) else []


def _top(gains: Sequence[float]) -> list[float]:
    """Return the mean of the k greatest gains for k = 1, 2, …."""
    ordered = sorted(gains, reverse=True)
    return [_mean(ordered[: k + 1]) for k in range(len(ordered))]


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
