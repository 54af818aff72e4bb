"""Who learned how much, over all tasksets of a suite: in their own scores, between those that were scored on all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from heredity.analysis.bounds import GAP, Floats
from heredity.analysis.claims import claims, compare
from heredity.analysis.suite_comparisons import paired_gaps
from heredity.analysis.suite_table import TasksetScores, coverage_of
from heredity.protocols.agent_learning.results import BoardRow
from heredity.results.run import Verdict
from heredity.results.suite import Claim


def learning_board(tasksets: Sequence[TasksetScores]) -> list[BoardRow]:
    """Return each evolver, best mean first; those that lack a taskset, or failed on it, come last, without a mean.

    Scores of worlds lie between 0 and their upper bound, so they share a scale; dividing by the best gain, which may be next to
    nothing, would blow up noise.
    """
    if not tasksets:
        return []
    evolvers = list(dict.fromkeys(evolver for t in tasksets for evolver in (*t.cells, *t.failed)))
    counts = {evolver: sum(evolver in taskset.cells for taskset in tasksets) for evolver in evolvers}
    whole = [evolver for evolver in evolvers if counts[evolver] == len(tasksets)]
    means = {evolver: _mean([taskset.cells[evolver].mean for taskset in tasksets]) for evolver in whole}
    whole.sort(key=lambda evolver: -means[evolver])
    starts = {evolver: _start(tasksets, evolver) for evolver in whole}
    gained = _claims(tasksets, {e: [_gaps(t, e) for t in tasksets] for e in whole})
    behind = _claims(tasksets, {e: [paired_gaps(t, whole[0], e) for t in tasksets] for e in whole[1:]}, marked=False)
    rows = [
        BoardRow(
            evolver=evolver,
            tasksets=counts[evolver],
            mean=means[evolver],
            gain=None if (start := starts[evolver]) is None else means[evolver] - start,
            evolvers=gained[evolver][0],
            candidates=gained[evolver][1],
            tied=means[evolver] == means[whole[0]] or _level(behind.get(evolver)),
        )
        for evolver in whole
    ]
    return rows + [_uncompared(evolver, counts[evolver]) for evolver in evolvers if evolver not in means]


def _start(tasksets: Sequence[TasksetScores], evolver: str) -> float | None:
    """Return the mean score of what an evolver started from, under its own conditions; None where one is not known."""
    references = [taskset.reference_mean(evolver) for taskset in tasksets]
    return None if None in references else _mean([mean for mean in references if mean is not None])


def _gaps(taskset: TasksetScores, evolver: str) -> Floats:
    """Return how far an evolver came from its start, shape (seeds, cases); NaN of all where that is not known of the same cases."""
    scores, start = taskset.cells[evolver].asked, taskset.references.get(taskset.reference_of(evolver))
    return scores - start if start is not None and start.size == scores.shape[1] else np.full_like(scores, np.nan)


def _uncompared(evolver: str, tasksets: int) -> BoardRow:
    return BoardRow(
        evolver=evolver, tasksets=tasksets, mean=None, gain=None, evolvers=None, candidates=None, tied=False
    )


def _claims(
    tasksets: Sequence[TasksetScores], strata: dict[str, list[Floats]], *, marked: bool = True
) -> dict[str, tuple[Claim | None, Claim | None]]:
    bounds = GAP if all(taskset.bounds for taskset in tasksets) else None
    clusters = [taskset.clusters for taskset in tasksets]
    least = coverage_of(tasksets)
    both = {
        e: compare(own, len(strata), bounds, marked=marked, clusters=clusters, least=least) for e, own in strata.items()
    }
    claimed = iter(claims([compared for compared in both.values() if compared is not None]))
    return {evolver: (None, None) if compared is None else next(claimed) for evolver, compared in both.items()}


def _level(pair: tuple[Claim | None, Claim | None] | None) -> bool:
    """Return whether agents cannot be told apart from those of the first."""
    return pair is not None and (pair[1] is None or pair[1].verdict != Verdict.BETTER)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
