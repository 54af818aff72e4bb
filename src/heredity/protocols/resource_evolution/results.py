"""Results of resource evolution over a suite: what each method improved under each model (Autogenesis, table 1)."""

from __future__ import annotations

from heredity.results.base import Interval, Result, Unknown
from heredity.results.suite import Claim, Unit


class Improvement(Result):
    """One method under one model on one taskset, against what it began with.

    Attributes:
        evolver: its label in the suite.
        method: its name without the conditions.
        model: the execution model; None where none is asked.
        before, after: held-out means of the starting point and of what was committed; `ci` is of `after`, over `ci_unit`.
        percent: improvement in per cent of `before`; None where that is 0 or less, of which nothing is a share.
        difference: `after` less `before`, paired by case.
        evolvers: what it says of the method: of new runs, on new tasks.
        candidates: what it says of the candidates at hand, on new tasks. Both None where nothing is ranked.
    """

    evolver: str
    method: str
    model: str | None
    taskset: str
    before: float
    after: float
    ci: Interval | None
    ci_unit: Unit | None
    ci_unknown: Unknown | None
    percent: float | None
    difference: float
    evolvers: Claim | None
    candidates: Claim | None
    runs: int


class ResourceSuite(Result):
    """The part of resource evolution in a suite's results: improvements by model, method and taskset."""

    improvements: list[Improvement]
