"""How results were picked by validation: of one run, and over the runs of an evolver on a taskset."""

from __future__ import annotations

from heredity.results.base import Interval, Result


class Selection(Result):
    """How the result was picked, and what that does to its validation score.

    Attributes:
        candidates: how many different ones were looked at.
        validation_mean: of the one that was picked.
        corrected: what the best is worth on validation when other cases pick it (cross-validated); None where it cannot be known.
        heldout_mean: of the same candidate, None before judging.
        gap: validation less held-out mean, with the interval `ci` of their difference.
    """

    candidates: int
    validation_mean: float
    corrected: float | None
    heldout_mean: float | None
    gap: float | None
    ci: Interval | None


class SelectionRow(Result):
    """How an evolver's results were picked on a taskset: means over its `runs` with validation.

    Attributes:
        candidates: looked at in a run.
        validation_mean, corrected, heldout_mean: of what was picked, `corrected` for having been picked by the same cases.
        gap: validation less held-out.
    """

    evolver: str
    taskset: str
    runs: int
    candidates: float
    validation_mean: float
    corrected: float | None
    heldout_mean: float | None
    gap: float | None
