"""Selection of results by validation: in one run, and over the runs of an evolver on a taskset."""

from __future__ import annotations

from heredity.results.base import Interval, Result


class Selection(Result):
    """Selection of a result, and its effect on the validation score.

    Attributes:
        candidates: number of distinct candidates.
        validation_mean: of the selected one.
        corrected: validation score of the best when other cases select it (cross-validated); None if unknown.
        heldout_mean: of the same candidate, None before judging.
        gap: validation minus held-out mean, with the interval `ci` of their difference.
    """

    candidates: int
    validation_mean: float
    corrected: float | None
    heldout_mean: float | None
    gap: float | None
    ci: Interval | None


class SelectionRow(Result):
    """Selection of an evolver's results on a taskset: means over its `runs` with validation.

    Attributes:
        candidates: number of candidates in a run.
        validation_mean, corrected, heldout_mean: of the selected candidate; `corrected` for selection on the same
        cases.
        gap: validation minus held-out.
    """

    evolver: str
    taskset: str
    runs: int
    candidates: float
    validation_mean: float
    corrected: float | None
    heldout_mean: float | None
    gap: float | None
